# RUN: %python %s %t
"""Losses with their parameters, gradients and metrics of --evaluate match formulas in numpy, in f64, in f32 and on an emulated device.
The model adds a parameter to its input, so that the parameter's gradient is the gradient of the output."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, own_folder, read_metrics, run

EMULATED = ("--target", "cuda", "--emulate")
folder = own_folder()
random = np.random.default_rng(0)


def save(name: str, shape: tuple, element: type, inputs: dict[str, tuple] = {}) -> Path:
    """Builds a model that returns x + p with this shape. The other inputs do not depend on the shape."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(element))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "p"], ["y"])], name,
        [info("x", kind, shape), *(info(n, k, s) for n, (k, s) in inputs.items())], [info("y", kind, shape)],
        [numpy_helper.from_array(np.zeros(shape, element), "p")],
    )  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def log_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def cross_entropy(x, labels, weights=None, smoothing=0.0, ignored=-100, axis=-1):
    logs = np.moveaxis(log_softmax(x, axis), axis, -1)
    classes = logs.shape[-1]
    weights = np.ones(classes) if weights is None else np.array(weights)
    counts, safe = labels != ignored, np.where(labels == ignored, 0, labels)
    own = np.take_along_axis(logs, safe[..., None], -1)[..., 0]
    smooth = -(weights * logs).sum(-1) * smoothing / classes
    loss = np.where(counts, -(1 - smoothing) * weights[safe] * own + smooth, 0)
    return loss.sum() / np.where(counts, weights[safe], 0).sum()


def soft_cross_entropy(x, labels, weights=1.0, smoothing=0.0, axis=-1):
    classes = x.shape[axis]
    target = labels * (1 - smoothing) + smoothing / classes
    return -(weights * target * log_softmax(x, axis)).sum() / (x.size / classes)


def ctc(x, labels, lengths=None, blank=0, zero_infinity=False):
    """x [frames, batch, classes], labels [batch, labels] padded with -100."""
    logs, losses = log_softmax(x), []
    for sample, row in enumerate(labels):
        row = row[row != -100]
        states = np.full(2 * len(row) + 1, blank)
        states[1::2] = row
        alpha = np.full(len(states), -np.inf)
        alpha[0] = 0
        for frame in range(len(x) if lengths is None else lengths[sample]):
            before = alpha.copy()
            for s, state in enumerate(states):
                terms = [before[s]] + ([before[s - 1]] if s > 0 else [])
                if s > 1 and state != states[s - 2]:
                    terms.append(before[s - 2])
                alpha[s] = np.logaddexp.reduce(terms) + logs[frame, sample, state]
        loss = -np.logaddexp.reduce(alpha[-2:])
        losses.append(0 if zero_infinity and np.isinf(loss) else loss / max(len(row), 1))
    return np.mean(losses)


def differences(function, x: np.ndarray) -> np.ndarray:
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-5
        gradient[index] = (function(x + step) - function(x - step)) / 2e-5
    return gradient


def evaluated(program: Program, *flags) -> dict:
    metrics = program.folder / "evaluated.jsonl"
    program.run("--evaluate", "--metrics", metrics, *flags)
    return read_metrics(metrics)[0]


def check(name: str, function, x: np.ndarray, data: dict, *flags, inputs: dict = {}):
    """Compares the loss, its gradient, and the loss of --evaluate."""
    wanted, gradient = function(x), differences(function, x)
    for suffix, element, tolerance, target in (("f64", np.float64, 1e-7, ()), ("f32", np.float32, 2e-5, ()),
                                               ("emulated", np.float32, 2e-5, EMULATED)):  # fmt: skip
        cast = {n: a.astype(element) if a.dtype.kind == "f" else a for n, a in data.items()}
        model = save(f"{name}-{suffix}", x.shape, element, inputs)
        work = folder / f"{name}-{suffix}"
        work.mkdir()
        program = compile(model, work, {"x": x.astype(element), **cast}, *flags, *target)
        found = program.gradients("gradients")["p"]
        np.testing.assert_allclose(found, gradient, rtol=tolerance, atol=tolerance, err_msg=f"{name} {suffix}")
        line = evaluated(program)
        np.testing.assert_allclose(line["loss"], wanted, rtol=max(tolerance, 1e-6), err_msg=f"{name} {suffix}")


