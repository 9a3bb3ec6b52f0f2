# RUN: %python %s %t
"""Training steps compute dropout and batch normalization in the form of the file or of --batch-norm; --evaluate, --outputs and --export
compute inference. Expected values are those of PyTorch (test/support/record_batch_norm.py) and of ONNX's reference evaluator."""

import json
from pathlib import Path

import numpy as np
import onnx
from batch_norm import BATCH, ROWS, STEPS, data, model, weights
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from program import MTC, compile, losses, own_folder, run, same_bits
from safetensors.numpy import load_file

folder = own_folder()
DATA = data()
FLAGS = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", "0.1")
RECORDED = json.loads((Path(__file__).parents[1] / "inputs/batch_norm.json").read_text())
WARNING = "BatchNormalization nodes are in inference form"


def save(name: str, *args, **options) -> Path:
    path = folder / f"{name}.onnx"
    onnx.save(model(*args, **options), path)
    return path


def cross_entropy(logits: np.ndarray) -> float:
    shifted = logits.astype(np.float64) - logits.max(1, keepdims=True)
    return float(np.mean(np.log(np.exp(shifted).sum(1)) - shifted[np.arange(ROWS), DATA["labels"]]))


def reference(path: Path) -> np.ndarray:
    """Returns the outputs of an exported file, which must be valid, by ONNX's reference evaluator."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    return ReferenceEvaluator(str(path)).run(["logits"], {"x": DATA["x"]})[0]


def evaluated(program, *flags) -> float:
    return float(program.run("--evaluate", *flags).stdout.split()[1])


def initializers(path: Path) -> dict[str, np.ndarray]:
    return {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}


TRAINING, INFERENCE = save("training", True), save("inference", False)

# --batch-norm train trains either form like PyTorch's train(), and --batch-norm frozen like its eval(). Without the flag, the form of the
# file is used.
for path, flags, mode in ((INFERENCE, ("--batch-norm", "train"), "train"), (TRAINING, ("--batch-norm", "train"), "train"),
                          (INFERENCE, ("--batch-norm", "frozen"), "eval"), (TRAINING, ("--batch-norm", "frozen"), "eval"),
                          (INFERENCE, (), "eval"), (INFERENCE, ("--batch-norm", "as-exported"), "eval")):  # fmt: skip
    expected, name = RECORDED[mode], f"{path.stem}-{mode}"
    program = compile(path, folder, DATA, *FLAGS, *flags, name=name)
    saved = folder / f"{name}-saved"
    found = losses(program.train(STEPS, "--save", saved, "--overwrite", "--export", folder / f"{name}.trained.onnx"))
    assert np.allclose(found, expected["losses"], 1e-4), (name, found, expected["losses"])
    after = evaluated(program, "--resume", saved)
    assert np.isclose(after, expected["evaluated"], 1e-4), (name, after, expected["evaluated"])
    exported = initializers(folder / f"{name}.trained.onnx")
    for statistic in ("running_mean", "running_var"):
        assert np.allclose(exported[f"norm.{statistic}"], expected[statistic], 1e-4), (name, statistic)
    assert np.isclose(cross_entropy(reference(folder / f"{name}.trained.onnx")), expected["evaluated"], 1e-4), name

# A file in training form trains with PyTorch's losses. Its running variance divides by N, as the ONNX standard specifies, while PyTorch
# divides by N - 1.
program = compile(TRAINING, folder, DATA, *FLAGS, name="as-exported")
found = losses(program.train(STEPS, "--save", folder / "as-exported-saved", "--export", folder / "as-exported.onnx"))
assert np.allclose(found, RECORDED["train"]["losses"], 1e-4), found
variance = initializers(folder / "as-exported.onnx")["norm.running_var"]
count, start = BATCH * 9, weights()["norm.running_var"] * 0.9**STEPS
assert np.allclose(variance - start, (np.array(RECORDED["train"]["running_var"]) - start) * (count - 1) / count, 1e-3)

# A form that differs from the module's mode causes a warning, unless a flag requests the form.
for path, flags, warns in ((INFERENCE, (), True), (INFERENCE, ("--batch-norm", "as-exported"), False), (TRAINING, (), False),
                           (INFERENCE, ("--batch-norm", "train"), False), (INFERENCE, ("--freeze", "norm.*"), False)):  # fmt: skip
    for command in ("inspect", "plan"):
        shown = run([MTC, command, path, *(FLAGS if command == "plan" else FLAGS[:2]), *flags], folder).stderr
        assert shown.count(WARNING) == warns, (path, flags, shown)

# Dropout is active in steps, where the seed decides, and inactive in inference, for all targets and techniques. ONNX's Dropout before opset
# 12 is inference form.
DROPOUT = save("dropout", True, dropout=0.5)
first = None
for name, flags in (("cpu", ()), ("cuda", ("--target", "cuda", "--emulate")), ("recompute", ("--recompute", "all")),
                    ("accumulate", ("--accumulate", "2"))):  # fmt: skip
    program = compile(DROPOUT, folder, DATA, *FLAGS, *flags, name=f"dropout-{name}")
    saved = folder / f"dropout-{name}-saved"
    steps = program.train(4, "--save", saved, "--export", folder / f"{name}.onnx", "--export-training", folder / f"{name}.training.onnx")
    others = program.train(4, "--seed", 1)
    assert losses(steps)[0] != losses(others)[0], "dropout is inactive in training"
    if name in ("cpu", "cuda", "recompute"):
        first = first or losses(steps)
        assert np.allclose(losses(steps), first, 1e-5), (name, losses(steps), first)
    halves = program.train(2, "--save", folder / f"{name}-half", name="half"), program.train(
        4, "--resume", folder / f"{name}-half", "--export", folder / "resumed.onnx", name="rest")  # fmt: skip
    assert losses(halves[0]) + losses(halves[1]) == losses(steps), "a resumed run drops other elements"
    assert (folder / "resumed.onnx").read_bytes() == (folder / f"{name}.onnx").read_bytes()

    exported = folder / f"{name}.onnx"
    logits = reference(exported)
    found = program.outputs("outputs", "--resume", saved)["logits"]
    assert np.allclose(found, logits, 1e-4, 1e-5), (name, np.abs(found - logits).max())
    assert np.isclose(evaluated(program, "--resume", saved), cross_entropy(logits), 1e-5), name
    assert same_bits(program.outputs("a"), program.outputs("b", "--seed", 5)), "outputs depend on the seed"

    # The exported file has the model's inference form; with --export-training, the file's own form.
    inference, original = onnx.load(exported), onnx.load(folder / f"{name}.training.onnx")
    norm = next(n for n in inference.graph.node if n.op_type == "BatchNormalization")
    drop = next(n for n in inference.graph.node if n.op_type == "Dropout")
    assert list(norm.output) == ["normal"] and list(drop.input) == ["pooled", "ratio"], (norm, drop)
    assert next(a.i for a in norm.attribute if a.name == "training_mode") == 0
    assert list(original.graph.node) == list(onnx.load(DROPOUT).graph.node)
    ours, theirs = initializers(exported), initializers(folder / f"{name}.training.onnx")
    assert theirs.keys() - ours.keys() == {"training"} and same_bits(ours, {n: theirs[n] for n in ours})
    assert any((ours[n] != w).any() for n, w in weights().items())

# --gradients computes a training step: its loss uses batch statistics, that of --evaluate running statistics.
program = compile(TRAINING, folder, DATA, *FLAGS, name="gradients")
shown = program.run("--gradients", folder / "g.safetensors", "--no-shuffle").stdout
assert np.isclose(float(shown.split()[1].rstrip(";")), RECORDED["train"]["losses"][0], 1e-5), shown
assert (np.abs(load_file(folder / "g.safetensors")["norm.weight"]) > 1e-4).any()
assert np.isclose(evaluated(program), cross_entropy(ReferenceEvaluator(model(False)).run(None, {"x": DATA["x"]})[0]), 1e-5)

# Before the attribute training_mode, additional results indicate training form, and Dropout is inference form.
OLD = save("old", True, opset=11, dropout=0.5)
program = compile(OLD, folder, DATA, *FLAGS, name="old")
found = losses(program.train(STEPS, "--export", folder / "old.trained.onnx", "--export-training", folder / "old.training.onnx"))
assert np.allclose(found, RECORDED["train"]["losses"], 1e-4), found
assert np.isfinite(reference(folder / "old.trained.onnx")).all()
assert [len(n.output) for n in onnx.load(folder / "old.trained.onnx").graph.node if n.op_type == "BatchNormalization"] == [1]
assert list(onnx.load(folder / "old.training.onnx").graph.node) == list(onnx.load(OLD).graph.node)

# A file in inference form can be exported in inference form only.
program = compile(INFERENCE, folder, DATA, *FLAGS, "--batch-norm", "train", name="one-form")
program.run("--steps", 2, "--export", folder / "a.onnx", "--export-training", folder / "b.onnx")
assert (folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes()

# The arena has the planned size.
planned = json.loads(run([MTC, "plan", DROPOUT, *FLAGS, "--json"], folder).stdout)["peak_bytes"]
report = folder / "memory.json"
compile(DROPOUT, folder, DATA, *FLAGS, name="planned").run("--evaluate", "--memory-report", report)
assert json.loads(report.read_text())["arena_bytes"] == planned, (planned, report.read_text())

wrong = run([MTC, "compile", INFERENCE, *FLAGS, "--batch-norm", "off"], folder, code=1).stderr
assert "--batch-norm off" in wrong and "as-exported, train, frozen" in wrong, wrong
