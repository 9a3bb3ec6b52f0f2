"""Small models for `optimum.py`: stacks of common blocks with random weights."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Builder for a graph with one input and one output."""

    def __init__(self, shape: list[int]):
        self.shape, self.nodes, self.parameters = shape, [], []
        self.numbers = np.random.default_rng(0)

    def parameter(self, *shape: int, value: float | None = None) -> str:
        """Adds a parameter and returns its name. Elements are `value`, or normal with variance 1 / prod(shape[1:])."""
        drawn = self.numbers.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
        values = drawn if value is None else np.full(shape, value)
        self.parameters.append(numpy_helper.from_array(values.astype(np.float32), f"p{len(self.parameters)}"))
        return self.parameters[-1].name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes) -> str | list[str]:
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"{kind}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def save(self, path: Path, output: str) -> None:
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape) for name in ("x", output)]
        graph = helper.make_graph(self.nodes, path.stem, ends[:1], ends[1:], self.parameters)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11), path)


def perceptron(path: Path, blocks: int, rows: int = 4096, width: int = 256) -> None:
    """Linear layers with GELU."""
    graph, x = Graph([rows, width]), "x"
    for _ in range(blocks):
        x = graph.add("Gemm", x, graph.parameter(width, width), graph.parameter(width, value=0.0))
        x = graph.add("Gelu", x)
    graph.save(path, x)


def transformer(path: Path, blocks: int, batch: int = 8, length: int = 512, width: int = 256) -> None:
    """Pre-norm transformer blocks: attention and MLP with residuals."""
    graph, x = Graph([batch, length, width]), "x"

    def linear(x: str, inputs: int, outputs: int) -> str:
        product = graph.add("MatMul", x, graph.parameter(inputs, outputs))
        return graph.add("Add", product, graph.parameter(outputs, value=0.0))

    def norm(x: str) -> str:
        return graph.add("LayerNormalization", x, graph.parameter(width, value=1.0), graph.parameter(width, value=0.0))

    for _ in range(blocks):
        parts = graph.add("Split", linear(norm(x), width, 3 * width), outputs=3, axis=2, num_outputs=3)
        heads = graph.add("Attention", *parts, q_num_heads=4, kv_num_heads=4)
        x = graph.add("Add", x, linear(heads, width, width))
        x = graph.add("Add", x, linear(graph.add("Gelu", linear(norm(x), width, 4 * width)), 4 * width, width))
    graph.save(path, x)


def convolution(path: Path, blocks: int, batch: int = 16, channels: int = 64, extent: int = 28) -> None:
    """Residual blocks of two convolutions, each with batch normalization."""
    graph, x = Graph([batch, channels, extent, extent]), "x"

    def layer(x: str) -> str:
        x = graph.add("Conv", x, graph.parameter(channels, channels, 3, 3), pads=[1, 1, 1, 1])
        values = [graph.parameter(channels, value=value) for value in (1.0, 0.0, 0.0, 1.0)]
        return graph.add("BatchNormalization", x, *values, outputs=3, training_mode=1)[0]

    for _ in range(blocks):
        x = graph.add("Relu", graph.add("Add", x, layer(graph.add("Relu", layer(x)))))
    graph.save(path, x)


KINDS: dict[str, Callable[[Path, int], None]] = {each.__name__: each for each in (perceptron, transformer, convolution)}
