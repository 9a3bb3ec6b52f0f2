# RUN: %python %s %t
"""`mtc.Trainer.fit`, `evaluate` and `predict` on iterables of batches: losses, callbacks, checkpoints and errors."""

import json
import os
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import onnx
from models import EXAMPLES
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples")]
import mtc  # noqa: E402

os.environ["MTC"] = MTC
warnings.simplefilter("error")
folder = own_folder()
DIGITS = EXAMPLES / "digits"
RATE = 0.1
x, labels = np.load(DIGITS / "train_x.npy"), np.load(DIGITS / "train_labels.npy")
test = {"x": np.load(DIGITS / "test_x.npy"), "labels": np.load(DIGITS / "test_labels.npy")}
library = mtc.compile(DIGITS / "digits.onnx", folder / "digits", dims={"batch": 32}, optimizer="sgd", lr=RATE)


def fails(error: type[Exception], *words: str):
    """Checks that the body raises an error with these words."""

    def of(function, *arguments, **options):
        try:
            function(*arguments, **options)
        except error as found:
            assert all(word in str(found) for word in words), found
            return
        raise AssertionError(f"expected {error.__name__} with {words}")

    return of


class Reference:
    """The three linear layers of the example with ReLU and SGD, in f64."""

    def __init__(self, is_regression: bool = False):
        self.is_regression = is_regression
        file = load_file(folder / "digits.weights.safetensors")
        names = sorted({name.rsplit(".", 1)[0] for name in file})
        self.layers = [[file[f"{name}.weight"].astype(np.float64), file[f"{name}.bias"].astype(np.float64)] for name in names]

    def gradients(self, images: np.ndarray, classes: np.ndarray) -> tuple[float, list]:
        """Returns the sum of the losses, and the gradients of the sum."""
        values = [images.astype(np.float64)]
        for i, (weight, bias) in enumerate(self.layers):
            output = values[-1] @ weight.T + bias
            values.append(np.maximum(output, 0) if i + 1 < len(self.layers) else output)
        if self.is_regression:
            upstream = 2 * (values[-1] - np.eye(10)[classes]) / 10
            loss = (upstream**2).sum() * 2.5
        else:
            logits = values[-1] - values[-1].max(1, keepdims=True)
            upstream = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
            rows = np.arange(len(classes))
            loss = -np.log(upstream[rows, classes]).sum()
            upstream[rows, classes] -= 1
        found = []
        for i in reversed(range(len(self.layers))):
            found.insert(0, (upstream.T @ values[i], upstream.sum(0)))
            upstream = upstream @ self.layers[i][0] * (values[i] > 0)
        return loss, found

    def step(self, batches: list) -> float:
        """Updates with the mean over the samples of all batches."""
        parts = [self.gradients(*batch) for batch in batches]
        count = sum(len(classes) for _, classes in batches)
        for _, gradients in parts:
            for layer, gradient in zip(self.layers, gradients, strict=True):
                for value, change in zip(layer, gradient, strict=True):
                    value -= RATE * change / count
        return sum(loss for loss, _ in parts) / count


def batches(epoch: int = 0, size: int = 32):
    """Yields shuffled, augmented batches of an epoch; the last one is smaller."""
    random = np.random.default_rng(epoch)
    order = random.permutation(len(x))
    for first in range(0, len(x), size):
        rows = order[first : first + size]
        yield x[rows] + random.normal(0, 0.1, x[rows].shape).astype(np.float32), labels[rows]


def close(found, expected) -> bool:
    return len(found) == len(expected) and np.allclose(found, expected, rtol=1e-5, atol=0)


assert len(x) % 32, "the last batch is smaller"
reference = Reference()
expected = [reference.step([batch]) for epoch in range(3) for batch in batches(epoch)]
trainer = mtc.Trainer(library)
history = trainer.fit(batches, epochs=3)
assert close(history.losses, expected), np.abs(history.losses / expected - 1).max()
assert trainer.step_count == len(expected) == 3 * 45

# The form of the batches does not matter: mappings, lists, other types, and a buffer that is reused.
one = [batch for epoch in range(3) for batch in batches(epoch)]


def reused():
    image, classes = np.empty((32, 64), np.float32), np.empty(32, np.int32)
    for each, numbers in one:
        image[: len(each)], classes[: len(each)] = each, numbers
        yield {"x": image[: len(each)], "labels": classes[: len(each)]}


