# RUN: %python %s %t
"""The running statistics of batch normalization are state. Each step updates them, nodes that share them update them one after the other,
and checkpoints and exports contain them. The running variance follows the framework that wrote the file."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run

BATCH, STEPS, MOMENTUM, EPSILON = 4, 3, 0.8, 1e-3
SCALE, BIAS = np.float32([1.5, 0.5, -1.0]), np.float32([0.3, 0.0, -0.2])
MEAN, VARIANCE = np.float32([0.1, -0.2, 5.0]), np.float32([1.0, 2.0, 0.5])
folder = own_folder()


def model(prefix: str = "", producer: str = "", chained: bool = False) -> onnx.ModelProto:
    """Two nodes with the same statistics, of which the second reads the first one's results if `chained`, and a node with its own
    statistics."""
    statistics = {f"{prefix}mean": MEAN, f"{prefix}variance": VARIANCE}
    values = {"scale": SCALE, "bias": BIAS, **statistics, "still_mean": MEAN, "still_variance": VARIANCE}
    again = ["m", "v"] if chained else [*statistics]
    training = {"training_mode": 1, "momentum": MOMENTUM, "epsilon": EPSILON}
    nodes = [
        helper.make_node("BatchNormalization", ["x", "scale", "bias", *statistics], ["y", "m", "v"], **training),
        helper.make_node("Add", ["y", "y"], ["twice"]),
        helper.make_node("BatchNormalization", ["twice", "scale", "bias", *again], ["z", "m2", "v2"], **training),
        helper.make_node("BatchNormalization", ["z", "scale", "bias", "still_mean", "still_variance"], ["out"]),
    ]
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, (BATCH, 3, 5))  # noqa: E731
    graph = helper.make_graph(nodes, "bn", [tensor("x")], [tensor("out")],
                              [numpy_helper.from_array(array, name) for name, array in values.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name=producer)


def moved(mean, variance, x, less: int):
    """Returns the statistics after a node has processed x."""
    var = x.var((0, 2), ddof=less)
    return (MOMENTUM * mean + (1 - MOMENTUM) * x.mean((0, 2)), MOMENTUM * variance + (1 - MOMENTUM) * var)


def expected(x: np.ndarray, steps: int, less: int = 0):
    """Returns the expected statistics. The running variance divides by N - `less`."""
    mean, variance = MEAN.astype(np.float64), VARIANCE.astype(np.float64)
    for step in range(steps):
        rows = x[step * BATCH : (step + 1) * BATCH].astype(np.float64)
        mean, variance = moved(mean, variance, rows, less)
        normal = (rows - rows.mean((0, 2), keepdims=True)) / np.sqrt(rows.var((0, 2), keepdims=True) + EPSILON)
        mean, variance = moved(mean, variance, 2 * (normal * SCALE[:, None] + BIAS[:, None]), less)
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

# PyTorch divides the running variance by N - 1, Keras and the ONNX standard by N. PyTorch's exporter chains the nodes of a module that is
# called twice. A single note names the variance that is used.
FLAGS = ("--loss", "mse", "--optimizer", "sgd", "--lr", "1e-30")
for name, prefix, producer, flags, less, note in (
    ("pytorch", "", "pytorch", (), 1, "PyTorch's, divided by N - 1"),
    ("keras", "model._torch_params.bn/", "pytorch", (), 0, "Keras', divided by N"),
    ("other", "", "other", (), 0, "ONNX's, divided by N"),
    ("train", "", "other", ("--batch-norm", "train"), 1, None),
    ("keras-train", "model._torch_params.bn/", "pytorch", ("--batch-norm", "train"), 0, None),
):
    for chained in (False, True):
        path = folder / f"{name}-{chained}.onnx"
        onnx.save(model(prefix, producer, chained), path)
        for command in ("inspect", "plan"):
            shown = run([MTC, command, path, *(FLAGS if command == "plan" else ()), *flags], folder).stderr
            assert shown.count("batch norm: the running variance is") == (note is not None), shown
            assert note is None or note in shown, shown
            assert "is not an initializer" not in shown, shown
        program = compile(path, folder, {"x": x, "labels": labels}, *FLAGS, *flags, name=name)
        weights = exported(f"{name}-weights", "--steps", STEPS, "--no-shuffle")
        for statistic, value in zip(("mean", "variance"), expected(x, STEPS, less)):
            assert np.allclose(weights[prefix + statistic], value, 1e-5, 1e-6), (name, chained, statistic)
