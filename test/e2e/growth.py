# RUN: %python %s %t
"""The work of planning grows about linearly with the size of a model. The test counts the passes' work, which is independent of the
machine's load."""

import re

from growing_models import KINDS
from program import MTC, own_folder, run

folder = own_folder()


def reordering(kind: str, count: int) -> tuple[int, int]:
    """Returns the number of moved operations, and of memory plans that verified moves."""
    model, remarks = folder / f"{kind}{count}.onnx", folder / "remarks.txt"
    KINDS[kind](model, count)
    run([MTC, "plan", model, "--dim", "batch=4", "--loss", "output", "--remarks", remarks, "--force", "--quiet"], folder)
    found = re.findall(r"by ([0-9]+) moves in ([0-9]+) plans", remarks.read_text())
    return sum(int(moves) for moves, _ in found), sum(int(plans) for _, plans in found)


# Moves are verified in batches: there are far fewer plans than moves.
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