for data in one, list(map(list, one)), [{"labels": c.tolist(), "x": i} for i, c in one], ((i.astype(np.float64), c) for i, c in one), reused():
    for prefetch in (0, 3) if data is one else (3,):
        assert np.array_equal(mtc.Trainer(library).fit(data, prefetch=prefetch).losses, history.losses)

# A loop of the user's own has the same losses; a smaller compiled batch than the data's is an error with its fix.
own = mtc.Trainer(library)
assert np.array_equal([own.step(batch).loss for batch in one], history.losses)
fails(ValueError, "batch of 64", "batch_size=32")(own.fit, batches(size=64))
fails(ValueError, "one sample", "batch_size=32")(own.fit, iter([(x[0], labels[0])]))
fails(ValueError, "float32", "<U1")(own.step, (np.full((2, 64), "a"), labels[:2]))
fails(ValueError, "0.5")(own.step, (x[:2], [0.5, 1]))
fails(ValueError, "reshape it to (2, 64)")(own.step, (x[:2].reshape(2, 8, 8), labels[:2]))
fails(ValueError, "unknown inputs y")(own.step, {"y": x[:2]})
fails(ValueError, "did you mean 'labels'?")(own.step, {"x": x[:2], "label": labels[:2]})
fails(ValueError, "3 parts")(own.step, (x[:2], labels[:2], labels[:2]))
fails(ValueError, "different numbers")(own.step, (x[:2], labels[:3]))
fails(ValueError, "epoch 2", "lambda epoch")(own.fit, batches(), epochs=2)
fails(TypeError, "DataLoader")(own.fit, 3)

# Data sets of samples have the order of arrays.
class Dataset:
    def __len__(self):
        return len(x)

    def __getitem__(self, index):
        return x[index], int(labels[index])


arrays = mtc.Trainer(library).fit({"x": x, "labels": labels}, epochs=2)
for data in Dataset(), (x, labels):
    assert np.array_equal(mtc.Trainer(library).fit(data, epochs=2).losses, arrays.losses)
masked = mtc.Trainer(library).fit((x, labels), epochs=2, last_batch="mask", shuffle=False)
reference = Reference()
in_order = [(x[first : first + 32], labels[first : first + 32]) for first in range(0, len(x), 32)]
assert close(masked.losses, [reference.step([batch]) for _ in range(2) for batch in in_order])
assert len(mtc.Trainer(library).fit((x, labels), epochs=2, last_batch="drop").steps) == 88

# With accumulation, the last update of an epoch has the batches that are left.
accumulated = mtc.compile(DIGITS / "digits.onnx", folder / "accumulated", dims={"batch": 32}, optimizer="sgd", lr=RATE, accumulate=4)
reference, expected = Reference(), []
for epoch in range(2):
    parts = list(batches(epoch))
    expected += [reference.step(parts[first : first + 4]) for first in range(0, len(parts), 4)]
trainer = mtc.Trainer(accumulated)
assert close(trainer.fit(batches, epochs=2).losses, expected) and trainer.step_count == 24

# An emulated GPU trains on smaller batches, too.
gpu = mtc.compile(DIGITS / "digits.onnx", folder / "gpu", dims={"batch": 32}, optimizer="sgd", lr=RATE, target="cuda", emulate=True)
reference = Reference()
trainer = mtc.Trainer(gpu)
assert close(trainer.fit(one[40:50], epochs=1).losses, [reference.step([batch]) for batch in one[40:50]])
assert trainer.predict(x[:40])["logits"].shape == (40, 10)

# Predictions and metrics of the user.
trainer = mtc.Trainer(library)
trainer.fit(batches, epochs=3)
logits = trainer.predict(test)["logits"]
assert logits.shape == (360, 10)
assert np.array_equal(trainer.predict(test["x"])["logits"], logits) and np.array_equal(trainer.infer(test["x"][:5])["logits"], logits[:5])


class Hits:
    def reset(self):
        self.hits = self.count = 0

    def update(self, outputs, classes):
        self.hits += (outputs.argmax(1) == classes).sum()
        self.count += len(classes)

    def compute(self):
        return self.hits / self.count


def top2(outputs, classes):
    return np.mean([c in row.argsort()[-2:] for row, c in zip(outputs, classes, strict=True)])


found = trainer.evaluate(iter([(test["x"][i : i + 25], test["labels"][i : i + 25]) for i in range(0, 360, 25)]),
                         metrics={"hits": Hits(), "top2": top2})  # fmt: skip
