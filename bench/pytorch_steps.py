"""Steps of PyTorch: `pytorch_steps.py MODEL DATA --steps N --threads T [--compile]`; one JSON line.

What a user of PyTorch would write: the fused AdamW, gradients that are dropped between steps.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from models import MODELS

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model", choices=MODELS)
parser.add_argument("data", type=Path)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--compile", action="store_true")
options = parser.parse_args()

torch.set_num_threads(options.threads)
model = MODELS[options.model].build()
inputs = {file.stem: torch.tensor(np.load(file)) for file in sorted(options.data.glob("*.npy"))}
labels = inputs.pop("labels").flatten()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)


def forward() -> torch.Tensor:
    return torch.nn.functional.cross_entropy(model(**inputs).logits.flatten(0, -2), labels)


if options.compile:
    forward = torch.compile(forward)
seconds, losses = [], []
for _ in range(options.steps):
    start = time.perf_counter()
    loss = forward()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    losses.append(loss.item())
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds, "losses": losses, "version": f"PyTorch {torch.__version__.split('+')[0]}"}))
