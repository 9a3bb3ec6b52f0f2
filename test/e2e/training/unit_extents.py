# RUN: %python %s %t
"""Programs are correct if axes have the extent 1: a batch of one sample, and small graphs whose contractions and sums have a single
term."""

import numpy as np
import onnx
import onnx.parser
from models import DIGITS, digits
from onnx import numpy_helper
from program import compile, losses, own_folder

STEPS, RATE = 6, 0.1
folder = own_folder()

# The perceptron of the digits example trains with one image per step, as the implementation in numpy does.
parameters = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in onnx.load(DIGITS.model).graph.initializer}
weights = sorted(name for name in parameters if name.endswith("weight"))


def descend(image: np.ndarray, label: int) -> float:
    """Runs one step of gradient descent on one image, and returns the loss before the step."""
    activations = [image]
    for name in weights:
        z = parameters[name] @ activations[-1] + parameters[name.replace("weight", "bias")]
        activations.append(np.maximum(z, 0) if name != weights[-1] else z)
    shifted = activations[-1] - activations[-1].max()
    cotangent = np.exp(shifted) / np.exp(shifted).sum()
    loss = np.log(np.exp(shifted).sum()) - shifted[label]
    cotangent[label] -= 1
    for name, below in zip(reversed(weights), reversed(activations[:-1])):
        after = parameters[name].T @ cotangent
        parameters[name] -= RATE * np.outer(cotangent, below)
        parameters[name.replace("weight", "bias")] -= RATE * cotangent
        cotangent = after * (below > 0)
    return float(loss)


data = digits(STEPS)
expected = [descend(image.astype(np.float64).reshape(-1), label) for image, label in zip(data["x"], data["labels"])]
program = compile(DIGITS.model, folder, data, "--dim", "batch=1", "--loss", "cross-entropy", "--optimizer", "sgd",
                  "--lr", RATE, name="digits")  # fmt: skip
found = losses(program.train(STEPS))
assert np.allclose(found, expected, rtol=1e-5), (found, expected)


# The text of small graphs, and the equivalent function in numpy.
def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


GRAPHS = {
    "cumulative_sum": (
        """g (float[2,2] x) => (float[2,2] y) <int64 axis = {1}, int64[1] flat = {-1}> {
             c = CumSum (w, axis)
             f = Reshape (c, flat)
             d = MatMul (f, b)
             y = Add (x, d)
           }""",
        {"w": (2, 1), "b": (2,)},
        lambda x, w, b: x + w.reshape(-1) @ b,
    ),
    "sliced_operand": (
        """g (float[2,1] x) => (float[2,1] y) <int64[1] start = {1}, int64[1] end = {3}, int64[1] axis = {1}> {
             s = Slice (w, start, end, axis)
             e = Einsum <equation = "ij,i,j->"> (s, a, b)
             y = Add (x, e)
           }""",
        {"w": (1, 3), "a": (1,), "b": (2,)},
        lambda x, w, a, b: x + a @ w[:, 1:3] @ b,
    ),
    "flattened_softmax": (
        """g (float[2,3,4] x) => (float[2,5] y) <int64[2] shape = {2, 9}> {
             q = MatMul (x, w)
             t = Transpose <perm = [0, 2, 1]> (x)
             s = MatMul (q, t)
             p = Softmax <axis = -1> (s)
             f = Reshape (p, shape)
             y = MatMul (f, v)
           }""",
        {"w": (4, 4), "v": (9, 5)},
        lambda x, w, v: softmax(x @ w @ x.transpose(0, 2, 1)).reshape(2, 9) @ v,
    ),
}


def central_differences(function, values: dict[str, np.ndarray], name: str, step: float = 1e-6) -> np.ndarray:
    result = np.zeros_like(values[name])
    for index in np.ndindex(result.shape):
        sides = []
        for sign in (1, -1):
            moved = {key: value.copy() for key, value in values.items()}
            moved[name][index] += sign * step
            sides.append(function(**moved))
        result[index] = (sides[0] - sides[1]) / (2 * step)
    return result


random = np.random.default_rng(0)
for name, (text, shapes, function) in GRAPHS.items():
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    values = {key: random.normal(0, 1, shape).astype(np.float32) for key, shape in shapes.items()}
    model.graph.initializer.extend(numpy_helper.from_array(value, key) for key, value in values.items())
    shape = {"x": model.graph.input[0], "y": model.graph.output[0]}
    shape = {key: [d.dim_value for d in value.type.tensor_type.shape.dim] for key, value in shape.items()}
    data = {"x": random.normal(0, 1, shape["x"]), "labels": random.normal(0, 1, shape["y"])}
    onnx.save(model, folder / f"{name}.onnx")
    program = compile(folder / f"{name}.onnx", folder, {key: value.astype(np.float32) for key, value in data.items()},
                      "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1", name=name)  # fmt: skip
    wide = {key: value.astype(np.float64) for key, value in values.items()}
    loss = lambda **parameters: float(np.mean((function(data["x"], **parameters) - data["labels"]) ** 2))
    for key, gradient in program.gradients(f"{name}_gradients").items():
        expected = central_differences(loss, wide, key)
        assert np.abs(gradient - expected).max() <= 1e-5 * np.abs(expected).max() + 1e-7, (name, key, gradient, expected)