assert found.samples == 360 and abs(found.metrics["hits"] - found.accuracy) < 1e-9 and found.accuracy < found.metrics["top2"] <= 1
assert abs(found.loss - trainer.evaluate(test).loss) < 1e-6 and found.step == 135
fails(TypeError, "'bad'")(trainer.evaluate, test, metrics={"bad": lambda outputs, classes: "x"})

# Callbacks, reports, the best checkpoint and early stopping.
seen = types.SimpleNamespace(steps=[], validations=[], checkpoints=[])
rate = lambda step: 0.1 / step  # noqa: E731
trainer = mtc.Trainer(library)
options = {"epochs": 8, "learning_rate": rate, "validation": [(test["x"][:25], test["labels"][:25])], "metrics": {"top2": top2},
           "save": folder / "run", "keep_best": "top2", "best_mode": "max", "early_stop": 2}  # fmt: skip
history = trainer.fit(batches, **options, save_every=20, metrics_file=folder / "m.jsonl", tensorboard=folder / "events",
                      report=folder / "run.html", on_step=seen.steps.append, on_validation=seen.validations.append,
                      on_checkpoint=seen.checkpoints.append)  # fmt: skip
assert seen.steps == history.steps and seen.validations == history.evaluations and history.stopped_early
assert [step.learning_rate for step in history.steps] == [rate(step.step) for step in history.steps]
assert trainer.learning_rate == RATE  # The compiled schedule is restored.
assert history.best.step == history.evaluations[-3].step and len(history.steps) == 45 * len(history.evaluations)
assert {folder / "run", folder / "run/best"} == set(seen.checkpoints)
best = mtc.Trainer(library)
best.load(folder / "run/best")
assert best.step_count == history.best.step and best.evaluate(options["validation"], metrics={"top2": top2}).metrics == history.best.metrics
lines = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
assert [line["loss"] for line in lines if "loss" in line] == [float(np.float32(loss)) for loss in history.losses]
assert [line["validation_top2"] for line in lines if "validation_top2" in line] == [each.metrics["top2"] for each in history.evaluations]
events = EventAccumulator(str(folder / "events"), size_guidance={"scalars": 0})
events.Reload()
assert len(events.Scalars("train/loss")) == len(history.steps) and len(events.Scalars("validation/top2")) == len(history.evaluations)
assert "stopped early" in (folder / "run.html").read_text()
fails(mtc.TrainerError, "run", "another folder")(mtc.Trainer(library).fit, batches, save=folder / "run")
resumed = mtc.Trainer(library).fit(batches, **options, resume=True)
assert resumed.stopped_early and not resumed.steps  # The run has ended.

# An interrupted training continues with the same losses, for iterables and for arrays, also in the middle of an epoch.
def interrupted_at(step: int):
    def stop(result):
        if result.step == step:
            raise KeyboardInterrupt

    return stop


for number, data in enumerate((batches, one, (x, labels), Dataset())):
    whole = mtc.Trainer(library).fit(data, epochs=3 if data is not one else 1, progress=False)
    for step in (10, 45, 90):
        arguments = {"epochs": 3 if data is not one else 1, "save": folder / f"interrupted-{number}-{step}", "resume": True}
        try:
            mtc.Trainer(library).fit(data, **arguments, on_step=interrupted_at(step))
            raise AssertionError("expected an interrupt")
        except KeyboardInterrupt:
            pass
        rest = mtc.Trainer(library).fit(data, **arguments)
        assert np.array_equal(rest.losses, whole.losses[step:]), (number, step)
        assert not mtc.Trainer(library).fit(data, **arguments).steps

stopped = mtc.Trainer(library)
stopped.fit(batches, steps=1000, on_step=lambda step: setattr(stopped, "stops", step.step == 50))
assert stopped.step_count == 50

