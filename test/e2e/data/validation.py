# RUN: %python %s %t
"""Validation between steps changes no bit of the training: with dropout, running statistics, accumulation, averages, 16-bit copies,
quantized and offloaded state, prefetched batches, and an emulated device. Its results equal those of --evaluate for the checkpoint, also
for token streams and for inputs without a batch axis."""

import json

import numpy as np
import onnx
from models import DIGITS, EXAMPLES, GPT2, digits
from onnx import TensorProto, helper, numpy_helper
from program import Program, compile, compile_example, own_folder, read_metrics

STEPS, HIDDEN, CLASSES = 6, 32, 10
folder = own_folder()
random = np.random.default_rng(0)


def classifier():
    """Digits with a hidden layer, batch normalization and dropout, as exported in training mode."""
    normal = lambda *shape: random.normal(0, 0.1, shape).astype(np.float32)  # noqa: E731
    values = {
        "first.weight": normal(64, HIDDEN), "scale": np.ones(HIDDEN, np.float32), "bias": np.zeros(HIDDEN, np.float32),
        "mean": np.zeros(HIDDEN, np.float32), "variance": np.ones(HIDDEN, np.float32),
        "last.weight": normal(HIDDEN, CLASSES), "last.bias": np.zeros(CLASSES, np.float32),
        "ratio": np.float32(0.3), "training": np.bool_(True),
    }  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["x", "first.weight"], ["h"]),
        helper.make_node("BatchNormalization", ["h", "scale", "bias", "mean", "variance"], ["n", "m", "v"], training_mode=1),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Dropout", ["r", "ratio", "training"], ["d"]),
        helper.make_node("Gemm", ["d", "last.weight", "last.bias"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "classifier", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in values.items()],
    )  # fmt: skip
    path = folder / "classifier.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def flags_of(name: str, data: dict[str, np.ndarray]) -> dict[str, list]:
    """Returns the flags of a data set for training or validation."""
    files = {}
    for key, array in data.items():
        files[key] = folder / f"{name}-{key}.npy"
        np.save(files[key], array)
    return {
        flag: [word for key, file in files.items() for word in (flag, f"{key}={file}")] for flag in ("--data", "--validate")
    }


def without_times(lines: list[dict]) -> list[dict]:
    """Returns the output lines of steps without their times."""
    return [{key: value for key, value in line.items() if "second" not in key} for line in lines if "loss" in line]


def check(program: Program, validation: dict[str, list], *flags, steps: int = STEPS):
    """Trains with and without validation, and evaluates the checkpoint."""
    name = program.path.name
    logs = {kind: folder / f"{name}-{kind}.jsonl" for kind in ("plain", "validated", "evaluated")}
    train = ("--steps", steps, "--seed", 3, *flags)
    saved = folder / f"{name}-saved"
    plain = program.exported(f"{name}-plain", *train, "--metrics", logs["plain"])
    validating = (*train, *validation["--validate"], "--validate-every", 2)
    report = folder / f"{name}-memory.json"
    found = program.exported(
        f"{name}-validated", *validating, "--metrics", logs["validated"], "--save", saved, "--keep-best", "loss",
        "--memory-report", report,
    )  # fmt: skip
    assert found == plain, f"{name}: validation changed the weights"
    lines = read_metrics(logs["validated"])
    assert without_times(lines) == without_times(read_metrics(logs["plain"])), f"{name}: validation changed the losses"
    assert json.loads(report.read_text())["arena_bytes"] == json.loads(report.read_text())["planned_bytes"]

    validations = [line for line in lines if "validation_loss" in line]
    assert [line["step"] for line in validations] == list(range(2, steps + 1, 2)), validations
    best = min(validations, key=lambda line: line["validation_loss"])
    average = [flag for flag in flags if flag == "--use-ema"]
    for checkpoint, line in (saved, validations[-1]), (saved / "best", best):
        assert json.loads((checkpoint / "manifest.json").read_text())["step"] == line["step"]
        command = [program.path, *validation["--data"], "--resume", checkpoint, "--evaluate", *average]
        evaluate = Program(program.path, {})
        evaluate.run(*command[1:], "--metrics", logs["evaluated"])
        evaluated, *_ = read_metrics(logs["evaluated"]) # The other lines are those of classes.
        for key, value in evaluated.items():
            assert key == "step" or line[f"validation_{key}"] == value, (name, key, line, evaluated)

    # An interrupted run resumes with bit-identical weights and the same best value.
    parts = folder / f"{name}-parts"
    half = [4 if word == steps else word for word in validating]
    program.run(*half, "--save", parts, "--keep-best", "loss")
    resumed = program.exported(f"{name}-resumed", *validating, "--resume", parts, "--save", parts, "--keep-best", "loss")
    assert resumed == plain
    state = [json.loads((each / "manifest.json").read_text())["validation"] for each in (saved, parts)]
    assert state[0] == state[1], (name, state)