x = random.normal(size=(6, 4)) * 3
labels = np.array([3, 0, -100, 1, 2, 3])
WEIGHTS = [0.5, 2, 0.25, 1]
SPELLED = ",".join(map(str, WEIGHTS))
np.save(folder / "weights.npy", np.array(WEIGHTS, np.float32))
probabilities = random.dirichlet(np.ones(4), 6)
probabilities[0] = [0, 0, 1, 0]
CE = ("--loss", "cross-entropy")
check("smoothing", lambda x: cross_entropy(x, labels, smoothing=0.1), x, {"labels": labels}, *CE, "--label-smoothing", "0.1")
check("uniform", lambda x: cross_entropy(x, labels, smoothing=1), x, {"labels": labels}, *CE, "--label-smoothing", "1")
check("weights", lambda x: cross_entropy(x, labels, WEIGHTS), x, {"labels": labels}, *CE, "--class-weights", SPELLED)
check("both", lambda x: cross_entropy(x, labels, WEIGHTS, 0.3), x, {"labels": labels}, *CE, "--class-weights",
      folder / "weights.npy", "--label-smoothing", "0.3")  # fmt: skip
threes = np.where(labels < 0, 3, labels)
check("ignored", lambda x: cross_entropy(x, threes, ignored=3), x, {"labels": threes}, *CE, "--ignore-index", "3")
check("soft", lambda x: soft_cross_entropy(x, probabilities, np.array(WEIGHTS), 0.1), x, {"labels": probabilities}, *CE,
      "--soft-labels", "--label-smoothing", "0.1", "--class-weights", SPELLED)  # fmt: skip
check("divergence", lambda x: (probabilities * (np.log(np.where(probabilities > 0, probabilities, 1)) - log_softmax(x))).sum() / 6,
      x, {"labels": probabilities}, "--loss", "kl-div")  # fmt: skip
check("huber", lambda x: np.where(np.abs(x) < 2, x**2 / 2, 2 * (np.abs(x) - 1)).mean(), x, {"labels": 0 * x}, "--loss", "huber",
      "--huber-delta", "2")  # fmt: skip
check("smooth", lambda x: np.where(np.abs(x) < 2, x**2 / 4, np.abs(x) - 1).mean(), x, {"labels": 0 * x}, "--loss", "smooth-l1",
      "--smooth-l1-beta", "2")  # fmt: skip
positive = np.array([3, 0.5, 1, 2])
check("positive", lambda x: (probabilities * positive * np.log1p(np.exp(-x)) + (1 - probabilities) * np.log1p(np.exp(x))).mean(), x,
      {"labels": probabilities}, "--loss", "bce-with-logits", "--pos-weight", "3,0.5,1,2")  # fmt: skip
tokens = random.normal(size=(2, 3, 5))
next_tokens = random.integers(0, 5, (2, 3))
check("tokens", lambda x: cross_entropy(x, next_tokens, smoothing=0.2), tokens, {"labels": next_tokens}, "--loss", "causal-lm",
      "--label-smoothing", "0.2")  # fmt: skip
image = random.normal(size=(2, 3, 2, 2))
mask = random.integers(0, 3, (2, 2, 2))
mask[0, 0] = 255
check("image", lambda x: cross_entropy(x, mask, smoothing=0.1, ignored=255, axis=1), image, {"labels": mask}, *CE,
      "--label-smoothing", "0.1", "--ignore-index", "255")  # fmt: skip

# The samples of CTC have repeated labels, an empty target, the minimum number of frames, and different lengths; the batch axis is the
# second or the first.
frames = random.normal(size=(7, 4, 5))
sequences = np.array([[1, 1, 3], [-100, -100, -100], [4, 2, 4], [2, -100, -100]])
INT = TensorProto.INT64
inputs = {"labels": (INT, (4, 3))}
check("ctc", lambda x: ctc(x, sequences), frames, {"labels": sequences}, "--loss", "ctc", "--batch-input", "labels", inputs=inputs)
check("ctc-first", lambda x: ctc(x.transpose(1, 0, 2), sequences, [7, 2, 3, 1]), frames.transpose(1, 0, 2).copy(),
      {"labels": sequences, "frames": np.array([7, 2, 3, 1])}, "--loss", "ctc", "--target-length", "3", "--input-lengths", "frames")  # fmt: skip
last = np.where(sequences > 0, sequences - 1, sequences)
check("ctc-blank", lambda x: ctc(x.transpose(1, 0, 2), last, [7, 2, 2, 1], 4, True), frames.transpose(1, 0, 2).copy(),
      {"labels": last, "input_lengths": np.array([7, 2, 2, 1])}, "--loss", "ctc", "--target-length", "3", "--blank", "4",
      "--zero-infinity", "--input-lengths", "input_lengths")  # fmt: skip

