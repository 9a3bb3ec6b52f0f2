"""Batches and data sets of any form as named arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc._results import TensorInfo


@dataclass(frozen=True)
class Batch:
    """Arrays by input, with ``samples`` samples along the batch axis."""

    arrays: dict[str, NDArray[Any]]
    samples: int


def to_array(value: Any) -> NDArray[Any]:
    """Returns an array, a tensor of PyTorch on any device, or a list as an array."""
    if hasattr(value, "detach"):
        tensor = value.detach().cpu()
        return (tensor if tensor.dtype.itemsize > 2 or not tensor.is_floating_point() else tensor.float()).numpy()
    return np.asarray(value)


def _converted(array: NDArray[Any], info: TensorInfo) -> NDArray[Any]:
    """Converts to the type of an input as programs do: integers exactly, floats to the nearest value."""
    if array.dtype == info.dtype:
        return array
    if array.dtype.kind not in "biuf" and array.dtype.kind != "V":
        raise ValueError(f"input {info.name!r}: expected {info.dtype}, got {array.dtype}; convert the values to numbers first")
    with np.errstate(all="ignore"):
        result = array.astype(info.dtype)
    if info.dtype.kind in "biu" and not np.array_equal(result, array):
        wrong = array[result != array].flat[0]
        raise ValueError(f"input {info.name!r}: expected {info.dtype}, got {array.dtype} with the value {wrong}")
    return result


MASK = "attention_mask"  # zeros mark the padding of sequences


class Inputs:
    """The inputs of a model, which batches are converted to.

    Args:
        inputs: The inputs, with the shape of a whole batch.
        shared: Names of the inputs without a batch axis.
        batch: Number of samples of a whole batch.
        padding: Values of the inputs after the end of a shorter sequence.
    """

    def __init__(self, inputs: Sequence[TensorInfo], shared: set[str], batch: int, padding: Mapping[str, int]) -> None:
        self._inputs = inputs
        self._shared = shared
        self._padding = padding
        self.batch = batch

    @property
    def names(self) -> list[str]:
        return [info.name for info in self._inputs]

    def named(self, value: Any) -> dict[str, Any]:
        """Returns the parts of a batch or data set by input. Parts of a tuple without a name are those of the inputs in order."""
        if isinstance(value, Mapping):
            if unknown := [str(name) for name in value if name not in self.names]:
                raise ValueError(f"unknown inputs {', '.join(unknown)}; expected {', '.join(sorted(self.names))}")
            return dict(value)
        parts = list(value) if isinstance(value, (tuple, list)) else [value]
        found: dict[str, Any] = {}
        for part in parts:
            if isinstance(part, Mapping):
                found |= self.named(part)
        free = [name for name in self.names if name not in found]
        unnamed = [part for part in parts if not isinstance(part, Mapping)]
        if len(unnamed) > len(free):
            raise ValueError(f"a batch of {len(parts)} parts; expected at most {len(free)}: {', '.join(free)}")
        return found | dict(zip(free, unnamed, strict=False))

    def convert(self, value: Any, *, copy: bool = False) -> Batch:
        """Converts a batch: a mapping, a tuple or a single array of numpy arrays, tensors or lists.

        Args:
            copy: Whether the arrays must not share memory with the value, which may change later.
        """
        arrays, counts = {}, {}
        parts = {name: to_array(part) for name, part in self.named(value).items()}
        lengths = self._lengths(parts)
        for name, part in parts.items():
            info = self._info(name)
            array = self._padded(info, part, lengths) if lengths else part
            self._check_shape(info, array)
            converted = np.ascontiguousarray(_converted(array, info))
            arrays[name] = converted.copy() if copy and np.may_share_memory(converted, array) else converted
            if name not in self._shared:
                counts[name] = len(array)
        if len(set(counts.values())) > 1:
            raise ValueError(f"inputs have different numbers of samples: {counts}")
        return Batch(arrays, next(iter(counts.values()), self.batch))

    def _info(self, name: str) -> TensorInfo:
        return next(info for info in self._inputs if info.name == name)

    def _lengths(self, parts: Mapping[str, NDArray[Any]]) -> tuple[int, int] | None:
        """Returns the length of the sequences of a batch, and of the model's, if they are longer and the mask can mark the rest."""
        mask = parts.get(MASK)
        if mask is None or mask.ndim != 2 or len(self._info(MASK).shape) != 2:
            return None
        length, whole = mask.shape[1], self._info(MASK).shape[1]
        return (length, whole) if length < whole else None

    def _padded(self, info: TensorInfo, array: NDArray[Any], lengths: tuple[int, int]) -> NDArray[Any]:
        """Extends the axes of a sequence to the model's length."""
        if array.ndim != len(info.shape):
            return array
        length, whole = lengths
        widths = [
            (0, whole - length if axis and array.shape[axis] == length and info.shape[axis] == whole else 0)
            for axis in range(array.ndim)
        ]
        return np.pad(array, widths, constant_values=self._padding[info.name])

    def _check_shape(self, info: TensorInfo, array: NDArray[Any]) -> None:
        if info.name in self._shared:
            if array.shape != info.shape:
                raise ValueError(f"input {info.name!r}: expected shape {info.shape}, got {array.shape}")
            return
        if array.shape == info.shape[1:]:
            raise ValueError(
                f"input {info.name!r}: shape {array.shape} is that of one sample; expected batches of up to {self.batch}, such as "
                f"DataLoader(dataset, batch_size={self.batch})"
            )
        if array.shape[1:] != info.shape[1:] or not array.shape:
            count = len(array) if array.shape else 0
            fits = 0 < count <= self.batch and array.size == count * math.prod(info.shape[1:])
            raise ValueError(
                f"input {info.name!r}: expected shape {info.shape} with up to {self.batch} samples, got {array.shape}"
                + (f"; reshape it to {(count, *info.shape[1:])}" if fits else self._hint(info, array))
            )
        if len(array) > self.batch:
            raise ValueError(
                f"input {info.name!r}: a batch of {len(array)} samples; the library was compiled for {self.batch}: set "
                f"batch_size={self.batch}, or compile for a batch of {len(array)}"
            )


    def _hint(self, info: TensorInfo, array: NDArray[Any]) -> str:
        """Returns a suggestion for sequences of another length than the model's."""
        if array.ndim != len(info.shape) or array.ndim < 2 or array.shape[2:] != info.shape[2:]:
            return ""
        if array.shape[1] > info.shape[1]:
            return f"; truncate sequences to {info.shape[1]}, or compile for {array.shape[1]}"
        mask = f"pass {MASK!r}, or " if MASK in self.names else ""
        return f"; {mask}pad sequences to {info.shape[1]}, as tokenizers do with padding='max_length'"


