"""Data sets and iterables of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc._inputs import Inputs, to_array


class Samples:
    """A data set whose samples can be read in any order."""

    def __init__(self, count: int, take: Callable[[NDArray[np.int64]], Any]) -> None:
        if count == 0:
            raise ValueError("the data has no samples")
        self.count = count
        self.take = take  # returns a batch with the samples of these numbers

    def first(self) -> Any:
        """Returns a batch of the first sample."""
        return self.take(np.arange(1))

    def batches(self, size: int) -> Iterator[Any]:
        """Returns all samples in order; the last batch may be smaller."""
        for first in range(0, self.count, size):
            yield self.take(np.arange(first, min(first + size, self.count)))


def _samples_of_arrays(arrays: Mapping[str, Any], shared: set[str]) -> Samples:
    # Columns of pandas have a shape, but are not indexed by position.
    columns = {name: part if hasattr(part, "shape") and not hasattr(part, "to_numpy") else np.asarray(part) for name, part in arrays.items()}
    counts = {name: len(column) for name, column in columns.items() if name not in shared}
    if len(set(counts.values())) > 1:
        raise ValueError(f"arrays have different numbers of samples: {counts}")

    def take(rows: NDArray[np.int64]) -> dict[str, Any]:
        first, count = int(rows[0]), len(rows)
        if np.array_equal(rows, np.arange(first, first + count)):  # A view is enough.
            return {name: column if name in shared else column[first : first + count] for name, column in columns.items()}
        return {name: column if name in shared else column[rows] for name, column in columns.items()}

    return Samples(next(iter(counts.values()), 0), take)


def _stacked(parts: Sequence[Any]) -> Any:
    """Returns the samples of a data set as a batch."""
    if isinstance(parts[0], Mapping):
        return {name: _stacked([part[name] for part in parts]) for name in parts[0]}
    if isinstance(parts[0], (tuple, list)):
        return tuple(_stacked(each) for each in zip(*parts, strict=True))
    return np.stack([to_array(part) for part in parts])


def _samples_of_table(data: Any, inputs: Inputs) -> Samples:
    """Returns the columns of a data set of Hugging Face that the model has. The others, such as the text of tokens, are not needed."""
    names = [name for name in data.column_names if name in inputs.names]
    if not names:
        raise ValueError(
            f"the data has the columns {', '.join(data.column_names)}; expected {', '.join(inputs.names)}: rename_column renames one"
        )
    columns = data.select_columns(names)
    return Samples(len(data), lambda rows: columns[rows.tolist()])


def samples_of(data: Any, inputs: Inputs) -> Samples | None:
    """Returns a data set of samples: a mapping, tuple or array of all samples, a data set of Hugging Face's `datasets`, or an object with
    ``__len__`` and ``__getitem__`` such as a data set of PyTorch. Returns ``None`` for an iterable of batches.
    """
    if hasattr(data, "column_names") and hasattr(data, "select_columns") and hasattr(data, "__getitem__"):
        return _samples_of_table(data, inputs)
    if isinstance(data, (Mapping, tuple)) or hasattr(data, "shape"):
        return _samples_of_arrays(inputs.named(data), inputs.shared)
    if isinstance(data, list) or not (hasattr(data, "__getitem__") and hasattr(data, "__len__")):
        return None
    return Samples(len(data), lambda rows: _stacked([data[int(row)] for row in rows]))


def iterable_of(data: Any, epoch: int) -> Iterable[Any]:
    """Returns the batches of an epoch (from 0). A function is called with the epoch; samplers of several processes are told it."""
    if callable(data) and not hasattr(data, "__iter__"):
        data = data(epoch)
    for part in (data, getattr(data, "sampler", None), getattr(data, "batch_sampler", None)):
        if set_epoch := getattr(part, "set_epoch", None):
            set_epoch(epoch)
    if not hasattr(data, "__iter__"):
        raise TypeError(
            f"data of type {type(data).__name__}: expected arrays, a data set, or an iterable of batches such as a DataLoader"
        )
    return data