# Labels that do not fit into the frames, and labels after padding, are errors.
model = save("short", (4, 3, 5), np.float32)
short = {"x": random.normal(size=(4, 3, 5)).astype(np.float32), "labels": np.array([[1, 1, -100]] * 3 + [[1, 2, 3]])}
program = compile(model, folder, short, "--loss", "ctc", "--target-length", "3", name="short")
assert np.isfinite(evaluated(program)["loss"])
short["labels"] = np.array([[1, 1, 1]] * 4)
program = Program(folder / "short", short)
assert evaluated(program)["loss"] is None and program.run("--evaluate").stdout.startswith("loss inf"), "the frames cannot contain these labels"
assert not np.isfinite(program.gradients("infinite")["p"]).all()
program = Program(folder / "short", short | {"labels": np.array([[1, -100, 1]] * 4)})
assert program.run("--evaluate").stdout.startswith("loss nan")
assert "takes 1 to 4" in Program(folder / "short", short | {"labels": short["labels"] * 0}).run("--evaluate", code=1).stderr
assert "--last-batch mask" in program.run("--last-batch", "mask", "--steps", 1, code=1).stderr


def compiled(name: str, shape: tuple, data: dict, *flags) -> list[Program]:
    """Compiles a program for each target, with a batch that does not divide the number of samples."""
    programs = []
    for target, more in ("cpu", ()), ("emulated", EMULATED):
        work = folder / f"metrics-{name}-{target}"
        work.mkdir()
        programs.append(compile(save(f"metrics-{name}", shape, np.float32), work, data, *flags, *more))
    return programs


def same(line: dict, wanted: dict, name: str):
    """Compares the metrics of targets; metrics.py checks those of scores."""
    of_scores = "auc", "average_precision", "macro_auc", "macro_average_precision", "ece"
    line = {key: value for key, value in line.items() if key not in of_scores}
    assert line.keys() == wanted.keys(), (name, line, wanted)
    for key, value in wanted.items():
        np.testing.assert_allclose(line[key], value, rtol=1e-5, err_msg=f"{name} {key}")


def scores(hits, predicted, labelled) -> tuple:
    ratio = lambda a, b: np.where(b > 0, a / np.maximum(b, 1), 0)
    return ratio(hits, predicted), ratio(hits, labelled), ratio(2 * hits, predicted + labelled)


# Metrics are checked for more than five classes, for two classes, and with an ignored class and class weights.
ROWS = 30
x = (random.normal(size=(ROWS, 8)) * 2).astype(np.float32)
labels = np.where(random.random(ROWS) < 0.4, x.argmax(1), random.integers(0, 8, ROWS))
labels[::7] = 2
counted = labels != 2
ranks = (x > np.take_along_axis(x, labels[:, None], 1)).sum(1)
confusion = np.zeros((8, 8))
np.add.at(confusion, (labels[counted], x.argmax(1)[counted]), 1)
occurs = confusion.sum(0) + confusion.sum(1) > 0
macro = [s[occurs].mean() for s in scores(np.diag(confusion), confusion.sum(0), confusion.sum(1))]
weights = np.linspace(0.1, 1, 8)
wanted = {"loss": cross_entropy(x.astype(float), labels, weights, ignored=2), "accuracy": (ranks[counted] == 0).mean(),
          "top5_accuracy": (ranks[counted] < 5).mean(), "macro_precision": macro[0], "macro_recall": macro[1], "macro_f1": macro[2],
          "samples": ROWS}  # fmt: skip
for program in compiled("classes", (8, 8), {"x": x, "labels": labels}, *CE, "--ignore-index", "2", "--class-weights",
                        ",".join(map(str, weights))):  # fmt: skip
    same(evaluated(program), wanted, "classes")
    lines = program.run("--evaluate").stdout.splitlines()
    assert [line.split()[::2] for line in lines[:2]] == [["loss", "accuracy", "top5_accuracy", "samples"],
                                                         ["macro_precision", "macro_recall", "macro_f1", "macro_auc", "macro_average_precision",
                                                          "ece"]], lines  # fmt: skip

two, binary = x[:, :2].copy(), (labels > 3).astype(np.int64)
guess = two.argmax(1)
tp, predicted, positives = ((guess & binary).sum(), guess.sum(), binary.sum())
precision, recall, f1 = map(float, scores(tp, predicted, positives))
common = {"accuracy": (guess == binary).mean(), "precision": precision, "recall": recall, "f1": f1, "samples": ROWS}
for program in compiled("two", (8, 2), {"x": two, "labels": binary}, *CE):
    same(evaluated(program), {"loss": cross_entropy(two.astype(float), binary), **common}, "two")

