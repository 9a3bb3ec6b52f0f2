# RUN: %python %s %t
"""Dynamic loss scaling is bit-exact: parameters, state, averages and the step count equal those of a run without scaling on the data of the
steps that are not skipped. The test covers each optimizer, clipping, and resuming, on the CPU and on an emulated device.

Scales are powers of two, so that multiplication in f32 is exact.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from models import DIGITS
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, compile_example, losses, own_folder, read_metrics, run, same_bits
from safetensors.numpy import load_file

sys.path.append(str(Path(__file__).resolve().parents[2] / "random"))
from reference import OPTIMIZERS  # noqa: E402

SHAPES = {"wide": (4, 7), "tall": (9, 5), "vector": (19,)}
STATE = {"mtc.loss_scale", "mtc.finite_updates", "mtc.update_count"}
FIRST, WINDOW, STEPS = 2.0**20, 3, 16
folder = own_folder()


def model_of(shapes: dict) -> Path:
    """The loss is the sum of each parameter times its own input, which therefore is the parameter's gradient."""
    nodes, sums = [], []
    for name in shapes:
        nodes.append(helper.make_node("Mul", [name, "x_" + name], [name + "_terms"]))
        nodes.append(helper.make_node("ReduceSum", [name + "_terms"], [name + "_sum"], keepdims=0))
        sums.append(name + "_sum")
    nodes.append(helper.make_node("Sum", sums, ["loss"]))
    random = np.random.default_rng(0)
    graph = helper.make_graph(
        nodes, "sums", [helper.make_tensor_value_info("x_" + n, TensorProto.FLOAT, shape) for n, shape in shapes.items()],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(random.normal(size=shape).astype(np.float32), n) for n, shape in shapes.items()],
    )  # fmt: skip
    path = folder / f"{'-'.join(shapes)}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def data_of(shapes: dict) -> dict[str, np.ndarray]:
    """Returns gradients, some of which are not finite: with any scale, or with large scales only."""
    random = np.random.default_rng(1)
    data = {"x_" + n: random.normal(size=(STEPS, *shape)).astype(np.float32) for n, shape in shapes.items()}
    first, last = data["x_" + next(iter(shapes))], data["x_" + list(shapes)[-1]]
    first[0, 1, 2] = 1e34  # At 2^20 it overflows, at 2^15 it does not.
    last[6, -1] = np.nan
    first[7, 0, 0] = -np.inf
    first[11, 0, 0] = 1e33
    last[14, 3] = 1e17  # The square of the scaled gradient overflows; the step must not be skipped for that.
    return data


def subfolder(name: str) -> Path:
    """Each program has its own data."""
    (folder / name).mkdir()
    return folder / name


def expected_scales(data: dict[str, np.ndarray]) -> list[tuple[float, bool]]:
    """Returns the scale of each step, and whether the step is skipped, by the rule of GradScaler."""
    scale, finite, found = FIRST, 0, []
    for step in range(STEPS):
        with np.errstate(over="ignore"):
            skipped = not all(np.isfinite(x[step] * np.float32(scale)).all() for x in data.values())
        found.append((scale, skipped))
        finite = 0 if skipped else finite + 1
        scale = scale / 2 if skipped else scale * 2 if finite == WINDOW else scale
        finite %= WINDOW
    return found


def checkpoint(path: Path) -> dict[str, np.ndarray]:
    return load_file(next(path.glob("*.safetensors")))


