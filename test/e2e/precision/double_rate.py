# RUN: %python %s %t
"""The learning rate of an f64 model is stored in f64: rounding 0.1 to f32 would change it by a relative 1.5e-8."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

ROWS, WIDTH, RATE = 4, 3, 0.1
folder = own_folder()
random = np.random.default_rng(0)
weight, x, labels = random.normal(size=(WIDTH, 2)), random.normal(size=(ROWS, WIDTH)), random.normal(size=(ROWS, 2))
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "weight"], ["y"])], "double",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [ROWS, WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [ROWS, 2])],
    [numpy_helper.from_array(weight, "weight")],
)  # fmt: skip
model = folder / "double.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)

gradient = 2 * x.T @ (x @ weight - labels) / labels.size
for optimizer, change in [("sgd", gradient), ("lion", np.sign(gradient))]:
    program = compile(model, folder, {"x": x, "labels": labels}, "--loss", "mse", "--optimizer", optimizer,
                      "--lr", str(RATE), name=optimizer)  # fmt: skip
    exported = onnx.ModelProto.FromString(program.exported(f"trained-{optimizer}", "--steps", 1, "--no-shuffle"))
    found = numpy_helper.to_array(exported.graph.initializer[0])
    np.testing.assert_allclose(found, weight - RATE * change, rtol=1e-14, atol=1e-15, err_msg=optimizer)
