"""The choice of outputs: which columns form the data of which input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from mtc.data import _arrays
from mtc.data._images import Images, is_image
from mtc.data._options import Options
from mtc.data._outputs import Classes, Lists, Numbers, Output, Stream, Text, matches
from mtc.data._sources import Source
from mtc.data._text import Tokenizer
from mtc.errors import DataError


def _select(names: Sequence[str], patterns: Sequence[str], flag: str) -> list[str]:
    """Returns the columns that patterns match, in the order of the patterns, then of the table.

    Raises:
        DataError: If a pattern matches no column.
    """
    selected: list[str] = []
    for pattern in patterns:
        found = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            raise DataError(f"{flag}: no column matches '{pattern}'; the columns are {', '.join(names)}")
        selected += [name for name in found if name not in selected]
    return selected


def _default(column: Any, options: Options, stored: dict[str, list[str]]) -> Output:
    """Returns the output of a column that no flag names."""
    if column.name in stored or _arrays.is_text(column.type):
        return Classes(column.name, column.name, stored.get(column.name), options)
    if _arrays.is_number(column.type):
        return Numbers(column.name, [column.name], False, options)
    if is_image(column.type):
        return Images(column.name, column.name, options)
    if _arrays.is_list(column.type):
        return Lists(column.name, column.name, options.length)
    raise DataError(f"column '{column.name}': has type {column.type}; expected numbers, strings or lists. "
                    f"--skip {column.name} omits the column")  # fmt: skip


def _label(name: str, column: Any, options: Options, stored: dict[str, list[str]]) -> Output:
    """Returns the output of ``--label``: classes, or the targets of a regression."""
    if _arrays.types().is_floating(column.type) or _arrays.types().is_decimal(column.type):
        # A pattern such as '*' means the features; missing targets cannot be replaced.
        target = Numbers(name, [column.name], False, replace(options, normalize=[p for p in options.normalize if p == column.name]))
        target.can_replace_missing = False
        return target
    if not (_arrays.is_number(column.type) or _arrays.is_text(column.type)):
        raise DataError(f"--label {column.name}: has type {column.type}; expected strings or numbers")
    return Classes(name, column.name, stored.get(column.name), options, is_label=True)


def _only_text(columns: Sequence[Any]) -> str:
    """Returns the name of the only column of text."""
    found = [column.name for column in columns if _arrays.is_text(column.type)]
    if len(found) != 1:
        raise DataError(f"--tokenizer: the table has {len(found)} columns of text ({', '.join(found)}); choose one with --text COLUMN")
    return str(found[0])


def _first_text(source: Source, column: str) -> str:
    """Describes the first value of a column of strings that is no number."""
    row = 0
    for batch, _ in source.batches([column]):
        for value in _arrays.strings(batch.column(column)):
            try:
                float(value or 0)
            except ValueError:
                return f" ({value!r} in row {row})"
            row += 1
    return ""


def _joined(name: str, columns: Sequence[str], source: Source, options: Options) -> Output:
    """Returns the output of ``--column``: an image, classes, or numbers."""
    kinds = {column: source.schema.field(column).type for column in columns}
    if len(columns) == 1 and is_image(kinds[columns[0]]):
        return Images(name, columns[0], options)
    if len(columns) == 1 and (columns[0] in source.classes or _arrays.is_text(kinds[columns[0]])):
        return Classes(name, columns[0], source.classes.get(columns[0]), options)
    for column, kind in kinds.items():
        if not _arrays.is_number(kind):
            is_text = _arrays.is_text(kind)
            raise DataError(f"--column {name}: column '{column}' has type {kind}{_first_text(source, column) if is_text else ''}; "
                            "expected numbers, which can be joined"
                            + (f". --column {column}={column} makes an input of classes" if is_text else ""))  # fmt: skip
    return Numbers(name, columns, True, options)


def _texts(texts: Sequence[tuple[str, Sequence[str]]], schema: Any, options: Options) -> list[Output]:
    """Returns the outputs of ``--text``."""
    if not texts:
        return []
    if options.tokenizer is None:
        raise DataError("--text: needs the tokenizer of the model; expected --tokenizer tokenizer.json")
    tokenizer = Tokenizer(options.tokenizer, options.length, options.end_token)
    outputs: list[Output] = []
    for name, columns in texts:
        for column in columns:
            if not _arrays.is_text(schema.field(column).type):
                raise DataError(f"--text {column}: has type {schema.field(column).type}; expected strings")
        if options.stream and len(columns) > 1:
            raise DataError(f"--text {','.join(columns)}: a stream has no pairs; expected one column")
        outputs.append(Stream(name, columns[0], tokenizer) if options.stream else Text(name, columns, tokenizer, options.length))
    return outputs


def plan_outputs(source: Source, options: Options) -> list[Output]:
    """Returns the outputs of a table.

    Args:
        source: The table.
        options: The options of the conversion.

    Raises:
        DataError: If a flag names a missing column, a column has an unsuitable type, or two outputs have one name.
    """
    schema, stored = source.schema, source.classes
    skipped = set(_select(schema.names, options.skip, "--skip"))
    names = [name for name in schema.names if name not in skipped]
    _select(names, options.normalize, "--normalize")
    labels = [(name, _select(names, [column], "--label")[0]) for name, column in options.labels]
    texts = [(name, _select(names, columns, "--text")) for name, columns in options.texts]
    used = {column for _, column in labels} | {column for _, columns in texts for column in columns}
    if options.tokenizer and not texts:
        texts = [("input_ids", [_only_text([schema.field(name) for name in names if name not in used])])]
        used.update(texts[0][1])
    outputs: list[Output] = []
    for name, patterns in options.columns:
        columns = [c for c in _select(names, patterns, f"--column {name}={','.join(patterns)}") if c not in used or c in patterns]
        outputs.append(_joined(name, columns, source, options))
    used.update(column for output in outputs for column in output.columns)
    outputs += _texts(texts, schema, options)
    if not options.columns and not options.stream:
        outputs += [_default(schema.field(name), options, stored) for name in names if name not in used]
    outputs += [_label(name, schema.field(column), options, stored) for name, column in labels]
    if not outputs:
        raise DataError("no column is left to convert")
    _check_names(outputs, options)
    return outputs


def plan_images(options: Options, classes: list[str]) -> list[Output]:
    """Returns the outputs of a folder of images: ``image``, or the name of ``--column NAME=image``, and ``labels``."""
    names = ["image", "class"]
    columns = [(name, _select(names, patterns, f"--column {name}={','.join(patterns)}")) for name, patterns in options.columns]
    labels = [(name, _select(names, [column], "--label")) for name, column in options.labels]
    if any(found != ["image"] for _, found in columns) or any(found != ["class"] for _, found in labels):
        raise DataError("a folder of images has the columns image and class; expected --column NAME=image and --label NAME=class")
    outputs: list[Output] = [Images(name, "image", options) for name, _ in columns or [("image", ["image"])]]
    outputs += [Classes(name, "class", classes, options, is_label=True) for name, _ in labels or [("labels", ["class"])]]
    _check_names(outputs, options)
    return outputs


def _check_names(outputs: Sequence[Output], options: Options) -> None:
    seen: set[str] = set()
    for output in outputs:
        if output.name in seen:
            raise DataError(f"'{output.name}': two outputs have this name; --column NAME=... and --label NAME=COLUMN set names")
        if not re.fullmatch(r"[^/\0]+", output.name) or output.name.startswith("."):
            raise DataError(f"'{output.name}': cannot be a file name; expected --column NAME='{output.name}' with another name")
        seen.add(output.name)
    if options.stream and any(not isinstance(output, Stream) for output in outputs):
        raise DataError("--stream: a stream of tokens has no rows; expected no --column or --label")
    numbers = [output for output in outputs if isinstance(output, Numbers)]
    for pattern in options.normalize:
        if not any(matches(column, [pattern]) for output in numbers for column in output.columns):
            raise DataError(f"--normalize {pattern}: matches no column of numbers")
