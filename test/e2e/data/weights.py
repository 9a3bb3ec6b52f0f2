# RUN: %python %s %t
"""--sample-weights and --balance-classes draw samples in training alone: bit-identical after kills, when resumed, and on several ranks."""

import numpy as np
from launcher import launcher
from models import EXAMPLES
from program import MTC, Program, own_folder, read_metrics, run

folder = own_folder()
x, labels = np.load(EXAMPLES / "digits/train_x.npy"), np.load(EXAMPLES / "digits/train_labels.npy")
flags = ("--dim", "batch=32", "--loss", "cross-entropy", "--threads", 1)


def compile(name, *more):
    run([MTC, "compile", EXAMPLES / "digits/digits.onnx", *flags, *more, "-o", folder / name], folder)
    return folder / name


program = Program(compile("train"), {"x": x, "labels": labels})

# One sample with a weight is the only one that is drawn.
np.save(folder / "one.npy", (np.arange(len(x)) == 700).astype(np.uint8))
single = Program(program.path, {})
for name, value in (("x", x), ("labels", labels)):
    np.save(folder / f"copies-{name}.npy", np.repeat(value[700:701], 64, axis=0))
    single.data_flags += ["--data", f"{name}={folder}/copies-{name}.npy"]
assert program.exported("one", "--steps", 4, "--sample-weights", "one.npy") == single.exported("copies", "--steps", 4)

# A rare class that training on all samples forgets is learned with balanced classes. Evaluation reads each sample once.
kept = np.flatnonzero((labels != 9) | (np.cumsum(labels == 9) <= 3))
rare = Program(program.path, {})
for name, value in (("x", x[kept]), ("labels", labels[kept])):
    np.save(folder / f"rare-{name}.npy", value)
    rare.data_flags += ["--data", f"{name}={folder}/rare-{name}.npy"]
rare.data_flags += [
    "--validate", f"x={EXAMPLES / 'digits/test_x.npy'}", "--validate", f"labels={EXAMPLES / 'digits/test_labels.npy'}"]  # fmt: skip


def recall(*more) -> float:
    (folder / "metrics.jsonl").unlink(missing_ok=True)
    rare.run("--epochs", 4, "--metrics", "metrics.jsonl", *more)
    return read_metrics(folder / "metrics.jsonl")[-1]["validation_macro_recall"]


plain, balanced = recall(), recall("--balance-classes")
assert balanced > plain + 0.03, (plain, balanced)

# Kills, resuming, and several ranks.
np.save(folder / "weights.npy", np.random.default_rng(0).random(len(x)))
for sampling in (("--sample-weights", "weights.npy"), ("--balance-classes",)):
    whole = program.exported("whole", "--epochs", 2, "--seed", 3, *sampling)
    assert whole != program.exported("other", "--epochs", 2, "--seed", 4, *sampling)
    program.run("--steps", 20, "--seed", 3, *sampling, "--save", sampling[0][2:])
    again = sampling if sampling[0] == "--sample-weights" else ()
    assert program.exported("resumed", "--epochs", 2, "--resume", sampling[0][2:], *again) == whole
program.run_with_kills("--epochs", 10, "--seed", 3, *sampling, kills=2, after=(0.1, 0.3))
assert program.exported("killed", "--resume", "checkpoint") == program.exported("long", "--epochs", 10, "--seed", 3, *sampling)
one = Program(compile("one-rank", "--accumulate", 2), {"x": x, "labels": labels})
two = Program(compile("two-ranks", "--ranks", 2), {"x": x, "labels": labels}, runner=launcher(2))
for sampling in (("--sample-weights", "weights.npy"), ("--balance-classes",)):
    assert one.exported("one", "--epochs", 1, *sampling) == two.exported("two", "--epochs", 1, *sampling), sampling

# Errors.
np.save(folder / "short.npy", np.ones(3))
np.save(folder / "negative.npy", -np.ones(len(x)))
program.run("--steps", 2, "--save", "unweighted")
for words, *expected in (
    (("--steps", 2, "--sample-weights", "short.npy"), "short.npy: has 3 weights, but the data has 1437 samples"),
    (("--steps", 2, "--sample-weights", "negative.npy"), "row 0 has the weight -1"),
    (("--steps", 2, "--sample-weights", "none.npy"), "none.npy: cannot be opened"),
    (("--steps", 2, "--sample-weights", "one.npy", "--balance-classes"), "give one of them"),
    (("--steps", 2, "--balance-classes", "--no-shuffle"), "--no-shuffle keeps the order"),
    (("--evaluate", "--balance-classes"), "expected a run that trains"),
    (("--epochs", 2, "--resume", "sample-weights"), "made with --sample-weights (checksum", "this run has no --sample-weights"),
    (("--epochs", 2, "--resume", "sample-weights", "--sample-weights", "one.npy"), "this run has --sample-weights (checksum"),
    (("--epochs", 2, "--resume", "unweighted", "--balance-classes"), "was made without weights of samples"),
    (("--steps", 1, "--sample-weights", "one.npy", "--metrics", "one.npy"), "one.npy", "the file of --sample-weights"),
):  # fmt: skip
    message = program.run(*words, code=1).stderr
    assert all(word in message for word in expected), (words, message)
