# RUN: %python %s %t
"""A program of a model without weights starts only with --weights. With --init, its parameters, and frozen tensors without another value, are
initialized randomly."""

import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file, save_file

from program import MTC, TIMEOUT, own_folder

FOLDER = own_folder()
BIAS = np.linspace(-1, 1, 64, dtype=np.float32)
weights = [numpy_helper.from_array(np.ones((64, 64), np.float32), name) for name in ("w", "table")]
bias = numpy_helper.from_array(BIAS, "b")
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
drawn = ["--init", "*:normal=0.02"]
np.save(FOLDER / "x.npy", np.ones((4, 64), np.float32))
np.save(FOLDER / "labels.npy", np.ones((4, 64), np.float32))
DATA = ("--data", "x=x.npy", "--data", "labels=labels.npy")


def train(*words, code=0):
    steps = () if "--steps" in words else ("--steps", "2")
    done = subprocess.run([FOLDER / "train", *DATA, *steps, *words], cwd=FOLDER, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == code, (words, done)
    return done.stderr


# The program has the value of the small frozen bias alone.
note = mtc(*read, "-o", "train").stderr
assert "no data for 2 tensors ('w', 'table')" in note and "--weights FILE|DIR" in note, note
assert not (FOLDER / "train.weights.safetensors").exists()
values = {name: np.random.default_rng(0).standard_normal((64, 64), np.float32) for name in ("w", "table")}
save_file({"w": values["w"]}, FOLDER / "part.safetensors")
for words, *expected in (((), "'w', 'table'", "--weights FILE|DIR"), (("--weights", "part.safetensors"), "'table' is missing")):
    refused = train(*words, "--export-weights", "trained.safetensors", code=1)
    assert all(word in refused for word in expected), refused
assert not (FOLDER / "trained.safetensors").exists()
save_file(values, FOLDER / "given.safetensors")
train("--weights", "given.safetensors", "--export-weights", "trained.safetensors", "--save", "checkpoint")
expected = (FOLDER / "trained.safetensors").read_bytes()
assert not np.array_equal(load_file(FOLDER / "trained.safetensors")["w"], values["w"])
# A checkpoint has the trained parameters, but not the frozen ones.
assert "'table'" in train("--resume", "checkpoint", "--steps", "4", code=1)
train("--resume", "checkpoint", "--steps", "4", "--weights", "given.safetensors")

# The data completes the model: the program then starts with these weights.
data = bytearray(2 * 64 * 64 * 4)
for tensor in onnx.load(FOLDER / "model.onnx", load_external_data=False).graph.initializer:
    if tensor.name in values:
        begin = int(next((entry.value for entry in tensor.external_data if entry.key == "offset"), 0))
        data[begin : begin + 64 * 64 * 4] = values[tensor.name].tobytes()
(FOLDER / "w.bin").write_bytes(data)
assert "no data" not in mtc(*read, "-o", "train", "--force").stderr
train("--export-weights", "trained.safetensors")
assert (FOLDER / "trained.safetensors").read_bytes() == expected
(FOLDER / "w.bin").unlink()

text = mtc(*read, *drawn, "--emit=training").stdout
assert "parameter @w : tensor<64x64xf32> = #mtc.normal<2.000000e-02" in text, text
assert "frozen @table : tensor<64x64xf32> = #mtc.normal<2.000000e-02" in text, text
assert "@b" not in text or '#mtc.initializer<"b">' in text, text  # existing tensors keep their values

# The text of a stage records which tensors were missing.
mtc(*read, "--emit=forward", "-o", "forward.mlir")
assert '#mtc.initializer<"table", missing>' in (FOLDER / "forward.mlir").read_text()
assert mtc("forward.mlir", "--loss", "mse", *drawn, "--emit=training").stdout.count("#mtc.normal") == 2
mtc("forward.mlir", "--loss", "mse", *drawn, "-o", "train", "--force")
train()
