# RUN: %python %s %t
"""Running statistics of batch normalization are state: each step moves them, nodes that share them one after the other;
checkpoints and exports hold them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

BATCH, STEPS, MOMENTUM, EPSILON = 4, 3, 0.8, 1e-3
SCALE, BIAS = np.float32([1.5, 0.5, -1.0]), np.float32([0.3, 0.0, -0.2])
MEAN, VARIANCE = np.float32([0.1, -0.2, 5.0]), np.float32([1.0, 2.0, 0.5])
folder = own_folder()


def model() -> onnx.ModelProto:
    """Two nodes with the same statistics, and one that only reads its own."""
    values = {"scale": SCALE, "bias": BIAS, "mean": MEAN, "variance": VARIANCE, "still_mean": MEAN, "still_variance": VARIANCE}
    training = {"training_mode": 1, "momentum": MOMENTUM, "epsilon": EPSILON}
    nodes = [
        helper.make_node("BatchNormalization", ["x", "scale", "bias", "mean", "variance"], ["y", "m", "v"], **training),
        helper.make_node("Add", ["y", "y"], ["twice"]),
        helper.make_node("BatchNormalization", ["twice", "scale", "bias", "mean", "variance"], ["z", "m2", "v2"], **training),
        helper.make_node("BatchNormalization", ["z", "scale", "bias", "still_mean", "still_variance"], ["out"]),
    ]
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, (BATCH, 3, 5))  # noqa: E731
    graph = helper.make_graph(nodes, "bn", [tensor("x")], [tensor("out")],
                              [numpy_helper.from_array(array, name) for name, array in values.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def moved(mean, variance, x):
    """The statistics after a node has seen x."""
    return (MOMENTUM * mean + (1 - MOMENTUM) * x.mean((0, 2)), MOMENTUM * variance + (1 - MOMENTUM) * x.var((0, 2)))


def expected(x: np.ndarray, steps: int):
    mean, variance = MEAN.astype(np.float64), VARIANCE.astype(np.float64)
    for step in range(steps):
        rows = x[step * BATCH : (step + 1) * BATCH].astype(np.float64)
        mean, variance = moved(mean, variance, rows)
        normal = (rows - rows.mean((0, 2), keepdims=True)) / np.sqrt(rows.var((0, 2), keepdims=True) + EPSILON)
        mean, variance = moved(mean, variance, 2 * (normal * SCALE[:, None] + BIAS[:, None]))
    return mean, variance


def exported(name: str, *flags) -> dict[str, np.ndarray]:
    graph = onnx.load_from_string(program.exported(name, *flags)).graph
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}


onnx.save(model(), folder / "model.onnx")
random = np.random.default_rng(0)
x = random.normal(1, 2, (STEPS * BATCH, 3, 5)).astype(np.float32)
labels = random.normal(0, 1, x.shape).astype(np.float32)
program = compile(folder / "model.onnx", folder, {"x": x, "labels": labels},
                  "--loss", "mse", "--optimizer", "sgd", "--lr", "1e-30")  # fmt: skip

for steps in (1, STEPS):
    weights = exported(f"after{steps}", "--steps", steps, "--no-shuffle")
    for name, value in zip(("mean", "variance"), expected(x, steps)):
        assert np.allclose(weights[name], value, 1e-5, 1e-6), (steps, name, weights[name], value)
        assert (weights[f"still_{name}"] == (MEAN if name == "mean" else VARIANCE)).all(), name

program.run("--steps", 2, "--no-shuffle", "--save", folder / "saved")
resumed = exported("resumed", "--steps", STEPS, "--no-shuffle", "--resume", folder / "saved")
assert all((resumed[name] == weights[name]).all() for name in weights), "a resumed run has other statistics"
