# RUN: %python %s %t
"""Training the digits example reproduces PyTorch's losses and gradients."""

from models import DIGITS
from program import own_folder
from pytorch import matches_pytorch

matches_pytorch(DIGITS, own_folder())
