"""Metrics of the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class Accumulator(Protocol):
    """A metric that is updated with each batch, such as those of the package torchmetrics."""

    def update(self, outputs: Any, labels: Any, /) -> Any: ...
    def compute(self) -> Any: ...
    def reset(self) -> Any: ...


Metric = Callable[[Any, Any], float] | Accumulator


def _gathered(parts: list[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _only(arrays: Arrays) -> Any:
    return next(iter(arrays.values())) if len(arrays) == 1 else arrays


def _tensors(value: Any) -> Any:
    torch = sys.modules["torch"]
    return {name: torch.from_numpy(array) for name, array in value.items()} if isinstance(value, dict) else torch.from_numpy(value)


class Metrics:
    """Computes metrics from the outputs and labels of batches.

    A metric is a function of the outputs and the labels of all samples, or an object with ``update(outputs, labels)``, ``compute()`` and
    ``reset()``. Outputs are an array, or a dictionary if there are several; labels are an array, or a dictionary of all inputs unless there
    is one input of labels.
    """

    def __init__(self, metrics: Mapping[str, Metric], labels: set[str]) -> None:
        self._metrics = metrics
        self._labels = labels
        self._outputs: list[Arrays] = []
        self._inputs: list[Arrays] = []
        self._gathers = any(not hasattr(metric, "update") for metric in metrics.values())
        for metric in metrics.values():
            if hasattr(metric, "update"):
                metric.reset()

    def __bool__(self) -> bool:
        return bool(self._metrics)

    def add(self, outputs: Arrays, inputs: Arrays) -> None:
        """Adds a batch."""
        labels = {name: array for name, array in inputs.items() if name in self._labels}
        kept = labels if len(labels) == 1 else inputs
        if self._gathers:
            self._outputs.append(outputs)
            self._inputs.append(kept)
        for metric in self._metrics.values():
            if hasattr(metric, "update"):
                convert = _tensors if hasattr(metric, "state_dict") else lambda value: value  # a module of PyTorch
                metric.update(convert(_only(outputs)), convert(_only(kept)))

    def values(self) -> dict[str, float]:
        """Returns the metrics of all batches."""
        outputs, inputs = (_only(_gathered(parts)) if parts else {} for parts in (self._outputs, self._inputs))
        found = {}
        for name, metric in self._metrics.items():
            value = metric.compute() if hasattr(metric, "update") else metric(outputs, inputs)
            try:
                found[name] = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"metric {name!r}: expected a number, got {type(value).__name__}") from None
        return found
