"""The report of a conversion."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mtc.data._options import Options
from mtc.data._outputs import Classes, Output

if TYPE_CHECKING:
    from mtc.data._convert import Part

BARS = 8  # of a histogram
WIDTH = 30  # of the longest bar
SHOWN_CLASSES = 20


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns lines with aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def histogram(lengths: NDArray[np.int64]) -> list[str]:
    """Returns a histogram of lengths as lines of text."""
    low, high = int(lengths.min()), int(lengths.max())
    width = max(1, -(-(high - low + 1) // BARS))
    counts = np.bincount((lengths - low) // width)
    ends = [(low + i * width, min(high, low + (i + 1) * width - 1)) for i in range(len(counts))]
    rows = [(str(first) if first == last else f"{first} to {last}", int(count)) for (first, last), count in zip(ends, counts, strict=True)]
    longest = max(count for _, count in rows)
    return _table([(label, f"{count:,}".rjust(len(f"{longest:,}")), "█" * max(int(count > 0), round(WIDTH * count / longest)))
                   for label, count in rows])  # fmt: skip


def _lengths(output: Output, options: Options) -> list[str]:
    """Describes the lengths of an output whose rows vary, before padding and truncation to a fixed length."""
    lengths = np.concatenate(output.lengths)
    quantiles = [int(each) for each in np.quantile(lengths, [0, 0.5, 0.95, 1], method="inverted_cdf")]
    cut = "" if options.length is None else f", padded and truncated to {options.length}"
    title = f"Lengths of '{output.name}': minimum {quantiles[0]}, median {quantiles[1]}, 95 % {quantiles[2]}, maximum {quantiles[3]}{cut}"
    return [title, *histogram(lengths), f"  {lengths.sum():,} values"]


def _classes(output: Classes, parts: Sequence[Part]) -> list[str]:
    names = output.names
    rows = [("class", "index", *(part.name for part in parts))]
    rows += [("(missing)" if name is None else name, str(i), *(f"{part.counts[output.name][i]:,}" for part in parts)) for i, name in enumerate(names[:SHOWN_CLASSES])]
    more = [f"  and {len(names) - SHOWN_CLASSES} more in classes.json"] if len(names) > SHOWN_CLASSES else []
    return [f"Classes of '{output.name}':", *_table(rows), *more]


def _flag(part: Part, options: Options) -> str:
    """Returns the flag of programs for the folder of a part, whose files have the names of the inputs."""
    return f"{'--data' if part.name == 'train' else '--validate'} {shlex.quote(str(options.output / part.name))}"


def describe(
    outputs: Sequence[Output],
    parts: Sequence[Part],
    options: Options,
    missing: dict[str, tuple[int, int]],
    dropped: int,
    is_stratified: bool,
    unit: str = "rows",
) -> str:
    """Returns the report of a conversion.

    Args:
        outputs: The outputs.
        parts: The parts that were written.
        options: The options of the conversion.
        missing: Number of missing values of the training source by column, and the first row without one.
        dropped: Number of rows that were dropped.
        is_stratified: Whether the split is stratified by classes.
        unit: What the sizes of the parts count.
    """
    sizes = ", ".join(f"{part.rows:,} {unit} for {'training' if part.name == 'train' else part.name}" for part in parts)
    stratified = " (stratified by class)" if is_stratified and isinstance(options.validation, float) else ""
    lines = [f"{options.output}: {sizes}{stratified}"]
    lines += _table([("output", "type", "shape", "columns"),
                     *((o.name, str(o.dtype), parts[0].shapes[o.name], ", ".join(o.columns[:4]) + (", ..." if len(o.columns) > 4 else ""))
                       for o in outputs)])  # fmt: skip
    if missing:
        action = {"drop": f"{dropped:,} rows dropped", "mean": "replaced by the mean", "zero": "replaced by 0"}[options.missing]
        classes = {o.columns[0] for o in outputs if isinstance(o, Classes) and o.can_replace_missing}
        for done, columns in ((action, missing.keys() - classes), ("a class of their own", missing.keys() & classes)):
            if columns:
                counts = (f"{column} {count:,}" for column, (count, _) in missing.items() if column in columns)
                lines.append(f"Missing values ({done}): {', '.join(counts)}")
    for output in outputs:
        if isinstance(output, Classes):
            lines += _classes(output, parts)
        elif output.lengths and len(np.unique(np.concatenate(output.lengths))) > 1:
            lines += _lengths(output, options)
    lines += ["Flags of the program:", f"  {' '.join(_flag(part, options) for part in parts)}"]
    return "\n".join(lines)
