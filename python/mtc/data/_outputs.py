"""The outputs of a conversion: the data of inputs, by kind of column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc.data import _arrays
from mtc.data._options import Options
from mtc.data._packages import require
from mtc.data._text import Tokenizer
from mtc.data._writers import NpyWriter, RaggedWriter, TokenWriter
from mtc.errors import DataError

MAX_CLASSES = 10_000
INTEGERS = ("uint8", "int16", "int32", "int64", "uint64")


def matches(column: str, patterns: Sequence[str]) -> bool:
    """Returns whether one of the patterns matches a column."""
    return any(fnmatchcase(column, pattern) for pattern in patterns)


class Output(ABC):
    """The data of one input of a program.

    The rows of the training source are scanned once before anything is written.

    Attributes:
        name: Name of the input, and of the files.
        columns: The columns that it needs.
        lengths: Lengths of the written rows before padding and truncation, if they can vary.
    """

    can_replace_missing = False

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name, self.columns = name, list(columns)
        self.lengths: list[NDArray[np.int64]] = []
        self.dtype: np.dtype[Any] = np.dtype("int32")

    def missing(self, batch: Any) -> dict[str, NDArray[np.bool_]]:
        """Returns which rows have no value, by column."""
        return {column: batch.column(column).is_null().to_numpy(zero_copy_only=False) for column in self.columns}

    def scan(self, batch: Any, is_training: bool) -> None:  # noqa: B027
        """Examines the rows of a source, in which values may be missing."""

    def finish_scan(self) -> None:  # noqa: B027
        """Ends the scan of all sources."""

    @abstractmethod
    def open(self, folder: Path, rows: int) -> Any:
        """Creates the files of a part of this number of rows."""

    @abstractmethod
    def write(self, writer: Any, batch: Any, keep: NDArray[np.bool_]) -> None:
        """Writes some rows of a batch."""

    def close(self, writer: Any) -> str:
        """Completes the files of a part, and returns their shape."""
        return str(writer.close())

    def file(self) -> str:
        """Returns the value of ``--data`` inside the folder of a part."""
        return f"{self.name}.npy"


class Statistics:
    """Mean and standard deviation of a column, updated by batches (Chan, Golub and LeVeque, 1979)."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: NDArray[Any]) -> None:
        if not len(values):
            return
        values = values.astype(np.float64)
        mean, count = float(values.mean()), self.count + len(values)
        delta = mean - self.mean
        self._squares += float(((values - mean) ** 2).sum()) + delta * delta * self.count * len(values) / count
        self.mean += delta * len(values) / count
        self.count = count

    @property
    def deviation(self) -> float:
        """The standard deviation of the population; 1 for a constant column, which is then only centered."""
        variance = self._squares / max(1, self.count)
        return float(np.sqrt(variance)) if variance > 0 else 1.0


class Numbers(Output):
    """Numbers: one column, or several as features. Integers are stored in the smallest type that holds them, floats as float32."""

    can_replace_missing = True

    def __init__(self, name: str, columns: Sequence[str], is_joined: bool, options: Options) -> None:
        super().__init__(name, columns)
        self._is_joined, self._replacement = is_joined, options.missing
        self._normalized = {column for column in columns if matches(column, options.normalize)}
        self.statistics = {column: Statistics() for column in columns}
        self._kinds: set[str] = set()
        self._minimum, self._maximum = 0, 0

    @property
    def needs_statistics(self) -> bool:
        return bool(self._normalized) or self._replacement == "mean"

    @property
    def normalized(self) -> dict[str, dict[str, float]]:
        """The statistics by which columns are normalized."""
        return {c: {"mean": s.mean, "std": s.deviation} for c, s in self.statistics.items() if c in self._normalized}

    def missing(self, batch: Any) -> dict[str, NDArray[np.bool_]]:
        return {column: _arrays.numbers(batch.column(column))[1] for column in self.columns}

    def scan(self, batch: Any, is_training: bool) -> None:
        for column in self.columns:
            values, missing = _arrays.numbers(batch.column(column))
            kind = values.dtype.kind
            self._kinds.add("f" if missing.any() and self._replacement == "mean" else kind)
            if kind in "iu" and len(values):
                self._minimum = min(self._minimum, int(values.min()))
                self._maximum = max(self._maximum, int(values.max()))

    def add_statistics(self, batch: Any, keep: NDArray[np.bool_]) -> None:
        """Adds rows of the training part."""
        for column, statistics in self.statistics.items():
            values, missing = _arrays.numbers(batch.column(column))
            statistics.add(values[keep & ~missing])

    def finish_scan(self) -> None:
        if self._normalized or "f" in self._kinds:
            self.dtype = np.dtype("float32")
        elif self._kinds == {"b"}:
            self.dtype = np.dtype("bool")
        else:
            fits = (np.dtype(kind) for kind in INTEGERS)
            self.dtype = next(d for d in fits if np.iinfo(d).min <= self._minimum and self._maximum <= np.iinfo(d).max)

    def open(self, folder: Path, rows: int) -> NpyWriter:
        return NpyWriter(folder / self.file(), self.dtype, (len(self.columns),) if self._is_joined else ())

    def write(self, writer: NpyWriter, batch: Any, keep: NDArray[np.bool_]) -> None:
        parts = []
        for column in self.columns:
            values, missing = _arrays.numbers(batch.column(column))
            values, missing = values[keep], missing[keep]
            statistics = self.statistics[column]
            if missing.any() and self._replacement == "mean":
                values = np.where(missing, statistics.mean, values)
            if column in self._normalized:
                values = (values - statistics.mean) / statistics.deviation
            with np.errstate(over="ignore"):
                converted = values.astype(self.dtype)
            if self.dtype == np.float32 and (wrong := np.isinf(converted) & np.isfinite(values)).any():
                raise DataError(f"column '{column}': has the value {values[wrong][0]:g}; expected values of at most 3.4e38, "
                                "the range of float32")  # fmt: skip
            parts.append(converted)
        writer.write(np.stack(parts, axis=1) if self._is_joined else parts[0])


