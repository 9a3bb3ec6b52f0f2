"""The conversion: scans of the sources, the split, and the files of both parts."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc.data._images import ImageSource, open_image_folder
from mtc.data._options import Options
from mtc.data._outputs import Classes, Numbers, Output, Stream
from mtc.data._plan import plan_images, plan_outputs
from mtc.data._progress import Progress
from mtc.data._report import describe
from mtc.data._sources import Source, TextSource, open_source
from mtc.data._split import DROPPED, TRAIN, VALIDATION, split
from mtc.data._text import Tokenizer
from mtc.data._writers import TokenWriter
from mtc.errors import DataError

PARTS = ("train", "validation")
MANIFEST = "dataset.json"


@dataclass
class Scan:
    """What a pass over a source has found.

    Attributes:
        has_value: Whether each row has all values that cannot be replaced.
        missing: Number of missing values by column, and the first row without one.
    """

    has_value: NDArray[np.bool_]
    missing: dict[str, tuple[int, int]]


@dataclass
class Part:
    """A part of the converted data.

    Attributes:
        name: ``train`` or ``validation``.
        rows: Number of rows.
        shapes: Shape of each output, for the report.
        counts: Number of rows of each class, by output.
    """

    name: str
    rows: int
    shapes: dict[str, str] = field(default_factory=dict)
    counts: dict[str, list[int]] = field(default_factory=dict)


def _open(inputs: Sequence[str], options: Options) -> Source:
    """Opens the files of a command line: a folder of images, or a table or text."""
    folder = Path(inputs[0])
    if len(inputs) == 1 and folder.is_dir() and (images := open_image_folder(folder)):
        return images
    return open_source(inputs, options)


def _columns(outputs: Sequence[Output]) -> list[str]:
    return list(dict.fromkeys(column for output in outputs for column in output.columns))


def _scan(source: Source, outputs: Sequence[Output], options: Options, is_training: bool, progress: Progress) -> Scan:
    """Examines every row: missing values, classes, ranges and lengths."""
    progress.start(f"Scan {source.files[0].name}")
    masks: list[NDArray[np.bool_]] = []
    missing: dict[str, tuple[int, int]] = {}
    rows = 0
    for batch, fraction in source.batches(_columns(outputs)):
        has_value = np.ones(batch.num_rows, bool)
        for output in outputs:
            for column, mask in output.missing(batch).items():
                if mask.any():
                    count, first = missing.get(column, (0, rows + int(mask.argmax())))
                    missing[column] = count + int(mask.sum()), first
                    if not output.can_replace_missing or options.missing == "drop":
                        has_value &= ~mask
            output.scan(batch, is_training)
        masks.append(has_value)
        rows += batch.num_rows
        progress.show(fraction, rows)
    progress.finish()
    if not rows:
        raise DataError(f"{source.files[0]}: has no rows")
    scan = Scan(np.concatenate(masks), missing)
    _check_missing(source, scan, outputs, options)
    return scan


def _check_missing(source: Source, scan: Scan, outputs: Sequence[Output], options: Options) -> None:
    """Raises an error if missing values are neither dropped nor replaced."""
    if options.missing == "drop" or not scan.missing:
        return
    replaceable = {column for output in outputs if output.can_replace_missing for column in output.columns}
    for column, (count, first) in scan.missing.items():
        if options.missing == "refuse" or column not in replaceable:
            choices = "--missing drop, mean or zero" if column in replaceable else f"--missing drop, or --skip {column}"
            kind = "" if column in replaceable else ", which cannot be replaced"
            raise DataError(f"{source.files[0]}: column '{column}' has {count:,} missing values of {len(scan.has_value):,}{kind}, "
                            f"the first one in row {first}; expected {choices}")  # fmt: skip


def _batches_of(
    source: Source, outputs: Sequence[Output], parts: NDArray[np.uint8], label: str, progress: Progress
) -> Iterator[tuple[Any, NDArray[np.uint8]]]:
    """Yields the batches of a source with the part of each row."""
    progress.start(label)
    row = 0
    for batch, fraction in source.batches(_columns(outputs)):
        yield batch, parts[row : row + batch.num_rows]
        row += batch.num_rows
        progress.show(fraction, row)
    progress.finish()
    if row != len(parts):
        raise DataError(f"{source.files[0]}: has {row} rows, but {len(parts)} in the first pass; expected files that do not change")


def _write(sources: Sequence[tuple[Source, NDArray[np.uint8]]], outputs: Sequence[Output], folder: Path, progress: Progress) -> list[Part]:
    """Writes the files of all parts."""
    parts: list[Part] = []
    writers: dict[int, list[Any]] = {}
    for number, name in enumerate(PARTS):
        rows = sum(int((assigned == number).sum()) for _, assigned in sources)
        if rows:
            (folder / name).mkdir()
            parts.append(Part(name, rows))
            writers[number] = [output.open(folder / name, rows) for output in outputs]
    for source, assigned in sources:
        for batch, part_of_rows in _batches_of(source, outputs, assigned, "Write", progress):
            for number, opened in writers.items():
                keep = part_of_rows == number
                if keep.any():
                    for output, writer in zip(outputs, opened, strict=True):
                        output.write(writer, batch, keep)
    for part in parts:
        for output, writer in zip(outputs, writers[PARTS.index(part.name)], strict=True):
            part.shapes[output.name] = output.close(writer)
            if isinstance(output, Classes):
                part.counts[output.name] = writer[1].tolist()
    return parts


def _convert_table(source: Source, options: Options, folder: Path, progress: Progress) -> str:
    """Converts a table and returns the report."""
    if isinstance(source, ImageSource):
        outputs = plan_images(options, source.classes["class"])
    else:
        outputs = plan_outputs(source, options)
    scan = _scan(source, outputs, options, True, progress)
    sources: list[tuple[Source, NDArray[np.uint8]]] = []
    labels = [output for output in outputs if isinstance(output, Classes) and output.is_label]
    if not scan.has_value.any():
        raise DataError(f"{source.files[0]}: each row has a missing value; expected --missing mean or zero, or --skip COLUMN")
    if isinstance(options.validation, float):
        sources.append((source, split(scan.has_value, labels[0].codes() if labels else None, options.validation, options.seed)))
    else:
        sources.append((source, np.where(scan.has_value, TRAIN, DROPPED).astype(np.uint8)))
    if options.validation and not isinstance(options.validation, float):
        other = _open(options.validation, options)
        if lacking := [column for column in _columns(outputs) if column not in other.schema.names]:
            raise DataError(f"{other.files[0]}: lacks the column '{lacking[0]}' of the training data")
        has_value = _scan(other, outputs, options, False, progress).has_value
        sources.append((other, np.where(has_value, VALIDATION, DROPPED).astype(np.uint8)))
    numbers = [output for output in outputs if isinstance(output, Numbers)]
    for output in outputs:
        output.finish_scan()
    if any(output.needs_statistics for output in numbers):
        for batch, parts in _batches_of(*(source, outputs), sources[0][1], "Statistics", progress):
            for output in numbers:
                output.add_statistics(batch, parts == TRAIN)
    written = _write(sources, outputs, folder, progress)
    _write_facts(outputs, written, options, folder)
    dropped = sum(int((assigned == DROPPED).sum()) for _, assigned in sources)
    return describe(outputs, written, options, scan.missing, dropped, bool(labels))


def _write_facts(outputs: Sequence[Output], parts: Sequence[Part], options: Options, folder: Path) -> None:
    """Writes classes.json, statistics.json and the manifest."""
    classes = {
        output.name: {"column": output.columns[0], "classes": output.names, **{p.name: p.counts[output.name] for p in parts}}
        for output in outputs
        if isinstance(output, Classes)
    }
    statistics = {output.name: output.normalized for output in outputs if isinstance(output, Numbers) and output.normalized}
    files = {output.name: {"columns": output.columns, "file": output.file(), "dtype": str(output.dtype)} for output in outputs}
    manifest = {"version": 1, "seed": options.seed, "rows": {part.name: part.rows for part in parts}, "outputs": files}
    for name, content in (("classes.json", classes), ("statistics.json", statistics), (MANIFEST, manifest)):
        if content:
            (folder / name).write_text(json.dumps({"written_by": "mtc", **content}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _convert_text(source: TextSource, options: Options, folder: Path, progress: Progress) -> str:
    """Converts text files to a stream of tokens. The validation part is the end of the text."""
    if options.tokenizer is None:
        raise DataError(f"{source.files[0]}: text needs the tokenizer of the model; expected --tokenizer tokenizer.json")
    if options.columns or options.labels or options.texts or options.normalize or options.length:
        raise DataError(f"{source.files[0]}: text has no columns and becomes one stream; expected no --column, --label, --text, "
                        "--normalize or --length")  # fmt: skip
    tokenizer = Tokenizer(options.tokenizer, None, options.end_token)
    fraction = options.validation if isinstance(options.validation, float) else 0.0
    validation = TextSource(_text_files(options), options) if options.validation and not fraction else None
    jobs: list[tuple[TextSource, Callable[[float], int]]] = [(source, lambda done: TRAIN if done <= 1 - fraction else VALIDATION)]
    if validation:
        jobs.append((validation, lambda done: VALIDATION))
    output = Stream("input_ids", "text", tokenizer)
    writers: dict[int, TokenWriter] = {}
    for text, part_of in jobs:
        progress.start("Tokenize")
        for blocks in _groups(text, part_of):
            number = blocks[0][1]
            if number not in writers:
                (folder / PARTS[number]).mkdir()
                writers[number] = TokenWriter(folder / PARTS[number], output.name, tokenizer.vocabulary)
            writers[number].write(tokenizer.stream([block[0] for block in blocks], [block[2] for block in blocks]))
            progress.show(blocks[-1][3], writers[number].total)
        progress.finish()
    parts = []
    for number, writer in sorted(writers.items()):
        parts.append(Part(PARTS[number], writer.total, {output.name: writer.close()}))
    if options.validation and len(parts) < len(PARTS):
        raise DataError(f"{source.files[0]}: has too few lines for a validation part of {fraction:g}; expected --validation FILE")
    _write_facts([output], parts, options, folder)
    return describe([output], parts, options, {}, 0, False, "tokens")


def _text_files(options: Options) -> Sequence[Path]:
    assert options.validation and not isinstance(options.validation, float)
    other = open_source(options.validation, options)
    if not isinstance(other, TextSource):
        raise DataError(f"{other.files[0]}: is a table, but the training data is text; expected text files")
    return other.files


def _groups(source: TextSource, part_of: Callable[[float], int]) -> Iterator[list[tuple[str, int, bool, float]]]:
    """Yields groups of blocks of one part: the text, the part, whether a file ends after the block, and the share that is read."""
    size = 8  # blocks are tokenized in parallel
    group: list[tuple[str, int, bool, float]] = []
    for text, is_end, done in source.blocks():
        number = part_of(done)
        if group and (len(group) == size or group[0][1] != number):
            yield group
            group = []
        group.append((text, number, is_end, done))
    if group:
        yield group


def _is_ours(folder: Path) -> bool:
    """Returns whether a folder was written by this module."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("written_by") == "mtc"  # type: ignore[no-any-return]
    return False


def convert(options: Options) -> str:
    """Converts tables or text to the data files of mtc's programs.

    The files appear complete or not at all: they are written to ``DIR.partial``, which then replaces the output folder. Equal inputs and
    options give equal bytes.

    Args:
        options: Files, columns and the output folder.

    Returns:
        A report: shapes, missing values, classes, lengths, and the flags of ``--data``.

    Raises:
        DataError: If an input cannot be converted, or the output folder was not written by this function.
    """
    folder = options.output
    if folder.exists() and not _is_ours(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise DataError(f"-o {folder}: exists and was not written by mtc.data; expected the name of a new folder")
    progress = Progress(options.quiet)
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    source = _open(options.inputs, options)
    partial.mkdir(parents=True)
    try:
        action = _convert_text if isinstance(source, TextSource) else _convert_table
        report = action(source, options, partial, progress)  # type: ignore[arg-type]
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        progress.finish()
        shutil.rmtree(partial, ignore_errors=True)
    return report