# Samples have one or several labels.
difference = (two[:, 1:] - two[:, :1]).copy()
for program in compiled("one", (8, 1), {"x": difference, "labels": binary[:, None].astype(np.float32)}, "--loss", "bce-with-logits"):
    same(evaluated(program), {"loss": cross_entropy(two.astype(float), binary), **common}, "one")
several = (random.random((ROWS, 3)) < 0.4).astype(np.float32)
guess = x[:, :3] > 0
tp, predicted, positives = (guess * several).sum(), guess.sum(), several.sum()
precision, recall, f1 = map(float, scores(tp, predicted, positives))
wanted = {"loss": (np.log1p(np.exp(x[:, :3])) - x[:, :3] * several).mean(), "accuracy": (guess == several).mean(),
          "micro_precision": precision, "micro_recall": recall, "micro_f1": f1, "samples": ROWS}  # fmt: skip
for program in compiled("several", (8, 3), {"x": x[:, :3].copy(), "labels": several}, "--loss", "bce-with-logits"):
    same(evaluated(program), wanted, "several")

# If the labels are class probabilities, accuracy compares with the most probable class.
soft = random.dirichlet(np.ones(3), ROWS).astype(np.float32)
for program in compiled("soft", (8, 3), {"x": x[:, :3].copy(), "labels": soft}, *CE, "--soft-labels"):
    line = evaluated(program)
    assert np.isclose(line["accuracy"], (x[:, :3].argmax(1) == soft.argmax(1)).mean()) and "macro_f1" in line, line

# The perplexity of tokens excludes label smoothing.
logits = random.normal(size=(ROWS, 4, 7)).astype(np.float32)
ids = random.integers(0, 7, (ROWS, 4))
ids[:, -1] = -100
own = np.take_along_axis(logits, np.maximum(ids, 0)[..., None], 2)
for program in compiled("tokens", (8, 4, 7), {"x": logits, "labels": ids}, "--loss", "causal-lm", "--label-smoothing", "0.1"):
    wide, ranks = logits.astype(float), (logits > own).sum(2)[:, :-1]
    same(evaluated(program), {"loss": cross_entropy(wide, ids, smoothing=0.1), "accuracy": (ranks == 0).mean(),
                              "top5_accuracy": (ranks < 5).mean(), "perplexity": np.exp(cross_entropy(wide, ids)),
                              "samples": ROWS}, "tokens")  # fmt: skip

# The numbers are far from 0 and have a small variance.
numbers = (1000 + random.normal(size=(ROWS, 3))).astype(np.float32)
guess = (numbers + random.normal(size=(ROWS, 3)) * 0.5).astype(np.float32)
error = guess.astype(float) - numbers
for loss, value in ("mse", (error**2).mean()), ("l1", np.abs(error).mean()):
    for program in compiled(loss, (8, 3), {"x": guess, "labels": numbers}, "--loss", loss):
        same(evaluated(program), {"loss": value, "mae": np.abs(error).mean(), "mse": (error**2).mean(),
                                  "r2": 1 - (error**2).sum() / ((numbers - numbers.astype(float).mean()) ** 2).sum(),
                                  "samples": ROWS}, loss)  # fmt: skip

# Losses in recipes, and error messages.
(folder / "recipe.toml").write_text('loss = "cross-entropy"\nlabel-smoothing = 0.1\nclass-weights = [0.5, 2, 0.25, 1]\nignore-index = 3\n')
run([MTC, "plan", folder / "smoothing-f32.onnx", "--recipe", folder / "recipe.toml", "--json"], folder)
for flags, message in ((("--loss", "mse", "--label-smoothing", "0.1"), "not used by the loss mse"),
                       ((*CE, "--class-weights", "1,2"), "2 weights; expected one for each of the 4 classes"),
                       ((*CE, "--class-weights", "1,a,2,3"), "--class-weights 1,a,2,3: 'a': invalid weight"),
                       ((*CE, "--class-weights", folder / "none.npy"), "--class-weights: file")):  # fmt: skip
    error = run([MTC, "plan", folder / "smoothing-f32.onnx", *flags], folder, code=1).stderr
    assert message in error, (flags, error)
assert "--target-length" in run([MTC, "plan", folder / "short.onnx", "--loss", "ctc"], folder, code=1).stderr
