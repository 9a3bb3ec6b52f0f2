# RUN: %python %s %t
"""On several threads, weight gradients of convolutions consist of parts of the batch. Losses are equal up to rounding to those on one thread,
and the parts use planned memory only."""

import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, losses, own_folder

BATCH, CHANNELS, SIDE, THREADS = 8, 16, 24, 4
folder = own_folder()
random = np.random.default_rng(0)
weights = []


def weight(name: str, *shape: int) -> str:
    value = random.normal(0, np.prod(shape[1:]) ** -0.5, shape).astype(np.float32)
    weights.append(numpy_helper.from_array(value, name))
    return name


# The gradient of the first convolution has few channels, which oneDNN divides by images only.
nodes = [
    helper.make_node("Conv", ["x", weight("w0", CHANNELS, 3, 5, 5)], ["c0"], pads=[2] * 4),
    helper.make_node("Relu", ["c0"], ["a0"]),
    helper.make_node("Conv", ["a0", weight("w1", CHANNELS, CHANNELS, 3, 3)], ["c1"], pads=[1] * 4, strides=[2, 2]),
    helper.make_node("GlobalAveragePool", ["c1"], ["p"]),
    helper.make_node("Flatten", ["p"], ["y"]),
]
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CHANNELS])
path = folder / "model.onnx"
onnx.save(helper.make_model(helper.make_graph(nodes, "model", [x], [y], weights), opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
data = {
    "x": random.normal(0, 1, (3 * BATCH, 3, SIDE, SIDE)).astype(np.float32),
    "labels": random.integers(0, CHANNELS, 3 * BATCH),
}

for precision in "f32", "bf16":
    flags = ["--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", "0.1", "--precision", precision]
    program = compile(path, folder, data, *flags, "--tune", "off", "--threads", THREADS, "--check-memory", name=precision)
    expected = losses(program.train(3, "--threads", 1))
    for threads in range(2, THREADS + 1):
        np.testing.assert_allclose(losses(program.train(3, "--threads", threads)), expected, rtol=1e-5 if precision == "f32" else 1e-2)
    profile = program.run("--steps", 1, "--no-shuffle", "--profile-summary").stdout
    gradients = re.findall(r"convolution_weight_gradient +(.*?)  ", profile)
    assert len(gradients) == 2, profile
    # Without AVX-512, oneDNN has no primitive for channels in the last axis.
    assert any(" parts" in gradient for gradient in gradients) or not any("avx512" in gradient for gradient in gradients), profile