def check_optimizer(optimizer: str, flags: list, name: str):
    shapes = {n: s for n, s in SHAPES.items() if optimizer != "muon" or len(s) == 2}
    model, data = model_of(shapes), data_of(shapes)
    group = ["--group", "match=* optimizer=muon"] if optimizer == "muon" else []
    recipe = ["--loss", "output", "--batch-input", "none", "--optimizer", optimizer, "--lr", 0.1, *group, *flags]
    scaling = ["--loss-scale", FIRST, "--loss-scale-window", WINDOW]
    scaled = compile(model, subfolder(f"{name}-scaled"), data, *recipe, *scaling)
    saved, paused = scaled.folder / "saved", scaled.folder / "paused"
    log = scaled.train(STEPS, "--save", saved)
    wanted = expected_scales(data)
    assert [(line["loss_scale"], line["skipped"]) for line in log] == wanted, log
    taken = [step for step, (_, skipped) in enumerate(wanted) if not skipped]
    assert len(taken) == 12 and {scale for scale, _ in wanted} == {FIRST, FIRST / 2, FIRST / 4}, wanted

    # The reference trains without scaling, and without the data of the skipped steps.
    plain = compile(model, subfolder(f"{name}-plain"), {n: x[taken] for n, x in data.items()}, *recipe)
    log_of_plain = plain.train(len(taken), "--save", plain.folder / "saved")
    for key in "loss", "grad_norm":
        if key in log_of_plain[0]:
            assert [log[step][key] for step in taken] == [line[key] for line in log_of_plain], (name, key)
    found, expected = checkpoint(saved), checkpoint(plain.folder / "saved")
    assert found.keys() - expected.keys() == STATE, found.keys()
    assert same_bits({n: t for n, t in found.items() if n not in STATE}, expected), name
    assert found["mtc.update_count"] == len(taken), name
    scaled_plan, plain_plan = (
        json.loads(run([MTC, "plan", model, *recipe, *more, "--json"], folder).stdout)["categories"] for more in (scaling, [])
    )
    assert scaled_plan["optimizer"] == plain_plan["optimizer"] + len(STATE) * 64, (scaled_plan, plain_plan)

    # The runs are resumed before a skipped step, and in the middle of a growth interval.
    for pause in 6, 10:
        scaled.run("--steps", pause, "--no-shuffle", "--save", paused, "--overwrite")
        metrics = scaled.folder / f"resumed-{pause}.jsonl"
        scaled.run("--steps", STEPS, "--resume", paused, "--save", paused, "--metrics", metrics)
        assert same_bits(checkpoint(paused), found), (name, pause)
        assert [(line["loss_scale"], line["skipped"]) for line in read_metrics(metrics)] == wanted[pause:], (name, pause)

    # Reported gradients are unscaled, whatever scale keeps them finite.
    for step in 0, taken[-1]:
        gradients = Program(scaled.path, {n: x[[step]] for n, x in data.items()}).gradients("gradients")
        assert same_bits(gradients, {n: data["x_" + n][step] for n in shapes}), (name, step)


def check_overflow(name: str, *flags):
    """A model whose gradients overflow f32 recovers from a scale that is far too large."""
    steps, batch = 20, DIGITS.batch
    data = DIGITS.data(steps * batch)
    data["x"] *= 1024
    large = compile_example(DIGITS, subfolder(f"{name}-large"), "adamw", batch, *flags, "--loss-scale", 2.0**126)
    log = Program(large.path, data).train(steps)
    taken = [i for i, line in enumerate(log) if not line["skipped"]]
    assert log[0]["skipped"] and steps - 10 < len(taken) < steps, log
    assert [line["loss_scale"] for line in log] == [2.0 ** (126 - sum(line["skipped"] for line in log[:i])) for i in range(steps)]
    plain = compile_example(DIGITS, subfolder(f"{name}-plain"), "adamw", batch, *flags)
    rows = np.concatenate([np.arange(i * batch, (i + 1) * batch) for i in taken])
    expected = Program(plain.path, {n: x[rows] for n, x in data.items()}).train(len(taken))
    assert [losses(log)[i] for i in taken] == losses(expected), name


def check_divergence(name: str, *flags):
    """Steps with a non-finite loss are skipped until the scale reaches its minimum."""
    data = {n: np.concatenate([x[1:2]] * 32) for n, x in data_of(SHAPES).items()}
    data["x_vector"][3:] = np.nan
    recipe = ["--loss", "output", "--batch-input", "none", "--optimizer", "sgd", "--loss-scale", 4, *flags]
    program = compile(model_of(SHAPES), subfolder(name), data, *recipe)
    saved = program.folder / "saved"
    result = program.run("--steps", 19, "--no-shuffle", "--save", saved)
    assert result.stderr.count("warning:") == 1 and "the loss of step 4 is nan; the step was skipped" in result.stderr, result.stderr
    assert "skipped 16" in result.stdout, result.stdout
    log = program.folder / "log.jsonl"
    result = program.run("--steps", 30, "--no-shuffle", "--metrics", log, "--resume", saved, code=2)
    assert "step 20 has gradients that are not finite, though the loss scale has fallen to 6.10352e-05" in result.stderr, result.stderr
    assert "so training was stopped" in result.stderr
    assert read_metrics(log)[-1]["loss_scale"] == 2.0**-14 and read_metrics(log)[-1]["loss"] is None
    result = program.run("--steps", 30, "--no-shuffle", "--resume", saved, "--on-nan", "continue")
    assert result.stderr.count("warning:") == 1 and "(--on-nan continue)" in result.stderr, result.stderr


