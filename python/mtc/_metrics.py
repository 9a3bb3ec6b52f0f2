"""Metrics of the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from mtc._inputs import Arrays, concatenated


@runtime_checkable
class Accumulator(Protocol):
    """A metric that is updated with each batch, such as those of the package torchmetrics."""

    def update(self, outputs: Any, labels: Any, /) -> Any: ...
    def compute(self) -> Any: ...
    def reset(self) -> Any: ...


Metric = Callable[[Any, Any], float] | Accumulator


def _only(arrays: Arrays) -> Any:
    return next(iter(arrays.values())) if len(arrays) == 1 else arrays


def _tensors(value: Any) -> Any:
    torch = sys.modules["torch"]
    return {name: torch.from_numpy(array) for name, array in value.items()} if isinstance(value, dict) else torch.from_numpy(value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"metric {name!r}: expected a number, got {type(value).__name__}") from None


class Metrics:
    """Computes metrics from the outputs and labels of batches.

    A metric is a function of the outputs and the labels of all samples, or an object with ``update(outputs, labels)``, ``compute()`` and
    ``reset()``. Outputs are an array, or a dictionary if there are several; labels are an array, or a dictionary of all inputs unless there
    is one input of labels.
    """

    def __init__(self, metrics: Mapping[str, Metric], labels: set[str], padding: Mapping[str, int]) -> None:
        self._names = list(metrics)
        self._accumulators = {name: metric for name, metric in metrics.items() if isinstance(metric, Accumulator)}
        self._functions = {name: metric for name, metric in metrics.items() if not isinstance(metric, Accumulator)}
        self._labels = labels
        self._padding = padding
        self._outputs: list[Arrays] = []
        self._inputs: list[Arrays] = []
        for accumulator in self._accumulators.values():
            accumulator.reset()

    def __bool__(self) -> bool:
        return bool(self._names)

    def add(self, outputs: Arrays, inputs: Arrays) -> None:
        """Adds a batch."""
        labels = {name: array for name, array in inputs.items() if name in self._labels}
        kept = labels if len(labels) == 1 else inputs
        if self._functions:
            self._outputs.append(outputs)
            self._inputs.append(kept)
        for accumulator in self._accumulators.values():
            is_module = hasattr(accumulator, "state_dict")  # of PyTorch
            given = (_only(outputs), _only(kept))
            accumulator.update(*(_tensors(each) if is_module else each for each in given))

    def values(self) -> dict[str, float]:
        """Returns the metrics of all batches."""
        outputs = _only(concatenated(self._outputs, {})) if self._outputs else {}
        inputs = _only(concatenated(self._inputs, self._padding)) if self._inputs else {}
        found = {name: accumulator.compute() for name, accumulator in self._accumulators.items()}
        found |= {name: function(outputs, inputs) for name, function in self._functions.items()}
        return {name: _number(name, found[name]) for name in self._names}
