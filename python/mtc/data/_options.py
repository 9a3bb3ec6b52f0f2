"""The options of a conversion, and their command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

EPILOG = """
files:
  .csv, .tsv (also .gz), .parquet, .arrow, .feather, .jsonl, .txt, and folders of save_to_disk of the package datasets
  (DIR:SPLIT selects a split). A quoted pattern or a folder denotes several files. A folder with a subfolder of images for
  each class becomes the inputs image and labels.

examples:
  python -m mtc.data iris.csv --column x='sepal*,petal*' --normalize '*' --label species --validation 0.2 -o iris
  python -m mtc.data reviews.parquet --text review --tokenizer tokenizer.json --length 128 --label stars -o reviews
  python -m mtc.data flowers --size 224 --resize 256 --column pixel_values=image --validation 0.1 -o flowers-224
  python -m mtc.data 'corpus/*.txt' --tokenizer tokenizer.json --end-token '<|endoftext|>' --validation 0.01 -o corpus
"""


@dataclass(frozen=True)
class Options:
    """The options of :func:`mtc.data.convert`; names and meanings are those of the flags of ``python -m mtc.data``.

    Attributes:
        inputs: Files, patterns and folders of the training data.
        output: The folder to write.
        columns: Outputs of one column, or of joined columns of numbers, as pairs of a name and patterns of columns.
        labels: Outputs of class labels, as pairs of a name and a column.
        texts: Outputs of token ids, as pairs of a name and one column of text, or two for pairs of texts.
        tokenizer: A ``tokenizer.json``.
        length: Length to which token ids and lists are padded and truncated; None to keep their lengths.
        stream: Whether texts become one stream of tokens.
        end_token: Token after each text of a stream.
        validation: A fraction of the data, or files.
        seed: Seed of the split.
        missing: What to do with missing values: ``"refuse"``, ``"drop"``, or with ``"mean"`` and ``"zero"`` to replace numbers by the mean of the
            training part or by 0, and to make a class of other missing values.
        normalize: Patterns of columns to normalize by mean and standard deviation of the training data.
        skip: Patterns of columns to omit.
        size: Height and width of images; None if all have one size.
        resize: Length of the shorter side of an image before the center is cropped; None: the shorter side of ``size``.
        is_grayscale: Whether images have one channel instead of three.
        is_channels_last: Whether images are stored as [height, width, channels].
        delimiter: Delimiter of CSV files; by default a comma, a tab in ``.tsv``.
        has_header: Whether the first line of CSV files has the names of the columns.
        quiet: Whether to omit progress and report.
    """

    inputs: Sequence[str]
    output: Path
    columns: Sequence[tuple[str, Sequence[str]]] = ()
    labels: Sequence[tuple[str, str]] = ()
    texts: Sequence[tuple[str, Sequence[str]]] = ()
    tokenizer: Path | None = None
    length: int | None = None
    stream: bool = False
    end_token: str | None = None
    validation: float | Sequence[str] | None = None
    seed: int = 0
    missing: str = "refuse"
    normalize: Sequence[str] = field(default=())
    skip: Sequence[str] = field(default=())
    size: tuple[int, int] | None = None
    resize: int | None = None
    is_grayscale: bool = False
    is_channels_last: bool = False
    delimiter: str | None = None
    has_header: bool = True
    quiet: bool = False


def _named(text: str, default: str | None) -> tuple[str, list[str]]:
    """Parses ``NAME=A,B``; without a name, the default or the first column."""
    name, equals, columns = text.rpartition("=")
    listed = [column for column in columns.split(",") if column]
    if not listed or (equals and not name):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=COLUMN,...")
    return name or default or listed[0], listed


def _label(text: str) -> tuple[str, str]:
    name, columns = _named(text, "labels")
    if len(columns) > 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected one column")
    return name, columns[0]


def _text(text: str) -> tuple[str, list[str]]:
    name, columns = _named(text, "input_ids")
    if len(columns) > 2:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a column of text, or two for pairs of texts")
    return name, columns


def _column(text: str) -> tuple[str, list[str]]:
    if "=" not in text:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=COLUMN,...")
    return _named(text, None)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number of at least 1")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    """Parses ``N`` or ``HEIGHTxWIDTH``."""
    height, _, width = text.partition("x")
    try:
        return _positive(height), _positive(width or height)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected N or HEIGHTxWIDTH") from None


def _list(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _validation(words: list[str]) -> float | list[str]:
    """Returns a fraction, or files."""
    try:
        fraction = float(words[0])
    except ValueError:
        return words
    if len(words) > 1 or not 0 < fraction < 1:
        raise argparse.ArgumentTypeError(f"{' '.join(words)}: expected a fraction between 0 and 1, or files")
    return fraction


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line, which this file defines without other modules of mtc."""
    result = argparse.ArgumentParser(
        prog="python -m mtc.data", description="Convert tables and text to data files of mtc's programs.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)  # fmt: skip
    add = result.add_argument
    add("inputs", nargs="+", metavar="FILE", help="training data")
    add("-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write")
    add("--column", dest="columns", type=_column, action="append", default=[], metavar="NAME=COLUMNS",
        help="join columns of numbers as the features of one input, such as x='p*', or rename one (default: each column is an input)")
    add("--label", dest="labels", type=_label, action="append", default=[], metavar="[NAME=]COLUMN",
        help="class labels (default name: labels); the validation part is stratified by the first ones")
    add("--text", dest="texts", type=_text, action="append", default=[], metavar="[NAME=]COLUMN[,COLUMN]",
        help="text, or pairs of texts, for --tokenizer (default name: input_ids)")
    add("--tokenizer", type=Path, metavar="FILE", help="tokenizer.json of the package tokenizers")
    add("--length", type=_positive, metavar="N", help="pad and truncate texts and lists (default: keep their lengths)")
    add("--stream", action="store_true", help="write texts as one stream of tokens; always for .txt")
    add("--end-token", metavar="TOKEN", help="token after each text of a stream, such as '<|endoftext|>'")
    add("--validation", nargs="+", metavar="FRACTION|FILE", help="part of the data, or files, for validation")
    add("--seed", type=int, default=0, metavar="N", help="seed of the split (default: 0)")
    add("--missing", choices=("refuse", "drop", "mean", "zero"), default="refuse",
        help="missing values: refuse them, drop their rows, or replace numbers and make a class of others (default: refuse)")
    add("--normalize", type=_list, default=[], metavar="COLUMNS",
        help="normalize columns by mean and standard deviation of the training part")
    add("--skip", type=_list, default=[], metavar="COLUMNS", help="columns to omit")
    add("--size", type=_size, metavar="N|HxW", help="size of images (default: that of the files)")
    add("--resize", type=_positive, metavar="N", help="length of the shorter side before the center is cropped (default: --size)")
    add("--grayscale", dest="is_grayscale", action="store_true", help="images with one channel")
    add("--channels-last", dest="is_channels_last", action="store_true", help="store images as [height, width, channels], as in Keras")
    add("--delimiter", metavar="CHARACTER", help="delimiter of CSV files (default: a comma; a tab in .tsv)")
    add("--no-header", dest="has_header", action="store_false", help="CSV files without names of columns, which are f0, f1, ...")
    add("--quiet", action="store_true", help="print only errors")
    return result


def parse(arguments: Sequence[str]) -> Options:
    """Parses a command line. Exits with code 2 and a message if it is invalid."""
    command_line = parser()
    values = vars(command_line.parse_args(arguments))
    try:
        values["validation"] = values["validation"] and _validation(values["validation"])
    except argparse.ArgumentTypeError as error:
        command_line.error(f"argument --validation: {error}")
    if values["delimiter"] is not None and len(values["delimiter"]) != 1:
        command_line.error("argument --delimiter: expected one character")
    return Options(**values)
