# RUN: %python %s %t
"""Among equal maxima of a window, the first one receives the gradient, as in PyTorch; so does the first NaN. Padding is never the maximum,
even if it equals the elements."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

folder = own_folder()
values = np.float32([[[[1, 1, 0, 0], [1, 2, 0, 0], [-1, -1, np.nan, 5], [-1, -1, np.nan, 7]]]])

# Each case has strides, the weights of the windows in the loss, and the expected gradient. The windows are disjoint or overlap.
CASES = {
    "tiles": ([2, 2], [[2, 3], [5, 7]], [[0, 0, 3, 0], [0, 2, 0, 0], [5, 0, 7, 0], [0, 0, 0, 0]]),
    "shared": ([1, 2], [[2, 3], [11, 13], [5, 7]], [[0, 0, 3, 0], [0, 2 + 11, 0, 0], [5, 0, 13 + 7, 0], [0, 0, 0, 0]]),
}


def tensor(name: str, shape) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


for name, (strides, weights, expected) in CASES.items():
    nodes = [
        helper.make_node("Add", ["p", "x"], ["a"]),
        helper.make_node("MaxPool", ["a"], ["y"], kernel_shape=[2, 2], strides=strides),
        helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(np.float32(weights))),
        helper.make_node("Mul", ["y", "w"], ["z"]),
        helper.make_node("ReduceSum", ["z"], ["loss"], keepdims=0),
    ]
    graph = helper.make_graph(nodes, name, [tensor("x", values.shape)], [tensor("loss", ())],
                              [numpy_helper.from_array(values, "p")])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")
    program = compile(folder / f"{name}.onnx", folder, {"x": np.zeros_like(values)}, "--loss", "output", "--train", "p", name=name)
    found = program.gradients(f"{name}-gradients")["p"]
    assert (found == np.float32(expected)).all(), (name, found)

# The elements are zeros of type u8, which equal the padding.
nodes = [
    helper.make_node("MaxPool", ["bytes"], ["greatest", "indices"], kernel_shape=[2], pads=[1, 1]),
    helper.make_node("ReduceSum", ["p"], ["loss"], keepdims=0),
]
graph = helper.make_graph(
    nodes, "bytes", [helper.make_tensor_value_info("bytes", TensorProto.UINT8, (1, 1, 3))],
    [tensor("loss", ()), helper.make_tensor_value_info("greatest", TensorProto.UINT8, (1, 1, 4)),
     helper.make_tensor_value_info("indices", TensorProto.INT64, (1, 1, 4))], [numpy_helper.from_array(values, "p")])  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "bytes.onnx")
data = {"bytes": np.zeros((1, 1, 3), np.uint8)}
program = compile(folder / "bytes.onnx", folder, data, "--loss", "output", "--train", "p", name="bytes")
outputs = program.outputs("bytes-outputs")
assert outputs["indices"].ravel().tolist() == [0, 0, 1, 2], outputs
assert not outputs["greatest"].any(), outputs
