# RUN: %python %s %t
"""The work of planning grows about linearly with the size of a model. The test counts the passes' work, which is independent of the
machine's load."""

import json
import re

import numpy as np
from growing_models import KINDS
from program import MTC, compile, losses, own_folder, run

folder = own_folder()


def reordering(kind: str, count: int) -> tuple[int, int]:
    """Returns the number of moved operations, and of memory plans that verified moves."""
    model, remarks = folder / f"{kind}{count}.onnx", folder / "remarks.txt"
    KINDS[kind](model, count)
    run([MTC, "plan", model, "--dim", "batch=4", "--loss", "output", "--remarks", remarks, "--force", "--quiet"], folder)
    found = re.findall(r"by ([0-9]+) moves in ([0-9]+) plans", remarks.read_text())
    return sum(int(moves) for moves, _ in found), sum(int(plans) for _, plans in found)


# Moves are verified in batches, so that there are far fewer plans than moves.
moves, plans = reordering("fan-out", 480)
assert moves > 100 and 4 * plans < moves, (moves, plans)


def kernels(count: int) -> list[int]:
    """Returns the number of operands of each kernel of a Concat."""
    model = folder / f"concat{count}.onnx"
    KINDS["concat"](model, count)
    text = run([MTC, "compile", model, "--dim", "batch=4", "--loss", "output", "--emit", "kernels", "--quiet"], folder).stdout
    return [len(operands.split(",")) for operands in re.findall(r"mtc.kernel \[[^(]*\(([^)]*)\)", text)]


# A kernel evaluates the guards of all its operands for each element.
assert max(kernels(900)) <= 100 < 900 <= sum(kernels(900))


def chain(count: int, *flags: str) -> tuple[dict, str]:
    """Returns the plan of a chain of elementwise nodes, and the remarks."""
    model, remarks = folder / f"chain{count}.onnx", folder / "remarks.txt"
    KINDS["chain"](model, count)
    command = [MTC, "plan", model, "--dim", "batch=4", "--loss", "output", "--cost-model", "avx512", "--json", "--remarks", remarks, "--force"]
    return json.loads(run([*command, *flags], folder).stdout), remarks.read_text()


# The values of a chain that a kernel saves are recomputed by one copy of the kernel. Each of 6000 values is a smaller part of the arena than a
# change must free.
for count in 800, 6000:
    half = chain(count)[0]["peak_bytes"] // 2
    found, remarks = chain(count, "--memory", str(half))
    together = [int(values) for values in re.findall(r"mtc-recompute again .*; values: ([0-9]+)", remarks)]
    assert found["fits"] and 8 * len(together) < sum(together), (count, found["peak_bytes"], half, together)

model = folder / "chain800.onnx"
data = {"x": np.random.default_rng(1).standard_normal((16, 64)).astype(np.float32)}
half = chain(800)[0]["peak_bytes"] // 2
trained = []
for flags in [], ["--memory", half]:
    program = compile(model, folder, data, "--dim", "batch=4", "--loss", "output", "--tile", "none", *flags, name=f"train{len(trained)}")
    trained.append(losses(program.train(4, name=f"chain{len(trained)}")))
assert len(trained[0]) == 4 and trained[0] == trained[1], trained


def layers(count: int) -> tuple[int, int]:
    """Returns the number of kernel functions and of launches of a program with `count` equal layers."""
    model = folder / f"layers{count}.onnx"
    KINDS["layers"](model, count)
    text = run([MTC, "compile", model, "--dim", "batch=4", "--loss", "output", "--emit", "allocated", "--quiet"], folder).stdout
    return len(re.findall(r"mtc\.kernel_function ", text)), len(re.findall(r"mtc\.launch ", text))


# Equal layers share their kernels.
(few, launches), (same, more) = layers(8), layers(32)
assert few == same and more > 3 * launches, (few, launches, same, more)
