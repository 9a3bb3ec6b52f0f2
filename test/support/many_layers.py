"""Writes a model with many small parameters."""

from pathlib import Path

import numpy as np
import onnx
from models import DIGITS, Example, digits
from onnx import TensorProto, helper, numpy_helper


def many_layers(path: Path, layers: int = 20, width: int = 16) -> Example:
    """A model of digits with many small parameters, each at most one block of a sharded norm."""
    random = np.random.default_rng(5)
    nodes, parameters, x, inputs = [], {}, "x", 64
    for i in range(layers):
        outputs = 10 if i + 1 == layers else width
        parameters[f"layer{i}.weight"] = (random.standard_normal((inputs, outputs)) * (2 / inputs) ** 0.5).astype(np.float32)
        parameters[f"layer{i}.bias"] = np.zeros(outputs, np.float32)
        nodes.append(helper.make_node("Gemm", [x, f"layer{i}.weight", f"layer{i}.bias"], [f"g{i}"], name=f"layer{i}"))
        nodes.append(helper.make_node("Relu", [f"g{i}"], [f"a{i}"]))
        x, inputs = f"a{i}", outputs
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes[:-1], "layers", [value("x", TensorProto.FLOAT, ("batch", 64))], [value(f"g{layers - 1}", TensorProto.FLOAT, ("batch", 10))],
        [numpy_helper.from_array(array, name) for name, array in parameters.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return Example("layers", path, DIGITS.batch, digits, DIGITS.flags, DIGITS.rates)
