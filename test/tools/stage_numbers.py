# RUN: %python %s %t 24
"""Makes random changes to numbers in an `allocated` text: offsets, strides, scratch memory, extents of calls, sizes of arenas and
variables. Each text is rejected with one message, or its program runs without an access outside the arena, which would end it with a
signal.

The argument is the number of changed texts.
"""

import os
import random
import re
import shutil
import subprocess
import sys

import numpy as np
from models import DIGITS
from onnx import TensorProto, helper, numpy_helper, save
from program import MTC, TIMEOUT, own_folder

SEED = 1
folder = own_folder()
count = int(sys.argv[2])
NUMBER = re.compile(r"(?<![\w.@#%\"])-?\d+(?![\w.\"])")
EXTREME = [-1, 0, 1, -64, 2**31, 2**32, 2**40, 2**62, 2**63 - 1]
# The lines in which numbers are offsets and sizes. Kernels have verifiers of their own.
CHOSEN = re.compile(r"^\s*mtc\.(arena|variable|launch|call|copy|step|repeat|transfer)\b")


def convolution_model():
    """Convolutions with a bias, groups and strides, and a contraction."""
    rng = np.random.default_rng(0)
    weights = {"w0": (8, 3, 3, 3), "b0": (8,), "w1": (8, 4, 3, 3), "w2": (8 * 16, 5)}
    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c0"], ["r0"]),
             helper.make_node("Conv", ["r0", "w1"], ["c1"], group=2, strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("Flatten", ["c1"], ["f"]), helper.make_node("MatMul", ["f", "w2"], ["y"])]  # fmt: skip
    graph = helper.make_graph(nodes, "convolutions", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3, 8, 8))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 5))],
                              [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
                               for name, shape in weights.items()])  # fmt: skip
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "convolutions.onnx")
    np.save(folder / "cx.npy", rng.standard_normal((2, 3, 8, 8)).astype(np.float32))
    np.save(folder / "cl.npy", np.array([1, 4], np.int64))
    return folder / "convolutions.onnx", [], ["--data", "x=cx.npy", "--data", "labels=cl.npy"]


def mtc(*words) -> subprocess.CompletedProcess:
    return subprocess.run([MTC, "compile", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)


def changed(text: str, rng: random.Random) -> str:
    """Returns the text with one changed number in a random line."""
    lines = text.splitlines()
    places = [(i, found) for i, line in enumerate(lines) if CHOSEN.match(line) for found in NUMBER.finditer(line)]
    i, found = rng.choice(places)
    old = int(found[0])
    new = rng.choice([*EXTREME, old + 1, old - 1, old + 64, old - 64, 2 * old, int(rng.choice(places)[1][0])])
    lines[i] = lines[i][: found.start()] + str(new) + lines[i][found.end() :]
    return "\n".join(lines)


data = DIGITS.model.parent
digits = (DIGITS.model, ["--dim", "batch=32"], ["--data", f"x={data}/train_x.npy", "--data", f"labels={data}/train_labels.npy"])
rng, outcomes, failures = random.Random(SEED), {"refused": 0, "run": 0}, []
for model, flags, feed in (digits, convolution_model()):
    for check in ([], ["--check-memory"]):
        words = [model, *flags, "--loss", "cross-entropy", *check, "--tune", "off", "--quiet"]
        base = mtc(*words, "--emit", "allocated", "-o", "base.mlir", "--force")
        assert base.returncode == 0 and mtc(*words, "-o", "base", "--force").returncode == 0, base.stderr
        text = (folder / "base.mlir").read_text()
        for number in range(count // 4):
            (folder / "text.mlir").write_text(changed(text, rng))
            result = mtc("text.mlir", "-o", "program", "--force", "--quiet")
            failed = result.returncode not in (0, 1) or bool(result.returncode) != ("mtc: error: " in result.stderr)
            if result.returncode == 0:
                shutil.copy(folder / "base.weights.safetensors", folder / "program.weights.safetensors")
                result = subprocess.run(["./program", *feed, "--steps", "2", "--quiet"], cwd=folder, capture_output=True,
                                        text=True, errors="replace", timeout=TIMEOUT)  # fmt: skip
                outcomes["run"] += 1
                failed = result.returncode < 0 or "Sanitizer" in result.stderr
            else:
                outcomes["refused"] += 1
            if failed:
                shutil.copy(folder / "text.mlir", folder / f"failure-{len(failures)}.mlir")
                failures.append(f"failure-{len(failures)}.mlir: {result.args[0]}: exit code {result.returncode}: {result.stderr[-300:]}")
print(outcomes, *failures, sep="\n")
assert min(outcomes.values()) >= count // 12, outcomes
sys.exit(bool(failures))