model = classifier()
held_out = flags_of("digits", {"x": digits(1200)["x"][1100:], "labels": digits(1200)["labels"][1100:]})
for name, flags, more in (
    ("dropout", (), ()),
    ("accumulated", ("--accumulate", "3"), ()),
    ("averaged", ("--ema", "0.8"), ()),
    ("averages", ("--ema", "0.8"), ("--use-ema",)),
    ("half", ("--precision", "bf16", "--ema", "0.8"), ("--use-ema",)),
    ("quantized", ("--optimizer-bits", "8"), ()),
    ("offloaded", ("--offload", "optimizer,parameters", "--ema", "0.8"), ("--use-ema",)),
    ("checked", ("--check-memory", "--ema", "0.8"), ("--use-ema",)),
    ("staged", ("--dim", "batch=320"), ()),
    ("device", ("--target", "cuda", "--emulate", "--ema", "0.8"), ("--use-ema",)),
    ("staged-device", ("--target", "cuda", "--emulate", "--dim", "batch=320", "--accumulate", "2"), ()),
):
    batch = () if "--dim" in flags else ("--dim", "batch=32")
    program = compile(model, folder, digits(1000), "--loss", "cross-entropy", *batch, *flags, name=name)
    check(program, held_out, *more)

# Averaged weights are validated only with --use-ema.
logs = [read_metrics(folder / f"{name}-validated.jsonl") for name in ("averaged", "averages")]
assert all(one["validation_loss"] != other["validation_loss"] for one, other in zip(*logs) if "validation_loss" in one)

# The data is a token stream, whose labels are the next tokens, or rows of tokens without labels.
program = compile_example(GPT2, folder, "adamw", 4 * GPT2.batch)
tokens = np.fromfile(EXAMPLES / "gpt2/train.bin", np.uint16, offset=1024)
stream = folder / "val.bin"
tokens[2000 : 2000 + 13 * 64 + 5].tofile(stream)
check(program, {flag: [flag, f"input_ids={stream}:u16"] for flag in ("--data", "--validate")}, steps=8)
program = compile_example(GPT2, folder, "adamw", 4 * GPT2.batch, name="unlabeled")
check(program, flags_of("tokens", {"input_ids": tokens[:1280].astype(np.int64).reshape(20, 64)}), steps=8)

# The inputs are a scalar for all samples and one matrix per step.
weight = numpy_helper.from_array(random.normal(0, 1, (4, 3)).astype(np.float32), "weight")
nodes = [helper.make_node("MatMul", ["x", "weight"], ["p"]), helper.make_node("MatMul", ["mix", "p"], ["y"])]
tensors = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in (("x", [5, 4]), ("mix", [5, 5]), ("y", [5, 3]))]
onnx.save(
    helper.make_model(helper.make_graph(nodes, "mixed", tensors[:2], tensors[2:], [weight]),
                      opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "mixed.onnx",
)  # fmt: skip
entries = lambda count: {  # noqa: E731
    "x": random.normal(0, 1, (count, 5, 4)).astype(np.float32), "labels": random.normal(0, 1, (count, 5, 3)).astype(np.float32),
    "mix": np.eye(5, dtype=np.float32),
}  # fmt: skip
program = compile(
    folder / "mixed.onnx", folder, entries(7), "--loss", "mse", "--batch-input", "none", "--lr", "1e-2", name="entries"
)
check(program, flags_of("entries", entries(4)))

# The size of the validation set does not affect memory.
peaks = []
program = compile_example(DIGITS, folder, "adamw", 64, name="memory")
for name, rows in ("few", 64), ("many", 200_000):
    report = folder / f"{name}.json"
    program.run("--steps", 2, "--threads", 1, *flags_of(name, digits(rows))["--validate"], "--memory-report", report)
    peaks.append(json.loads(report.read_text())["process_peak_bytes"])
assert peaks[1] - peaks[0] < 4 << 20, peaks