class Classes(Output):
    """Classes as indices: sorted strings, booleans, or integers, unless the source stores their names.

    Attributes:
        is_label: Whether a split is stratified by these classes.
        can_replace_missing: Whether missing values are the last class, if there are any in the training source.
    """

    def __init__(self, name: str, column: str, stored: Sequence[str] | None, options: Options, is_label: bool = False) -> None:
        super().__init__(name, [column])
        self._stored, self.is_label = stored, is_label
        self.can_replace_missing = not is_label and options.missing in ("mean", "zero")
        self._has_missing = False
        self._indices: dict[Any, int] = {}
        self._codes: list[NDArray[np.int32]] = []
        self.dtype = np.dtype("int64")

    @property
    def names(self) -> list[str | None]:
        """Names of the classes, by index; None for missing values."""
        names = list(self._stored) if self._stored else [str(value) for value in self._indices]
        return [*names, None] if self._has_missing else [*names]

    def codes(self) -> NDArray[np.int32]:
        """Returns a number of each scanned row's class, in the order of their first appearance; -1 if it is missing."""
        return np.concatenate(self._codes) if self._codes else np.zeros(0, np.int32)

    def _encoded(self, batch: Any) -> tuple[list[Any], NDArray[np.int64]]:
        """Returns the distinct values of a batch, and for each row the index of its value, or the number of values if it is missing."""
        column = batch.column(self.columns[0])
        if not _arrays.types().is_dictionary(column.type):
            column = column.dictionary_encode()
        values = column.dictionary.to_pylist()
        return values, column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int64)

    def scan(self, batch: Any, is_training: bool) -> None:
        if not is_training:
            return
        values, rows = self._encoded(batch)
        for value in values:
            self._indices.setdefault(value, len(self._indices))
        if len(self._indices) > MAX_CLASSES:
            raise DataError(f"column '{self.columns[0]}': has more than {MAX_CLASSES:,} distinct values; expected classes. "
                            f"Text needs --text, and --skip {self.columns[0]} omits the column")  # fmt: skip
        self._codes.append(np.array([*(self._indices[value] for value in values), -1], np.int32)[rows])
        self._has_missing |= self.can_replace_missing and bool((self._codes[-1] < 0).any())

    def finish_scan(self) -> None:
        if not self._stored:
            ordered = sorted(value for value in self._indices if value is not None)
            self._indices = {value: index for index, value in enumerate(ordered)}
        else:  # The rows have names or indices of the stored classes.
            self._indices = {value: i for i, name in enumerate(self._stored) for value in (i, name)}

    def open(self, folder: Path, rows: int) -> tuple[NpyWriter, NDArray[np.int64]]:
        return NpyWriter(folder / self.file(), self.dtype, ()), np.zeros(len(self.names), np.int64)

    def write(self, writer: tuple[NpyWriter, NDArray[np.int64]], batch: Any, keep: NDArray[np.bool_]) -> None:
        file, counts = writer
        values, rows = self._encoded(batch)
        missing = len(self.names) - 1 if self._has_missing else -1
        table = np.array([*(self._indices.get(value, -1) for value in values), missing], np.int64)
        rows = rows[keep]
        indices = table[rows]
        if (unknown := indices < 0).any():
            value = [*map(repr, values), "a missing value"][rows[unknown][0]]
            raise DataError(f"column '{self.columns[0]}': {value} is no class of the training data; "
                            f"expected {', '.join(name for name in self.names[:10] if name is not None)}")  # fmt: skip
        counts += np.bincount(indices, minlength=len(counts))
        file.write(indices)

    def close(self, writer: tuple[NpyWriter, NDArray[np.int64]]) -> str:
        return writer[0].close()


