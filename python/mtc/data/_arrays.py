"""Arrow arrays as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc.data._packages import require
from mtc.errors import DataError


def types() -> Any:
    """Returns ``pyarrow.types``."""
    return require("pyarrow.types", "reading tables")


def is_number(kind: Any) -> bool:
    """Returns whether a type has numbers, booleans or decimals; a column without values (null) counts as one."""
    t = types()
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or t.is_decimal(kind) or t.is_null(kind))


def is_text(kind: Any) -> bool:
    """Returns whether a type has strings, also as a dictionary."""
    t = types()
    return bool(t.is_string(kind) or t.is_large_string(kind) or (t.is_dictionary(kind) and is_text(kind.value_type)))


def is_list(kind: Any) -> bool:
    """Returns whether a type has lists of any length or of a fixed one."""
    t = types()
    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


def numbers(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Returns the values of a column of numbers, with 0 for missing ones (null or NaN), and a mask of the missing ones."""
    t = types()
    if t.is_decimal(array.type) or t.is_null(array.type):
        array = array.cast("float64")
    missing = array.is_null().to_numpy(zero_copy_only=False)
    if array.null_count:
        array = array.fill_null(False if t.is_boolean(array.type) else 0)
    values = array.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f" and (nans := np.isnan(values)).any():
        missing = missing | nans
        values = np.where(nans, 0, values)
    return values, missing


def strings(array: Any) -> list[str | None]:
    """Returns the values of a column of strings."""
    return array.to_pylist()  # type: ignore[no-any-return]


def lists(array: Any, where: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Returns the lengths of a column of lists, and its values as an array [values, ...]. Inner lists must have one length.

    Args:
        array: A column of lists without missing lists.
        where: The column, for messages.
    """
    t = types()
    if t.is_fixed_size_list(array.type):
        lengths = np.full(len(array), array.type.list_size, np.int64)
    else:
        lengths = array.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    inner = array.flatten()
    if is_list(inner.type):
        inner_lengths, values = lists(inner, where)
        if inner_lengths.size and inner_lengths.min() != inner_lengths.max():
            raise DataError(f"{where}: lists inside its lists have {inner_lengths.min()} to {inner_lengths.max()} values; "
                            "expected one length")  # fmt: skip
        length = int(inner_lengths[0]) if inner_lengths.size else 0
        return lengths, values.reshape(-1, length, *values.shape[1:])
    if not is_number(inner.type):
        raise DataError(f"{where}: has lists of {inner.type}; expected numbers")
    values, missing = numbers(inner)
    if missing.any():
        raise DataError(f"{where}: a list has a missing value; expected numbers")
    return lengths, values
