# RUN: %python %s %t
"""Contractions of small matrices, and of a matrix and a vector, are kernels with correct losses and gradients."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run

BATCH, HEADS, ROWS, WIDTH = 6, 5, 4, 3
folder = own_folder()
random = np.random.default_rng(0)
weight = random.normal(0, 1, (HEADS, WIDTH, WIDTH)).astype(np.float32)
vector = random.normal(0, 1, (HEADS * ROWS * ROWS, 1)).astype(np.float32)
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x", "weight"], ["q"], name="turned"),
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2], name="transpose"),
        helper.make_node("MatMul", ["q", "t"], ["s"], name="products"),
        helper.make_node("Tanh", ["s"], ["u"], name="tanh"),
        helper.make_node("Flatten", ["u"], ["f"], name="flatten"),
        helper.make_node("MatMul", ["f", "vector"], ["y"], name="score"),
    ],
    "small",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", HEADS, ROWS, WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 1])],
    [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(vector, "vector")],
)
model = folder / "small.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
x = random.normal(0, 1, (BATCH, HEADS, ROWS, WIDTH)).astype(np.float32)
labels = random.normal(0, 1, (BATCH, 1)).astype(np.float32)
flags = ("--dim", f"batch={BATCH}", "--loss", "mse", "--optimizer", "sgd", "--lr", "1e-2")


def loss(weight: np.ndarray, vector: np.ndarray) -> float:
    wide = x.astype(np.float64)
    scores = np.tanh(wide @ weight @ wide.transpose(0, 1, 3, 2))
    return float(np.mean((scores.reshape(BATCH, -1) @ vector - labels) ** 2))


def differences(values: list[np.ndarray], which: int) -> np.ndarray:
    result = np.zeros_like(values[which])
    for index in np.ndindex(result.shape):
        sides = []
        for step in (1e-5, -1e-5):
            moved = [value.copy() for value in values]
            moved[which][index] += step
            sides.append(loss(*moved))
        result[index] = (sides[0] - sides[1]) / 2e-5
    return result


text = run([MTC, "compile", model, *flags, "--emit=kernels"], folder).stdout
assert text.split("@evaluate")[1].split("@outputs")[0].count("mtc.contract") == 1, "expected one call in the forward pass: x times weight, 24 rows per head"
program = compile(model, folder, {"x": x, "labels": labels}, *flags)
found = program.gradients("gradients")
values = [weight.astype(np.float64), vector.astype(np.float64)]
for which, name in enumerate(("weight", "vector")):
    expected = differences(values, which)
    error = np.abs(found[name] - expected).max()
    assert error < 1e-5 * np.abs(expected).max(), (name, error)
