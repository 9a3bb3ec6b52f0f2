# RUN: %python %s %t
"""If a model lacks its weights, its parameters, and frozen tensors without another value, are initialized randomly."""

import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import MTC, TIMEOUT, own_folder

FOLDER = own_folder()
weights = [numpy_helper.from_array(np.ones((64, 64), np.float32), name) for name in ("w", "table")]
bias = numpy_helper.from_array(np.full(64, 0.5, np.float32), "b")
nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("MatMul", ["xw", "table"], ["t"]),
         helper.make_node("Add", ["t", "b"], ["y"])]  # fmt: skip
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 64])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 64])], [*weights, bias])  # fmt: skip
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
onnx.save(model, FOLDER / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=1024)
(FOLDER / "w.bin").unlink()


def mtc(*words, code=0):
    command = [MTC, "compile", *words]
    run = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == code, (command, run.stderr)
    return run


read = ["model.onnx", "--freeze", "table", "--freeze", "b", "--loss", "mse"]
drawn = ["--init", "normal:0.02"]
refused = mtc(*read, "-o", "train", code=1).stderr
assert "'w': external data file 'w.bin'" in refused and "--init normal:0.02" in refused, refused

text = mtc(*read, *drawn, "--emit=training").stdout
assert "parameter @w : tensor<64x64xf32> = #mtc.normal<2.000000e-02" in text, text
assert "frozen @table : tensor<64x64xf32> = #mtc.normal<2.000000e-02" in text, text
assert "0.5" in text or "5.000000e-01" in text, text  # existing tensors keep their values

# The text of a stage records which tensors were missing.
mtc(*read, "--emit=forward", "-o", "forward.mlir")
assert '#mtc.initializer<"table", missing>' in (FOLDER / "forward.mlir").read_text()
assert mtc("forward.mlir", "--loss", "mse", *drawn, "--emit=training").stdout.count("#mtc.normal") == 2
mtc("forward.mlir", "--loss", "mse", *drawn, "-o", "train")
np.save(FOLDER / "x.npy", np.ones((4, 64), np.float32))
np.save(FOLDER / "labels.npy", np.ones((4, 64), np.float32))
run = subprocess.run([FOLDER / "train", "--data", "x=x.npy", "--data", "labels=labels.npy", "--steps", "1"], cwd=FOLDER,
                     capture_output=True, text=True, timeout=TIMEOUT)  # fmt: skip
assert run.returncode == 0, run
