# RUN: %python %s %t
"""The errors of math functions on the CPU are at most those that codegen/cpu/MathApproximation.cpp states."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

# Each operator has its function, the interval, and the maximum error in ULP. The reference is exact, so the bound includes the rounding of
# the C library, against which the stated errors were measured.
FUNCTIONS = {
    "Exp": (math.exp, (-80, 80), 1.5), "Log": (math.log, (1e-30, 1e30), 1.5), "Tanh": (math.tanh, (-10, 10), 5.5),
    "Erf": (math.erf, (-4, 4), 5), "Asin": (math.asin, (-1, 1), 5.5), "Acos": (math.acos, (-1, 1), 1.5),
    "Atan": (math.atan, (-9, 9), 3.5), "Sin": (math.sin, (-1e4, 1e4), 2.5), "Cos": (math.cos, (-1e4, 1e4), 2.5),
}  # fmt: skip
COUNT = 20000

folder = own_folder()
inputs, nodes, outputs, data = [], [], [], {}
for name, (_, interval, _) in FUNCTIONS.items():
    inputs.append(helper.make_tensor_value_info(f"x{name}", TensorProto.FLOAT, ["batch", COUNT]))
    outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", COUNT]))
    nodes.append(helper.make_node(name, [f"x{name}"], [name]))
    data[f"x{name}"] = np.linspace(*interval, COUNT, dtype=np.float32)[np.newaxis]
# A parameter, so that the program has something to train.
nodes.append(helper.make_node("Mul", ["xSin", "weight"], ["trained"]))
outputs.append(helper.make_tensor_value_info("trained", TensorProto.FLOAT, ["batch", COUNT]))
weight = numpy_helper.from_array(np.ones(COUNT, np.float32), "weight")
model = helper.make_model(helper.make_graph(nodes, "functions", inputs, outputs, [weight]), opset_imports=[helper.make_opsetid("", 20)])
model.ir_version = 10
onnx.save(model, folder / "functions.onnx")
data["labels"] = np.zeros((1, COUNT), np.float32)

program = compile(folder / "functions.onnx", folder, data, "--dim", "batch=1", "--output", "trained", "--loss", "mse")
found = program.outputs("values")
for name, (function, _, most) in FUNCTIONS.items():
    x = data[f"x{name}"][0]
    exact = np.array([function(float(each)) for each in x])
    error = np.abs(found[name][0] - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    # Near a zero of the function, the rounding of x limits the accuracy.
    error[np.abs(exact) < 1e-3] = 0
    at = int(np.argmax(error))
    assert error[at] <= most, f"{name}({x[at]:.9g}) is {found[name][0][at]:.9g}, {error[at]:.1f} ULP from {exact[at]:.9g}; expected {most}"