class Samples:
    """A data set whose samples can be read in any order."""

    def __init__(self, count: int, take: Callable[[NDArray[np.int64]], Any]) -> None:
        if count == 0:
            raise ValueError("the data has no samples")
        self.count = count
        self.take = take  # returns a batch with the samples of these numbers

    def batches(self, size: int) -> Iterator[Any]:
        """Returns all samples in order; the last batch may be smaller."""
        for first in range(0, self.count, size):
            yield self.take(np.arange(first, min(first + size, self.count)))


def _samples_of_arrays(arrays: Mapping[str, Any], shared: set[str]) -> Samples:
    columns = {name: part if hasattr(part, "shape") else np.asarray(part) for name, part in arrays.items()}
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


def samples_of(data: Any, inputs: Inputs, shared: set[str]) -> Samples | None:
    """Returns a data set of samples: a mapping, tuple or array of all samples, a data set of Hugging Face's `datasets`, or an object with
    ``__len__`` and ``__getitem__`` such as a data set of PyTorch. Returns ``None`` for an iterable of batches.
    """
    if hasattr(data, "column_names") and hasattr(data, "select_columns") and hasattr(data, "__getitem__"):
        return _samples_of_table(data, inputs)
    if isinstance(data, (Mapping, tuple)) or hasattr(data, "shape"):
        return _samples_of_arrays(inputs.named(data), shared)
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
