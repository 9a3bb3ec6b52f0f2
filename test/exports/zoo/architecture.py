"""An architecture of the suite: a module, data for ten steps of training, and a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

STEPS = 10
IGNORE = -100  # a label that cross-entropy skips

ARCHITECTURES: dict[str, Callable[[], Example]] = {}


@dataclass
class Example:
    """One architecture, ready to train.

    Attributes:
        module: The module, in training mode, without dropout.
        inputs: Arguments of `forward` by name: `batch` rows for each of the ten steps.
        labels: As many rows; None if the module returns its loss.
        loss: mtc's name of the loss.
        lr: The learning rate of SGD.
        output: The name of the output that the loss is computed from.
        batch: Rows of a step.
        whole: Inputs without a batch axis, the same in each step.
        keywords: Whether `forward` is called with keywords.
        dynamic: Whether the batch axis can be dynamic.
        loss_of: The loss as the framework computes it, if mtc computes the loss from another value than the output.
        exporter: For frameworks with an exporter of their own: writes the ONNX file.
        own_dimension: mtc's name of the batch axis in that file; None if the axis is fixed.
        losses: For frameworks that do not train with PyTorch: returns the losses of the ten steps.
    """

    module: nn.Module
    inputs: dict[str, Tensor]
    labels: Tensor | None
    loss: str = "cross-entropy"
    lr: float = 0.1
    output: str = "logits"
    batch: int = 8
    whole: tuple[str, ...] = ()
    keywords: bool = False
    dynamic: bool = True
    loss_of: Callable[[Tensor, Tensor], Tensor] | None = None
    exporter: Callable[[Any], None] | None = None
    own_dimension: str | None = None
    losses: Callable[[], list[float]] | None = None

    def batches(self) -> list[tuple[dict[str, Tensor], Tensor | None]]:
        """Returns the inputs and labels of each step."""
        parts = [slice(step * self.batch, (step + 1) * self.batch) for step in range(STEPS)]
        return [
            (
                {name: x if name in self.whole else x[rows] for name, x in self.inputs.items()},
                None if self.labels is None else self.labels if "labels" in self.whole else self.labels[rows],
            )
            for rows in parts
        ]

    def call(self, module: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
        """Returns the output from which the loss is computed."""
        result = module(**inputs) if self.keywords else module(*inputs.values())
        while not isinstance(result, Tensor):
            result = result[self.output] if isinstance(result, dict) and self.output in result else first(result)
        return result


def architecture(make: Callable[[], Example]) -> Callable[[], Example]:
    """Adds an architecture to the suite, under the function's name."""
    ARCHITECTURES[make.__name__] = make
    return make


def build(name: str) -> Example:
    """Returns an architecture with the same weights and data each time.

    The rows of two steps are repeated, so that ten steps suffice to reduce the loss.
    """
    torch.manual_seed(0)
    example = ARCHITECTURES[name]()
    distinct = 2 * example.batch

    def repeated(name: str, rows: Tensor) -> Tensor:
        return rows if name in example.whole else torch.cat([rows[:distinct]] * (STEPS // 2))

    example.inputs = {name: repeated(name, rows) for name, rows in example.inputs.items()}
    example.labels = None if example.labels is None else repeated("labels", example.labels)
    example.module.train()
    return example


def first(result: Any) -> Any:
    """Returns the first of several results."""
    return next(iter(result.values())) if isinstance(result, dict) else result[0]


def loss(kind: str, output: Tensor, labels: Tensor | None) -> Tensor:
    """Computes the losses as mtc defines them; the classes of cross-entropy are the last axis."""
    if kind == "output":
        return output
    if kind in ("cross-entropy", "causal-lm"):
        return F.cross_entropy(output.flatten(0, -2), labels.flatten(), ignore_index=IGNORE)
    if kind == "mse":
        return F.mse_loss(output, labels)
    if kind == "bce-with-logits":
        return F.binary_cross_entropy_with_logits(output, labels)
    raise ValueError(f"unknown loss {kind}")


# ------------------------------------------------------------------------------------------------ data


def tokens(vocabulary: int = 64, length: int = 12, rows: int = 80, low: int = 4) -> Tensor:
    """Returns random token ids, without the lowest ones, which tokenizers reserve."""
    return torch.randint(low, vocabulary, (rows, length))


def next_tokens(ids: Tensor) -> Tensor:
    """Returns the next token of each token. The last position has no label."""
    return F.pad(ids[:, 1:], (0, 1), value=IGNORE)


def classes(number: int = 5, rows: int = 80, *shape: int) -> Tensor:
    """Returns random class indices."""
    return torch.randint(0, number, (rows, *shape))


def images(side: int = 32, channels: int = 3, rows: int = 80) -> Tensor:
    """Returns random images."""
    return torch.randn(rows, channels, side, side)
