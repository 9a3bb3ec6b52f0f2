"""Writes ONNX files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import onnx

from mtc import _graph
from mtc.errors import ExportError

LARGE = 1 << 30  # size in bytes above which weights are stored in a separate file
PAGE = 4096  # alignment of weights in that file


def check_absent_data(path: Path) -> None:
    """Raises ExportError if a file would be read as the data of a model without weights."""
    if (data := _data_of(path)).exists():
        raise ExportError(
            f"'{data}': this file would be read as the weights of '{path.name}', which has none. Remove it, or choose another path."
        )


def save(model: onnx.ModelProto, path: Path) -> None:
    """Writes the file, and weights of more than 1 GiB to a separate file. Each file appears completely or not at all.

    Initializers without data refer to ranges of the separate file, which is not written.
    """
    large = sum(_graph.size(tensor) for tensor in model.graph.initializer if not _graph.is_absent(tensor)) > LARGE
    data = _data_of(path).name
    if _refer(model, data) and large:
        raise ExportError("the module has weights of more than 1 GiB, and parameters without memory. Create all of them without memory.")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        if large:
            onnx.save_model(model, temporary, save_as_external_data=True, location=data, size_threshold=1024)
            os.replace(temporary.with_name(data), path.with_name(data))
        else:
            temporary.write_bytes(model.SerializeToString())
        os.replace(temporary, path)


def _data_of(path: Path) -> Path:
    return path.with_name(path.name + ".data")


def _refer(model: onnx.ModelProto, location: str) -> int:
    """Makes each initializer without data refer to its own range of a file. Returns the size of the file in bytes."""
    end = 0
    for tensor in filter(_graph.is_absent, model.graph.initializer):
        begin, length = -(-end // PAGE) * PAGE, _graph.size(tensor)
        end = begin + length
        del tensor.external_data[:]
        for key, value in (("location", location), ("offset", begin), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
    return end
