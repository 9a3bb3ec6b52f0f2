# RUN: %python %s %t
"""The numbers of operations in --profile-summary equal those that are counted by hand. A lookup counts the bytes of the rows that it reads,
not of its table."""

import json

import numpy as np
import onnx
from models import DIGITS
from onnx import TensorProto, helper, numpy_helper
from program import compile, compile_example, own_folder

folder = own_folder()


def summary(program, *flags):
    file = program.folder / "summary.json"
    file.unlink(missing_ok=True)
    program.run(f"--profile-summary={file}", *flags)
    return json.loads(file.read_text())


# The model of the digits example has three layers, 64-256-128-10. Each has a forward contraction and one for its weight's gradient; all but
# the first also have one for the input's gradient.
digits = compile_example(DIGITS, folder, "adamw", 320, name="digits")
found = summary(digits, "--steps", 6)
assert found["steps"] == 6 and 0 < found["step_seconds"] <= found["mean_step_seconds"], found
contractions = [row for row in found["rows"] if row["kind"] == "contraction"]
layers = [(64, 256), (256, 128), (128, 10)]
work = 2 * 32 * sum(a * b for a, b in layers)
assert sum(row["flops"] for row in contractions) == 3 * work - 2 * 32 * 64 * 256
assert sum(row["calls"] for row in contractions) == 8
assert all(0 < row["share_of_alone"] and row["alone_flops_per_second"] > 0 for row in contractions)
assert any("layers.0/Gemm" in row["nodes"][0] for row in contractions)
shares = [row["share"] for row in found["rows"]] + [found["totals"][part]["share"] for part in ("load", "between")]
assert abs(sum(shares) - 1) < 1e-6, sum(shares)
# AdamW reads parameter, gradient and two moments, and writes all of them except the gradient.
parameters = sum(a * b + b for a, b in layers)
update = [row for row in found["rows"] if row["kind"] == "kernel" and "optimizer adamw" in row["nodes"][0]]
assert 28 * parameters <= sum(row["bytes"] for row in update) < 29 * parameters, update

# The model looks up 16 rows in a table of 4096.
ROWS, WIDTH, LENGTH, BATCH = 4096, 64, 4, 4
random = np.random.default_rng(0)
table = random.normal(0, 1, (ROWS, WIDTH)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("Gather", ["table", "ids"], ["rows"], name="lookup")],
    "lookup",
    [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", LENGTH])],
    [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["batch", LENGTH, WIDTH])],
    [numpy_helper.from_array(table, "table")],
)
model = folder / "lookup.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
data = {
    "ids": random.integers(0, ROWS, (8, LENGTH)),
    "labels": random.normal(0, 1, (8, LENGTH, WIDTH)).astype(np.float32),
}
flags = ("--dim", f"batch={BATCH}", "--loss", "mse", "--optimizer", "sgd", "--lr", "1e-2")
lookup = compile(model, folder, data, *flags, name="lookup")
rows = summary(lookup, "--evaluate")["rows"]
reading = [row for row in rows if "lookup" in row["nodes"][0]]
read = BATCH * LENGTH * WIDTH * 4
assert reading and all(read <= row["bytes"] < table.nbytes / 10 for row in reading), reading
