# RUN: %python %s %t
"""The loss of an output that is a softmax or a sigmoid is computed from its logits, whatever nodes the file uses for the activation;
--outputs and --export keep the file's own output."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

ROWS, WIDTH, CLASSES, STEPS, RATE = 8, 6, 5, 3, 0.5
folder = own_folder()
rng = np.random.default_rng(0)
weights = rng.standard_normal((WIDTH, CLASSES)).astype(np.float32)
x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
classes = rng.integers(0, CLASSES, ROWS)
bits = rng.integers(0, 2, (ROWS, CLASSES)).astype(np.float32)


def node(operator, inputs, output="y", **attributes):
    return helper.make_node(operator, inputs.split(), [output], **attributes)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


CONSTANTS = [ints("axis0", 0), ints("axis1", 1), ints("axis2", 2), ints("three", 3), ints("split", -1, 1, CLASSES),
             ints("joined", -1, 1), ints("rows", -1, CLASSES), ints("rolled", *range(1, ROWS), 0),
             ints("unrolled", ROWS - 1, *range(ROWS - 1)), ints("chosen", 1, 0, *range(2, CLASSES)),
             numpy_helper.from_array(np.float32(1), "one"), numpy_helper.from_array(np.float32(-1), "minus_one")]  # fmt: skip
SHIFTED = [node("ReduceMax", "z", "m", axes=[1], keepdims=1), node("Sub", "z m", "d"), node("Exp", "d", "e")]
SUMMED = node("ReduceSum", "e axis1", "s", keepdims=1)
MOVED = [node("Transpose", "p", "u", perm=[2, 1, 0]), node("Squeeze", "u axis2", "q")]
SOFTMAX = {
    "operator": [node("Softmax", "z", axis=-1)],
    "logarithm": [node("LogSoftmax", "z", axis=1)],
    "logarithm of a softmax": [node("Softmax", "z", "p", axis=-1), node("Log", "p")],
    "parts": [node("Exp", "z", "e"), SUMMED, node("Div", "e s")],
    "shifted parts": [*SHIFTED, SUMMED, node("Div", "e s")],
    "reciprocal": [*SHIFTED, SUMMED, node("Reciprocal", "s", "r"), node("Mul", "r e")],
    "logarithm in parts": [node("ReduceLogSumExp", "z", "s", axes=[1], keepdims=1), node("Sub", "z s")],
    "logarithm in shifted parts": [*SHIFTED, SUMMED, node("Log", "s", "l"), node("Sub", "d l")],
    "movements": [node("Reshape", "z split", "r"), node("Transpose", "r", "t", perm=[1, 2, 0]),
                  node("Softmax", "t", "p", axis=1), *MOVED, node("Identity", "q")],
    "casts": [node("Softmax", "z", "p", axis=-1), node("Cast", "p", "h", to=TensorProto.DOUBLE),
              node("Cast", "h", to=TensorProto.FLOAT)],
    "gathered rows": [node("Softmax", "z", "p", axis=-1), node("Gather", "p rolled", "r", axis=0),
                      node("Gather", "r unrolled", axis=0)],
    "repeated rows": [node("Unsqueeze", "z axis0", "r"), node("Softmax", "r", "p", axis=2),
                      node("Concat", "p p", "t", axis=0), node("Slice", "t axis0 axis1 axis0", "u"),
                      node("Squeeze", "u axis0")],
}  # fmt: skip
NEGATED = [node("Neg", "z", "n"), node("Exp", "n", "e"), node("Add", "e one", "a")]
SIGMOID = {
    "operator": [node("Sigmoid", "z")],
    "parts": [*NEGATED, node("Div", "one a")],
    "reciprocal": [*NEGATED, node("Reciprocal", "a")],
    "product": [node("Mul", "z minus_one", "n"), node("Exp", "n", "e"), node("Add", "one e", "a"), node("Div", "one a")],
    "positive exponent": [node("Exp", "z", "e"), node("Add", "e one", "a"), node("Div", "e a")],
    "complement": [node("Neg", "z", "n"), node("Sigmoid", "n", "p"), node("Sub", "one p")],
    "movements": [node("Reshape", "z joined", "r"), node("Sigmoid", "r", "p"), node("Reshape", "p rows")],
}


def model(name: str, nodes: list, columns: int = CLASSES) -> onnx.ModelProto:
    graph = helper.make_graph(
        [node("MatMul", "x w", "z"), *nodes], "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights[:, :columns], "w"), *CONSTANTS])  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, folder / f"{name}.onnx")
    return made


def softmax(z, axis=1):
    e = np.exp(z - z.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def expected(gradient_and_loss, columns: int = CLASSES) -> list[float]:
    """Returns the losses of gradient descent on x w."""
    w, found = weights[:, :columns].astype(np.float64), []
    for _ in range(STEPS):
        loss, dz = gradient_and_loss(x @ w)
        found.append(loss)
        w = w - RATE * x.T @ dz
    return found


def cross_entropy(z):
    p = softmax(z)
    return -np.log(p[range(ROWS), classes]).mean(), (p - np.eye(CLASSES)[classes]) / ROWS


def binary_cross_entropy(z):
    p = 1 / (1 + np.exp(-z))
    return -(bits * np.log(p) + (1 - bits) * np.log(1 - p)).mean(), (p - bits) / bits.size


def check(kind: str, form: str, nodes: list, loss: str, labels, reference, says: str):
    name = f"{kind}-{form.replace(' ', '-')}"
    made = model(name, nodes)
    flags = ("--dim", f"batch={ROWS}", "--optimizer", "sgd", "--lr", str(RATE))
    for given in ((), ("--loss", loss)):
        plan = run([MTC, "plan", folder / f"{name}.onnx", *flags, *given], folder)
        assert f"output 'y' is a {says}" in plan.stderr, f"{name}\n{plan.stderr}"
        assert f"the loss {loss} is computed from its input" in plan.stderr, f"{name}\n{plan.stderr}"
    program = compile(folder / f"{name}.onnx", folder, {"x": x, "labels": labels}, *flags, name=name)
    found = losses(program.train(STEPS, "--export", folder / f"{name}-trained.onnx"))
    np.testing.assert_allclose(found, reference, rtol=2e-6, err_msg=name)
    evaluated = program.run("--evaluate").stdout.split()
    np.testing.assert_allclose(float(evaluated[evaluated.index("loss") + 1]), reference[0], rtol=2e-6, err_msg=name)
    y, z = program.outputs(f"{name}-outputs")["y"], x @ weights
    own = softmax(z) if kind == "softmax" else 1 / (1 + np.exp(-z))
    np.testing.assert_allclose(y, np.log(own) if says == "LogSoftmax" else own, rtol=1e-5, atol=1e-6, err_msg=name)
    exported = onnx.load(folder / f"{name}-trained.onnx")
    assert [n.op_type for n in exported.graph.node] == [n.op_type for n in made.graph.node], name


for form, nodes in SOFTMAX.items():
    says = "LogSoftmax" if form.startswith("logarithm") else "Softmax"
    check("softmax", form, nodes, "cross-entropy", classes, expected(cross_entropy), says)
for form, nodes in SIGMOID.items():
    check("sigmoid", form, nodes, "bce-with-logits", bits, expected(binary_cross_entropy), "Sigmoid")

# The output has two classes with the probabilities p, a sigmoid, and 1 - p: the loss is the logarithm of the probability, not of softmax(1
# - p, p).
pair = [node("Sigmoid", "z", "p"), node("Sub", "one p", "n")]
labels = classes % 2
for form, inputs, sign in (("second", "n p", 1), ("first", "p n", -1)):
    model(form, [*pair, node("Concat", inputs, axis=1)], columns=1)
    flags = ("--dim", f"batch={ROWS}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", str(RATE))
    program = compile(folder / f"{form}.onnx", folder, {"x": x, "labels": labels}, *flags, name=form)

    def logistic(z):
        p, y = 1 / (1 + np.exp(-sign * z)), labels[:, None]
        return -np.log(np.where(y == 1, p, 1 - p)).mean(), sign * (p - y) / ROWS

    np.testing.assert_allclose(losses(program.train(STEPS)), expected(logistic, columns=1), rtol=2e-6, err_msg=form)

# An activation that does not belong to the loss is kept, with a warning.
for form, nodes, loss, says in (
        ("cut", [node("Softmax", "z", "p", axis=-1), node("Slice", "p axis0 three axis1")], "cross-entropy",
         "is a Softmax (node 'Softmax_1') whose axis is sliced or reshaped"),
        ("chosen", [node("Softmax", "z", "p", axis=-1), node("Gather", "p chosen", axis=1)], "cross-entropy",
         "is a Softmax (node 'Softmax_1') whose axis is sliced or reshaped"),
        ("batch", [node("Softmax", "z", axis=0)], "cross-entropy", "is a Softmax (node 'Softmax_1') along another axis"),
        ("sigmoid", [node("Sigmoid", "z")], "cross-entropy", "use --loss bce-with-logits"),
        ("softmax", [node("Softmax", "z", axis=1)], "bce-with-logits", "use --loss cross-entropy")):  # fmt: skip
    model(form, nodes)
    result = run([MTC, "plan", folder / f"{form}.onnx", "--dim", f"batch={ROWS}", "--loss", loss], folder)
    assert says in result.stderr and "warning" in result.stderr, f"{form}\n{result.stderr}"
    assert "is computed from its input" not in result.stderr, f"{form}\n{result.stderr}"
model("cut", [node("Softmax", "z", "p", axis=-1), node("Slice", "p axis0 three axis1")])
program = compile(folder / "cut.onnx", folder, {"x": x, "labels": classes % 3}, "--dim", f"batch={ROWS}", "--loss",
                  "cross-entropy", "--optimizer", "sgd", name="cut")  # fmt: skip
kept = softmax(softmax(x @ weights)[:, :3])
np.testing.assert_allclose(losses(program.train(1))[0], -np.log(kept[range(ROWS), classes % 3]).mean(), rtol=2e-6)
