"""Models of 1-D, 2-D and 3-D convolutions, with groups, strides, dilations and one-sided padding, biases and ReLU."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH, STEPS, CLASSES = 4, 3, 5
FLAGS = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", "0.1")
CASES = {
    "line": ([11], {"pads": [0, 2], "strides": [2]}, {"group": 2}, {"strides": [2], "output_padding": [1]}),
    "plane": ([9, 8], {"pads": [1, 0, 2, 1]}, {"group": 2, "dilations": [2, 1]}, {"strides": [1, 2], "pads": [1, 1, 0, 1]}),
    "volume": ([5, 6, 4], {"pads": [1] * 6, "strides": [1, 2, 1]}, {"auto_pad": "SAME_UPPER"}, {"strides": [2, 1, 1]}),
}


def model(folder: Path, name: str, random: np.random.Generator) -> Path:
    """Writes two convolutions and a transposed one with ReLU between them, averaged over all positions."""
    extents, first, second, transposed = CASES[name]
    rank, constants = len(extents), {}

    def parameter(parameter_name, *shape):
        constants[parameter_name] = random.normal(0, 0.4, shape).astype(np.float32)
        return parameter_name

    kernel, inputs = [3] * rank, 6 // second.get("group", 1)
    weights = (parameter("w0", 6, 3, *kernel), parameter("w1", 4, inputs, *kernel), parameter("w2", 4, CLASSES, *kernel))
    nodes = [
        helper.make_node("Conv", ["x", weights[0], parameter("b0", 6)], ["c0"], name="first", **first),
        helper.make_node("Relu", ["c0"], ["a0"], name="relu"),
        helper.make_node("Conv", ["a0", weights[1], parameter("b1", 4)], ["c1"], name="second", **second),
        helper.make_node("Relu", ["c1"], ["a1"], name="relu1"),
        helper.make_node("ConvTranspose", ["a1", weights[2]], ["c2"], name="third", **transposed),
        helper.make_node("GlobalAveragePool", ["c2"], ["p"], name="average"),
        helper.make_node("Flatten", ["p"], ["y"], name="flatten"),
    ]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, *extents])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(value, key) for key, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / f"{name}.onnx")
    return folder / f"{name}.onnx"


def data(name: str, random: np.random.Generator) -> dict[str, np.ndarray]:
    extents = CASES[name][0]
    return {
        "x": random.normal(0, 1, (STEPS * BATCH, 3, *extents)).astype(np.float32),
        "labels": random.integers(0, CLASSES, STEPS * BATCH),
    }
