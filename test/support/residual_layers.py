"""Layers of a language model without attention: RMSNorm, a gated contraction and a residual connection."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH, WIDTH = 256, 64


def residual_layers(path: Path, layers: int = 6) -> None:
    random = np.random.default_rng(0)
    initializers = {"two": np.float32(2), "axes": np.array([-1]), "epsilon": np.float32(1e-5)}
    nodes, x = [], "x"

    def node(kind: str, inputs: list[str], output: str) -> None:
        nodes.append(helper.make_node(kind, inputs, [output]))

    for i in range(layers):
        initializers[f"gain{i}"] = np.ones(WIDTH, np.float32)
        for name, shape in {"gate": (WIDTH, 2 * WIDTH), "up": (WIDTH, 2 * WIDTH), "down": (2 * WIDTH, WIDTH)}.items():
            initializers[f"{name}{i}"] = (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)
        node("Pow", [x, "two"], f"square{i}")
        node("ReduceMean", [f"square{i}", "axes"], f"mean{i}")
        node("Add", [f"mean{i}", "epsilon"], f"moved{i}")
        node("Sqrt", [f"moved{i}"], f"root{i}")
        node("Div", [x, f"root{i}"], f"normed{i}")
        node("Mul", [f"normed{i}", f"gain{i}"], f"scaled{i}")
        node("MatMul", [f"scaled{i}", f"gate{i}"], f"g{i}")
        node("Sigmoid", [f"g{i}"], f"s{i}")
        node("Mul", [f"g{i}", f"s{i}"], f"silu{i}")
        node("MatMul", [f"scaled{i}", f"up{i}"], f"u{i}")
        node("Mul", [f"silu{i}", f"u{i}"], f"h{i}")
        node("MatMul", [f"h{i}", f"down{i}"], f"d{i}")
        node("Add", [x, f"d{i}"], f"x{i}")
        x = f"x{i}"
    graph = helper.make_graph(
        nodes, "residual", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, WIDTH])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, [BATCH, WIDTH])],
        [numpy_helper.from_array(np.array(value), name) for name, value in initializers.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
