# RUN: %python %s %t
"""A model with unsorted nodes trains bit-identically, and its export is sorted and contains the trained weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from program import compile, losses, own_folder

ROWS, WIDTH, CLASSES = 8, 6, 5
folder = own_folder()
rng = np.random.default_rng(0)
x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
labels = rng.integers(0, CLASSES, ROWS)
weights = {
    "0.weight": rng.standard_normal((16, WIDTH)), "0.bias": rng.standard_normal(16),
    "2.weight": rng.standard_normal((CLASSES, 16)), "2.bias": rng.standard_normal(CLASSES),
}  # fmt: skip
# A converter to 16 bits appends the casts of inputs and outputs.
casts = [helper.make_node("Cast", ["x"], ["half"], "cast_in", to=TensorProto.FLOAT16),
         helper.make_node("Cast", ["logits"], ["y"], "cast_out", to=TensorProto.FLOAT)]  # fmt: skip
layers = [helper.make_node("Gemm", ["half", "0.weight", "0.bias"], ["z"], "first", transB=1),
          helper.make_node("Relu", ["z"], ["h"], "relu"),
          helper.make_node("Gemm", ["h", "2.weight", "2.bias"], ["logits"], "last", transB=1)]  # fmt: skip


def trained(name: str, nodes: list) -> tuple[list[float], onnx.ModelProto, np.ndarray]:
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(value.astype(np.float16), key) for key, value in weights.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")
    program = compile(folder / f"{name}.onnx", folder, {"x": x, "labels": labels}, "--dim", f"batch={ROWS}", "--loss",
                      "cross-entropy", "--optimizer", "sgd", "--lr", "0.1", name=name)  # fmt: skip
    found = losses(program.train(5, "--export", folder / f"{name}-trained.onnx", "--save", folder / f"{name}-state"))
    exported = onnx.load(folder / f"{name}-trained.onnx")
    return found, exported, program.outputs(f"{name}-outputs", "--resume", folder / f"{name}-state")["y"]


sorted_losses, _, sorted_outputs = trained("sorted", [casts[0], *layers, casts[1]])
for name, nodes in (("appended", [*layers, *casts]), ("reversed", [casts[1], *reversed(layers), casts[0]])):
    found, exported, outputs = trained(name, nodes)
    assert found == sorted_losses, name
    assert outputs.tobytes() == sorted_outputs.tobytes(), name
    onnx.checker.check_model(exported)
    [y] = ReferenceEvaluator(exported).run(None, {"x": x})
    np.testing.assert_allclose(y, outputs, atol=2e-2, err_msg=name)
assert sorted_losses[-1] < sorted_losses[0]
