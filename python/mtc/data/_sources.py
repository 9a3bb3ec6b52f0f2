"""Sources of rows: files of tables, read in batches of bounded size."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mtc.data._options import Options
from mtc.data._packages import require
from mtc.errors import DataError

BATCH_BYTES = 32 << 20  # of decoded rows, approximately
MAX_BATCH_ROWS = 1 << 16
CSV_BLOCK = 4 << 20
READ_BYTES = 1 << 20  # of each column of a Parquet file
FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".csv.gz": "csv", ".tsv.gz": "csv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".jsonl": "json", ".ndjson": "json", ".txt": "text",
}  # fmt: skip


def format_of(path: Path) -> str | None:
    """Returns the format of a file by its extension; None if it is unknown."""
    name = path.name.lower()
    return next((kind for ending, kind in FORMATS.items() if name.endswith(ending)), None)


class Source:
    """The rows of files of one format.

    Attributes:
        files: The files, in order.
        schema: The ``pyarrow.Schema`` of the rows.
        rows: The number of rows; None if the files do not store it.
        classes: Names of classes by column, if the files store them.
    """

    files: Sequence[Path]
    schema: Any
    rows: int | None = None
    classes: dict[str, list[str]]

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self.classes = {}

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, float | None]]:
        """Yields record batches of these columns, with the share of the source that is read, None if it is unknown."""
        raise NotImplementedError


class ParquetSource(Source):
    """Parquet files, read by row groups."""

    def __init__(self, files: Sequence[Path], options: Options) -> None:
        super().__init__(files)
        self._parquet = require("pyarrow.parquet", f"{files[0]}: Parquet")
        self.schema = _same_schema(files, lambda file: self._open(file).schema_arrow)
        self.rows = sum(self._open(file).metadata.num_rows for file in files)

    def _open(self, file: Path) -> Any:
        """Opens a file without reading ahead: a whole row group may exceed the memory."""
        return self._parquet.ParquetFile(file, pre_buffer=False, buffer_size=READ_BYTES)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, float | None]]:
        done = 0
        for file in self.files:
            opened = self._open(file)
            groups = [opened.metadata.row_group(i) for i in range(opened.metadata.num_row_groups)]
            bytes_of_row = sum(group.total_byte_size for group in groups) / max(1, opened.metadata.num_rows)
            rows = max(1, min(MAX_BATCH_ROWS, int(BATCH_BYTES / max(1.0, bytes_of_row))))
            for group in range(len(groups)):
                for batch in opened.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
                    done += batch.num_rows
                    yield batch, done / max(1, self.rows or 1)


class ArrowSource(Source):
    """Arrow files (also Feather), and streams as the package datasets writes them."""

    def __init__(self, files: Sequence[Path], options: Options) -> None:
        super().__init__(files)
        self._arrow = require("pyarrow", f"{files[0]}: Arrow")
        require("pyarrow.ipc", f"{files[0]}: Arrow")
        self.schema = _same_schema(files, lambda file: self._open(file).schema)

    def _open(self, file: Path) -> Any:
        """Returns a reader with a schema; mapped pages belong to the page cache."""
        mapped = self._arrow.memory_map(str(file))
        if mapped.read(6) == b"ARROW1":
            return self._arrow.ipc.open_file(mapped)
        mapped.seek(0)
        return self._arrow.ipc.open_stream(mapped)

    def _batches_of(self, file: Path) -> Iterator[Any]:
        reader = self._open(file)
        if hasattr(reader, "num_record_batches"):
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
        else:
            yield from reader

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, float | None]]:
        total = sum(file.stat().st_size for file in self.files)
        done = 0
        for file in self.files:
            for batch in self._batches_of(file):
                done += batch.nbytes
                selected = batch.select(list(columns))
                rows = max(1, min(MAX_BATCH_ROWS, BATCH_BYTES * batch.num_rows // max(1, batch.nbytes)))
                for at in range(0, batch.num_rows, rows):
                    yield selected.slice(at, rows), min(1.0, done / max(1, total))


class CsvSource(Source):
    """CSV files. Types are inferred from all rows: integers, else floats, else strings."""

    def __init__(self, files: Sequence[Path], options: Options) -> None:
        super().__init__(files)
        self._arrow = require("pyarrow", f"{files[0]}: CSV")
        self._csv = require("pyarrow.csv", f"{files[0]}: CSV")
        self._options = options
        self._types: dict[str, Any] = {}
        self.schema = self._infer()

    def _open(self, file: Path) -> tuple[Any, Any]:
        """Returns a reader and the file below it, whose position is the progress."""
        csv = self._csv
        is_tabbed = ".tsv" in file.name.lower()
        below = self._arrow.OSFile(str(file))
        content = self._arrow.CompressedInputStream(below, "gzip") if file.name.lower().endswith(".gz") else below
        reader = csv.open_csv(
            content,
            csv.ReadOptions(block_size=CSV_BLOCK, autogenerate_column_names=not self._options.has_header),
            csv.ParseOptions(delimiter=self._options.delimiter or ("\t" if is_tabbed else ","), newlines_in_values=True),
            csv.ConvertOptions(column_types=self._types, strings_can_be_null=True, quoted_strings_can_be_null=False),
        )
        return reader, below

    def _infer(self) -> Any:
        """Reads all files until one set of types fits every row."""
        arrow = self._arrow
        while True:
            file = self.files[0]
            try:
                names: list[str] | None = None
                for file in self.files:
                    reader, _ = self._open(file)
                    if names is not None and reader.schema.names != names:
                        raise DataError(f"{file}: has columns {', '.join(reader.schema.names)}; expected those of "
                                        f"{self.files[0]}: {', '.join(names)}")  # fmt: skip
                    names = reader.schema.names
                    for column in reader.schema:
                        self._types.setdefault(column.name, column.type)
                    for _ in reader:
                        pass
                return arrow.schema([(name, self._types[name]) for name in names or []])
            except arrow.ArrowInvalid as error:
                self._widen(file, str(error))

    def _widen(self, file: Path, problem: str) -> None:
        """Replaces the type of the column that a conversion error names by a wider one."""
        found = re.search(r"In CSV column #(\d+): .*CSV conversion error to (\w+)", problem, re.DOTALL)
        if not found:
            raise DataError(f"{file}: is no valid CSV file: {problem.splitlines()[0]}")
        arrow = self._arrow
        name = list(self._types)[int(found.group(1))]
        wider = {"null": arrow.int64(), "int64": arrow.float64()}
        self._types[name] = wider.get(found.group(2), arrow.string())

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, float | None]]:
        total = sum(file.stat().st_size for file in self.files)
        before = 0
        for file in self.files:
            reader, below = self._open(file)
            for batch in reader:
                yield batch.select(list(columns)), min(1.0, (before + below.tell()) / max(1, total))
            before += file.stat().st_size


class JsonSource(Source):
    """Files with a JSON object on each line."""

    def __init__(self, files: Sequence[Path], options: Options) -> None:
        super().__init__(files)
        self._arrow = require("pyarrow", f"{files[0]}: JSON")
        self._json = require("pyarrow.json", f"{files[0]}: JSON")
        self._schema: Any = None
        self.schema = self._schema = self._infer()

    def _open(self, file: Path) -> Any:
        options = self._json.ParseOptions(explicit_schema=self._schema, newlines_in_values=False)
        return self._json.open_json(str(file), self._json.ReadOptions(block_size=CSV_BLOCK), options)

    def _infer(self) -> Any:
        """Unifies the types of the first block of each file."""
        schemas = [self._checked(file, lambda file=file: self._open(file).schema) for file in self.files]
        try:
            return self._arrow.unify_schemas(schemas, promote_options="permissive")
        except self._arrow.ArrowInvalid as error:
            raise DataError(f"{self.files[0]}: the files have columns of different types: {error}") from None

    def _checked(self, file: Path, action: Any) -> Any:
        try:
            return action()
        except self._arrow.ArrowInvalid as error:
            raise DataError(f"{file}: is no file of JSON lines of one form: {str(error).splitlines()[0]}") from None

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, float | None]]:
        for number, file in enumerate(self.files):
            reader = self._open(file)
            while (batch := self._checked(file, lambda reader=reader: next(reader, None))) is not None:
                yield batch.select(list(columns)), number / len(self.files)


class TextSource(Source):
    """Text files in UTF-8, read in blocks of lines."""

    MAX_BLOCK = 1 << 20
    MIN_BLOCKS = 100  # of all files, so that a fraction of them is a fraction of the text

    def __init__(self, files: Sequence[Path], options: Options) -> None:
        super().__init__(files)
        self._arrow = require("pyarrow", f"{files[0]}: text")
        self.schema = self._arrow.schema([("text", self._arrow.string())])

    def blocks(self) -> Iterator[tuple[str, bool, float]]:
        """Yields blocks of whole lines, whether their file ends after them, and the share that is read."""
        total = sum(file.stat().st_size for file in self.files)
        size = max(1, min(self.MAX_BLOCK, total // self.MIN_BLOCKS))
        done = 0
        for file in self.files:
            with file.open(encoding="utf-8", newline="") as opened:
                try:
                    lines = opened.readlines(size)
                    while lines:
                        text = "".join(lines)
                        done += len(text.encode())
                        lines = opened.readlines(size)
                        yield text, not lines, done / max(1, total)
                except UnicodeDecodeError as error:
                    raise DataError(f"{file}: is not UTF-8: {error.reason}; expected text in UTF-8") from None


SOURCES = {"csv": CsvSource, "parquet": ParquetSource, "arrow": ArrowSource, "json": JsonSource, "text": TextSource}


def _same_schema(files: Sequence[Path], schema_of: Any) -> Any:
    """Returns the schema of the first file. The other files must have the same columns and types."""
    arrow = require("pyarrow", "reading tables")
    first = None
    for file in files:
        try:
            schema = schema_of(file)
        except (arrow.ArrowInvalid, OSError) as error:
            raise DataError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from None
        if first is None:
            first = schema
        elif not schema.equals(first):
            raise DataError(f"{file}: has other columns or types than {files[0]}; expected files of one table")
    return first


def _saved_dataset(folder: Path, split: str | None) -> Source | None:
    """Opens a folder that ``save_to_disk`` of the package datasets wrote; None if it is none."""
    if (folder / "dataset_dict.json").exists():
        splits = json.loads((folder / "dataset_dict.json").read_text()).get("splits", [])
        chosen = split or ("train" if "train" in splits else None)
        if chosen not in splits:
            raise DataError(f"{folder}: has the splits {', '.join(splits)}; choose one with {folder}:SPLIT")
        return _saved_dataset(folder / chosen, None)
    if not (folder / "state.json").exists():
        return None
    state = json.loads((folder / "state.json").read_text())
    source = ArrowSource([folder / each["filename"] for each in state["_data_files"]], None)  # type: ignore[arg-type]
    information = folder / "dataset_info.json"
    features = json.loads(information.read_text()).get("features") if information.exists() else None
    for name, feature in (features or {}).items():
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
            source.classes[name] = feature["names"]
    return source


def _files_of(text: str) -> list[Path]:
    """Returns the files of an argument, in the order of their names."""
    path = Path(text)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and format_of(file))
        if not files:
            raise DataError(f"{path}: is a folder without tables or text; expected {', '.join(FORMATS)}, "
                            "or a folder of save_to_disk")  # fmt: skip
        return files
    if path.exists():
        return [path]
    if glob.has_magic(text):
        files = [Path(match) for match in sorted(glob.glob(text))]
        if files:
            return files
        raise DataError(f"{text}: no file matches this pattern")
    raise DataError(f"{text}: no such file or folder")


def open_source(inputs: Sequence[str], options: Options) -> Source:
    """Opens the files of a command line as one table.

    Raises:
        DataError: If a file cannot be read, or the files do not belong to one table.
    """
    files: list[Path] = []
    for text in inputs:
        folder, colon, split = text.rpartition(":")
        for path, chosen in ((Path(text), None), (Path(folder), split)):
            if path.is_dir() and (chosen is None or colon) and (saved := _saved_dataset(path, chosen)):
                if len(inputs) > 1:
                    raise DataError(f"{text}: is a folder of save_to_disk; expected it as the only input")
                return saved
        files += _files_of(text)
    kinds = {format_of(file) for file in files}
    for file in files:
        if format_of(file) is None:
            raise DataError(f"{file}: has an unknown format; expected {', '.join(FORMATS)}, or a folder of save_to_disk")
    if len(kinds) > 1:
        raise DataError(f"{files[0]}: the inputs have several formats ({', '.join(sorted(map(str, kinds)))}); "
                        "expected one table")  # fmt: skip
    return SOURCES[kinds.pop()](files, options)  # type: ignore[index, no-any-return]
