# RUN: %python %s %t
"""Activations, their gradients and bias gradients as library epilogues have the losses and gradients of the kernels that they replace."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from models import GPT2
from program import MTC, compile, losses, own_folder, run

BATCH, STEPS, WIDTHS = 24, 5, (16, 32, 48, 16)
EMULATED = ("--target", "cuda", "--emulate")
PASSES = ("mtc-fuse-activations", "mtc-fuse-bias-gradients")
folder = own_folder()
random = np.random.default_rng(0)


def model(approximate: str) -> str:
    """Three linear layers with GELU and ReLU between them."""
    sizes = list(zip(WIDTHS, WIDTHS[1:], strict=False))
    weights = {f"w{i}": random.normal(0, 0.4, (out, size)) for i, (size, out) in enumerate(sizes)}
    weights |= {f"b{i}": random.normal(0, 0.4, out) for i, (_, out) in enumerate(sizes)}
    linear = [helper.make_node("Gemm", [x, f"w{i}", f"b{i}"], [y], name=f"linear{i}", transB=1)
              for i, (x, y) in enumerate((("x", "p0"), ("a0", "p1"), ("a1", "y")))]  # fmt: skip
    gelu = helper.make_node("Gelu", ["p0"], ["a0"], name="gelu", approximate=approximate)
    relu = helper.make_node("Relu", ["p1"], ["a1"], name="relu")
    graph = helper.make_graph(
        [linear[0], gelu, linear[1], relu, linear[2]],
        "mlp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTHS[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", WIDTHS[-1]])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    file = f"{approximate}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / file)
    return file


def rows(width: int) -> np.ndarray:
    return random.normal(0, 1, (STEPS * BATCH, width)).astype(np.float32)


data = {"x": rows(WIDTHS[0]), "labels": rows(WIDTHS[-1])}
flags = ("--dim", f"batch={BATCH}", "--loss", "mse", "--optimizer", "sgd", "--lr", "5e-2")
tanh, erf = model("tanh"), model("none")


def formed(file, *more, flags=flags) -> list[str]:
    """Returns the epilogues of the training step's calls, except addition."""
    text = run([MTC, "compile", file, *flags, *more, "--emit=kernels"], folder).stdout
    step = text.split("@micro_step")[1].split("func.func")[0]
    calls = [line for line in step.splitlines() if "mtc.fused_contract" in line]
    names = ("gelu_gradient", "gelu ", "auxiliary", "result :", "lhs :")
    return sorted(filter(None, (" ".join(name.strip(" :") for name in names if f" {name}" in line) for line in calls)))


tf32 = (*EMULATED, "--precision", "tf32")
assert formed(tanh, *tf32) == ["gelu auxiliary", "gelu_gradient result", "lhs"], formed(tanh, *tf32)
assert formed(erf, *tf32) == ["lhs"], formed(erf, *tf32)
assert formed(tanh, *EMULATED) == ["lhs"], "expected no epilogue: f32 activations are exact"
assert formed(tanh) == [], "expected no epilogue: oneDNN's drop NaN"
skipped = [word for name in PASSES for word in ("--skip-pass", name)]
assert formed(tanh, *tf32, *skipped) == []

# GPT-2's GELU consists of many nodes, including a power.
optimizer = (*GPT2.flags, "--optimizer", "sgd", "--lr", "0.1")
assert formed(GPT2.model, *tf32, flags=optimizer) == 2 * ["gelu auxiliary"] + 2 * ["gelu_gradient result"]

host = compile(folder / tanh, folder, data, *flags, name="host")
expected, gradients = losses(host.train(STEPS)), host.gradients("expected")
for name, more in (
    ("all", tf32),
    ("kept", (*tf32, "--skip-pass", "mtc-recompute-elementwise")),
    ("apart", (*tf32, "--skip-pass", "mtc-fuse-update")),
    ("activations", (*tf32, "--skip-pass", PASSES[1])),
    ("sums", (*tf32, "--skip-pass", PASSES[0])),
    ("f32", EMULATED),
    ("none", (*tf32, *skipped)),
):
    device = compile(folder / tanh, folder, data, *flags, *more, name=name)
    found = losses(device.train(STEPS))
    assert len(found) == STEPS and np.allclose(found, expected, rtol=2e-6), (name, found, expected)
    for parameter, gradient in device.gradients(f"gradients_{name}").items():
        error, scale = np.abs(gradient - gradients[parameter]).max(), np.abs(gradients[parameter]).max()
        assert error <= 2e-6 * scale, (name, parameter, error, scale)

# NaN propagates through each implementation of ReLU.
data["x"][3, 2] = np.nan
for name, more in (("host_nan", ()), ("device_nan", tf32)):
    program = compile(folder / tanh, folder, data, *flags, *more, name=name)
    assert losses(program.train(1, "--on-nan", "continue")) == [None], name  # metrics write NaN as null