def check_forward_overflow(name: str, *flags):
    """If activations overflow f16, no loss scale helps: the message names the node and suggests flags."""
    nodes = [
        helper.make_node("Gemm", ["x", "wide"], ["hidden"], name="/0/Gemm"),
        helper.make_node("Relu", ["hidden"], ["active"], name="/1/Relu"),
        helper.make_node("Gemm", ["active", "narrow"], ["logits"], name="/2/Gemm"),
    ]
    random = np.random.default_rng(0)
    weights = {"wide": random.normal(size=(32, 16)) * 20000, "narrow": random.normal(size=(16, 10)) / 1e5}
    graph = helper.make_graph(
        nodes, "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 32])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value.astype(np.float32), n) for n, value in weights.items()],
    )  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    data = {"x": random.normal(size=(16, 32)).astype(np.float32), "labels": random.integers(0, 10, 16)}
    recipe = ["--dim", "batch=4", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", 1e-12, *flags]
    program = compile(path, subfolder(name), data, *recipe, "--precision", "f16")
    message = program.run("--steps", 40, code=2).stderr
    assert "The forward pass leaves the range of f16, which ends at 65504, at node '/0/Gemm" in message, message
    assert "--precision bf16" in message and "--keep-f32 '/0*'" in message and "in the data" not in message, message
    for number, precision in enumerate((["bf16"], ["f16", "--keep-f32", "/*"])):
        better = compile(path, subfolder(f"{name}-{number}"), data, *recipe, "--precision", *precision)
        assert all(np.isfinite(losses(better.train(2)))), precision
    # If the data contains the non-finite values, the message says so.
    data["x"][:] = np.nan
    message = Program(program.path, data).run("--steps", 40, code=2).stderr
    assert "values in the data that are not finite" in message and "range of f16" not in message, message


def check_untargeted(name: str, *flags):
    """A step whose targets are all ignored has zero gradients, as in PyTorch, so that the check of gradients does not end the run."""
    data = DIGITS.data(3 * DIGITS.batch)
    data["labels"][: DIGITS.batch] = -100
    recipe = [*DIGITS.flags, "--optimizer", "sgd", "--lr", 0.1, *flags]
    for precision, going_on in ("f16", []), ("f32", ["--on-nan", "continue"]):
        program = compile(DIGITS.model, subfolder(f"{name}-{precision}"), data, *recipe, "--precision", precision)
        if going_on:
            message = program.run("--steps", 3, "--no-shuffle", code=2).stderr
            assert "the loss of step 1 is nan, so training was stopped" in message, message
        weights = [load_file(program.path.with_suffix(".weights.safetensors"))]
        for steps in 1, 3:
            log, file = program.folder / f"{steps}.jsonl", program.folder / f"{steps}.safetensors"
            said = program.run("--steps", steps, "--no-shuffle", *going_on, "--metrics", log, "--export-weights", file).stderr
            assert said.count("warning:") == said.count("warning: the loss of step 1 is nan") == 1, said
            weights.append(load_file(file))
        found = losses(read_metrics(log))
        assert found[0] is None and np.isfinite(found[1:]).all(), found
        assert same_bits(weights[0], weights[1]) and not same_bits(weights[1], weights[2]), (name, precision)
        assert all(np.isfinite(a).all() for a in weights[2].values()), (name, precision)


everything = ["--clip-norm", 0.5, "--clip-value", 0.75, "--ema", 0.5]
for optimizer in OPTIMIZERS:
    check_optimizer(optimizer, ["--grad-norm"], optimizer)
check_optimizer("adamw", everything, "clipped")
check_optimizer("adafactor", everything, "clipped-adafactor")
device = ("--target", "cuda", "--emulate")
for optimizer in "adamw", "adafactor", "muon":
    check_optimizer(optimizer, [*everything, *device], f"device-{optimizer}")
for name, flags in ("host", ()), ("device", device):
    check_overflow(name, *flags)
    check_divergence(f"diverged-{name}", *flags)
    check_forward_overflow(f"overflow-{name}", *flags)
    check_untargeted(f"untargeted-{name}", *flags)

message = run([MTC, "compile", DIGITS.model, *DIGITS.flags, "--loss-scale", "dynamic", "-o", "no"], folder, 1).stderr
assert "--loss-scale dynamic: expected none, or a scale from" in message, message
