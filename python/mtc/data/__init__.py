"""Conversion of tables, images and text to the data files of mtc's programs.

    python -m mtc.data train.csv --label species --validation 0.1 -o data
    python -m mtc.data reviews.parquet --text review --tokenizer tokenizer.json --length 128 --label stars -o data

``docs/guide/data.md`` describes the command. :func:`convert` is the command as a function, and :func:`load` reads its files. The conversion requires pyarrow, for text the package
tokenizers, and for images Pillow: ``pip install mtc[data]``.
"""

from __future__ import annotations

from mtc.data._convert import convert
from mtc.data._load import load
from mtc.data._options import Options

__all__ = ["Options", "convert", "load"]
