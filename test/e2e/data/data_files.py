# RUN: %python %s %t
"""Data in several files, in archives and of other types trains bit-identically to one file of the input's type: shuffled, with ranks, validation
and prefetching, killed and resumed. A resumed run keeps the normalization of its checkpoint. The peak of the arena is the planned one."""

import json

import numpy as np
from launcher import launcher
from models import EXAMPLES
from program import MTC, Program, own_folder, read_metrics, run

MEAN, STD = np.float32(0.25), np.float32(0.5)
folder = own_folder()
x, labels = np.load(EXAMPLES / "digits/train_x.npy"), np.load(EXAMPLES / "digits/train_labels.npy")
pixels = np.round(x * 16).astype(np.uint8)
assert np.array_equal(pixels / np.float32(16), x), "digits have 17 levels of gray"
normalized = (pixels.astype(np.float32) / 16 - MEAN) / STD
flags = ("--dim", "batch=320", "--loss", "cross-entropy", "--labels", "labels", "--threads", 1)  # batches are prefetched


def compile(name, *more):
    run([MTC, "compile", EXAMPLES / "digits/digits.onnx", *flags, *more, "-o", folder / name], folder)
    return folder / name


path = compile("train")
plain = Program(path, {"x": normalized, "labels": labels})
whole = plain.exported("whole", "--epochs", 3, "--seed", 5)

# Shards in a folder, in archives, and in lists of several types.
shards = np.array_split(pixels, [1, 500, 900])
(folder / "shards").mkdir()
for i, shard in enumerate(shards):
    np.save(folder / f"shards/{i}.npy", shard)
    np.savez(folder / f"stored{i}.npz", x=shard, other=shard[:1])
    np.savez_compressed(folder / f"deflated{i}.npz", shard)
np.save(folder / "first.npy", labels[:700].astype(np.float64))
np.save(folder / "last.npy", labels[700:].astype(np.float64))
np.savez_compressed(folder / "all.npz", images=pixels, labels=labels.astype(np.int8), half=(x * 16).astype(np.float16))
scale = ("--scale", "x=1/16", "--mean", "x=0.25", "--std", "x=0.5")


def program(x, labels="first.npy,last.npy", path=path):
    result = Program(path, {})
    result.data_flags = ["--data", f"x={x}", "--data", f"labels={labels}"]
    return result


for value in (
    "shards", "shards/*.npy", "shards/0.npy,shards/1.npy,shards/2.npy,shards/3.npy", "stored[0-3].npz", "deflated*.npz",
    "all.npz:images", "all.npz:half",
):  # fmt: skip
    assert program(value).exported("found", "--epochs", 3, "--seed", 5, *scale) == whole, value
packed = program("all.npz:images", "all.npz")
assert packed.exported("found", "--epochs", 3, "--seed", 5, *scale) == whole

# Killed and resumed. The normalization is that of the checkpoint; other flags are an error.
sharded = program("deflated*.npz")
sharded.run_with_kills("--epochs", 80, "--seed", 5, *scale, kills=2, after=(0.1, 0.3))
assert sharded.exported("killed", "--resume", "checkpoint") == plain.exported("long", "--epochs", 80, "--seed", 5)
sharded.run("--steps", 2, "--seed", 5, *scale, "--save", "saved")
assert sharded.exported("resumed", "--epochs", 3, "--resume", "saved") == whole
refused = sharded.run("--epochs", 3, "--resume", "saved", "--scale", "x=1/255", code=1).stderr
assert "was made with --scale x=1/16 --mean x=0.25 --std x=0.5, not with --scale x=1/255" in refused, refused
sharded.run("--steps", 2, "--save", "unscaled")
refused = sharded.run("--epochs", 3, "--resume", "unscaled", *scale, code=1).stderr
assert "was made with unnormalized data" in refused, refused

# Evaluation and validation normalize in the same way.
plain.run("--epochs", 80, "--seed", 5, "--save", "plain")
evaluated = plain.run("--evaluate", "--resume", "plain").stdout
assert program("shards").run("--evaluate", "--resume", "checkpoint").stdout == evaluated
validate = ("--validate", "x=stored*.npz", "--validate", "labels=all.npz")
program("shards").run("--epochs", 80, "--seed", 5, *scale, *validate, "--metrics", "validated.jsonl", "--memory-report", "memory.json")
last = [line for line in read_metrics(folder / "validated.jsonl") if "validation_loss" in line][-1]
assert f"loss {last['validation_loss']:.9g} " in evaluated, (last, evaluated)
plan = json.loads(run([MTC, "plan", EXAMPLES / "digits/digits.onnx", *flags, "--json"], folder).stdout)
report = json.loads((folder / "memory.json").read_text())
assert report["arena_bytes"] == report["planned_bytes"] == plan["peak_bytes"], (report, plan)

# Several ranks read the same files.
ranks = compile("ranks", "--ranks", 2)
both = Program(ranks, {"x": normalized, "labels": labels}, runner=launcher(2))
found = program("shards", "all.npz", ranks)
found.runner = both.runner
assert found.exported("sharded-ranks", "--epochs", 2, *scale) == both.exported("plain-ranks", "--epochs", 2)

# Files of a list are never replaced.
for value in ("shards", "shards/*.npy", "shards/2.npy,shards/0.npy"):
    refused = program(value).run("--steps", 1, "--metrics", "shards/0.npy", "--force", code=1).stderr
    assert "shards/0.npy" in refused and "data of 'x'" in refused, refused

# Errors name the file, the flag and the expected value.
for flag, *words in (
    ("x=0.5,0.5,0.5", "--mean x: has 3 values", "[64]", "64: one for each index"), ("labels=1", "'labels' is i64", "input of floats"),
    ("y=1", "no input 'y'", "x, labels"), ("x", "expected NAME=VALUES"), ("x=1/2", "expected a finite number"),
):  # fmt: skip
    refused = program("shards").run("--steps", 1, "--mean", flag, code=1).stderr
    assert all(word in refused for word in words), refused
