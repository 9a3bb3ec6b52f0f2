#!/usr/bin/env python3
"""Generates digits.onnx and its data. Requires torch, onnxscript and scikit-learn."""

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from export import export  # noqa: E402

SEED = 0
HELD_OUT = 360  # of 1797 images


class Digits(nn.Module):
    """Returns the scores of the ten digits for images, each a row of 64 values in [0, 1]."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def main() -> None:
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(images))
    for part, rows in {"train": order[HELD_OUT:], "test": order[:HELD_OUT]}.items():
        np.save(HERE / f"{part}_x.npy", (images[rows] / 16).astype(np.float32))
        np.save(HERE / f"{part}_labels.npy", labels[rows].astype(np.int64))
    torch.manual_seed(SEED)
    export(Digits().train(), {"x": torch.zeros(2, 64)}, {"x": {0: "batch"}}, "logits", HERE / "digits.onnx")


if __name__ == "__main__":
    main()
