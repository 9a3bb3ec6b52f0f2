# RUN: %python %s %t
"""`mtc grad`: gradients with respect to inputs, parameters as inputs, external data, second derivatives, and error messages."""

import numpy as np
import onnx
from gradient_model import central_differences, gradient_model, refused
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

folder = own_folder()
random = np.random.default_rng(1)
FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


def info(name: str, shape, type: int = DOUBLE) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, type, shape)


def save(name: str, nodes, inputs, output, parameters: dict[str, np.ndarray], opset: int = 18, **flags):
    initializers = [numpy_helper.from_array(array, key) for key, array in parameters.items()]
    graph = helper.make_graph(nodes, name, inputs, [output], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.save(model, folder / f"{name}.onnx", **flags)
    return folder / f"{name}.onnx"


# A smooth perceptron in f64, for central differences.
weights = {"w1": random.normal(0, 0.5, (3, 4)), "b1": random.normal(0, 0.5, 4), "scale": np.ones(4), "w2": random.normal(0, 0.5, (4, 2))}
nodes = [
    helper.make_node("MatMul", ["x", "w1"], ["product"], name="first"),
    helper.make_node("Add", ["product", "b1"], ["sum"], name="bias"),
    helper.make_node("Tanh", ["sum"], ["bounded"], name="activation"),
    helper.make_node("Mul", ["bounded", "scale"], ["hidden"], name="scaled"),
    helper.make_node("MatMul", ["hidden", "w2"], ["y"], name="second"),
]
perceptron = save("perceptron", nodes, [info("x", ["batch", 3])], info("y", ["batch", 2]), weights)
data = {"x": random.normal(0, 1, (5, 3)), "labels": random.normal(0, 1, (5, 2))}
flags = ("--dim", "batch=5", "--loss", "mse")

# Trained parameters and inputs are inputs of the gradient model, and have gradients; a frozen parameter is an initializer.
model = gradient_model(perceptron, folder, *flags, "--parameters", "inputs", "--freeze", "b1", "--input-gradients", "x")
assert set(model.inputs) == {"x", "labels", "w1", "scale", "w2"} and not model.initializers, (model.inputs, model.initializers)
assert sorted(model.outputs) == ["loss", "scale.gradient", "w1.gradient", "w2.gradient", "x.gradient"], model.outputs
feeds = data | {name: weights[name] for name in ("w1", "scale", "w2")}
found = model.gradients(feeds)
for name in "x", "w1", "scale", "w2":
    np.testing.assert_allclose(found[name], central_differences(model, feeds, name), rtol=1e-6, atol=1e-8, err_msg=name)
only = gradient_model(perceptron, folder, *flags, "--freeze", "*", "--input-gradients", "x", name="only")
assert only.outputs == ["loss", "x.gradient"], only.outputs
np.testing.assert_allclose(only.gradients(data)["x"], found["x"], rtol=1e-12)

# A recipe for training; its optimizer keys have no effect.
(folder / "recipe.toml").write_text('optimizer = "adamw"\nlr = 0.1\nloss = "mse"\nfreeze = ["b1"]\n[dim]\nbatch = 5\n')
recipe = gradient_model(perceptron, folder, "--recipe", folder / "recipe.toml", name="recipe")
assert recipe.outputs == ["loss", "w1.gradient", "scale.gradient", "w2.gradient"], recipe.outputs

# Second derivative: the gradient of mean((dloss/dx)^2), against central differences of the first gradient.
whole = gradient_model(perceptron, folder, *flags, "--input-gradients", "x", name="whole")
penalized = gradient_model(whole.path, folder, "--loss", "mse", "--output", "x.gradient", "--labels", "target",
                           name="penalized")  # fmt: skip
# The parameters are those of the first model. A scale with equal elements and several users remains one parameter.
assert set(penalized.outputs) == {"loss", *(f"{name}.gradient" for name in weights)}, penalized.outputs
held = gradient_model(whole.path, folder, "--loss", "mse", "--output", "x.gradient", "--labels", "target", "--parameters", "inputs",
                      name="held")  # fmt: skip
target = data | {"target": np.zeros((5, 3))}
np.testing.assert_allclose(penalized.evaluate(target)["loss"], (found["x"] ** 2).mean(), rtol=1e-12)
second = penalized.gradients(target)
for name in weights:
    np.testing.assert_allclose(second[name], central_differences(held, target | weights, name), rtol=1e-5, atol=1e-9, err_msg=name)

# Gradients that stop in the first model, here at the rounding of quantization-aware training, stop in the second model too.
quantizing = [helper.make_node("QuantizeLinear", ["w1", "step", "zero"], ["codes"], name="quantize"),
              helper.make_node("DequantizeLinear", ["codes", "step", "zero"], ["rounded"], name="dequantize"),
              helper.make_node("MatMul", ["x", "rounded"], ["y"], name="only")]  # fmt: skip
steps = {"w1": weights["w1"].astype(np.float32), "step": np.float32(0.125), "zero": np.int8(0)}
quantized = save("quantized", quantizing, [info("x", [5, 3], FLOAT)], info("y", [5, 4], FLOAT), steps)
first = gradient_model(quantized, folder, "--loss", "mse", "--train", "w1", name="first")
again = gradient_model(first.path, folder, "--loss", "output", "--output", "loss", name="again")
given = {"x": data["x"].astype(np.float32), "labels": np.ones((5, 4), np.float32)}
expected = first.gradients(given)["w1"]
assert np.abs(expected).max() > 0.01 and (again.gradients(given)["w1"] == expected).all(), expected

# External data stays external: the data file is marked as written by mtc, and the next run replaces it.
external = save("external", nodes, [info("x", [5, 3])], info("y", [5, 2]), weights, save_as_external_data=True, size_threshold=0,
                location="weights.bin")  # fmt: skip
for _ in range(2):
    model = gradient_model(external, folder, "--loss", "mse", "--input-gradients", "x", name="outside")
stored = onnx.load(folder / "outside.onnx", load_external_data=False).graph.initializer
assert [tensor.data_location for tensor in stored] == [TensorProto.EXTERNAL] * 4
assert (folder / "outside.onnx.data").read_bytes().startswith(b"# written by mtc\n")
np.testing.assert_allclose(model.gradients(data)["x"], found["x"], rtol=1e-12)
(folder / "outside.onnx.data").write_text("someone's")
assert "outside.onnx.data" in run([MTC, "grad", external, "--loss", "mse", "-o", "outside.onnx"], folder, code=1).stderr

# The default name of the file is derived from the model's.
text = run([MTC, "grad", perceptron, *flags], folder).stdout
assert text == "perceptron.gradient.onnx: loss mse of 'perceptron', 4 gradients\n", text
assert (folder / "perceptron.gradient.onnx").exists()

# Dropout is computed in inference form, with a message; other random operators are rejected.
dropping = [*nodes[:4], helper.make_node("Dropout", ["hidden", "ratio", "mode"], ["kept"], name="drop"),
            helper.make_node("MatMul", ["kept", "w2"], ["y"], name="second")]  # fmt: skip
modes = {"ratio": np.float64(0.5), "mode": np.bool_(True)}
dropout = save("dropout", dropping, [info("x", [5, 3])], info("y", [5, 2]), weights | modes)
text = run([MTC, "grad", dropout, "--loss", "mse", "--input-gradients", "x", "-o", "dropped.onnx"], folder).stderr
assert "dropout: the gradient is computed without it" in text and "'drop'" in text, text
dropped = gradient_model(dropout, folder, "--loss", "mse", "--input-gradients", "x", name="dropped")
np.testing.assert_allclose(dropped.gradients(data)["x"], found["x"], rtol=1e-12)

noise = [*nodes[:4], helper.make_node("RandomNormalLike", ["hidden"], ["noise"], name="draw"),
         helper.make_node("Add", ["hidden", "noise"], ["noisy"], name="disturb"),
         helper.make_node("MatMul", ["noisy", "w2"], ["y"], name="second")]  # fmt: skip
noisy = save("noise", noise, [info("x", [5, 3])], info("y", [5, 2]), weights)
text = refused(noisy, folder, "--loss", "mse")
assert "no form in standard operators" in text and "'draw'" in text and "random numbers" in text, text

narrow = [helper.make_node("Cast", ["x"], ["codes"], to=TensorProto.FLOAT8E4M3FN, name="narrow"),
          helper.make_node("Cast", ["codes"], ["wide"], to=DOUBLE, name="widen"),
          helper.make_node("MatMul", ["wide", "w1"], ["y"], name="only")]  # fmt: skip
text = refused(save("narrow", narrow, [info("x", [5, 3])], info("y", [5, 4]), weights, opset=19), folder, "--loss", "mse")
assert "node 'narrow' (8-bit floats)" in text, text

# Name clashes, missing flags, and files that are not models are errors.
clashing = save("clashing", [helper.make_node("MatMul", ["x", "loss"], ["y"], name="only")], [info("x", [5, 3])], info("y", [5, 4]),
                {"loss": weights["w1"]})  # fmt: skip
text = refused(clashing, folder, "--loss", "mse")
assert "'loss'" in text and "rename one of them in the source" in text, text
assert "no such input; expected one of: x, labels" in refused(perceptron, folder, *flags, "--input-gradients", "z")
indices = save("indices", [helper.make_node("Gather", ["w1", "i"], ["y"], name="rows")], [info("i", [5], INT64)], info("y", [5, 4]), weights)
assert "expected floating-point elements" in refused(indices, folder, "--loss", "mse", "--input-gradients", "i")
text = refused(perceptron, folder, *flags, "--optimizer", "adamw", "--memory", "1GiB", "--accumulate", "2")
for flag in "--optimizer", "--memory", "--accumulate":
    assert f"{flag}: unknown flag of mtc grad; it is a flag of mtc" in text, text
assert "--parameters files: " in refused(perceptron, folder, *flags, "--parameters", "files")
run([MTC, "compile", perceptron, *flags, "--emit", "forward", "-o", "stage.mlir"], folder)
assert "stage text; expected an ONNX model" in refused(folder / "stage.mlir", folder)
assert "no parameters to train" in refused(perceptron, folder, *flags, "--freeze", "*")
