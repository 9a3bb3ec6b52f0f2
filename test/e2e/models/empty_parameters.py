# RUN: %python %s %t
"""A parameter without elements, such as a bias of extent 0, is frozen. Programs of each kind train the other parameters, and
--export-weights writes all of them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import MTC, compile, own_folder, run
from safetensors.numpy import load_file

folder = own_folder()
x = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
weights = {"w": np.ones((3, 2), np.float32), "none": np.zeros((3, 0), np.float32), "nothing": np.zeros(0, np.float32)}
nodes = [helper.make_node("MatMul", ["x", "none"], ["m"]), helper.make_node("Add", ["m", "nothing"], ["a"]),
         helper.make_node("MatMul", ["x", "w"], ["b"]), helper.make_node("Concat", ["a", "b"], ["c"], axis=1),
         helper.make_node("ReduceSumSquare", ["c"], ["loss"], keepdims=0)]  # fmt: skip
graph = helper.make_graph(nodes, "model", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 3))],
                          [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
                          [numpy_helper.from_array(value, name) for name, value in weights.items()])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "model.onnx")

FLAGS = ("--loss", "output", "--output", "loss", "--dim", "batch=4", "--train", "*")
train = compile(folder / "model.onnx", folder, {"x": x}, *FLAGS)
train.train(2, "--save", folder / "saved", "--export-weights", folder / "weights.safetensors")
exported = load_file(folder / "weights.safetensors")
assert {name: array.shape for name, array in exported.items()} == {name: array.shape for name, array in weights.items()}, exported
assert not np.array_equal(exported["w"], weights["w"])
assert "warning" not in train.run("--steps", 1, "--weights", folder / "weights.safetensors").stderr
train.train(3, "--resume", folder / "saved")
assert train.gradients("gradients").keys() == {"w"}
inspected = run([MTC, "inspect", "model.onnx", "--verbose"], folder).stdout
assert inspected.count("has no element") == 2, inspected
for flags in (["--ranks", "2"], ["--ranks", "2", "--shard", "parameters"], ["--offload", "parameters"], ["--frozen-bits", "4"]):
    run([MTC, "plan", "model.onnx", *FLAGS, *flags, "--quiet"], folder)