class Rows(Output):
    """Rows of values: fixed-shape if all have one length or are padded to one, else ragged."""

    def __init__(self, name: str, columns: Sequence[str], length: int | None) -> None:
        super().__init__(name, columns)
        self._length = length
        self._shape: tuple[int, ...] = ()
        self._padding = 0

    def file(self) -> str:
        return f"{self.name}.npy" if self._length is not None else f"{self.name}.safetensors"

    def open(self, folder: Path, rows: int) -> NpyWriter | RaggedWriter:
        if self._length is None:
            return RaggedWriter(folder / self.file(), self.dtype, self._shape, rows)
        return NpyWriter(folder / self.file(), self.dtype, (self._length, *self._shape))

    def _padded(self, values: NDArray[Any], lengths: NDArray[np.int64], padding: int) -> NDArray[Any]:
        """Returns rows of the fixed length."""
        assert self._length is not None
        taken = np.minimum(lengths, self._length)
        result = np.full((len(lengths), self._length, *values.shape[1:]), padding, values.dtype)
        starts = np.cumsum(lengths) - lengths
        inside = np.arange(self._length) < taken[:, None]
        result[inside] = values[(starts[:, None] + np.arange(self._length))[inside]]
        return result

    def write_rows(self, writer: Any, values: NDArray[Any], lengths: NDArray[np.int64]) -> None:
        """Writes rows of these lengths."""
        if self._length is None:
            writer.write(values, lengths)
        else:
            writer.write(self._padded(values, lengths, self._padding))


class Lists(Rows):
    """A column of lists of numbers."""

    def __init__(self, name: str, column: str, length: int | None) -> None:
        super().__init__(name, [column], length)
        self._range: tuple[int, int] | None = None
        self._is_narrow = False

    def _values(self, batch: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
        return _arrays.lists(batch.column(self.columns[0]), f"column '{self.columns[0]}'")

    def scan(self, batch: Any, is_training: bool) -> None:
        column = batch.column(self.columns[0])
        lengths, values = _arrays.lists(column.drop_null(), f"column '{self.columns[0]}'")
        self.dtype = np.dtype("float32") if values.dtype.kind == "f" else values.dtype
        self._shape = values.shape[1:]
        if len(lengths):
            low, high = self._range or (int(lengths[0]), int(lengths[0]))
            self._range = min(low, int(lengths.min())), max(high, int(lengths.max()))

    def finish_scan(self) -> None:
        if self._range and self._range[0] == self._range[1]:
            self._length = self._range[0]

    def write(self, writer: Any, batch: Any, keep: NDArray[np.bool_]) -> None:
        rows = require("pyarrow", "reading tables").array(np.flatnonzero(keep))
        lengths, values = self._values(batch.take(rows))
        self.lengths.append(lengths)
        self.write_rows(writer, values, lengths)


class Text(Rows):
    """Token ids of a column of text, or of pairs of texts, with attention mask and type ids if rows are padded."""

    def __init__(self, name: str, columns: Sequence[str], tokenizer: Tokenizer, length: int | None) -> None:
        super().__init__(name, columns, length)
        self._tokenizer, self._padding = tokenizer, tokenizer.padding

    def open(self, folder: Path, rows: int) -> list[Any]:
        writers: list[Any] = [super().open(folder, rows)]
        if self._length is not None:
            writers.append(NpyWriter(folder / "attention_mask.npy", "uint8", (self._length,)))
        if len(self.columns) > 1:
            kinds = "token_type_ids"
            if self._length is None:
                writers.append(RaggedWriter(folder / f"{kinds}.safetensors", "int32", (), rows))
            else:
                writers.append(NpyWriter(folder / f"{kinds}.npy", "int32", (self._length,)))
        return writers

    def write(self, writer: list[Any], batch: Any, keep: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(keep)
        texts = [[values[row] or "" for row in rows] for values in (_arrays.strings(batch.column(c)) for c in self.columns)]
        encoded = self._tokenizer.rows(texts[0], texts[1] if len(texts) > 1 else None)
        ids, kinds, lengths = encoded.ids, encoded.kinds, encoded.lengths
        self.lengths.append(encoded.whole_lengths)
        self.write_rows(writer[0], ids, lengths)
        if self._length is not None:
            writer[1].write(self._padded(np.ones(len(ids), np.uint8), lengths, 0))
        if len(self.columns) > 1:
            if self._length is None:
                writer[-1].write(kinds, lengths)
            else:
                writer[-1].write(self._padded(kinds, lengths, 0))

    def close(self, writer: list[Any]) -> str:
        return [each.close() for each in writer][0]


class Stream(Output):
    """A column of text as one stream of tokens."""

    def __init__(self, name: str, column: str, tokenizer: Tokenizer) -> None:
        super().__init__(name, [column])
        self._tokenizer = tokenizer
        self.dtype = np.dtype("uint16" if tokenizer.vocabulary <= 1 << 16 else "uint32")

    def file(self) -> str:
        return f"{self.name}-*.bin"

    def open(self, folder: Path, rows: int) -> TokenWriter:
        return TokenWriter(folder, self.name, self._tokenizer.vocabulary)

    def write(self, writer: TokenWriter, batch: Any, keep: NDArray[np.bool_]) -> None:
        values = _arrays.strings(batch.column(self.columns[0]))
        texts = [values[row] or "" for row in np.flatnonzero(keep)]
        writer.write(self._tokenizer.stream(texts, [True] * len(texts)))
