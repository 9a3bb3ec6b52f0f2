"""Writes a convolutional model with padding, strides and groups, batch normalization in training form, and pooling."""

import onnx_bytes
from onnx_bytes import field, initializer, integer, integers, node, value


def model() -> bytes:
    graph = field(2, "convolutions")
    graph += node("Conv", ["x", "w0"], "c0", integers("pads", 1, 1, 1, 1))
    statistics = [f"n0.{name}" for name in ("scale", "bias", "mean", "variance")]
    graph += node("BatchNormalization", ["c0", *statistics], ["n0", "new.mean", "new.variance"], integer("training_mode", 1))
    graph += node("Relu", ["n0"], "r0")
    graph += node("MaxPool", ["r0"], "p0", integers("kernel_shape", 2, 2), integers("strides", 2, 2))
    grouped = integer("group", 2), integers("strides", 2, 2), integers("pads", 1, 1, 1, 1)
    graph += node("Conv", ["p0", "w1", "b1"], "c1", *grouped)
    graph += node("Relu", ["c1"], "r1")
    graph += node("GlobalAveragePool", ["r1"], "p1")
    graph += node("Flatten", ["p1"], "f")
    graph += node("Gemm", ["f", "w2", "b2"], "y", integer("transB", 1))
    shapes = {"w0": (16, 3, 3, 3), "w1": (32, 8, 3, 3), "w2": (10, 32), "b1": (32,), "b2": (10,)}
    graph += b"".join(initializer(name, *shape) for name, shape in shapes.items())
    graph += b"".join(initializer(name, 16) for name in statistics[:3]) + initializer(statistics[3], 16, values=[1.0] * 16)
    return onnx_bytes.model(graph + value(11, "x", 3, 32, 32) + value(12, "y", 10), opset=17)
