#!/usr/bin/env python3
"""Records PyTorch's results for the module of batch_norm.py in test/e2e/inputs/batch_norm.json: the losses of steps in train() and in
eval(), the final loss of all samples in eval(), and the running statistics.

The script is run manually, because it needs torch. All results are computed in f64.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

sys.path.append(str(Path(__file__).resolve().parent))
import batch_norm


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4, eps=batch_norm.EPSILON, momentum=batch_norm.MOMENTUM)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(self.norm(self.conv(x)).relu().mean((2, 3)))


def record(trains: bool) -> dict:
    module = Module()
    module.load_state_dict({name: torch.tensor(array) for name, array in batch_norm.weights().items()}, strict=False)
    module = module.double().train(trains)
    data = {name: torch.tensor(array) for name, array in batch_norm.data().items()}
    x, labels = data["x"].double(), data["labels"]
    update = torch.optim.SGD(module.parameters(), batch_norm.RATE)
    losses = []
    for step in range(batch_norm.STEPS):
        first = step * batch_norm.BATCH % batch_norm.ROWS
        rows = slice(first, first + batch_norm.BATCH)
        loss = cross_entropy(module(x[rows]), labels[rows])
        update.zero_grad()
        loss.backward()
        update.step()
        losses.append(loss.item())
    module.eval()
    with torch.no_grad():
        evaluated = cross_entropy(module(x), labels).item()
    return {"losses": losses, "evaluated": evaluated, "running_mean": module.norm.running_mean.tolist(),
            "running_var": module.norm.running_var.tolist()}  # fmt: skip


if __name__ == "__main__":
    recorded = {"torch": torch.__version__, "train": record(True), "eval": record(False)}
    file = Path(__file__).resolve().parent.parent / "e2e/inputs/batch_norm.json"
    file.write_text(json.dumps(recorded, indent=2) + "\n")
