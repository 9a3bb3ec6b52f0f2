"""The inputs of a model, and the conversion of batches to them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc._ragged import Ragged
from mtc._results import TensorInfo

Arrays = dict[str, NDArray[Any]]
Parts = dict[str, NDArray[Any] | Ragged]
MASK = "attention_mask"  # zeros mark the padding of sequences


@dataclass(frozen=True)
class Batch:
    """Arrays by input, with ``samples`` samples along the batch axis, for a shape of the model."""

    arrays: Arrays
    samples: int
    shape: int


def to_array(value: Any) -> NDArray[Any]:
    """Returns an array, a tensor of PyTorch on any device, or a list as an array."""
    if hasattr(value, "detach"):
        tensor = value.detach().cpu()
        return (tensor if tensor.dtype.itemsize > 2 or not tensor.is_floating_point() else tensor.float()).numpy()
    return np.asarray(value)


def has_rows(value: Any) -> bool:
    """Returns whether a value is a list of rows, which may differ in length."""
    is_list = isinstance(value, (list, tuple)) or getattr(value, "dtype", None) == np.dtype(object)
    if not is_list or len(value) == 0:
        return False
    first = next(iter(value))
    # Scalars of PyTorch and numpy have a length, too, which fails.
    return hasattr(first, "__len__") and not isinstance(first, str) and getattr(first, "ndim", 1) > 0


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


class Shape:
    """The inputs of one shape of a model.

    Args:
        inputs: The inputs, with the shape of a whole batch.
        shared: Names of the inputs without a batch axis.
        batch: Number of samples of a whole batch.
        padding: Values of the inputs after the end of a shorter sequence.
    """

    def __init__(self, inputs: Sequence[TensorInfo], shared: set[str], batch: int, padding: Mapping[str, int]) -> None:
        self.inputs = inputs
        self._shared = shared
        self._padding = padding
        self.batch = batch
        self.names = [info.name for info in inputs]

    def holds(self, parts: Parts) -> bool:
        """Returns whether a batch is at most as large as the shape, where it can be padded."""
        lengths = self._lengths(parts)
        for name, array in parts.items():
            shape = self._info(name).shape
            if array.ndim != len(shape):
                return False
            for axis, (size, whole) in enumerate(zip(array.shape, shape, strict=True)):
                is_free = (axis == 0 and name not in self._shared) or (axis == 1 and isinstance(array, Ragged))
                if size != whole and not (is_free and size < whole) and (size, whole) != lengths:
                    return False
        return True

    def length(self, name: str) -> int:
        """Returns the extent of the second axis of an input; 0 if it has none."""
        info = self._info(name)
        return info.shape[1] if name not in self._shared and len(info.shape) > 1 else 0

    def padding(self, name: str) -> int:
        """Returns the value after the end of a row."""
        return self._padding[name]

    def convert(self, parts: Parts, copy: bool) -> tuple[Arrays, int]:
        """Returns the arrays of a batch and its number of samples."""
        arrays, counts = {}, {}
        lengths = self._lengths(parts)
        for name, part in parts.items():
            info = self._info(name)
            array = self._padded_rows(info, part) if isinstance(part, Ragged) else self._padded(info, part, lengths) if lengths else part
            self._check_shape(info, array)
            converted = np.ascontiguousarray(_converted(array, info))
            arrays[name] = converted.copy() if copy and np.may_share_memory(converted, array) else converted
            if name not in self._shared:
                counts[name] = len(array)
        if len(set(counts.values())) > 1:
            raise ValueError(f"inputs have different numbers of samples: {counts}")
        return arrays, next(iter(counts.values()), self.batch)

    def _info(self, name: str) -> TensorInfo:
        return next(info for info in self.inputs if info.name == name)

    def _lengths(self, parts: Parts) -> tuple[int, int] | None:
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

    def _padded_rows(self, info: TensorInfo, part: Ragged) -> NDArray[Any]:
        length = self.length(info.name)
        if part.shape[1] > length:
            raise ValueError(
                f"input {info.name!r}: a row of {part.shape[1]} values; the library was compiled for {length}: truncate rows, or compile "
                "for a larger size"
            )
        return part.padded(length, self._padding[info.name])

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


class Inputs:
    """The inputs of a model, which batches are converted to.

    Args:
        shapes: The shapes of the model, from the smallest to the largest.
        shared: Names of the inputs without a batch axis.
        next_of: Labels that are the next tokens of an input, with its name.
    """

    def __init__(self, shapes: Sequence[Shape], shared: set[str], next_of: Mapping[str, str]) -> None:
        self._shapes = shapes
        self._largest = shapes[-1]
        self._next_of = next_of
        self.shared = shared
        self.names = self._largest.names
        lengths = {name: {shape.length(name) for shape in shapes} for name in self.names}
        self.variable = [name for name, found in lengths.items() if len(found) > 1]  # inputs whose length differs between shapes
        self._longest = max(range(len(shapes)), key=lambda number: (sum(map(shapes[number].length, self.variable)), number))
        mask = self._largest.length(MASK) if MASK in self.names else 0
        self._sequences = {name for name in self.names if name in self.variable or (mask and self._largest.length(name) == mask)}

    def named(self, value: Any) -> dict[str, Any]:
        """Returns the parts of a batch or data set by input. Parts of a tuple without a name are those of the inputs in order."""
        if isinstance(value, Mapping):
            if unknown := [str(name) for name in value if name not in self.names]:
                close = difflib.get_close_matches(unknown[0], self.names, 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"unknown inputs {', '.join(unknown)}; expected {', '.join(sorted(self.names))}{hint}")
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

    def convert(self, value: Any, *, shape: int | None = None, copy: bool = False) -> Batch:
        """Converts a batch: a mapping, a tuple or a single array of numpy arrays, tensors or lists.

        Args:
            shape: Number of the shape that it is padded to. Default: the smallest that holds it.
            copy: Whether the arrays must not share memory with the value, which may change later.
        """
        parts = self._parts(value)
        found = (number for number, each in enumerate(self._shapes) if each.holds(parts))
        # The conversion reports what does not fit the longest shape.
        number = next(found, self._longest) if shape is None else shape
        return Batch(*self._shapes[number].convert(parts, copy), number)

    def batch_of(self, sample: Any) -> tuple[int, int]:
        """Returns the largest batch of samples like this one, and its shape. The sample is a batch of one sample."""
        parts = self._parts(sample)
        sizes = [(shape.batch, -number) for number, shape in enumerate(self._shapes) if shape.holds(parts)]
        batch, number = max(sizes) if sizes else (self._shapes[-1].batch, 1 - len(self._shapes))
        return batch, -number


    def lengths_of(self, columns: Mapping[str, Any]) -> NDArray[np.int64] | None:
        """Returns the lengths of samples that need different shapes, with a column for each input; ``None`` if there are none.

        Args:
            columns: The lengths of each sample by input.
        """
        known = {name: found for name, found in columns.items() if name in self.variable}
        if not known:
            return None
        zeros = np.zeros(len(next(iter(known.values()))), np.int64)
        return np.stack([known.get(name, zeros) for name in self.names], axis=1)

    def column(self, name: str, value: Any) -> NDArray[Any] | Ragged:
        """Returns the values of an input as an array, or as rows if their lengths may differ."""
        if isinstance(value, Ragged):
            return value
        if not has_rows(value):
            return to_array(value)
        rows = [to_array(row) for row in value]
        lengths = {len(row) for row in rows}
        if name in self._sequences:
            return Ragged(rows)
        if len(lengths) == 1:
            return np.stack(rows)
        info = next((info for info in self._largest.inputs if info.name == name), None)
        if name not in self._next_of.values() and name not in self._next_of and not (info and info.dtype.kind in "iu"):
            raise ValueError(
                f"input {name!r}: rows of {min(lengths)} to {max(lengths)} values; expected rows of one length, or a library that was "
                "compiled for several, such as dims={'sequence': [64, 128]}"
            )
        return Ragged(rows)

    def _parts(self, value: Any) -> Parts:
        """Returns the parts of a batch by input. The mask and the next tokens of rows of different lengths are added."""
        parts: Parts = {name: self.column(name, part) for name, part in self.named(value).items()}
        ragged = {name: part for name, part in parts.items() if isinstance(part, Ragged)}
        if not ragged:
            return parts
        if MASK in self.names and MASK not in parts:
            length = self._largest.length(MASK)
            masked = [part for name, part in ragged.items() if self._largest.length(name) == length and name not in self._next_of]
            if masked:
                parts[MASK] = masked[0].marks()
        for name, tokens in self._next_of.items():
            if name not in parts and tokens in ragged:
                parts[name] = ragged[tokens].next_values(self._largest.padding(name))
        return parts


def concatenated(parts: Sequence[Arrays], padding: Mapping[str, int]) -> Arrays:
    """Returns the arrays of all batches. Shorter sequences are padded to the longest."""
    found = {}
    for name in parts[0]:
        arrays = [part[name] for part in parts]
        whole = np.max([array.shape[1:] for array in arrays], axis=0) if arrays[0].ndim > 1 else ()
        widths = [[(0, 0), *((0, int(size) - own) for own, size in zip(array.shape[1:], whole, strict=True))] for array in arrays]
        found[name] = np.concatenate(
            [np.pad(array, width, constant_values=padding.get(name, 0)) for array, width in zip(arrays, widths, strict=True)]
        )
    return found
