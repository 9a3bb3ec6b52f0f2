"""Writers of data files, which append rows."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

SAFETENSORS = {
    "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32", "int64": "I64", "uint64": "U64",
    "float16": "F16", "float32": "F32", "float64": "F64", "bool": "BOOL",
}  # fmt: skip


class NpyWriter:
    """A ``.npy`` file of rows of one shape."""

    HEADER = 128

    def __init__(self, path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
        self._dtype, self._shape, self._rows = np.dtype(dtype), shape, 0
        self._file = path.open("wb")
        self._file.write(b"\0" * self.HEADER)

    def write(self, rows: NDArray[Any]) -> None:
        self._rows += len(rows)
        self._file.write(np.ascontiguousarray(rows, self._dtype).data)

    def close(self) -> str:
        shape = (self._rows, *self._shape)
        text = f"{{'descr': '{self._dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", self.HEADER - 10) + text.ljust(self.HEADER - 11).encode() + b"\n")
        self._file.close()
        return str(list(shape))


class RaggedWriter:
    """A ``.safetensors`` file with the tensors ``offsets`` and ``values``: row i has the values from offsets[i] to offsets[i + 1]."""

    HEADER = 512

    def __init__(self, path: Path, dtype: DTypeLike, shape: tuple[int, ...], rows: int) -> None:
        self._dtype, self._shape = np.dtype(dtype), shape
        self._offsets = np.zeros(rows + 1, np.int64)
        self._rows = 0
        self._file = path.open("wb")
        self._file.write(b"\0" * (self.HEADER + self._offsets.nbytes))

    def write(self, values: NDArray[Any], lengths: NDArray[np.int64]) -> None:
        end = self._rows + len(lengths)
        self._offsets[self._rows + 1 : end + 1] = self._offsets[self._rows] + np.cumsum(lengths)
        self._rows = end
        self._file.write(np.ascontiguousarray(values, self._dtype).data)

    def close(self) -> str:
        begin, end = self._offsets.nbytes, self._file.tell() - self.HEADER
        shape = [int(self._offsets[-1]), *self._shape]
        header = {
            "__metadata__": {"written_by": "mtc"},
            "offsets": {"dtype": "I64", "shape": [len(self._offsets)], "data_offsets": [0, begin]},
            "values": {"dtype": SAFETENSORS[self._dtype.name], "shape": shape, "data_offsets": [begin, end]},
        }
        text = json.dumps(header, separators=(",", ":")).encode()
        self._file.seek(0)
        self._file.write(struct.pack("<Q", self.HEADER - 8) + text.ljust(self.HEADER - 8) + self._offsets.tobytes())
        self._file.close()
        return f"[{self._rows}, ragged{''.join(f', {n}' for n in self._shape)}]"


class TokenWriter:
    """Token files of llm.c (``NAME-0000.bin``, ...), which hold a stream of tokens in shards.

    Attributes:
        total: Number of tokens in all shards.
    """

    SHARD = 100_000_000  # tokens
    HEADER = 1024

    def __init__(self, folder: Path, name: str, vocabulary: int) -> None:
        self._folder, self._name = folder, name
        self._is_narrow = vocabulary <= 1 << 16
        self.dtype = np.dtype("<u2" if self._is_narrow else "<u4")
        self._file: BinaryIO | None = None
        self._shards = self._tokens = self.total = 0

    def write(self, tokens: NDArray[Any]) -> None:
        while len(tokens):
            if self._file is None:
                self._file = (self._folder / f"{self._name}-{self._shards:04}.bin").open("wb")
                self._file.write(b"\0" * self.HEADER)
                self._shards += 1
            part = tokens[: self.SHARD - self._tokens]
            tokens = tokens[len(part) :]
            self._file.write(np.ascontiguousarray(part, self.dtype).data)
            self._tokens += len(part)
            self.total += len(part)
            if self._tokens == self.SHARD:
                self._close_shard()

    def _close_shard(self) -> None:
        if self._file is None:
            return
        header = np.zeros(256, "<i4")
        header[:3] = (20240520, 1, self._tokens) if self._is_narrow else (20240801, 7, self._tokens)
        self._file.seek(0)
        self._file.write(header.tobytes())
        self._file.close()
        self._file, self._tokens = None, 0

    def close(self) -> str:
        self._close_shard()
        return f"[{self.total}]"
