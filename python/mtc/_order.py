"""The samples of each batch of a data set, in the order of a program with the same seed."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from mtc import _library
from mtc._batches import Samples

if TYPE_CHECKING:
    from mtc.trainer import Trainer

Choice = tuple[NDArray[np.int64], int, int | None]
"""The samples of a batch, their number without padding, and the shape of the batch; ``None``: the smallest that holds the samples."""


class Order(Protocol):
    def choose(self, ahead: int) -> Choice:
        """Returns the batch after the next ``ahead`` batches."""
        ...

    def steps_of(self, epochs: int) -> int:
        """Returns the number of updates of epochs."""
        ...

    def ends_epoch(self, step: int) -> bool:
        """Returns whether an epoch ends with an update, counted from 1."""
        ...


class ConsecutiveOrder:
    """Batches of the size of the largest shape that holds all samples."""

    def __init__(self, trainer: Trainer, samples: Samples, shuffle: bool, last_batch: str | None) -> None:
        self._trainer, self._count, self._shuffle = trainer, samples.count, shuffle
        self._batch, self._shape = trainer._inputs.batch_of(samples.longest(trainer._inputs))
        self._size = self._batch * trainer.batches_per_update
        # The last batch of an epoch is not padded if there is a shape of its size, as in programs.
        has_shape = trainer.batches_per_update == 1 and samples.count % self._batch in trainer._batches
        self._last_batch = last_batch or ("mask" if has_shape else "wrap")

    def choose(self, ahead: int) -> Choice:
        rows, chosen = np.empty(self._batch, np.int64), ctypes.c_int64()
        last = _library.LAST_BATCHES[self._last_batch]
        self._trainer._select(self._shape)
        self._trainer._call(
            "choose_samples", self._count, int(self._shuffle), last, ahead, rows.ctypes.data, ctypes.byref(chosen)
        )
        return rows, chosen.value, None

    def steps_of(self, epochs: int) -> int:
        if self._last_batch == "wrap":
            return -(-epochs * self._count // self._size)
        whole, rest = divmod(self._count, self._size)
        return epochs * (whole + (self._last_batch == "mask" and rest > 0))

    def ends_epoch(self, step: int) -> bool:
        if self._last_batch == "wrap":
            return step * self._size // self._count > (step - 1) * self._size // self._count
        return step % max(1, self.steps_of(1)) == 0


class GroupedOrder:
    """Batches of samples of similar lengths.

    Args:
        updates: Number of updates of an epoch.
    """

    def __init__(self, trainer: Trainer, updates: int) -> None:
        self._trainer, self._updates = trainer, updates

    def choose(self, ahead: int) -> Choice:
        rows, chosen, shape = np.empty(max(self._trainer._batches), np.int64), ctypes.c_int64(), ctypes.c_uint32()
        self._trainer._call("choose_grouped_samples", ahead, rows.ctypes.data, ctypes.byref(chosen), ctypes.byref(shape))
        return rows[: self._trainer._batches[shape.value]], chosen.value, shape.value

    def steps_of(self, epochs: int) -> int:
        return epochs * self._updates

    def ends_epoch(self, step: int) -> bool:
        return step % self._updates == 0


def order_of(trainer: Trainer, samples: Samples, shuffle: bool, last_batch: str | None, bucket_by: str | None) -> Order:
    """Returns the order of a data set. Samples that need several shapes are grouped if they are shuffled, or ``bucket_by`` says so."""
    if samples.lengths is not None and (shuffle if bucket_by is None else bucket_by == "length"):
        if last_batch == "wrap":
            raise ValueError(
                "last_batch='wrap': batches of samples of similar lengths end with their epoch; use 'mask' or 'drop', or bucket_by='none'"
            )
        table, updates = np.ascontiguousarray(samples.lengths), ctypes.c_int64()
        last = _library.LAST_BATCHES[last_batch or "mask"]
        trainer._call("group_samples", samples.count, table.ctypes.data, int(shuffle), last, ctypes.byref(updates))
        if updates.value:
            return GroupedOrder(trainer, updates.value)
    elif samples.lengths is None and bucket_by == "length":
        raise ValueError("bucket_by='length': the samples have one length, or the library has one shape")
    return ConsecutiveOrder(trainer, samples, shuffle, last_batch)
