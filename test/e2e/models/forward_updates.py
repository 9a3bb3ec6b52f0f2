# RUN: %python %s %t
"""Identity nodes with the metadata mtc.update update state. Each training step or micro-step updates the state once, evaluation does not,
and checkpoints and exports contain it. Integer state is supported."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, own_folder, run
from safetensors.numpy import load_file

BATCH, STEPS, WIDTH = 4, 3, 3
SCALE, MEAN = np.float32([0.5, -1.0, 2.0]), np.float32([0.1, -0.2, 0.3])
folder = own_folder()


def marked(node: onnx.NodeProto, key: str, value: str) -> onnx.NodeProto:
    node.metadata_props.add(key=key, value=value)
    return node


def model() -> onnx.ModelProto:
    """`out` subtracts a moving average of x * scale after two updates, and reads a counter before its update."""
    values = {"scale": SCALE, "mean": MEAN, "count": np.int64(5), "one": np.int64(1), "factor": np.float32(0.8), "axis": np.int64([0])}
    node = helper.make_node
    nodes = [
        node("Mul", ["x", "scale"], ["scaled"]),
        node("ReduceMean", ["scaled", "axis"], ["batch"], keepdims=0),
        node("Sub", ["mean", "batch"], ["d1"]), node("Mul", ["d1", "factor"], ["f1"]), node("Add", ["f1", "batch"], ["new1"]),
        marked(node("Identity", ["new1"], ["first"]), "mtc.update", "mean"),
        node("Sub", ["first", "batch"], ["d2"]), node("Mul", ["d2", "factor"], ["f2"]), node("Add", ["f2", "batch"], ["new2"]),
        marked(node("Identity", ["new2"], ["second"]), "mtc.update", "mean"),
        node("Identity", ["second"], ["mean.next"]),
        marked(node("Identity", ["second"], ["fixed"]), "mtc.detached", "true"),
        node("Cast", ["count"], ["counted"], to=TensorProto.FLOAT),
        node("Sub", ["scaled", "fixed"], ["centered"]),
        node("Mul", ["centered", "counted"], ["out"]),
        node("Add", ["count", "one"], ["more"]),
        marked(node("Identity", ["more"], ["count.next"]), "mtc.update", "count"),
    ]  # fmt: skip
    info = helper.make_tensor_value_info
    outputs = [info("out", TensorProto.FLOAT, (BATCH, WIDTH)), info("mean.next", TensorProto.FLOAT, (WIDTH,)), info("count.next", TensorProto.INT64, ())]
    graph = helper.make_graph(nodes, "state", [info("x", TensorProto.FLOAT, (BATCH, WIDTH))], outputs,
                              [numpy_helper.from_array(array, name) for name, array in values.items()])  # fmt: skip
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    entry = {"shape": [WIDTH], "dtype": "float32", "persistent": True}
    buffers = [{"name": name, "update": f"{name}.next", **entry} for name in ("mean", "count")]
    parameter = {"name": "scale", "names": ["scale"], "requires_grad": True, **entry}
    facts = {"format": 1, "parameters": [parameter], "buffers": buffers, "padding_idx": {}, "mode": "train", "stops": 1}
    result.metadata_props.add(key="mtc.module", value=json.dumps(facts))
    return result


def updated(mean: np.ndarray, rows: np.ndarray) -> np.ndarray:
    batch = (rows * SCALE).mean(0)
    for _ in range(2):
        mean = 0.8 * (mean - batch) + batch
    return mean


def expected(count: int) -> np.ndarray:
    mean = MEAN.astype(np.float64)
    for step in range(count):
        mean = updated(mean, x[step * BATCH : (step + 1) * BATCH].astype(np.float64))
    return mean


def state(weights: dict) -> tuple:
    return weights["mean"], int(weights["count"].reshape(()))


def exported(program, name: str, *flags) -> dict:
    program.run("--no-shuffle", *flags, "--export-weights", folder / f"{name}.safetensors")
    return load_file(folder / f"{name}.safetensors")


onnx.save(model(), folder / "model.onnx")
random = np.random.default_rng(0)
x = random.normal(1, 2, (STEPS * BATCH, WIDTH)).astype(np.float32)
labels = random.normal(0, 1, x.shape).astype(np.float32)
FLAGS = ("--loss", "mse", "--optimizer", "sgd", "--lr", "1e-30")
program = compile(folder / "model.onnx", folder, {"x": x, "labels": labels}, *FLAGS)

for steps in (1, STEPS):
    mean, count = state(exported(program, f"after{steps}", "--steps", steps))
    assert np.allclose(mean, expected(steps), 1e-5, 1e-6), (steps, mean, expected(steps))
    assert count == 5 + steps, count

# The step's output is scaled by the counter's value before the update; no gradient flows through the average.
program.run("--no-shuffle", "--gradients", folder / "gradients.safetensors")
rows, target = x[:BATCH].astype(np.float64), labels[:BATCH].astype(np.float64)
out = 5 * (rows * SCALE - updated(MEAN.astype(np.float64), rows))
gradient = (2 * (out - target) * 5 * rows).mean(0) / WIDTH
assert np.allclose(load_file(folder / "gradients.safetensors")["scale"], gradient, 1e-4, 1e-4), gradient

# Inference reads the state without updating it.
program.run("--outputs", folder / "outputs.safetensors")
outputs = load_file(folder / "outputs.safetensors")
assert sorted(outputs) == ["out"], sorted(outputs)
assert np.allclose(outputs["out"][:BATCH], 5 * (rows * SCALE - MEAN), 1e-5, 1e-5)

program.run("--steps", 2, "--no-shuffle", "--save", folder / "saved")
resumed = exported(program, "resumed", "--steps", STEPS, "--resume", folder / "saved")
whole = load_file(folder / f"after{STEPS}.safetensors")
assert all((resumed[name] == whole[name]).all() for name in whole), "a resumed run has another state"

# The inference form reads the state instead of its new value.
inference = onnx.load_from_string(program.exported("inference", "--steps", STEPS, "--no-shuffle"))
sources = {node.output[0]: node for node in inference.graph.node}
assert sources["second"].input[0] == "mean" and not sources["second"].metadata_props, sources["second"]
stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in inference.graph.initializer}
assert (stored["mean"] == whole["mean"]).all() and stored["count"] == 5 + STEPS
onnx.save(inference, folder / "inference.onnx")
again = run([MTC, "compile", folder / "inference.onnx", *FLAGS, "-o", folder / "again"], folder)
assert "in inference form" in again.stderr and "'mean', 'count'" in again.stderr, again.stderr

# Each micro-step updates the state from its micro-batch.
(folder / "micro").mkdir()
micro = compile(folder / "model.onnx", folder / "micro", {"x": x, "labels": labels}, *FLAGS, "--accumulate", STEPS)
mean, count = state(exported(micro, "micro", "--steps", 1))
assert np.allclose(mean, expected(STEPS), 1e-5, 1e-6) and count == 5 + STEPS, (mean, count)

# The new value is equal on all ranks, but the loss depends on it.
refused = run([MTC, "compile", folder / "model.onnx", *FLAGS, "--ranks", "2", "-o", folder / "ranks"], folder, code=1)
assert "reads 'mean'" in refused.stderr and "compile without --ranks" in refused.stderr, refused.stderr

# Optimizers that drop Identity nodes drop the metadata.
lost = model()
for node in lost.graph.node:
    del node.metadata_props[:]
onnx.save(lost, folder / "lost.onnx")
printed = run([MTC, "compile", folder / "lost.onnx", *FLAGS, "-o", folder / "lost"], folder).stderr
assert "stops gradients at 1 values, the file at 0" in printed and "updates 'mean', 'count'" in printed, printed
