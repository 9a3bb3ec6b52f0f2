# RUN: %python %s %t
"""An embedding's gradient is bit-identical whether its full table is allocated or not, with repeated and negative indices."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run, same_bits

ROWS, WIDTH, LENGTH, BATCH = 4096, 64, 4, 8
folder = own_folder()
random = np.random.default_rng(0)
table = random.normal(0, 1, (ROWS, WIDTH)).astype(np.float32)
graph = helper.make_graph(
    [
        helper.make_node("Gather", ["table", "ids"], ["x"], axis=0, name="lookup"),
        helper.make_node("Tanh", ["x"], ["y"], name="tanh"),
    ],
    "embedding",
    [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", LENGTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", LENGTH, WIDTH])],
    [numpy_helper.from_array(table, "table")],
)
model = folder / "embedding.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
ids = random.integers(0, 12, (4 * BATCH, LENGTH))  # indices repeat
ids[0] = [5, -1, ROWS - 1, 5 - ROWS]  # the indices select two rows, each by two equivalent indices
labels = random.normal(0, 1, (4 * BATCH, LENGTH, WIDTH)).astype(np.float32)
flags = ("--dim", f"batch={BATCH}", "--loss", "mse", "--optimizer", "adamw", "--lr", "1e-2")
data = {"ids": ids, "labels": labels}
short = compile(model, folder, data, *flags, name="short")
long = compile(model, folder, data, *flags, "--skip-pass", "mtc-compact-scatter", name="long")
gradients = short.gradients("gradients_short")
assert same_bits(gradients, long.gradients("gradients_long"))
x = table[ids[:BATCH]].astype(np.float64)
expected = np.zeros((ROWS, WIDTH))
y = np.tanh(x)
np.add.at(expected, ids[:BATCH] % ROWS, 2 * (y - labels[:BATCH]) / y.size * (1 - y * y))
assert np.abs(gradients["table"] - expected).max() < 1e-6 * np.abs(expected).max()
assert losses(short.train(6)) == losses(long.train(6))
assert short.exported("short", "--steps", 6) == long.exported("long", "--steps", 6)

peak = [
    json.loads(run([MTC, "plan", model, *flags, *skip, "--json"], folder).stdout)["peak_bytes"]
    for skip in ((), ("--skip-pass", "mtc-compact-scatter"))
]
assert peak[0] <= peak[1] - 0.9 * table.nbytes, peak
