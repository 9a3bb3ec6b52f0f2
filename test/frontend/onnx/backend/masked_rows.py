# RUN: %python %s %t
"""In attention as exporters write it, a fully masked row has zero outputs and a zero gradient."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import compile, own_folder

folder = own_folder()
rng = np.random.default_rng(0)
weights, values = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal((3, 2)).astype(np.float32)
mask = np.array([[0, 0, 0], [-np.inf, -np.inf, -np.inf], [0, -np.inf, 0], [-np.inf, 0, -np.inf]], np.float32)

nodes = [
    helper.make_node("Add", ["weights", "mask"], ["scores"]),
    helper.make_node("Softmax", ["scores"], ["s"], axis=-1),
    helper.make_node("IsNaN", ["s"], ["n"]),
    helper.make_node("Constant", [], ["zero"], value=numpy_helper.from_array(np.float32(0))),
    helper.make_node("Where", ["n", "zero", "s"], ["p"]),
    helper.make_node("MatMul", ["p", "values"], ["y"]),
    helper.make_node("ReduceSumSquare", ["y"], ["loss"], keepdims=0),
]
graph = helper.make_graph(
    nodes, "masked", [helper.make_tensor_value_info("mask", TensorProto.FLOAT, (4, 3))],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, (4, 2)),
     helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
    [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(values, "values")])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "model.onnx")

program = compile(folder / "model.onnx", folder, {"mask": mask}, "--loss", "output", "--output", "loss")
exponential = np.exp(np.float64(weights) + mask)
p = exponential / np.maximum(exponential.sum(1, keepdims=True), 1e-300)
y = p @ values
dp = 2 * y @ values.T
expected = {"weights": p * (dp - (p * dp).sum(1, keepdims=True)), "values": p.T @ (2 * y)}

outputs, gradients = program.outputs("outputs"), program.gradients("gradients")
np.testing.assert_allclose(outputs["y"], y, rtol=1e-5, atol=1e-6)
assert not outputs["y"][1].any(), outputs["y"]
assert gradients.keys() == expected.keys(), gradients.keys()
for name, gradient in expected.items():
    np.testing.assert_allclose(gradients[name], gradient, rtol=1e-4, atol=1e-6, err_msg=name)
assert not gradients["weights"][1].any(), gradients["weights"]
