"""Builds models with any number of nodes. Planning each kind of model has taken more than linear time in an earlier version."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and parameters of a model whose output is a mean."""

    def __init__(self) -> None:
        self.nodes, self.parameters, self.random = [], {}, np.random.default_rng(0)

    def parameter(self, name: str, *shape: int) -> str:
        self.parameters[name] = (self.random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
        return name

    def node(self, kind: str, inputs: list[str], name: str, **attributes) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def save(self, path: Path, width: int, result: str, outputs: Iterable[str] = ()) -> None:
        """Saves the model. `outputs` are further outputs of shape [batch, width]."""
        self.node("ReduceMean", [result], "mean", keepdims=0)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, "growing", [value("x", TensorProto.FLOAT, ("batch", width))],
            [value("mean", TensorProto.FLOAT, []), *(value(name, TensorProto.FLOAT, ("batch", width)) for name in outputs)],
            [numpy_helper.from_array(array, name) for name, array in self.parameters.items()],
        )  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def fan_out(path: Path, count: int) -> None:
    """One value with `count` users, whose results are summed."""
    graph = Graph()
    graph.node("MatMul", ["x", graph.parameter("w", 16, 16)], "h")
    terms = []
    for i in range(count):
        graph.node(["Tanh", "Sin", "Sigmoid"][i % 3], ["h"], f"a{i}")
        terms.append(graph.node("Mul", [f"a{i}", graph.parameter(f"v{i}", 16)], f"m{i}"))
    graph.save(path, 16, graph.node("Sum", terms, "sum"))


def concat(path: Path, count: int) -> None:
    """A Concat of `count` contractions."""
    graph = Graph()
    parts = [graph.node("Mul", ["x", graph.parameter(f"w{i}", 4)], f"m{i}") for i in range(count)]
    graph.save(path, 4, graph.node("Tanh", [graph.node("Concat", parts, "c", axis=1)], "t"))


def split(path: Path, count: int) -> None:
    """A Split into `count` parts, each with a parameter."""
    graph = Graph()
    graph.nodes.append(helper.make_node("Split", ["x"], [f"p{i}" for i in range(count)], name="split", axis=1))
    parts = [graph.node("Mul", [f"p{i}", graph.parameter(f"w{i}", 2)], f"m{i}") for i in range(count)]
    graph.save(path, 2 * count, graph.node("Sum", parts, "sum"))


def chain(path: Path, count: int) -> None:
    """A chain of elementwise nodes."""
    graph, x = Graph(), "x"
    graph.parameter("w", 64)
    for i in range(count):
        kind = ["Tanh", "Sigmoid", "Sin", "Mul", "Add"][i % 5]
        x = graph.node(kind, [x, "w"] if kind in ("Mul", "Add") else [x], f"c{i}")
    graph.save(path, 64, x)


def layers(path: Path, count: int) -> None:
    """Residual layers of two matrices with layer normalization."""
    graph, x = Graph(), "x"
    for i in range(count):
        graph.parameters[f"g{i}"], graph.parameters[f"b{i}"] = np.ones(16, np.float32), np.zeros(16, np.float32)
        graph.node("LayerNormalization", [x, f"g{i}", f"b{i}"], f"n{i}")
        graph.node("MatMul", [f"n{i}", graph.parameter(f"u{i}", 16, 32)], f"h{i}")
        graph.node("Relu", [f"h{i}"], f"a{i}")
        graph.node("MatMul", [f"a{i}", graph.parameter(f"d{i}", 32, 16)], f"y{i}")
        x = graph.node("Add", [x, f"y{i}"], f"x{i}")
    graph.save(path, 16, x)


def tree(path: Path, count: int) -> None:
    """A binary tree of additions over `count` activations of one value."""
    graph = Graph()
    level = [graph.node("Tanh", [graph.node("Mul", ["x", graph.parameter(f"w{i}", 8)], f"m{i}")], f"t{i}") for i in range(count)]
    while len(level) > 1:
        level = [graph.node("Add", level[i : i + 2], f"s{len(level)}_{i}") if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    graph.save(path, 8, level[0])


def outputs(path: Path, count: int) -> None:
    """Outputs of `count` nodes, whose sum is the loss."""
    graph = Graph()
    names = [graph.node("Mul", ["x", graph.parameter(f"w{i}", 8)], f"y{i}") for i in range(count)]
    graph.save(path, 8, graph.node("Sum", names, "sum"), names)


def parameters(path: Path, count: int) -> None:
    """A chain with `count` small parameters, a third of which are biases."""
    graph, x = Graph(), "x"
    for i in range(count):
        name = f"layer{i // 3}.{'weight' if i % 3 == 0 else 'scale' if i % 3 == 1 else 'bias'}"
        x = graph.node(["MatMul", "Mul", "Add"][i % 3], [x, graph.parameter(name, 8, 8) if i % 3 == 0 else graph.parameter(name, 8)], f"c{i}")
    graph.save(path, 8, graph.node("Tanh", [x], "t"))


KINDS: dict[str, Callable[[Path, int], None]] = {
    "fan-out": fan_out, "concat": concat, "split": split, "chain": chain, "layers": layers, "tree": tree,
    "outputs": outputs, "parameters": parameters,
}  # fmt: skip
