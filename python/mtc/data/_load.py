"""Reading of converted data in Python."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc._ragged import Ragged
from mtc.data._writers import SAFETENSORS


def load(folder: str | os.PathLike[str], part: str = "train") -> dict[str, NDArray[Any] | Ragged]:
    """Returns a part of a folder that ``python -m mtc.data`` has written, by output, for :meth:`mtc.Trainer.fit` and
    :meth:`mtc.Trainer.evaluate`. Files are mapped into memory, and read as samples are used.

    Args:
        folder: The folder.
        part: ``train`` or ``validation``.

    Raises:
        ValueError: If the folder does not have the part, or it is a stream of tokens.
    """
    path = Path(folder)
    if not (path / "dataset.json").is_file():
        raise ValueError(f"{path}: has no dataset.json; expected a folder that python -m mtc.data has written")
    described = json.loads((path / "dataset.json").read_text())
    if part not in described["rows"] or not (path / part).is_dir():
        raise ValueError(f"{path}: has no part {part!r}; expected {' or '.join(described['rows'])}")
    return {name: _read(path / part, name) for name in described["outputs"]}


def _read(folder: Path, name: str) -> NDArray[Any] | Ragged:
    if (file := folder / f"{name}.npy").is_file():
        return np.load(file, mmap_mode="r")
    if (file := folder / f"{name}.safetensors").is_file():
        return _read_ragged(file)
    raise ValueError(f"{folder}: {name} is a stream of tokens, which programs read: --data {name}='{folder}/{name}-*.bin'")


def _read_ragged(file: Path) -> Ragged:
    with file.open("rb") as opened:
        (size,) = struct.unpack("<Q", opened.read(8))
        header = json.loads(opened.read(size))
    types = {name: dtype for dtype, name in SAFETENSORS.items()}

    def tensor(name: str) -> NDArray[Any]:
        entry = header[name]
        begin, shape = 8 + size + entry["data_offsets"][0], tuple(entry["shape"])
        dtype = np.dtype(types[entry["dtype"]])
        return np.memmap(file, dtype, "r", begin, shape) if np.prod(shape) else np.empty(shape, dtype)

    return Ragged.of(tensor("values"), np.array(tensor("offsets")))
