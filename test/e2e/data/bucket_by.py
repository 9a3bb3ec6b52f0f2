# RUN: %python %s %t
"""Rows of similar lengths form batches: training gives the losses of a program of one length on the same batches, whatever the batch of each
length, in each epoch and after a resumed run, also with several ranks, and validation and outputs have the rows of the file."""

import json

import numpy as np
from launcher import launcher
from program import MTC, Program, losses, run
from ragged_models import ROWS, check_close, classes, compiled, folder, lengths, mask, next_tokens, padded, pair
from safetensors.numpy import save_file

LENGTHS, BATCHES = (4, 8, 16), (8, 4, 2)


def expected_steps(micro_steps=1):
    """Returns the rows of each step of an epoch without shuffling: those that fill no step move to the next longer ones."""
    steps, rest = [], []
    for i, (length, batch) in enumerate(zip(LENGTHS, BATCHES)):
        shorter = LENGTHS[i - 1] if i else 0
        rows = [row for row in range(ROWS) if shorter < lengths[row] <= length] + rest
        size = batch * micro_steps
        full = len(rows) // size * size
        steps += [rows[at : at + size] for at in range(0, full, size)]
        rest = rows[full:]
    return steps + ([rest] if rest else [])


def join(sizes):
    return ",".join(map(str, sizes))


def several(name, model, *flags, runner=()):
    program = Program(compiled(name, model, join(LENGTHS), *flags, batch=join(BATCHES)), {}, runner)
    program.data_flags = ["--data", "input_ids=ids.safetensors"]
    if model == "classes":
        program.data_flags += ["--data", "labels=classes.npy"]
    return program


def one_length(name, model, rows, *flags):
    """Returns a program of one length whose only batch is that of the given rows."""
    program = Program(compiled(name, model, LENGTHS[-1], *flags, batch=len(rows)), {})
    data = {"input_ids": padded[rows], "labels": next_tokens[rows]}
    if model == "classes":
        data = {"input_ids": padded[rows], "attention_mask": mask[rows], "labels": classes[rows]}
    for input_name, array in data.items():
        np.save(folder / f"{name}-{input_name}.npy", array)
        program.data_flags += ["--data", f"{input_name}={name}-{input_name}.npy"]
    return program


offsets = np.concatenate([[0], np.cumsum(lengths[: ROWS // 2])])
save_file({"offsets": offsets, "values": padded[mask == 1][: offsets[-1]].astype(np.int32)}, folder / "half-ids.safetensors")
np.save(folder / "half-classes.npy", classes[: ROWS // 2])

for model, loss in (("classes", "cross-entropy"), ("tokens", "causal-lm")):
    for micro_steps in (1, 2):
        flags = ["--loss", loss, "--optimizer", "sgd", "--lr", 0.5]
        accumulation = ["--ranks", 1, "--accumulate", micro_steps] if micro_steps > 1 else []
        name = f"{model}-{micro_steps}"
        program = several(name, model, *flags, *accumulation)
        steps = expected_steps(micro_steps)
        found = losses(program.train(len(steps) + 1, "--bucket-by", "length"))
        # Each step continues from the weights of the one before, in a program of its own.
        weights, wanted = [], []
        for number, rows in enumerate(steps):
            one = one_length(f"{name}-{number}", model, rows, *flags)
            wanted += losses(one.train(1, *weights, "--export-weights", f"{name}-{number}.safetensors"))
            weights = ["--weights", f"{name}-{number}.safetensors"]
        np.testing.assert_allclose(found[:-1], wanted, rtol=1e-5, err_msg=name)

        # Rows are grouped without the flag if they are shuffled, and a resumed run gives the same bits.
        whole = program.exported(f"{name}-whole", "--epochs", 3)
        middle = len(steps) + len(steps) // 2
        program.run("--steps", middle, "--save", f"{name}-saved")
        assert program.exported(f"{name}-resumed", "--epochs", 3, "--resume", f"{name}-saved") == whole, name
        manifest = json.loads((folder / f"{name}-saved" / "manifest.json").read_text())
        assert manifest["step"] == middle and manifest["steps_per_epoch"] == len(steps), manifest
        refused = program.run("--epochs", 3, "--resume", f"{name}-saved", "--bucket-by", "none", code=1).stderr
        assert "the checkpoint was made with --bucket-by length" in refused, refused
        other = Program(program.path, {})
        other.data_flags = [flag.replace("ids.", "half-ids.").replace("classes.", "half-classes.") for flag in program.data_flags]
        refused = other.run("--epochs", 3, "--resume", f"{name}-saved", code=1).stderr
        assert f"--resume {name}-saved: an epoch of the checkpoint's run had {len(steps)} steps, and has " in refused, refused

        # Two ranks give the same bits as one rank with two micro-steps.
        if micro_steps > 1:
            ranks = several(f"{name}-ranks", model, *flags, "--ranks", 2, runner=launcher(2))
            assert ranks.exported(f"{name}-of-ranks", "--epochs", 3) == whole, name
            mixed = program.exported(f"{name}-mixed", "--epochs", 2, "--bucket-by", "none")
            assert ranks.exported(f"{name}-mixed-ranks", "--epochs", 2, "--bucket-by", "none") == mixed, name
            np.testing.assert_allclose([*ranks.evaluation().values()], [*program.evaluation().values()], rtol=1e-5)

# Evaluation and outputs have the samples of the file, in its order.
program, one = several("outputs", "classes", "--loss", "cross-entropy"), pair("classes", "one", "--loss", "cross-entropy")[1]
check_close(program.outputs("outputs"), one.outputs("outputs-one"), "outputs")
np.testing.assert_allclose([*program.evaluation().values()], [*one.evaluation().values()], rtol=1e-5)
