# RUN: %python %s %t
"""Gradients of functions at saturation, kinks and zeros equal PyTorch's, in files of three exporters. test/exports/functions.py records the
files and PyTorch's gradients; docs/reference/gradients.md has the table."""

import json
import lzma
from pathlib import Path

import numpy as np
import onnx
from program import compile, own_folder

INPUTS = Path(__file__).resolve().parents[1] / "inputs/functions"
MINIMUM = 100  # number of tensors of each file

folder = own_folder()
problems = []
for exporter in ("default", "torchscript", "mtc"):
    expected = json.loads((INPUTS / f"{exporter}.json").read_text())
    assert len(expected) >= MINIMUM, f"{exporter}: expected at least {MINIMUM} tensors, got {len(expected)}"
    file = folder / f"{exporter}.onnx"
    file.write_bytes(lzma.decompress((INPUTS / f"{exporter}.onnx.xz").read_bytes()))
    model = onnx.load(file)
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    flags = ("--loss", "output", "--output", "loss", "--train", "p*")
    program = compile(file, folder, {"x": np.zeros(shape, np.float32)}, *flags, name=exporter)
    found = program.gradients(f"{exporter}-gradients")
    for name, each in expected.items():
        want, got = np.array(each["gradient"]), found[name].ravel()
        known = np.isfinite(want)
        if not np.allclose(got[known], want[known], rtol=1e-5, atol=1e-6):
            problems.append(f"{exporter}: {each['function']}, {name}: expected {want.tolist()}, got {got.tolist()}")
assert not problems, "\n".join(problems)
