"""Folders of weights in the form of save_pretrained, of any types."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {"F32": np.dtype(np.float32), "F16": np.dtype(np.float16), "BF16": BF16, "I64": np.dtype(np.int64)}
INDEX = "model.safetensors.index.json"


def write_folder(folder: Path, weights: dict[str, np.ndarray], files: int = 1, config: dict | None = None) -> None:
    """Writes weights to `files` files, with their index if there are several, and a configuration and tokenizer."""
    folder.mkdir()
    names = list(weights)
    shards = [names[i::files] for i in range(files)]
    file_names = [f"model-{i + 1:05}-of-{files:05}.safetensors" if files > 1 else "model.safetensors" for i in range(files)]
    for file, shard in zip(file_names, shards, strict=True):
        save_file({name: weights[name] for name in shard}, folder / file, {"format": "pt"})
    if files > 1:
        index = {name: file for file, shard in zip(file_names, shards, strict=True) for name in shard}
        (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": index}))
    (folder / "config.json").write_text(json.dumps(config or {"architectures": ["Test"], "dtype": "bfloat16"}))
    (folder / "vocab.txt").write_text("a\nb\n")


def read_file(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def read_folder(folder: Path) -> dict[str, np.ndarray]:
    """Returns the tensors, each from the file in which the index lists it. Every tensor of a file must be in the index."""
    if not (folder / INDEX).exists():
        return read_file(folder / "model.safetensors")
    index = json.loads((folder / INDEX).read_text())
    files = {file: read_file(folder / file) for file in set(index["weight_map"].values())}
    assert index["weight_map"] == {name: file for file, tensors in files.items() for name in tensors}, index
    assert index["metadata"]["total_size"] == sum(t.nbytes for tensors in files.values() for t in tensors.values())
    assert {path.name for path in folder.glob("*.safetensors")} == set(files)
    return {name: value for tensors in files.values() for name, value in tensors.items()}
