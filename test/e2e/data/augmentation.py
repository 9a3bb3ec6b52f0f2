# RUN: %python %s %t
"""--augment changes images in training alone: crops cover the stored image, the result does not depend on threads, kills and ranks, evaluation
crops the center, and a resumed run keeps the augmentation of its checkpoint."""

import json

import numpy as np
import onnx
from launcher import launcher
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, own_folder, run

ROWS, BATCH, SIDE, STORED = 96, 16, 32, 36
folder = own_folder()
random = np.random.default_rng(0)
weight = random.normal(0, 0.01, (3 * SIDE * SIDE, 4)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("Flatten", ["x"], ["flat"]), helper.make_node("MatMul", ["flat", "weight"], ["y"])],
    "images",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])],
    [numpy_helper.from_array(weight, "weight")],
)
model = folder / "images.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
flags = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--threads", 1)


def compile(name, *more):
    run([MTC, "compile", model, *flags, *more, "-o", folder / name], folder)
    return folder / name


x = random.integers(0, 256, (ROWS, 3, STORED, STORED), dtype=np.uint8)
labels = random.integers(0, 4, ROWS)
program = Program(compile("train"), {"x": x, "labels": labels})
scale = ("--scale", "x=1/255")
augment = (*scale, "--augment", "x=crop:2,flip,brightness:0.2,contrast:0.2,saturation:0.2")

# Evaluation crops the center of the stored images.
center = Program(program.path, {})
np.save(folder / "center.npy", x[:, :, 2:-2, 2:-2])
center.data_flags = ["--data", "x=center.npy", "--data", "labels=labels.npy"]
assert program.run("--evaluate", *augment).stdout == center.run("--evaluate", *scale).stdout

# A crop without padding of images of the input's size changes nothing, and a constant image cannot be changed by crops and flips.
assert center.exported("same", "--epochs", 2, *scale, "--augment", "x=crop") == center.exported("plain", "--epochs", 2, *scale)
constant = Program(program.path, {})
np.save(folder / "constant.npy", np.broadcast_to(x[:, :, :1, :1], x.shape))
np.save(folder / "small.npy", np.broadcast_to(x[:, :, :1, :1], (ROWS, 3, SIDE, SIDE)))
constant.data_flags = ["--data", "x=constant.npy", "--data", "labels=labels.npy"]
small = Program(program.path, {})
small.data_flags = ["--data", "x=small.npy", "--data", "labels=labels.npy"]
assert constant.exported("constant", "--epochs", 2, *scale, "--augment", "x=crop,flip") == small.exported("small", "--epochs", 2, *scale)

resized = ("--augment", "x=resized-crop:0.3,flip")
several = [program.exported(f"resized-{n}", "--epochs", 2, *scale, *resized, "--read-threads", n) for n in (1, 3)]
assert several[0] == several[1] != program.exported("resized-small", "--epochs", 2, *scale, "--augment", "x=resized-crop:0.9,flip")

# Threads, kills, resuming, seeds.
whole = program.exported("whole", "--epochs", 4, "--seed", 3, *augment)
for threads in (1, 3):
    assert program.exported("threads", "--epochs", 4, "--seed", 3, *augment, "--read-threads", threads) == whole, threads
assert program.exported("other", "--epochs", 4, "--seed", 4, *augment) != whole
assert program.exported("flipless", "--epochs", 4, "--seed", 3, *augment[:-1], "x=crop:2") != whole
program.run("--steps", 5, "--seed", 3, *augment, "--save", "saved")
assert program.exported("resumed", "--epochs", 4, "--resume", "saved") == whole
program.run_with_kills("--epochs", 80, "--seed", 3, *augment, kills=2, after=(0.1, 0.3))
assert program.exported("killed", "--resume", "checkpoint") == program.exported("long", "--epochs", 80, "--seed", 3, *augment)
refused = program.run("--epochs", 4, "--resume", "saved", "--augment", "x=crop", code=1).stderr
assert "was made with --augment x=crop:2,flip,brightness:0.2,contrast:0.2,saturation:0.2, not with --augment x=crop" in refused, refused
one = Program(compile("one-rank", "--accumulate", 2), {"x": x, "labels": labels})
two = Program(compile("two-ranks", "--ranks", 2), {"x": x, "labels": labels}, runner=launcher(2))
assert one.exported("one", "--epochs", 2, *augment) == two.exported("two", "--epochs", 2, *augment)

# Validation does not change training, and the arena is the planned one.
validate = ("--validate", "x=x.npy", "--validate", "labels=labels.npy", "--memory-report", "memory.json")
assert program.exported("validated", "--epochs", 4, "--seed", 3, *augment, *validate) == whole
report = json.loads((folder / "memory.json").read_text())
plan = json.loads(run([MTC, "plan", model, *flags, "--json"], folder).stdout)
assert report["arena_bytes"] == plan["peak_bytes"], (report, plan)

# Errors.
for words, *expected in (
    ((), "has shape [96, 3, 36, 36]; the input 'x' takes [rows, 3, 32, 32]", "--augment x=crop"),
    (("--augment", "x=flip"), "images of shape [3, 36, 36], and the input [3, 32, 32]; expected --augment x=crop"),
    (("--augment", "x=rotate"), "--augment x=rotate: 'rotate' is unknown; expected resize:SIDE, crop"),
    (("--augment", "labels=flip"), "'labels' is i64; expected an input of floats"),
    (("--augment", "y=flip"), "the program has no input 'y'"),
    (("--augment", "x"), "expected NAME=LIST"),
):  # fmt: skip
    message = program.run("--steps", 2, *words, code=1).stderr
    assert all(word in message for word in expected), (words, message)