# Schedules that end take the last step of the training; errors name the argument that is missing.
linear = mtc.compile(DIGITS / "digits.onnx", folder / "linear", dims={"batch": 32}, optimizer="sgd", lr=RATE, schedule="linear")
trainer = mtc.Trainer(linear)
assert np.isnan(trainer.learning_rate)
fails(mtc.TrainerError, "total_steps=1000")(trainer.step, one[0])
fails(mtc.TrainerError, "total_steps=")(trainer.fit, batches)  # The number of batches is not known.
rates = [step.learning_rate for step in trainer.fit(one[:10]).steps]
assert np.allclose(rates, RATE * (1 - np.arange(10) / 10))
fails(mtc.TrainerError, "total_steps=20")(trainer.fit, one[:10])
assert np.allclose([s.learning_rate for s in mtc.Trainer(linear, total_steps=20).fit(one[:10]).steps], RATE * (1 - np.arange(10) / 20))
trainer = mtc.Trainer(library)
fails(ValueError, "validation=")(trainer.fit, one, early_stop=2)
fails(ValueError, "save=")(trainer.fit, one, save_every=2)
fails(ValueError, "best_mode='max'")(trainer.fit, one, validation=test, metrics={"top2": top2}, keep_best="top2")
fails(ValueError, "loss, accuracy")(trainer.fit, one, validation=test, keep_best="nothing")
fails(ValueError, "'wrap'")(trainer.fit, one, last_batch="pad")
fails(ZeroDivisionError)(trainer.fit, one, on_step=lambda step: 1 / 0)
fails(mtc.TrainerError, "step", "nan")(trainer.fit, one, learning_rate=lambda step: 1e30)

# Other losses exclude padding by weights of samples. Without this input, they need whole batches.
targets = np.eye(10, dtype=np.float32)
options = {"dims": {"batch": 32}, "loss": "mse", "optimizer": "sgd", "lr": RATE}
for accumulate in 1, 4:
    regression = mtc.compile(DIGITS / "digits.onnx", folder / f"regression{accumulate}", **options, accumulate=accumulate)
    trainer, reference = mtc.Trainer(regression), Reference(is_regression=True)
    assert [info.name for info in trainer.inputs] == ["x", "labels", "loss_weights"]
    history = trainer.fit([(image, targets[c]) for image, c in one], epochs=2)
    epoch = [reference.step(one[first : first + accumulate]) for first in range(0, len(one), accumulate)]
    assert close(history.losses, epoch + [reference.step(one[first : first + accumulate]) for first in range(0, len(one), accumulate)])
    assert trainer.evaluate([(x[:20], targets[labels[:20]])]).samples == 20
halves = np.full(20, 0.5, np.float32)
trainers = mtc.Trainer(regression), mtc.Trainer(regression)
assert trainers[0].step((x[:20], targets[labels[:20]])).loss == trainers[1].step((x[:20], targets[labels[:20]], halves)).loss
whole = mtc.compile(DIGITS / "digits.onnx", folder / "whole", **options, loss_weights="none")
fails(mtc.TrainerError, "--loss-weights auto", "drop_last=True")(mtc.Trainer(whole).fit, [(image, targets[c]) for image, c in one])
assert mtc.Trainer(whole).evaluate([(x[:20], targets[labels[:20]])]).samples == 20
plain, weighted = (mtc.Trainer(each).fit((x, targets[labels])).losses for each in (whole, mtc.compile(
    DIGITS / "digits.onnx", folder / "weighted", **options)))  # fmt: skip
assert np.array_equal(plain, weighted)  # Weights of 1 change no bit.

