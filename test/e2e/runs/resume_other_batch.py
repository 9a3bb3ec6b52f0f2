# RUN: %python %s %t
"""A checkpoint can be resumed with another batch size or number of micro-steps. The run continues after the samples of the checkpoint, with
its optimizer state, as in the reference. Other differences are errors, and their messages name the difference."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import MTC, Program, losses, own_folder, run

folder = own_folder()
rng = np.random.default_rng(0)
ROWS, RATE, MOMENTUM = 22, 0.1, 0.9
x = rng.standard_normal((ROWS, 3)).astype(np.float32)
weight = rng.standard_normal((3, 1)).astype(np.float32)


def write(name: str, columns: int = 1):
    """The loss is the mean of (x w)^2 over the batch."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Mul", ["y", "y"], ["s"]),
             helper.make_node("ReduceMean", ["s"], ["loss"], keepdims=0)]  # fmt: skip
    graph = helper.make_graph(nodes, "model", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 3))],
                              [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
                              [numpy_helper.from_array(np.repeat(weight, columns, 1), "w")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / f"{name}.onnx")


def program(name: str, batch: int, *flags, optimizer: str = "momentum", model: str = "model") -> Program:
    run([MTC, "compile", f"{model}.onnx", "--loss", "output", "--output", "loss", "--dim", f"batch={batch}",
         "--optimizer", optimizer, "--lr", RATE, "--weight-decay", 0, *flags, "-o", name], folder)  # fmt: skip
    return Program(folder / name, {"x": x})


def reference(batches: list[np.ndarray]) -> list[float]:
    """Returns the loss of a step on each batch."""
    w, moment, found = np.float64(weight), 0.0, []
    for rows in batches:
        y = x[rows].astype(np.float64) @ w
        found.append(float((y * y).mean()))
        moment = MOMENTUM * moment + 2 / len(rows) * x[rows].T.astype(np.float64) @ y
        w = w - RATE * moment
    return found


def check(record: list[dict], batches: list[np.ndarray], first: int):
    np.testing.assert_allclose(losses(record)[-(len(batches) - first) :], reference(batches)[first:], rtol=1e-4)


write("model")
write("wide", columns=2)
of4, of8, accumulated = program("of4", 4), program("of8", 8), program("accumulated", 4, "--accumulate", 3)
order = np.arange(10 * ROWS) % ROWS

# The run has three steps of 4 samples, two of 8, and one of 3 x 4. The last samples of an epoch are dropped, or wrap around.
of4.train(3, "--save", folder / "a", "--quiet")
start = np.split(order[:12], 3)
message = of8.run("--no-shuffle", "--steps", 5, "--resume", folder / "a", "--save", folder / "b").stderr
assert "up to step 3 the batch was 4; from now on it is 8" in message, message
check(of8.train(5, "--resume", folder / "a", "--quiet"), [*start, order[12:20], order[20:28]], 3)
last = [*start, order[12:20], order[20:28], order[28:40]]
check(accumulated.train(6, "--resume", folder / "b", "--quiet"), last, 5)
# A third program returns to the first batch size; its checkpoint resumes without a message.
of4.run("--no-shuffle", "--steps", 6, "--resume", folder / "b", "--save", folder / "c", "--quiet")
message = of4.run("--no-shuffle", "--steps", 7, "--resume", folder / "c").stderr
assert "the batch was" not in message, message
check(of4.train(7, "--resume", folder / "c", "--quiet"), [*last[:5], order[28:32], order[32:36]], 6)

# An epoch of 22 samples has 5 steps of 4, and 2 samples are dropped. 12 samples of the next epoch are read before the change.
of4.train(8, "--last-batch", "drop", "--save", folder / "d", "--quiet")
dropped = [order[i * 4 : i * 4 + 4] for i in [0, 1, 2, 3, 4, 0, 1, 2]]
rest = [order[12:20], order[0:8], order[8:16], order[0:8]]
check(of8.train(12, "--resume", folder / "d", "--quiet"), [*dropped, *rest], 8)
by_epochs = of8.run("--no-shuffle", "--epochs", 3, "--resume", folder / "d", "--metrics", folder / "epochs.jsonl", "--quiet")
assert len((folder / "epochs.jsonl").read_text().splitlines()) == 3, by_epochs

for name, other, words in (("adam", program("adam", 4, optimizer="adam"), ['the optimizer is "momentum"', '"adam"']),
                           ("wide", program("wide", 8, model="wide"), ["'w' is parameter f32 [3, 1]", "f32 [3, 2]"])):  # fmt: skip
    message = other.run("--resume", folder / "a", "--steps", 4, code=1).stderr
    assert all(each in message for each in [*words, "another program", "--weights"]), message
    assert "the batch was" not in message, message
