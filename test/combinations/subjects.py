"""Small models with different kinds of operators, for random combinations of techniques."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from models import EXAMPLES, digits, passages
from onnx import TensorProto, helper, numpy_helper

ROWS = 24


@dataclass(frozen=True)
class Model:
    name: str
    file: Path
    data: dict[str, np.ndarray]  # for ROWS samples
    flags: tuple[str, ...]
    adapted: str  # pattern of matrices that adapters support
    frozen: str  # pattern of parameters that may be frozen


def parameter(random: np.random.Generator, name: str, *shape: int) -> onnx.TensorProto:
    fan = int(np.prod(shape[1:]))
    return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(fan)).astype(np.float32), name)


def make_network(folder: Path) -> Path:
    """Convolutions, BatchNormalization in training form, Dropout and pooling of images of 8 x 8, then two linear layers."""
    random = np.random.default_rng(3)
    node = helper.make_node
    nodes = [
        node("Reshape", ["x", "image"], ["r"]),
        node("Conv", ["r", "conv1.weight", "conv1.bias"], ["c1"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c1", "norm.weight", "norm.bias", "norm.mean", "norm.var"], ["n", "m", "v"], training_mode=1),
        node("Relu", ["n"], ["a1"]),
        node("Conv", ["a1", "conv2.weight"], ["c2"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("HardSwish", ["c2"], ["a2"]),
        node("MaxPool", ["a2"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["p"], ["f"]),
        node("Dropout", ["f", "ratio", "training"], ["d"]),
        node("Gemm", ["d", "layer1.weight", "layer1.bias"], ["l"], transB=1),
        node("Gelu", ["l"], ["g"]),
        node("Gemm", ["g", "layer2.weight", "layer2.bias"], ["logits"], transB=1),
    ]
    parameters = [
        parameter(random, "conv1.weight", 8, 1, 3, 3), parameter(random, "conv1.bias", 8),
        numpy_helper.from_array(np.ones(8, np.float32), "norm.weight"), numpy_helper.from_array(np.zeros(8, np.float32), "norm.bias"),
        numpy_helper.from_array(np.zeros(8, np.float32), "norm.mean"), numpy_helper.from_array(np.ones(8, np.float32), "norm.var"),
        parameter(random, "conv2.weight", 8, 8, 3, 3),
        parameter(random, "layer1.weight", 64, 128), parameter(random, "layer1.bias", 64),
        parameter(random, "layer2.weight", 10, 64), parameter(random, "layer2.bias", 10),
        numpy_helper.from_array(np.int64([-1, 1, 8, 8]), "image"),
        numpy_helper.from_array(np.float32(0.25), "ratio"), numpy_helper.from_array(np.array(True), "training"),
    ]  # fmt: skip
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "network", [value("x", TensorProto.FLOAT, ("batch", 64))],
                              [value("logits", TensorProto.FLOAT, ("batch", 10))], parameters)  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "network.onnx")
    return folder / "network.onnx"


def models(folder: Path) -> list[Model]:
    classes = ("--loss", "cross-entropy", "--labels", "labels")
    tokens = ("--dim", "sequence=16", "--loss", "causal-lm", "--labels", "labels")
    return [
        Model("digits", EXAMPLES / "digits/digits.onnx", digits(ROWS), classes, "*", "layers.0*"),
        Model("network", make_network(folder), digits(ROWS), classes, "layer*", "conv*"),
        Model("gpt2", EXAMPLES / "gpt2/gpt2.onnx", passages(ROWS, 16), tokens, "*", "*.h.0.*"),
    ]