# Sequences may be shorter than the model's if it has a mask: the rest equals padding by hand.
shape = ["batch", "sequence"]
tagger = helper.make_graph(
    [helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT), helper.make_node("Unsqueeze", ["mask", "axes"], ["wide"]),
     helper.make_node("Gather", ["table", "input_ids"], ["embedded"]), helper.make_node("Mul", ["embedded", "wide"], ["logits"])],
    "tagger", [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*shape, 3])],
    [numpy_helper.from_array(np.random.default_rng(0).normal(0, 1, (9, 3)).astype(np.float32), "table"),
     numpy_helper.from_array(np.array([2]), "axes")],
)  # fmt: skip
onnx.save(helper.make_model(tagger, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "tagger.onnx")
tags = mtc.compile(folder / "tagger.onnx", dims={"batch": 4, "sequence": 6}, loss="cross-entropy", lr=RATE)
ids = np.arange(12).reshape(3, 4) % 9
short = {"input_ids": ids, "attention_mask": np.ones_like(ids), "labels": ids % 3}
padded = {name: np.pad(array, ((0, 0), (0, 2)), constant_values=-100 if name == "labels" else 0) for name, array in short.items()}
first, second = mtc.Trainer(tags), mtc.Trainer(tags)
assert first.step(short).loss == second.step(padded).loss and first.predict(short)["logits"].shape == (3, 6, 3)
fails(ValueError, "pass 'attention_mask'", "'max_length'")(first.step, {"input_ids": ids})
fails(ValueError, "truncate sequences to 6")(first.step, {"input_ids": np.ones((3, 7), np.int64)})

# A library of several shapes runs each batch in the smallest one that holds it.
lengths = np.random.default_rng(1).integers(2, 7, 12)
texts = [np.random.default_rng(2).integers(0, 9, (4 - (i % 5 == 4), length)) for i, length in enumerate(lengths)]
batched = [{"input_ids": text, "attention_mask": np.ones_like(text), "labels": text % 3} for text in texts]
shapes = mtc.compile(folder / "tagger.onnx", folder / "shapes", dims={"batch": 4, "sequence": [3, 6]}, loss="cross-entropy", lr=RATE)
several, single = mtc.Trainer(shapes), mtc.Trainer(tags)
assert np.allclose(several.fit(batched, epochs=2).losses, single.fit(batched, epochs=2).losses, rtol=1e-6)
assert several.infer(batched[int(np.argmin(lengths))])["logits"].shape[1] == 3
assert np.allclose(several.predict(batched[:6])["logits"], single.predict(batched[:6])["logits"], atol=1e-6)
hits = {"hits": lambda outputs, classes: (outputs.argmax(2) == classes).sum() / (classes >= 0).sum()}
one_found, other_found = (each.evaluate(batched, metrics=hits).metrics for each in (several, single))
assert np.allclose(list(one_found.values()), list(other_found.values()), rtol=1e-6) and abs(one_found["hits"] - one_found["accuracy"]) < 1e-9
accumulated = {"loss": "cross-entropy", "lr": RATE, "accumulate": 3}
several, single = (mtc.Trainer(mtc.compile(folder / "tagger.onnx", folder / name, dims={"batch": 4, "sequence": sizes}, **accumulated))
                   for name, sizes in (("several", [3, 6]), ("single", 6)))  # fmt: skip
assert np.allclose(several.fit(batched, epochs=2).losses, single.fit(batched, epochs=2).losses, rtol=1e-6)
rest = mtc.compile(DIGITS / "digits.onnx", folder / "rest", dims={"batch": [32, len(x) % 32]}, loss="mse", optimizer="sgd", lr=RATE,
                   loss_weights="none")  # fmt: skip
reference = Reference(is_regression=True)
found = mtc.Trainer(rest).fit([(image, targets[c]) for image, c in one], epochs=1).losses
assert close(found, [reference.step([batch]) for batch in one])
assert np.array_equal(mtc.Trainer(rest).fit((x, targets[labels]), last_batch="wrap").losses, plain)
reference = Reference(is_regression=True)
found = mtc.Trainer(rest).fit((x, targets[labels]), epochs=2, shuffle=False).losses  # The last batch has a shape of its own.
assert close(found, [reference.step([batch]) for _ in range(2) for batch in in_order])

# Progress: lines for a file, a bar for a terminal and a notebook.
from mtc import _bar  # noqa: E402

shown = []
display = types.SimpleNamespace(display=lambda data, **_: shown.append(data) or types.SimpleNamespace(update=lambda data, **_: shown.append(data)))
shell = types.SimpleNamespace(kernel=True)
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell, display=display)
mtc.Trainer(library).fit(one)
assert "step 135/135" in shown[-1]["text/plain"] and "━" in shown[-1]["text/plain"], shown
del sys.modules["IPython"]
assert not _bar.Bar(None).shown and _bar.Bar(True).columns == 0

# Loggers by callback, with stand-ins for the packages.
logged = []
sys.modules["wandb"] = types.SimpleNamespace(
    init=lambda **_: types.SimpleNamespace(log=lambda values, step: logged.append((step, values)), finish=lambda: logged.append("end"))
)
sys.modules["mlflow"] = types.SimpleNamespace(log_metrics=lambda values, step: logged.append((step, values)), log_artifacts=logged.append)
import loggers  # noqa: E402

for log in loggers.wandb_callbacks, loggers.mlflow_callbacks:
    logged.clear()
    history = mtc.Trainer(library).fit(one[:3], validation=test, save=folder / log.__name__, **log())
    assert [step for step, _ in logged[:4]] == [1, 2, 3, 3] and logged[0][1]["train/loss"] == history.losses[0], logged
    assert logged[3][1]["validation/accuracy"] == history.evaluations[0].accuracy
