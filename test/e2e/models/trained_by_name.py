# RUN: %python %s %t
"""--train trains exactly the named tensors, including Constant nodes. Messages list untrained constants that look trainable, and suggest
similar names for unknown ones."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run

ROWS, WIDTH, CLASSES = 8, 4, 3
folder = own_folder()
rng = np.random.default_rng(0)
scale = rng.standard_normal(WIDTH).astype(np.float32)
w, b = rng.standard_normal((WIDTH, CLASSES)).astype(np.float32), rng.standard_normal(CLASSES).astype(np.float32)
mean, variance = np.float32([1, 2, 3]), np.float32([0.5, 1.5, 2.5])
nodes = [
    helper.make_node("Constant", [], ["scale"], value=numpy_helper.from_array(scale)),
    helper.make_node("Constant", [], ["one"], value=numpy_helper.from_array(np.float32(1))),
    helper.make_node("Add", ["scale", "one"], ["shifted"]),
    helper.make_node("Mul", ["x", "shifted"], ["s"]),
    helper.make_node("MatMul", ["s", "w"], ["m"]),
    helper.make_node("Add", ["m", "b"], ["h"]),
    # The model has a batch normalization as Keras writes it.
    helper.make_node("Sub", ["h", "bn/moving_mean"], ["c"]),
    helper.make_node("Add", ["bn/variance", "epsilon"], ["v"]),
    helper.make_node("Sqrt", ["v"], ["d"]),
    helper.make_node("Div", ["c", "d"], ["y"]),
]
initializers = {"w": w, "b": b, "bn/moving_mean": mean, "bn/variance": variance, "epsilon": np.float32(1e-3)}
graph = helper.make_graph(
    nodes, "named", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(value, name) for name, value in initializers.items()])
model = folder / "model.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), model)

x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
labels = rng.standard_normal((ROWS, CLASSES)).astype(np.float32)
flags = ("--dim", f"batch={ROWS}", "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1")
deviation = np.sqrt(variance + np.float32(1e-3))
dy = 2 * ((((x * (scale + 1)) @ w + b - mean) / deviation) - labels) / labels.size / deviation
expected = {"w": (x * (scale + 1)).T @ dy, "b": dy.sum(0), "scale": ((dy @ w.T) * x).sum(0)}


def gradients_with(*patterns) -> dict:
    name = "-".join(word.strip("-").replace("*", "all") for word in patterns) or "plain"
    program = compile(model, folder, {"x": x, "labels": labels}, *flags, *patterns, name=name)
    return program.gradients(f"gradients-{name}")


for patterns, trained in [((), {"w", "b"}), (("--train", "w"), {"w"}), (("--train", "scale"), {"scale"}),
                          (("--train", "*"), {"w", "b", "scale"}), (("--train", "*", "--freeze", "b"), {"w", "scale"}),
                          (("--freeze", "w"), {"b"})]:  # fmt: skip
    gradients = gradients_with(*patterns)
    assert gradients.keys() == trained, (patterns, gradients.keys())
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-4, atol=1e-5, err_msg=f"{patterns} {name}")

# The exported model differs from the original in the trained tensors only.
program = compile(model, folder, {"x": x, "labels": labels}, *flags, "--train", "scale", name="exported")
exported = onnx.ModelProto.FromString(program.exported("trained", "--steps", 1, "--no-shuffle"))
onnx.checker.check_model(exported, full_check=True)
values = {tensor.name: numpy_helper.to_array(tensor) for tensor in exported.graph.initializer}
np.testing.assert_allclose(values.pop("scale"), scale - 0.1 * expected["scale"], rtol=1e-4, atol=1e-5)
assert values.keys() == initializers.keys()
for name, value in initializers.items():
    np.testing.assert_array_equal(values[name], value, err_msg=name)

said = run([MTC, "plan", model, *flags], folder).stderr
assert "note: 2 of 2 parameters trained (15 of 15 elements), 1 constant looks trainable" in said, said
assert "warning: constants used like parameters, not trained: 'scale' [4]" in said, said
counts = {"parameters": 2, "trained_parameters": 2, "elements": 15, "trained_elements": 15,
          "looks_trainable": ["scale"], "unreached": [], "missing": []}  # fmt: skip
for command in (["plan"], ["compile", "-o", folder / "counted"]):
    found = json.loads(run([MTC, *command, model, *flags, "--json"], folder).stdout)["training"]
    assert found == counts, found
said = run([MTC, "plan", model, *flags, "--train", "scale"], folder).stderr
assert "note: 1 of 3 parameters trained (4 of 19 elements), 0 constants look trainable" in said, said
for patterns, message in [(("--train", "scales"), "--train scales: no initializer matches; did you mean 'scale'?"),
                          (("--freeze", "bn/moving_meen"), "--freeze bn/moving_meen: no initializer matches; did you mean 'bn/moving_mean'?"),
                          (("--train", "epsi*"), "--train epsi*: matches only constants that do not look trainable, such as 'epsilon'")]:  # fmt: skip
    said = run([MTC, "plan", model, *flags, *patterns], folder, code=1).stderr
    assert message in said, said
