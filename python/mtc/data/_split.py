"""The split into a training and a validation part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mtc.errors import DataError

TRAIN, VALIDATION, DROPPED = 0, 1, 2


def random_keys(count: int, seed: int) -> NDArray[np.uint64]:
    """Returns the first numbers of the generator SplitMix64 (Steele, Lea and Flood, 2014), which are distinct. They do not depend on the
    version of NumPy."""
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed % (1 << 64))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def split(kept: NDArray[np.bool_], strata: NDArray[np.int32] | None, fraction: float, seed: int) -> NDArray[np.uint8]:
    """Assigns each row to TRAIN, VALIDATION or DROPPED.

    Args:
        kept: Whether each row is kept.
        strata: A class of each row; each class gets its share of the validation part. None: no classes.
        fraction: The share of the validation part.
        seed: The rows are chosen by this seed.

    Raises:
        DataError: If a part would be empty.
    """
    parts = np.full(len(kept), DROPPED, np.uint8)
    rows = np.flatnonzero(kept)
    parts[rows] = TRAIN
    classes = np.zeros(len(rows), np.int32) if strata is None else strata[rows]
    order = np.lexsort((random_keys(len(kept), seed)[rows], classes))
    for group in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        count = int(np.floor(len(group) * fraction + 0.5))
        parts[rows[group[: min(count, len(group) - 1)]]] = VALIDATION
    if not (parts == VALIDATION).any():
        of_class = "" if strata is None else " in any class"
        raise DataError(f"--validation {fraction:g}: is no row of {len(rows)}{of_class}; expected a larger fraction")
    return parts
