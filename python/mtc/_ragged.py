"""Rows of different lengths, such as the tokens of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Views(Sequence[NDArray[Any]]):
    """Consecutive parts of an array."""

    def __init__(self, values: NDArray[Any], offsets: NDArray[np.int64]) -> None:
        self._values, self._offsets = values, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return [self[row] for row in range(*rows.indices(len(self)))]
        return self._values[self._offsets[rows] : self._offsets[rows + 1]]


class Ragged:
    """Rows that differ in the extent of their first axis.

    Raises:
        ValueError: If the rows differ in other axes.
    """

    def __init__(self, rows: Sequence[NDArray[Any]], lengths: NDArray[np.int64] | None = None) -> None:
        self.rows = rows
        if lengths is not None:
            self.lengths = lengths
            return
        self.lengths = np.array([len(row) for row in rows], np.int64)
        if len({row.shape[1:] for row in rows}) > 1:
            shapes = ", ".join(map(str, sorted({row.shape for row in rows})[:3]))
            raise ValueError(f"rows of the shapes {shapes}; expected rows that differ in length only")

    @classmethod
    def of(cls, values: NDArray[Any], offsets: NDArray[np.int64]) -> Ragged:
        """Returns rows that are views of values: row i has those from ``offsets[i]`` to ``offsets[i + 1]``."""
        return cls(_Views(values, offsets), np.diff(offsets))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an array that holds the rows."""
        return (len(self.rows), int(self.lengths.max(initial=0)), *(self.rows[0].shape[1:] if self.rows else ()))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Ragged:
        return Ragged(self.rows[rows] if isinstance(rows, slice) else [self.rows[int(row)] for row in rows])

    def marks(self) -> Ragged:
        """Returns ones in place of the values, for a mask."""
        return Ragged([np.ones(length, np.int64) for length in self.lengths])

    def next_values(self, last: int) -> Ragged:
        """Returns the next value of each value, and ``last`` for the last one of a row."""
        return Ragged([np.append(row[1:], last) if len(row) else row for row in self.rows])

    def padded(self, length: int, value: int) -> NDArray[Any]:
        """Returns an array with rows of one length, at least the longest."""
        types = {row.dtype for row in self.rows if len(row)} or {np.dtype(np.int64)}
        dtype = np.result_type(np.min_scalar_type(value), *types)
        result = np.full((len(self.rows), length, *self.shape[2:]), value, dtype)
        for row, values in zip(result, self.rows, strict=True):
            row[: len(values)] = values
        return result
