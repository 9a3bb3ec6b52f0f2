# RUN: %python %s %t
"""Training the GPT-2 example reproduces PyTorch's losses and gradients."""

from models import GPT2
from program import own_folder
from pytorch import matches_pytorch

matches_pytorch(GPT2, own_folder())
