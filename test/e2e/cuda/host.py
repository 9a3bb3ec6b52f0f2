# RUN: %python %s %t
"""The host program of the target cuda on the emulated device: outputs, evaluation, prefetching, and resuming after kills."""

import ctypes
import json

import numpy as np
from models import DIGITS
from program import compile, compile_example, own_folder, read_metrics, same_bits

folder = own_folder()
EMULATED = ("--target", "cuda", "--emulate")

# The outputs equal those of the CPU's program, up to the order of summation.
cpu = compile_example(DIGITS, folder, "adamw", 100, name="cpu")
cuda = compile_example(DIGITS, folder, "adamw", 100, *EMULATED, name="cuda")
expected, found = cpu.outputs("expected"), cuda.outputs("found")
assert expected.keys() == found.keys()
for name, output in expected.items():
    assert np.abs(found[name] - output).max() <= 1e-5 * np.abs(output).max(), name
for program in cpu, cuda:
    program.run("--evaluate", "--quiet", "--metrics", program.path.with_suffix(".jsonl"))
one, other = (read_metrics(program.path.with_suffix(".jsonl"))[0] for program in (cpu, cuda))
assert np.isclose(one["loss"], other["loss"], rtol=1e-6) and one["accuracy"] == other["accuracy"], (one, other)

# Batches of 64 KiB or more are staged, so this program prefetches.
flags = ("--dim", "batch=320", "--loss", "cross-entropy")
wide = compile(DIGITS.model, folder, DIGITS.data(1000), *flags, *EMULATED, name="wide")
wide.run("--steps", 3, "--memory-report", "r.json")
report = json.loads((folder / "r.json").read_text())
assert report["planned_bytes"] == report["arena_bytes"], report
plain = wide.exported("plain", "--steps", 7, "--seed", 3)
assert plain == wide.exported("profiled", "--steps", 7, "--seed", 3, "--profile", "p.json"), "a profile changes the bits"

# A run that is killed at any moment and resumed is bit-identical to an uninterrupted run.
program = compile_example(DIGITS, folder, "adamw", 480, *EMULATED, name="killed")
STEPS = 150
whole = program.exported("whole", "--steps", STEPS, "--seed", 7)
evaluated = program.run("--evaluate").stdout
checkpoint = folder / "checkpoint"
interrupted = program.run_with_kills("--steps", STEPS, "--seed", 7, "--export", "parts.onnx", kills=6, after=(0.1, 0.3))
assert (folder / "parts.onnx").read_bytes() == whole
assert program.run("--evaluate", "--resume", checkpoint).stdout != evaluated
gradients = [program.written("--gradients", f"again{i}", "--resume", checkpoint) for i in range(2)]
assert same_bits(*gradients)

# Without a GPU, a program for a GPU reports what is missing before it writes any file.
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    device = compile_example(DIGITS, folder, "adamw", 64, "--target", "cuda:sm_90", name="device")
    result = device.run("--steps", 1, "--save", "none", "--export", "none.onnx", code=2)
    assert "no NVIDIA driver is installed here" in result.stderr and result.stderr.count("\n") == 1, result.stderr
    assert not (folder / "none.onnx").exists() and not (folder / "none/manifest.json").exists()
    assert "Usage:" in device.run("--help").stdout
print(f"{interrupted} runs were killed")
