"""The examples as the tests train them, with file, data and flags."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

EXAMPLES = Path(os.environ.get("MTC_EXAMPLES", Path(__file__).resolve().parent.parent.parent / "examples"))
SAMPLE = 512


@dataclass(frozen=True)
class Example:
    name: str
    model: Path
    batch: int
    data: Callable[[int], dict[str, np.ndarray]]  # returns this number of samples of each input and of the labels
    flags: tuple[str, ...]  # flags of mtc compile, besides the optimizer's
    rates: dict[str, float]  # optimizer -> learning rate


def digits(rows: int) -> dict[str, np.ndarray]:
    """Returns the first samples of the training set, repeated from the start at its end."""
    x, labels = np.load(EXAMPLES / "digits/train_x.npy"), np.load(EXAMPLES / "digits/train_labels.npy")
    order = np.arange(rows) % len(x)
    return {"x": x[order], "labels": labels[order]}


def passages(rows: int, length: int = 64) -> dict[str, np.ndarray]:
    """Returns successive passages of the training text, with the next tokens as labels."""
    tokens = np.fromfile(EXAMPLES / "gpt2/train.bin", np.uint16, offset=1024).astype(np.int64)
    return {
        "input_ids": tokens[: rows * length].reshape(rows, length),
        "labels": tokens[1 : rows * length + 1].reshape(rows, length),
    }


def sample(array: np.ndarray) -> np.ndarray:
    """Returns at most SAMPLE elements of an array, evenly spaced, including the first and the last."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat[np.linspace(0, flat.size - 1, min(SAMPLE, flat.size)).round().astype(np.int64)]


DIGITS = Example(
    "digits", EXAMPLES / "digits/digits.onnx", 32, digits,
    ("--dim", "batch=32", "--loss", "cross-entropy", "--labels", "labels"), {"sgd": 0.1, "adamw": 2e-3},
)  # fmt: skip
GPT2 = Example(
    "gpt2", EXAMPLES / "gpt2/gpt2.onnx", 8, passages,
    ("--dim", "batch=8", "--dim", "sequence=64", "--loss", "causal-lm", "--labels", "labels"),
    {"sgd": 0.1, "adamw": 1e-3},
)  # fmt: skip
# A smaller model for emulated devices and processors, which need a second for a batch of 8.
SMALL_GPT2 = replace(GPT2, batch=2, flags=("--dim", "batch=2", *GPT2.flags[2:]))
