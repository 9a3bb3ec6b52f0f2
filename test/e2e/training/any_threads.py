# RUN: %python %s %t
"""Generated kernels give bit-identical results for any number of threads.

The model has row and column reductions, a broadcast, and no contraction, which a library would compute.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder, same_bits

ROWS, WIDTH = 64, 1000
folder = own_folder()
random = np.random.default_rng(0)
weights = {
    "scale": random.normal(1, 0.1, WIDTH),
    "shift": random.normal(0, 0.1, WIDTH),
    "gain": random.normal(1, 0.1, WIDTH),
}
graph = helper.make_graph(
    [
        helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["n"], axis=-1, name="norm"),
        helper.make_node("Tanh", ["n"], ["t"], name="tanh"),
        helper.make_node("Mul", ["t", "gain"], ["g"], name="gain"),
        helper.make_node("Softmax", ["g"], ["y"], axis=-1, name="softmax"),
    ],
    "kernels",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", WIDTH])],
    [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()],
)
model = folder / "kernels.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
data = {
    "x": random.normal(0, 1, (ROWS, WIDTH)).astype(np.float32),
    "labels": random.normal(0, 1, (ROWS, WIDTH)).astype(np.float32),
}
flags = ("--dim", "batch=32", "--loss", "mse", "--optimizer", "adamw", "--lr", "1e-2")
program = compile(model, folder, data, *flags)
one, two = (program.gradients(f"g{n}", "--threads", n) for n in (1, 2))
assert one.keys() == weights.keys(), one.keys()
assert all(np.abs(g).max() > 0 for g in one.values())
assert same_bits(one, two)
assert program.exported("e1", "--steps", 6, "--threads", 1) == program.exported("e2", "--steps", 6, "--threads", 2)
