# RUN: %python %s %t
"""A large batch is prefetched during the previous step, into a buffer that the plan counts as data.

Samples have the size of images, the last batch of an evaluation is incomplete, and the losses equal those of numpy.
"""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, read_metrics, run

ROWS, WIDTH, BATCH, RATE = 22, 3 * 32 * 32, 8, 0.1
folder = own_folder()
random = np.random.default_rng(0)
weight = random.normal(0, 0.02, (WIDTH, 1)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "weight"], ["y"], name="linear")],
    "images",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 1])],
    [numpy_helper.from_array(weight, "weight")],
)
model = folder / "images.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
x = random.normal(0, 1, (ROWS, WIDTH)).astype(np.float32)
labels = random.normal(0, 1, (ROWS, 1)).astype(np.float32)
flags = ("--loss", "mse", "--optimizer", "sgd", "--lr", str(RATE / WIDTH))


def plan(batch):
    return json.loads(run([MTC, "plan", model, "--dim", f"batch={batch}", *flags, "--json"], folder).stdout)


# The arena has one buffer for the inputs, and from 64 KiB on another one for the inputs of the next batch.
inputs = 4 * BATCH * WIDTH + 64  # the labels occupy one cache line
assert inputs >= 64 << 10 > 4 * WIDTH
assert plan(BATCH)["categories"]["data"] == 2 * inputs, plan(BATCH)
assert plan(1)["categories"]["data"] == 4 * WIDTH + 64, plan(1)

program = compile(model, folder, {"x": x, "labels": labels}, "--dim", f"batch={BATCH}", *flags)
w = weight.astype(np.float64)
expected = []
for step in range(7):
    rows = np.arange(step * BATCH, (step + 1) * BATCH) % ROWS
    error = x[rows] @ w - labels[rows]
    expected.append(np.mean(error**2))
    w -= RATE / WIDTH * 2 * x[rows].T @ error / BATCH
found = losses(program.train(7))
assert np.allclose(found, expected, rtol=1e-5), (found, expected)

# A run that stops after three steps resumes bit-exactly.
whole = program.exported("whole", "--steps", 7)
program.run("--steps", 3, "--save", "saved")
assert program.exported("resumed", "--steps", 7, "--resume", "saved") == whole

y = program.outputs("outputs")["y"]
assert y.shape == (ROWS, 1) and np.allclose(y, x @ weight, atol=1e-4)
program.run("--evaluate", "--metrics", "evaluated.jsonl")
(evaluated,) = read_metrics(folder / "evaluated.jsonl")
assert evaluated["samples"] == ROWS and np.isclose(evaluated["loss"], np.mean((x @ weight - labels) ** 2), rtol=1e-5)
