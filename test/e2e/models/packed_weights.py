# RUN: %python %s %t
"""Models with weights of 2 and 4 bits, quantized by block or by channel, with and without zero points, train their other parameters like
models with the equivalent floating-point weights. An export contains the original codes."""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, losses, own_folder

ROWS, CLASSES, BLOCK = 8, 3, 4
FLAGS = ["--loss", "cross-entropy", "--optimizer", "sgd", "--lr", 0.3]
random = np.random.default_rng(0)
# Programs store small constants in 8 bits, and pack large ones along the axis with more factors of two.
CASES = [("blocks", 7, 5), ("channels", 7, 5), ("blocks", 48, 36), ("channels", 36, 48)]
KINDS = {"int4": (ml_dtypes.int4, TensorProto.INT4, -8, 8), "uint4": (ml_dtypes.uint4, TensorProto.UINT4, 0, 16),
         "int2": (ml_dtypes.int2, TensorProto.INT2, -2, 2), "uint2": (ml_dtypes.uint2, TensorProto.UINT2, 0, 4)}
folder = own_folder()


def save(name: str, depth: int, width: int, weight_nodes, initializers, *flags):
    numbers = np.random.default_rng(1)
    data = {"x": numbers.standard_normal((ROWS, depth)).astype(np.float32) * np.float32(2 / depth**0.5),
            "labels": numbers.integers(0, CLASSES, ROWS)}  # fmt: skip
    head = numbers.standard_normal((width, CLASSES)).astype(np.float32)
    nodes = [*weight_nodes, helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("MatMul", ["t", "head"], ["logits"])]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (ROWS, depth))]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (ROWS, CLASSES))]
    graph = helper.make_graph(nodes, name, inputs, outputs, [*initializers, numpy_helper.from_array(head, "head")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)
    onnx.checker.check_model(model)
    onnx.save(model, folder / f"{name}.onnx")
    return compile(folder / f"{name}.onnx", folder, data, *FLAGS, *flags, name=name)


for kind, (dtype, element, low, high) in KINDS.items():
    for form, depth, width in CASES:
        name = f"{kind}-{form}-{depth}"
        codes = random.integers(low, high, (depth, width))
        blocks = -(-depth // BLOCK)
        shape, attributes = ((blocks, width), {"axis": 0, "block_size": BLOCK}) if form == "blocks" else ((width,), {"axis": 1})
        scale = random.uniform(0.05, 0.3, shape).astype(np.float32)
        zeros = random.integers(low, high, shape)
        spread = [np.repeat(a, BLOCK, 0)[:depth] if form == "blocks" else a for a in (scale, zeros)]
        weight = ((codes - spread[1]) * spread[0]).astype(np.float32)
        packed = [numpy_helper.from_array(codes.astype(dtype), "codes"), numpy_helper.from_array(zeros.astype(dtype), "zeros")]
        assert packed[0].data_type == element, packed[0].data_type
        dequantize = helper.make_node("DequantizeLinear", ["codes", "scale", "zeros"], ["w"], **attributes)
        program = save(name, depth, width, [dequantize], [*packed, numpy_helper.from_array(scale, "scale")])
        plain = save(f"{name}-plain", depth, width, [], [numpy_helper.from_array(weight, "w")], "--freeze", "w")
        history = losses(program.train(8))
        np.testing.assert_allclose(history, losses(plain.train(8)), rtol=1e-5)
        assert program.gradients(f"{name}-gradients").keys() == {"head"}
        assert history[-1] < 0.9 * history[0], history
        program.exported(f"{name}-trained", "--steps", 2, "--no-shuffle")
        trained = onnx.load(folder / f"{name}-trained.onnx")
        onnx.checker.check_model(trained)
        kept = {i.name: i for i in trained.graph.initializer}
        assert all(kept[i.name].raw_data == i.raw_data and kept[i.name].data_type == element for i in packed)
