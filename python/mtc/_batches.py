"""Data sets and iterables of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc._inputs import Inputs, has_rows
from mtc._ragged import Ragged


class Samples:
    """A data set whose samples can be read in any order."""

    def __init__(self, count: int, take: Callable[[NDArray[np.int64]], Any], lengths: NDArray[np.int64] | None = None) -> None:
        if count == 0:
            raise ValueError("the data has no samples")
        self.count = count
        self.take = take  # returns a batch with the samples of these numbers
        self.lengths = lengths  # a row for each sample, with a column for each input; None if all samples have one shape

    def longest(self, inputs: Inputs) -> Any:
        """Returns a batch of one sample, as long as the longest in each input."""
        if self.lengths is None:
            return self.take(np.arange(1))
        rows = self.lengths.argmax(axis=0)
        parts = inputs.named(self.take(rows[:1]))
        for column, name in enumerate(inputs.names):
            if name in parts:
                parts[name] = inputs.named(self.take(rows[column : column + 1]))[name]
        return parts

    def batches(self, size: int) -> Iterator[Any]:
        """Returns all samples in order; the last batch may be smaller."""
        for first in range(0, self.count, size):
            yield self.take(np.arange(first, min(first + size, self.count)))


def _samples_of_arrays(arrays: Mapping[str, Any], inputs: Inputs) -> Samples:
    shared = inputs.shared

    def column_of(name: str, part: Any) -> Any:
        if hasattr(part, "to_numpy"):  # Columns of pandas are not indexed by position.
            part = part.to_numpy()
        if has_rows(part) and name not in shared:
            return inputs.column(name, part)
        return part if hasattr(part, "shape") else np.asarray(part)

    columns = {name: column_of(name, part) for name, part in arrays.items()}
    counts = {name: len(column) for name, column in columns.items() if name not in shared}
    if len(set(counts.values())) > 1:
        raise ValueError(f"arrays have different numbers of samples: {counts}")

    def take(rows: NDArray[np.int64]) -> dict[str, Any]:
        first, count = int(rows[0]), len(rows)
        if np.array_equal(rows, np.arange(first, first + count)):  # A view is enough.
            return {name: column if name in shared else column[first : first + count] for name, column in columns.items()}
        return {name: column if name in shared else column[rows] for name, column in columns.items()}

    lengths = {name: column.lengths for name, column in columns.items() if isinstance(column, Ragged)}
    return Samples(next(iter(counts.values()), 0), take, inputs.lengths_of(lengths))


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0


def _stacked(parts: Sequence[Any]) -> Any:
    """Returns the samples of a data set as a batch."""
    if isinstance(parts[0], Mapping):
        return {name: _stacked([part[name] for part in parts]) for name in parts[0]}
    if isinstance(parts[0], (tuple, list)):
        return tuple(_stacked(each) for each in zip(*parts, strict=True))
    return list(parts)


def _lengths_of(parts: Iterable[Mapping[str, Any]], inputs: Inputs) -> NDArray[np.int64] | None:
    """Returns the lengths of samples, which are read once if the library has shapes for several lengths.

    Args:
        parts: Ranges of samples, each as lists by input.
    """
    if not inputs.variable:
        return None
    found: dict[str, list[int]] = {}
    for part in parts:
        for name in inputs.variable:
            if name in part:
                found.setdefault(name, []).extend(_length(value) for value in part[name])
    return inputs.lengths_of({name: np.array(lengths, np.int64) for name, lengths in found.items()})


def _samples_of_table(data: Any, inputs: Inputs) -> Samples:
    """Returns the columns of a data set of Hugging Face that the model has. The others, such as the text of tokens, are not needed."""
    names = [name for name in data.column_names if name in inputs.names]
    if not names:
        raise ValueError(
            f"the data has the columns {', '.join(data.column_names)}; expected {', '.join(inputs.names)}: rename_column renames one"
        )
    columns = data.select_columns(names)
    parts = (columns[first : first + 1000] for first in range(0, len(data), 1000))
    return Samples(len(data), lambda rows: columns[rows.tolist()], _lengths_of(parts, inputs))


def samples_of(data: Any, inputs: Inputs) -> Samples | None:
    """Returns a data set of samples: a mapping, tuple or array of all samples, a data set of Hugging Face's `datasets`, or an object with
    ``__len__`` and ``__getitem__`` such as a data set of PyTorch. Returns ``None`` for an iterable of batches. Samples may differ in length.
    """
    if hasattr(data, "column_names") and hasattr(data, "select_columns") and hasattr(data, "__getitem__"):
        return _samples_of_table(data, inputs)
    if isinstance(data, (Mapping, tuple)) or hasattr(data, "shape"):
        return _samples_of_arrays(inputs.named(data), inputs)
    if isinstance(data, list) or not (hasattr(data, "__getitem__") and hasattr(data, "__len__")):
        return None

    def take(rows: NDArray[np.int64]) -> Any:
        return _stacked([data[int(row)] for row in rows])

    parts = (inputs.named(take(np.arange(row, row + 1))) for row in range(len(data)))
    return Samples(len(data), take, _lengths_of(parts, inputs))


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
