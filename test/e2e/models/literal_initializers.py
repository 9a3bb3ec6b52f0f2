# RUN: %python %s %t
"""Literals, means and scales that a converter or optimizer stores as initializers are constants: such a file trains bit-identically to a
file with Constant nodes, and its constants do not change."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, losses, own_folder

ROWS, WIDTH = 16, 8
folder = own_folder()
rng = np.random.default_rng(0)
weights = {"w": rng.standard_normal((WIDTH, WIDTH)).astype(np.float32), "v": rng.standard_normal((WIDTH, 1)).astype(np.float32)}
constants = {
    "mean": rng.standard_normal((1, WIDTH)), "std": np.full((1, WIDTH), 0.5), "eps": [1e-3], "sqrt2": [2**0.5], "one": [1], "half": [0.5],
    "two": [2], "scales": [1, 1, 2]}  # fmt: skip
constants = {name: np.array(value, np.float32) for name, value in constants.items()}
# The model has a standardized input, a decomposed layer normalization and GELU, and upsampled features.
nodes = [helper.make_node(op, list(inputs), [out]) for op, inputs, out in [
    ("Sub", ("x", "mean"), "x0"), ("Div", ("x0", "std"), "x1"), ("MatMul", ("x1", "w"), "h"), ("ReduceMean", ("h",), "mu"),
    ("Sub", ("h", "mu"), "c"), ("Pow", ("c", "two"), "cc"), ("ReduceMean", ("cc",), "var"), ("Add", ("var", "eps"), "ve"),
    ("Sqrt", ("ve",), "sd"), ("Div", ("c", "sd"), "ln"), ("Div", ("ln", "sqrt2"), "a"), ("Erf", ("a",), "e"), ("Add", ("e", "one"), "b"),
    ("Mul", ("ln", "b"), "g1"), ("Mul", ("g1", "half"), "g"), ("MatMul", ("g", "v"), "m"), ("Unsqueeze", ("m", "axis"), "u"),
    ("Resize", ("u", "", "scales"), "r"), ("Squeeze", ("r", "axis"), "y")]]  # fmt: skip
for node in nodes:
    if node.op_type == "ReduceMean":
        node.attribute.extend([helper.make_attribute("axes", [1]), helper.make_attribute("keepdims", 1)])


def model(name: str, as_nodes: bool):
    stored = weights if as_nodes else weights | constants
    literals = [helper.make_node("Constant", [], [key], value=numpy_helper.from_array(value)) for key, value in constants.items()]
    graph = helper.make_graph(
        literals * as_nodes + nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2])],
        [numpy_helper.from_array(value, key) for key, value in stored.items()] + [numpy_helper.from_array(np.array([1]), "axis")])  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="tf2onnx"), path)
    return path


data = {"x": rng.standard_normal((ROWS, WIDTH)).astype(np.float32), "labels": rng.standard_normal((ROWS, 2)).astype(np.float32)}
flags = ("--dim", f"batch={ROWS}", "--loss", "mse", "--optimizer", "adamw", "--lr", "0.01", "--weight-decay", "0.01")
curves = {}
for name, as_nodes in (("nodes", True), ("initializers", False)):
    program = compile(model(name, as_nodes), folder, data, *flags, name=name)
    curves[name] = losses(program.train(20, "--export", folder / f"{name}-trained.onnx", name=name))
assert curves["nodes"] == curves["initializers"], curves
assert curves["nodes"][-1] < 0.9 * curves["nodes"][0], curves
trained = {i.name: numpy_helper.to_array(i) for i in onnx.load(folder / "initializers-trained.onnx").graph.initializer}
for name, value in constants.items():
    np.testing.assert_array_equal(trained[name], value, err_msg=name)
assert all(np.abs(trained[name] - value).max() > 0.01 for name, value in weights.items())
