# RUN: %python %s %t
"""No kernel of a 16-bit step only converts activations: conversions are fused into their producers and users. Only data that a library call
reads, and results of calls for accumulated gradients, have separate conversions."""

import re
import sys
from pathlib import Path

from models import GPT2
from program import MTC, own_folder, run

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools/gpu_kit"))
import convolutions  # noqa: E402

folder = own_folder()
(folder / "convolutions.onnx").write_bytes(convolutions.model())
MODELS = {GPT2.model: GPT2.flags, folder / "convolutions.onnx": ("--dim", "batch=8", "--loss", "cross-entropy")}
HEADER = re.compile(r"mtc\.kernel \[.*?\]\((.*?)\).* : \((.*)\) -> (\S+) \{")


def kernels_of(text: str) -> list[tuple[str, list[str]]]:
    """Returns the first line of each kernel of a step, and the lines of its body."""
    step = text.split("func.func @micro_step")[1].split("func.func")[0]
    kept = set(re.findall(r"mtc\.write @\S+, (%\w+) ", step))
    found = []
    for result, tile in re.findall(r"(%\S+) = (mtc\.kernel \[.*?)\n    }", step, re.S):
        header, _, *body = tile.splitlines()
        if result not in kept:
            found.append((header, body))
    return found


def only_converts(header: str, body: list[str]) -> bool:
    """Returns whether the kernel only converts one value of the step to another type."""
    if any("mtc.kernel.load" not in line and "mtc.kernel.yield" not in line for line in body):
        return False
    if not (parts := HEADER.search(header)):
        return False  # several results
    operand, given, result = parts.groups()
    return not operand.startswith("%arg") and given != result and given.rpartition("x")[0] == result.rpartition("x")[0]


for model, flags in MODELS.items():
    for target in ("cpu", "cuda"):
        for precision in ("bf16", "f16"):
            file = folder / "kernels.mlir"
            run([MTC, "compile", model, *flags, "--target", target, "--precision", precision, "--emit", "kernels", "-o", file, "--force"], folder)
            kernels = kernels_of(file.read_text())
            assert len(kernels) > 20, len(kernels)
            wrong = [header for header, body in kernels if only_converts(header, body)]
            assert not wrong, (model, target, precision, wrong[0])
            print(f"{model.name} {target} {precision}: {len(kernels)} kernels, none is only a conversion")
