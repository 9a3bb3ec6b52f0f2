# RUN: %python %s %t
"""Samples that do not fill a batch at the end of an epoch are completed from the next epoch, dropped, or form a smaller batch.

The expected losses are computed by numpy. Each mode resumes bit-exactly and from its own checkpoints only, and messages contain the numbers
of samples.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import Program, compile, losses, own_folder, read_metrics, run

ROWS, WIDTH, CLASSES, BATCH, RATE = 22, 5, 3, 8, 0.5
folder = own_folder()
random = np.random.default_rng(0)
weight = random.normal(0, 1, (WIDTH, CLASSES)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "weight"], ["logits"])],
    "softmax",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(weight, "weight")],
)
model = folder / "softmax.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
x = random.normal(0, 1, (ROWS, WIDTH)).astype(np.float32)
labels = random.integers(0, CLASSES, ROWS)
flags = ("--dim", f"batch={BATCH}", "--optimizer", "sgd", "--lr", str(RATE))
program = compile(model, folder, {"x": x, "labels": labels}, *flags, "--loss", "cross-entropy")


def expected(batches):
    """Returns the losses of steps on batches of these rows, whose sizes may differ, as in PyTorch."""
    w, found = weight.astype(np.float64), []
    for rows in batches:
        logits = x[rows] @ w
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        truth = np.eye(CLASSES)[labels[rows]]
        found.append(-np.mean(np.log((p * truth).sum(1))))
        w = w - RATE * x[rows].T @ (p - truth) / len(rows)
    return found


full, rest = [np.arange(0, 8), np.arange(8, 16)], np.arange(16, 22)
order = {
    "wrap": [(np.arange(BATCH) + step * BATCH) % ROWS for step in range(6)],  # two epochs are 5.5 batches
    "drop": full * 2,
    "mask": [*full, rest] * 2,
}
for how, batches in order.items():
    program.run("--epochs", 2, "--no-shuffle", "--last-batch", how, "--metrics", "epochs.jsonl")
    found, wanted = losses(read_metrics(folder / "epochs.jsonl")), expected(batches)
    assert np.allclose(found, wanted, rtol=1e-5), (how, found, wanted)

    # The runs are interrupted in the middle of an epoch and at its end.
    whole = program.exported("whole", "--steps", 7, "--last-batch", how)
    for pause in (1, 3):
        saved = f"{how}-{pause}"
        program.run("--steps", pause, "--last-batch", how, "--save", saved)
        assert program.exported("resumed", "--steps", 7, "--resume", saved) == whole, (how, pause)
        for other in order.keys() - {how}:
            command = program.command("--steps", 7, "--resume", saved, "--last-batch", other)
            refused = run(command, folder, code=1).stderr
            assert f"made with --last-batch {how}" in refused, refused

said = program.run("--steps", 3).stderr
assert "the last 6 of 22 samples do not fill a batch of 8 and share one" in said and "--last-batch mask" in said, said
assert program.run("--steps", 2).stderr == "", "these steps take each row once"
program.run("--evaluate", "--metrics", "evaluated.jsonl")
evaluated, *_ = read_metrics(folder / "evaluated.jsonl")
assert evaluated["samples"] == ROWS and np.isclose(evaluated["loss"], expected([np.arange(ROWS)])[0], rtol=1e-5)

# The data has fewer samples than a batch.
few = Program(program.path, {})
for name, array in {"x": x[:5], "labels": labels[:5]}.items():
    np.save(folder / f"few-{name}.npy", array)
    few.data_flags += ["--data", f"{name}={folder / f'few-{name}.npy'}"]
said = few.run("--steps", 2, "--no-shuffle", "--metrics", "few.jsonl").stderr
assert "warning: the data has 5 samples and a batch has 8: each batch repeats samples" in said, said
wanted = expected([np.arange(8) % 5, np.arange(8, 16) % 5])
assert np.allclose(losses(read_metrics(folder / "few.jsonl")), wanted, rtol=1e-5)
few.run("--epochs", 3, "--last-batch", "mask", "--metrics", "few.jsonl")
assert np.allclose(losses(read_metrics(folder / "few.jsonl")), expected([np.arange(5)] * 3), rtol=1e-5)
assert "compile for a smaller batch" in run(few.command("--last-batch", "drop"), folder, code=1).stderr
gradient = few.gradients("masked", "--last-batch", "mask")["weight"]
p = np.exp(x[:5] @ weight)
p /= p.sum(1, keepdims=True)
assert np.allclose(gradient, x[:5].T @ (p - np.eye(CLASSES)[labels[:5]]) / 5, atol=1e-5)

# The loss has no labels to ignore.
other = compile(model, folder, {"x": x, "labels": x[:, :CLASSES]}, *flags, "--loss", "mse", name="mse")
refused = run(other.command("--last-batch", "mask"), folder, code=1).stderr
assert "the loss mse has no labels of classes" in refused, refused

# Weights of samples exclude the padding of every loss. Without data, all weights are 1.
targets = x[:, :CLASSES]
weighted = compile(model, folder, {"x": x, "labels": targets}, *flags, "--loss", "mse", "--loss-weights", "auto", name="weighted")


def expected_errors(batches, weights):
    """Returns the losses of steps on batches of these rows, each divided by the sum of the weights."""
    w, found = weight.astype(np.float64), []
    for rows in batches:
        errors, share = x[rows] @ w - targets[rows], weights[rows][:, None] / weights[rows].sum()
        found.append((errors**2 * share).sum() / CLASSES)
        w = w - RATE * x[rows].T @ (2 * errors * share) / CLASSES
    return found


weighted.run("--epochs", 2, "--no-shuffle", "--last-batch", "mask", "--metrics", "weighted.jsonl")
assert np.allclose(losses(read_metrics(folder / "weighted.jsonl")), expected_errors(order["mask"], np.ones(ROWS)), rtol=1e-5)
weights = random.uniform(0, 2, ROWS).astype(np.float32)
np.save(folder / "weights.npy", weights)
given = ("--data", f"loss_weights={folder / 'weights.npy'}", "--metrics", "weighted.jsonl")
weighted.run("--epochs", 2, "--no-shuffle", "--last-batch", "mask", *given)
assert np.allclose(losses(read_metrics(folder / "weighted.jsonl")), expected_errors(order["mask"], weights), rtol=1e-5)
weighted.run("--evaluate", *given)
(evaluated,) = read_metrics(folder / "weighted.jsonl")
assert np.isclose(evaluated["loss"], expected_errors([np.arange(ROWS)], weights)[0], rtol=1e-5)
assert np.isclose(evaluated["mse"], expected_errors([np.arange(ROWS)], np.ones(ROWS))[0], rtol=1e-5), evaluated
