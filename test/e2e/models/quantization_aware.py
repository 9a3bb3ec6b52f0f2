# RUN: %python %s %t
"""A QuantizeLinear/DequantizeLinear pair with equal parameters is fake quantization: its gradient passes through inside the range. Pairs
with different parameters, and integers with other users, have a zero gradient. The same holds for 8-bit floats."""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

folder = own_folder()
SCALE, ZERO = np.float32([0.05, 0.5]), np.uint8([128, 100])
weights = np.float32([[0.31, -1.26], [-6.39, 77.7], [6.36, -50.3], [6.34, 0.26]])
factors = np.float32([[1, 2], [3, 5], [7, 11], [13, 17]])


def compiled(name: str, other_scale: bool, scale=SCALE, zero=ZERO):
    nodes = [
        helper.make_node("QuantizeLinear", ["p", "scale", "zero"], ["q"], axis=1),
        helper.make_node("DequantizeLinear", ["q", "other" if other_scale else "scale", "zero"], ["y"], axis=1),
        helper.make_node("Mul", ["y", "x"], ["z"]),
        helper.make_node("Mul", ["p", "zeros"], ["nothing"]),
        helper.make_node("Add", ["z", "nothing"], ["sum"]),
        helper.make_node("ReduceSum", ["sum"], ["loss"], keepdims=0),
    ]
    constants = {"scale": scale, "other": scale * 2, "zero": zero, "zeros": np.float32(0)}
    nodes = [helper.make_node("Constant", [], [n], value=numpy_helper.from_array(v, n)) for n, v in constants.items()] + nodes
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", (4, 2)), ("loss", ()), ("y", (4, 2)))]
    graph = helper.make_graph(nodes, name, info[:1], info[1:], [numpy_helper.from_array(weights, "p")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), folder / f"{name}.onnx")
    flags = ("--loss", "output", "--output", "loss", "--train", "p")
    return compile(folder / f"{name}.onnx", folder, {"x": factors}, *flags, name=name)


def rounded(scale):
    return (np.clip(np.round(weights / SCALE) + ZERO, 0, 255) - ZERO) * scale


inside = (weights >= (0.0 - ZERO) * SCALE) & (weights <= (255.0 - ZERO) * SCALE)
assert inside.sum() == 5, inside  # The values are inside the range and outside of both of its ends.
for name, other, scale, expected in (("pair", False, SCALE, np.where(inside, factors, 0)),
                                     ("apart", True, 2 * SCALE, np.zeros_like(factors))):  # fmt: skip
    program = compiled(name, other)
    outputs = program.outputs(f"{name}-outputs")
    assert np.allclose(outputs["y"].reshape(4, 2), rounded(scale), 1e-6), (name, outputs["y"], rounded(scale))
    found = program.gradients(f"{name}-gradients")["p"]
    assert (found == expected).all(), (name, found, expected)

for kind in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
    largest = float(ml_dtypes.finfo(kind).max)
    scale = np.float32([4, 60]) / np.float32(largest)
    program = compiled(kind.__name__, False, scale, np.zeros(2, kind))
    outputs = program.outputs(f"{kind.__name__}-outputs")
    expected = np.clip(weights / scale, -largest, largest).astype(kind).astype(np.float32) * scale
    assert np.allclose(outputs["y"].reshape(4, 2), expected, 1e-6), (kind, outputs["y"], expected)
    inside = np.abs(weights) <= largest * scale
    assert inside.sum() == 4, inside
    found = program.gradients(f"{kind.__name__}-gradients")["p"]
    assert (found == np.where(inside, factors, 0)).all(), (kind, found, inside)
