# RUN: %python %s %t
"""`mtc.plan`, `mtc.compile` and `mtc.Trainer`: a trainer is bit-identical to the program of the same compilation."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from models import EXAMPLES, GPT2
from program import MTC, Program, own_folder
from safetensors.numpy import load_file

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))
import mtc  # noqa: E402

os.environ["MTC"] = MTC
warnings.simplefilter("error")
folder = own_folder()
DIGITS = EXAMPLES / "digits"
MODEL = DIGITS / "digits.onnx"
FLAGS = {"dims": {"batch": 32}, "lr": 2e-3}
data = {"x": np.load(DIGITS / "train_x.npy"), "labels": np.load(DIGITS / "train_labels.npy")}
test = {"x": np.load(DIGITS / "test_x.npy"), "labels": np.load(DIGITS / "test_labels.npy")}


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


def equal(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[n], other[n]) and one[n].dtype == other[n].dtype for n in one)


# Plans.
plan = mtc.plan(MODEL, **FLAGS)
assert plan.fits and 0 < plan.floor_bytes <= plan.peak_bytes and plan.categories["parameters"] > 0, plan
assert not mtc.plan(MODEL, **FLAGS, memory="100KB").fits
fails(mtc.CompileError, "--dim sequence")(mtc.plan, GPT2.model)
fails(mtc.CompileError, "--lrr")(mtc.plan, MODEL, dims={"batch": 32}, lrr=1)
fails(mtc.CompileError, "nothing.onnx")(mtc.plan, folder / "nothing.onnx")

# The program and the library are compiled with the same flags.
library = mtc.compile(MODEL, folder / "digits", **FLAGS, clip_norm=1)
assert library.path == folder / "libdigits.so" and library.header.exists() and library.plan.peak_bytes > 0, library
subprocess.run([MTC, "compile", MODEL, "--dim=batch=32", "--lr=2e-3", "--clip-norm=1", "-o", folder / "program"], check=True)
program = Program(folder / "program", data)

# The trainer reads samples in the order of the program.
program.run("--epochs", 2, "--seed", 3, "--export-weights", folder / "program.safetensors", "--save", folder / "saved")
trainer = mtc.Trainer(library, seed=3)
rates = []
history = trainer.fit(data, epochs=2, validation=test, on_step=lambda step: rates.append(step.learning_rate))
assert trainer.step_count == len(history.steps) == len(rates) == 90 and set(rates) == {2e-3}, trainer.step_count
assert len(history.evaluations) == 2 and history.steps[0].gradient_norm > 0 and history.steps[0].loss_scale is None
assert equal(trainer.state_dict(), load_file(folder / "program.safetensors"))
trainer.export_weights(folder / "trainer.safetensors")
assert equal(load_file(folder / "trainer.safetensors"), load_file(folder / "program.safetensors"))

# Evaluations and outputs equal those of the program.
printed = Program(folder / "program", test).run("--evaluate", "--resume", folder / "saved").stdout
found = trainer.evaluate(test)
assert f"loss {found.loss:.6g}"[:10] in printed and f"accuracy {found.accuracy:.6g}" in printed and found.samples == 360, printed
logits = Program(folder / "program", test).outputs("outputs", "--resume", folder / "saved")["logits"]
assert np.array_equal(trainer.infer({"x": test["x"][:32]})["logits"], logits[:32])

# Checkpoints of both are interchangeable, and never overwrite those of another run.
other = mtc.Trainer(library)
other.load(folder / "saved")
assert other.step_count == 90 and equal(other.state_dict(), trainer.state_dict())
one, two = (t.fit(data, steps=5).losses for t in (trainer, other))
assert np.array_equal(one, two), (one, two)
trainer.save(folder / "of_trainer")
program = Program(folder / "program", data)  # The data files now contain the test set.
fails(mtc.TrainerError, "of_trainer")(other.save, folder / "of_trainer")
program.run("--resume", folder / "of_trainer", "--steps", 100, "--export-weights", folder / "resumed.safetensors")
trainer.fit(data, steps=5)
assert equal(trainer.state_dict(), load_file(folder / "resumed.safetensors"))
trainer.save(folder / "of_trainer")

program.run("--steps", 44, "--last-batch", "mask", "--save", folder / "masked")
masked = mtc.Trainer(library)
masked.load(folder / "masked")
masked.fit(data, steps=6, last_batch="mask")
program.run("--steps", 50, "--resume", folder / "masked", "--export-weights", folder / "masked.safetensors")
assert equal(masked.state_dict(), load_file(folder / "masked.safetensors"))

# Weights and the learning rate can be read and changed.
fresh = mtc.Trainer(library, weights=folder / "resumed.safetensors")
assert equal(fresh.state_dict(), load_file(folder / "resumed.safetensors"))
start = mtc.Trainer(library)
start.load_state_dict(fresh.state_dict())
start.learning_rate = 1e-2
fresh.learning_rate = 1e-2
a, b = (t.fit(data, steps=3) for t in (start, fresh))
assert np.array_equal(a.losses, b.losses) and a.steps[-1].learning_rate == 1e-2
fresh.learning_rate = None
assert fresh.learning_rate == 2e-3
weight = start.weights[0].name
fails(KeyError, "nothing")(start.write_weight, "nothing", np.zeros(3))
fails(ValueError, weight, "shape")(start.write_weight, weight, np.zeros(3))

# The caller can provide the memory. Too little memory is an error, and the number of threads may differ.
size = mtc.memory_bytes(library)
memory = np.empty(size + 64, np.uint8)
aligned = memory[-memory.ctypes.data % 64 :][:size]
given = mtc.Trainer(library, memory=aligned, threads=1)
first = mtc.Trainer(library, threads=1).fit(data, steps=3).losses
assert np.array_equal(given.fit(data, steps=3).losses, first)
fails(mtc.TrainerError, "expected at least")(mtc.Trainer, library, memory=aligned[:-64])
fails(mtc.TrainerError, "threads")(mtc.Trainer, library, threads=1000)
(folder / "libother.so").write_bytes(library.path.read_bytes())
fails(mtc.TrainerError, "libother.so", "other_create")(mtc.Trainer, folder / "libother.so")
fails(mtc.TrainerError, "libnone.so")(mtc.Trainer, folder / "libnone.so")
fails(mtc.TrainerError, "nothing")(mtc.Trainer, library, weights=folder / "nothing.safetensors")

# Invalid batches leave the trainer unchanged.
batch = {"x": data["x"][:32], "labels": data["labels"][:32]}
before = given.state_dict()
fails(ValueError, "shape")(given.step, {**batch, "x": data["x"][:32, :63]})
fails(ValueError, "different numbers")(given.step, {**batch, "x": data["x"][:31]})
fails(ValueError, ".5")(given.step, {**batch, "labels": batch["labels"] + 0.5})
fails(ValueError, "unknown")(given.step, {**batch, "y": batch["x"]})
fails(mtc.TrainerError, "labels")(given.step, {"x": batch["x"]})
fails(mtc.TrainerError, "input 'x': no data")(given.step, {"labels": batch["labels"]})
fails(ValueError, "no samples")(given.evaluate, {})
fails(mtc.TrainerError, "labels", "10")(given.step, {**batch, "labels": batch["labels"] + 10})
assert equal(before, given.state_dict())
given.close()
fails(mtc.TrainerError, "closed")(given.step, batch)

# The trainer supports accumulation, next tokens as labels, and bf16.
language = mtc.compile(GPT2.model, folder / "gpt2", dims={"batch": 4, "sequence": 64}, loss="causal-lm", accumulate=2,
                       precision="bf16", lr=1e-3)  # fmt: skip
text = {"input_ids": GPT2.data(64)["input_ids"]}
subprocess.run([MTC, "compile", GPT2.model, "--dim=batch=4", "--dim=sequence=64", "--loss=causal-lm", "--accumulate=2",
                "--precision=bf16", "--lr=1e-3", "-o", folder / "language"], check=True)  # fmt: skip
trainer = mtc.Trainer(language, infers=False)
fails(mtc.TrainerError, "inference")(trainer.infer, {"input_ids": text["input_ids"][:4]})
steps = trainer.fit(text, steps=4, shuffle=False)
program = Program(folder / "language", text)
metrics = program.train(4, "--export-weights", folder / "language.safetensors")
assert [step.loss for step in steps.steps] == [record["loss"] for record in metrics], (steps.losses, metrics)
assert equal(trainer.state_dict(), load_file(folder / "language.safetensors"))
assert not trainer.step({"input_ids": text["input_ids"][:4]}).updated
fails(mtc.TrainerError, "complete update")(trainer.save, folder / "half")

# Two trainers on an emulated GPU, which train alternately, equal the program.
gpu = {**FLAGS, "target": "cuda", "emulate": True}
device = mtc.compile(MODEL, folder / "device", **gpu)
subprocess.run([MTC, "compile", MODEL, "--dim=batch=32", "--lr=2e-3", "--target=cuda", "--emulate", "-o", folder / "gpu"],
               check=True)  # fmt: skip
program = Program(folder / "gpu", data)
program.run("--steps", 4, "--export-weights", folder / "gpu.safetensors")
trainers = [mtc.Trainer(device, infers=False) for _ in range(2)]
for _ in range(4):
    for trainer in trainers:
        trainer.fit(data, steps=1)
for trainer in trainers:
    assert equal(trainer.state_dict(), load_file(folder / "gpu.safetensors"))
