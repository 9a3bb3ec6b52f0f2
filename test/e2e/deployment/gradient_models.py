# RUN: %python %s %t
"""`mtc grad` writes models of standard operators with the losses and gradients of compiled programs."""

import numpy as np
import onnx
from gradient_model import gradient_model
from models import DIGITS, GPT2
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

folder = own_folder()
random = np.random.default_rng(0)


def normal(*shape) -> np.ndarray:
    return random.normal(0, 0.5, shape).astype(np.float32)


def info(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


class Graph:
    """A graph with one output, `y`."""

    def __init__(self, **inputs: np.ndarray):
        self.inputs, self.nodes, self.parameters = inputs, [], []

    def parameter(self, name: str, *shape) -> str:
        self.parameters.append(numpy_helper.from_array(normal(*shape), name))
        return name

    def constant(self, value) -> str:
        return self.node("Constant", value=numpy_helper.from_array(np.asarray(value)))

    def node(self, operator: str, *operands: str, result: str = "", outputs: int = 1, **attributes) -> str:
        results = [result or f"{operator}_{len(self.nodes)}"]
        results += [f"{results[0]}_{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(operator, list(operands), results, name=f"node_{results[0]}", **attributes))
        return results[0]

    def save(self, name: str, shape):
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, name, [info(n, a) for n, a in self.inputs.items()], [output], self.parameters)
        path = folder / f"{name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
        return path


def compare(name: str, model, data: dict[str, np.ndarray], *flags, tolerance: float = 2e-5):
    """Compares the loss and gradients of the first batch between the program and the gradient model."""
    program = compile(model, folder, data, *flags, name=name)
    expected = program.gradients(f"{name}-gradients")
    loss = program.train(1)[0]["loss"]
    written = gradient_model(model, folder, *flags, name=f"{name}-gradient")
    assert set(data) == set(written.inputs), (written.inputs, data.keys())
    assert written.outputs[0] == "loss"
    found = written.gradients(data)
    assert found.keys() == expected.keys(), (sorted(found), sorted(expected))
    np.testing.assert_allclose(written.evaluate(data)["loss"], loss, rtol=1e-5)
    for parameter, gradient in expected.items():
        scale = np.abs(gradient).max() + 1e-12
        assert np.abs(found[parameter] - gradient).max() < tolerance * scale + 1e-9, (name, parameter)
        assert scale > 1e-7, (name, parameter)
    return written


# A perceptron with a symbolic batch dimension. The gradient model has the initializers of the file.
written = compare("digits", DIGITS.model, DIGITS.data(32), *DIGITS.flags)
source = {t.name: numpy_helper.to_array(t) for t in onnx.load(DIGITS.model).graph.initializer}
assert all((source[name] == array).all() for name, array in written.initializers.items()), written.initializers.keys()
assert len(written.initializers) == len(written.outputs) - 1 == 6
assert written.inputs == {"x": [32, 64], "labels": [32]}, written.inputs
# Gemm transposes its operands, and operators broadcast, so that the model has no copies.
assert {"Gemm", "MatMul"} < written.operators and not written.operators & {"Expand", "Transpose", "Einsum"}, written.operators

# Convolutions whose strides skip elements, with dilations, groups and asymmetric padding; pooling with overlapping windows; batch norm.
graph = Graph(x=normal(4, 3, 13, 12))
y = graph.node("Conv", "x", graph.parameter("conv1", 8, 3, 3, 3), strides=[2, 2], pads=[1, 0, 1, 1])
y = graph.node("BatchNormalization", y, graph.parameter("scale", 8), graph.parameter("shift", 8), "mean", "variance",
               outputs=3, training_mode=1, momentum=0.75)  # fmt: skip
y = graph.node("MaxPool", graph.node("Relu", y), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
y = graph.node("Conv", y, graph.parameter("conv2", 12, 4, 2, 2), group=2, dilations=[2, 1])
y = graph.node("ConvTranspose", y, graph.parameter("conv3", 12, 3, 3, 2), group=2, strides=[2, 3], output_padding=[1, 0])
y = graph.node("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2])
y = graph.node("Conv", y, graph.parameter("conv4", 5, 6, 1, 1), graph.parameter("bias4", 5), strides=[3, 2])
graph.node("ReduceMean", y, graph.constant(np.int64([2, 3])), result="y", keepdims=0)
graph.parameters += [numpy_helper.from_array(np.float32([0.25] * 8), "mean"), numpy_helper.from_array(np.float32([2] * 8), "variance")]
images = {"x": normal(4, 3, 13, 12), "labels": np.int64([0, 4, 2, 1])}
model = graph.save("convolutions", [4, 5])
written = compare("convolutions", model, images, "--loss", "cross-entropy")
assert {"Conv", "ConvTranspose"} < written.operators and written.initializers["mean"].shape == (8,)
# The updated statistics of a training step are outputs too.
results = written.evaluate(images)
updated = [name for name in written.outputs if name.endswith(".updated")]
assert updated == ["mean.updated", "variance.updated"] and written.outputs[-2:] == updated, written.outputs
program = compile(model, folder, images, "--loss", "cross-entropy", "--lr", "0.1", name="statistics")
trained = {t.name: numpy_helper.to_array(t) for t in onnx.load_from_string(program.exported("trained", "--steps", 1, "--no-shuffle")).graph.initializer}
for name in "mean", "variance":
    np.testing.assert_allclose(results[f"{name}.updated"], trained[name], rtol=1e-5, err_msg=name)
# The inference form has no updated statistics.
assert not any(name.endswith(".updated") for name in gradient_model(model, folder, "--loss", "cross-entropy", "--batch-norm", "frozen").outputs)

# Convolutions with windows of one element and channels first need transposes only of weights and of the operands of weight gradients.
graph = Graph(x=normal(2, 3, 5, 4))
y = graph.node("Relu", graph.node("Conv", "x", graph.parameter("conv1", 6, 3, 1, 1)))
y = graph.node("Conv", y, graph.parameter("conv2", 4, 6, 1, 1))
graph.node("ReduceMean", y, graph.constant(np.int64([2, 3])), result="y", keepdims=0)
pixels = {"x": normal(2, 3, 5, 4), "labels": np.int64([3, 0])}
written = compare("pixels", graph.save("pixels", [2, 4]), pixels, "--loss", "cross-entropy")
assert "Conv" not in written.operators and sum(node.op_type == "Transpose" for node in written.model.graph.node) <= 5, written.model

# GPT-2: tied embeddings, layer norm, causal attention, GELU.
passages = {name: np.ascontiguousarray(array[:2, :16]) for name, array in GPT2.data(2).items()}
written = compare("gpt2", GPT2.model, passages, "--dim", "batch=2", "--dim", "sequence=16", *GPT2.flags[4:], tolerance=1e-4)
assert not written.operators & {"LayerNormalization", "Softmax"}, written.operators

# A bidirectional recurrent layer after an embedding, and ignored labels.
graph = Graph(tokens=np.zeros((3, 6), np.int64))
embedded = graph.node("Gather", graph.parameter("embedding", 11, 5), "tokens")
steps = graph.node("Transpose", embedded, perm=[1, 0, 2])
y = graph.node("LSTM", steps, graph.parameter("w", 2, 16, 5), graph.parameter("r", 2, 16, 4), graph.parameter("b", 2, 32),
               hidden_size=4, direction="bidirectional")  # fmt: skip
merged = graph.node("Reshape", graph.node("Transpose", y, perm=[2, 0, 1, 3]), graph.constant(np.int64([3, 6, 8])))
graph.node("MatMul", merged, graph.parameter("head", 8, 11), result="y")
tokens = {"tokens": random.integers(0, 11, (3, 6)), "labels": random.integers(0, 11, (3, 6))}
tokens["labels"][1, 2:] = -100
compare("lstm", graph.save("lstm", [3, 6, 11]), tokens, "--loss", "cross-entropy")

# log1p and expm1, which ONNX lacks, keep their precision near 0 and their limits.
graph = Graph(x=np.zeros(1, np.float32))
places = np.float32([-200, -90, -20, -1, -1e-3, -1e-7, 0, 1e-7, 1e-3, 1, 20, 90, 200])
graph.parameters.append(numpy_helper.from_array(places, "places"))
terms = [graph.node(operator, graph.node("Add", "places", "x")) for operator in ("Softplus", "Elu", "Mish")]
graph.node("ReduceSum", graph.node("Sum", *terms), result="y", keepdims=0)
model = graph.save("extremes", [])
program = compile(model, folder, {"x": np.zeros(1, np.float32)}, "--loss", "output", "--train", "places", name="extremes")
expected = program.gradients("extremes-gradients")["places"]
written = gradient_model(model, folder, "--loss", "output", "--train", "places", name="extremes-gradient")
np.testing.assert_allclose(written.gradients({"x": np.zeros(1, np.float32)})["places"], expected, rtol=1e-5, atol=1e-30)
