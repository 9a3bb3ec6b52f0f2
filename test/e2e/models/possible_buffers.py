# RUN: %python %s %t
"""In a file of PyTorch's older exporter, a bias that a module adds to the output of an inner layer may be a buffer. It is trained with a
warning, and the flag in the warning keeps it constant."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run

ROWS, WIDTH, CLASSES = 8, 4, 3
folder = own_folder()
rng = np.random.default_rng(0)
weight = rng.standard_normal((WIDTH, CLASSES)).astype(np.float32)
bias = rng.standard_normal((1, CLASSES)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "onnx::MatMul_5"], ["/head/MatMul_output_0"], "/head/MatMul"),
     helper.make_node("Add", ["/head/MatMul_output_0", "onnx::Add_6"], ["y"], "/Add")],
    "scoped", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(weight, "onnx::MatMul_5"), numpy_helper.from_array(bias, "onnx::Add_6")])  # fmt: skip
model = folder / "model.onnx"
onnx.save(helper.make_model(graph, producer_name="pytorch", opset_imports=[helper.make_opsetid("", 20)], ir_version=10), model)

x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
labels = rng.standard_normal((ROWS, CLASSES)).astype(np.float32)
flags = ("--dim", f"batch={ROWS}", "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1")
dy = 2 * (x @ weight + bias - labels) / labels.size
expected = {"onnx::MatMul_5": x.T @ dy, "onnx::Add_6": dy.sum(0, keepdims=True)}

for name, patterns, trained, warns in [("plain", (), {*expected}, True), ("all", ("--train", "*"), {*expected}, False),
                                       ("frozen", ("--freeze", "onnx::Add_6"), {"onnx::MatMul_5"}, False)]:  # fmt: skip
    said = run([MTC, "plan", model, *flags, *patterns], folder).stderr
    assert ("their linear layers: 'onnx::Add_6' [1, 3]" in said) == warns, (patterns, said)
    assert ("For buffers, use --freeze 'onnx::Add_6'; for parameters, use --train '*'" in said) == warns, (patterns, said)
    gradients = compile(model, folder, {"x": x, "labels": labels}, *flags, *patterns, name=name).gradients(f"gradients-{name}")
    assert gradients.keys() == trained, (patterns, gradients.keys())
    for tensor, gradient in gradients.items():
        np.testing.assert_allclose(gradient, expected[tensor], rtol=1e-4, atol=1e-5, err_msg=f"{patterns} {tensor}")
