# RUN: %python %s %t
"""`mtc.Trainer.set`: a trainer with other settings is bit-identical to one of a library that is compiled with them. Checkpoints keep the settings, and
libraries refuse those that they do not compute with."""

import os
import sys
from pathlib import Path

import numpy as np
from models import EXAMPLES
from program import MTC, Program, own_folder, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))
import mtc  # noqa: E402

os.environ["MTC"] = MTC
folder = own_folder()
DIGITS = EXAMPLES / "digits"
data = {"x": np.load(DIGITS / "train_x.npy")[:320], "labels": np.load(DIGITS / "train_labels.npy")[:320]}


def library(name: str, **options):
    return mtc.compile(DIGITS / "digits.onnx", folder / name, dims={"batch": 32}, **options)


def trained(trainer: mtc.Trainer, steps: int = 4) -> dict:
    trainer.fit(data, steps=steps)
    return trainer.state_dict()


def equal(one: dict, other: dict) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def refused(action, problem: str) -> None:
    try:
        action()
    except mtc.TrainerError as error:
        assert problem in str(error), error
        return
    raise AssertionError(f"not refused: {problem}")


one = library("one", clip_norm=1)
other = library("other", clip_norm=0.1, weight_decay=0.3, betas="0.8,0.95")
wanted = trained(mtc.Trainer(other))
trainer = mtc.Trainer(one)
assert trainer.settings == {"weight_decay": 0.01, "eps": 1e-8, "beta1": 0.9, "beta2": 0.999, "clip_norm": 1.0}, trainer.settings
trainer.set(clip_norm=0.1, weight_decay=0.3, beta1=0.8, beta2=0.95)
assert trainer.settings["beta2"] == 0.95
assert equal(trained(trainer, 2), trained(mtc.Trainer(other), 2))
trainer.save(folder / "saved")
assert equal(trained(trainer, 2), wanted)

# A trainer and a program continue with the settings of a checkpoint; another checkpoint has its own.
again = mtc.Trainer(one)
again.load(folder / "saved")
assert again.settings["clip_norm"] == 0.1 and equal(trained(again, 2), wanted)
run([MTC, "compile", DIGITS / "digits.onnx", "--dim", "batch=32", "--clip-norm", 1, "-o", folder / "program"], folder)
program = Program(folder / "program", data)
program.run("--resume", "saved", "--steps", 4, "--save", "later")
again.load(folder / "later")
assert equal(again.state_dict(), wanted)
mtc.Trainer(one).save(folder / "plain")
again.load(folder / "plain")
assert again.settings == mtc.Trainer(one).settings and equal(trained(again), trained(mtc.Trainer(one)))

# A library without clipping refuses to train on, and evaluates.
unlimited = mtc.Trainer(library("unlimited"))
unlimited.load(folder / "saved")
unlimited.evaluate(data)
problem = "the checkpoint was trained with clip-norm 0.1, with which this program does not compute; compile it with --clip-norm"
refused(lambda: unlimited.fit(data, steps=4), problem)
refused(lambda: unlimited.step({name: values[:32] for name, values in data.items()}), problem)
refused(lambda: unlimited.set(clip_norm=1), "setting 'clip-norm': this program does not compute with it; compile it with --clip-norm")
refused(lambda: unlimited.set(weight_decai=1), "setting 'weight-decai': this program does not have it; did you mean 'weight-decay'")
refused(lambda: unlimited.set(beta1=1), "setting 'beta1': 1: expected a number of at least 0 and less than 1")
