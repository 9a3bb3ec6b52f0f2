# RUN: %python %s %t
"""Exports of PyTorch's and other exporters train as the module does in its framework: the same losses over ten steps of
SGD, without a warning. test/exports/record.py has recorded the files; test/exports/run.py has many more architectures."""

import json
from pathlib import Path

import numpy as np
from program import MTC, Program, losses, own_folder, run
from safetensors.numpy import load_file

INPUTS = Path(__file__).resolve().parent / "inputs/exports"
TOLERANCE = 1e-3  # relative, of each loss
LEAST = 12  # exports

folder = own_folder()
recorded = sorted(INPUTS.glob("*.json"))
assert len(recorded) >= LEAST, f"{len(recorded)} exports are recorded; expected {LEAST}"
problems = []
for path in recorded:
    expected = json.loads(path.read_text())
    program = folder / path.stem / "train"
    program.parent.mkdir()
    compiled = run([MTC, "compile", path.with_suffix(".onnx"), *expected["flags"], "--optimizer", "sgd", "-o", program], folder)
    problems += [f"{path.stem}: {line}" for line in compiled.stderr.splitlines() if "warning:" in line]
    trained = Program(program, load_file(path.with_suffix(".safetensors"))).train(len(expected["losses"]))
    difference = np.max(np.abs(np.array(losses(trained)) / expected["losses"] - 1))
    if not difference <= TOLERANCE:
        problems.append(f"{path.stem}: losses differ by {difference:.1e}: {losses(trained)}, expected {expected['losses']}")
assert not problems, "\n".join(problems)
