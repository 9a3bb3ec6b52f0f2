# RUN: %python %s %t
"""Exports of PyTorch, Keras and scikit-learn train as in their frameworks: each loss of ten steps of SGD is equal, and
mtc prints no warning. test/exports/record.py records the files; test/exports/run.py tests many more architectures."""

import json
from pathlib import Path

import numpy as np
from program import MTC, Program, losses, own_folder, read_metrics, run
from safetensors.numpy import load_file

INPUTS = Path(__file__).resolve().parents[1] / "inputs/exports"
MINIMUM = 40  # exports

folder = own_folder()
exports = sorted(INPUTS.glob("*.onnx"))
assert len(exports) >= MINIMUM, f"{INPUTS}: expected at least {MINIMUM} exports, got {len(exports)}"
problems = []
for model in exports:
    recorded = json.loads(model.with_suffix(".json").read_text())
    expected = recorded["losses"]
    place = folder / model.stem
    place.mkdir()
    compiled = run([MTC, "compile", model, *recorded["flags"], "-o", place / "train"], place)
    program = Program(place / "train", load_file(model.with_suffix(".safetensors")))
    trained = program.run("--no-shuffle", "--steps", len(expected), "--metrics", place / "metrics.jsonl")
    warnings = [line for line in (compiled.stderr + trained.stderr).splitlines() if "warning:" in line]
    problems += [f"{model.stem}: {line}" for line in warnings]
    actual = losses(read_metrics(place / "metrics.jsonl"))
    if len(actual) != len(expected) or not np.isfinite(np.array(actual, float)).all():
        problems.append(f"{model.stem}: expected {len(expected)} losses, got {actual}")
        continue
    difference = max(abs(a - b) / abs(b) for a, b in zip(actual, expected, strict=True))
    print(f"{model.stem}: the losses differ by {difference:.1e}")
    if difference > recorded["tolerance"]:
        problems.append(f"{model.stem}: the losses differ by {difference:.1e}: expected {expected}, got {actual}")
assert not problems, "\n".join(problems)
