# RUN: %python %s %t
"""`--dropout` and `--label-smoothing` of a program train bit-identically to a program that is compiled with these values: in a resumed run, for several
shapes, with accumulation, on an emulated GPU, with ranks, and for the loss of the module. Checkpoints keep the values; programs that do not compute
with them refuse the flags."""

import numpy as np
import onnx
from launcher import launcher
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, own_folder, run
from safetensors.numpy import load_file

folder = own_folder()
BATCH, WIDTH, CLASSES, STEPS = 8, 16, 5, 4
rng = np.random.default_rng(0)
DATA = {"x": rng.standard_normal((32, WIDTH), np.float32), "labels": rng.integers(0, CLASSES, 32)}
FLAGS = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--lr", "0.01")


def model(name: str, *ratios: float):
    """Writes a module with linear layers, and a dropout of each ratio after them."""
    values = {"w0": rng.standard_normal((WIDTH, WIDTH), np.float32) / 4, "on": np.array(True), "out": np.zeros((WIDTH, CLASSES), np.float32)}
    nodes, x = [], "x"
    for i, ratio in enumerate(ratios):
        values[f"ratio{i}"] = np.array(ratio, np.float32)
        nodes += [helper.make_node("MatMul", [x, "w0"], [f"h{i}"]), helper.make_node("Relu", [f"h{i}"], [f"r{i}"]),
                  helper.make_node("Dropout", [f"r{i}", f"ratio{i}", "on"], [f"d{i}"], name=f"drop{i}")]  # fmt: skip
        x = f"d{i}"
    nodes.append(helper.make_node("MatMul", [x, "out"], ["logits"]))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(value, key) for key, value in values.items()])  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def weights(program: Program, *flags) -> dict:
    """Returns the trained weights and the evaluation after the run."""
    file = folder / "weights.safetensors"
    program.run("--steps", STEPS, "--export-weights", file, "--save", folder / "saved", "--overwrite", *flags)
    return {name: array.tobytes() for name, array in load_file(file).items()} | program.evaluation("--resume", folder / "saved")


rng = np.random.default_rng(1)
one_rate = model("one", 0.1, 0.1)
rng = np.random.default_rng(1)
other_rate = model("other", 0.25, 0.25)
rng = np.random.default_rng(1)
two_rates = model("two", 0.1, 0.5)
SET = ("--dropout", "0.25", "--label-smoothing", "0.3")

for name, flags, runner in (
    ("cpu", (), ()),
    ("accumulated", ("--accumulate", "2"), ()),
    ("recomputed", ("--recompute", "all"), ()),
    ("scaled", ("--precision", "f16"), ()),
    ("weighted", ("--class-weights", "1,2,1,0.5,1"), ()),
    ("shapes", ("--dim", f"batch={BATCH},{BATCH // 2}"), ()),
    ("cuda", ("--target", "cuda", "--emulate"), ()),
    ("ranks", ("--ranks", "2", "--threads", "1"), launcher(2)),
):
    base = [flag for flag in FLAGS if name != "shapes" or flag not in ("--dim", f"batch={BATCH}")]
    one = Program(compile(one_rate, folder, DATA, *base, *flags, "--label-smoothing", "0.1", name=f"{name}-one").path, DATA, runner)
    wanted = Program(compile(other_rate, folder, DATA, *base, *flags, "--label-smoothing", "0.3", name=f"{name}-other").path, DATA, runner)
    expected = weights(wanted)
    assert weights(one) != expected and weights(one, *SET) == expected, name
    # mtc compile sets the same rate.
    compiled = Program(compile(one_rate, folder, DATA, *base, *flags, "--label-smoothing", "0.3", "--dropout", "0.25", name=f"{name}-compiled").path,
                       DATA, runner)  # fmt: skip
    assert weights(compiled) == expected, name

# A resumed run keeps the values, also for its evaluation; 0 is the plain loss without dropout.
one, wanted = Program(folder / "cpu-one", DATA), Program(folder / "cpu-other", DATA)
expected = weights(wanted)
one.run("--steps", 2, "--save", folder / "first", *SET)
shown = one.run("--resume", folder / "first", "--steps", STEPS, "--save", folder / "second")
assert "the hyperparameters are those of the checkpoint's run, dropout 0.25, label-smoothing 0.3" in shown.stderr, shown.stderr
assert one.evaluation("--resume", folder / "second") == {name: value for name, value in expected.items() if isinstance(value, float)}
plain = compile(two_rates, folder, DATA, *FLAGS, "--dropout", "0", name="plain")
off = weights(one, "--dropout", "0", "--label-smoothing", "0")
assert weights(plain) == off

# One rate replaces all.
two = compile(two_rates, folder, DATA, *FLAGS, "--label-smoothing", "0.1", name="two-rates")
assert weights(two, *SET) == expected
shown = two.run("--steps", 1, "--dropout", "0.25").stderr
assert "note: dropout 0.25 replaces the compiled values 0.1 and 0.5" in shown, shown
shown = two.run("--help-all").stdout
assert "--dropout N" in shown and "Rate of every dropout (default: 0.1 and 0.5)" in shown and "--label-smoothing N" in shown, shown

for program, flags, problem in (
    (plain, ("--dropout", "0.1"), "--dropout: this program does not compute with it; compile it with --dropout to set other values here"),
    (plain, ("--label-smoothing", "0.1"), "--label-smoothing: this program does not compute with it; compile it with --label-smoothing"),
    (plain, ("--resume", folder / "first"), "the checkpoint was trained with dropout 0.25, with which this program does not compute; compile it with --dropout"),
    (two, ("--dropout", "1"), "--dropout 1: expected a number of at least 0 and less than 1"),
    (two, ("--label-smoothing", "1.5"), "--label-smoothing 1.5: expected a number of at least 0 and at most 1"),
):
    shown = program.run("--steps", STEPS, *flags, code=1).stderr
    assert problem in shown, (flags, shown)
two.run("--steps", 1, "--label-smoothing", "1")
shown = run([MTC, "compile", model("none"), *FLAGS, "--dropout", "0.1", "-o", folder / "none"], folder, code=1).stderr
assert "--dropout 0.1: the model has no Dropout with a rate above 0 in training form" in shown, shown
shown = run([MTC, "compile", one_rate, *FLAGS, "--dropout", "1", "-o", folder / "none"], folder, code=1).stderr
assert "--dropout 1: expected a rate of at least 0 and less than 1" in shown, shown

# A loss of the model that mtc.export has written, whose smoothing is a marked Identity node.
def own_loss(name: str, smoothing: float):
    """Writes a model whose output is the cross-entropy (1 - s) nll - s / C sum over classes of log softmax, averaged."""
    node = helper.make_node
    values = {"w": rng.standard_normal((WIDTH, CLASSES), np.float32), "s0": np.float32(smoothing), "one": np.float32(1),
              "count": np.float32(CLASSES), "last": np.array([1])}  # fmt: skip
    nodes = [
        node("MatMul", ["x", "w"], ["logits"]), node("SoftmaxCrossEntropyLoss", ["logits", "labels"], ["nll"], reduction="none"),
        node("LogSoftmax", ["logits"], ["logs"], axis=1), node("ReduceSum", ["logs", "last"], ["sum"], keepdims=0),
        node("Identity", ["s0"], ["s"]), node("Sub", ["one", "s"], ["rest"]), node("Div", ["s", "count"], ["share"]),
        node("Mul", ["nll", "rest"], ["a"]), node("Mul", ["sum", "share"], ["b"]), node("Sub", ["a", "b"], ["each"]),
        node("ReduceMean", ["each"], ["loss"], keepdims=0),
    ]  # fmt: skip
    mark = nodes[4].metadata_props.add()
    mark.key, mark.value = "mtc.setting", "label-smoothing"
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH]), helper.make_tensor_value_info("labels", TensorProto.INT64, ["batch"])]
    graph = helper.make_graph(nodes, name, inputs, [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
                              [numpy_helper.from_array(np.asarray(value), key) for key, value in values.items()])  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


programs = []
for smoothing in (0.1, 0.3):
    rng = np.random.default_rng(2)
    programs.append(compile(own_loss(f"own-{smoothing}", smoothing), folder, DATA, *FLAGS[:2], "--loss", "output", *FLAGS[4:], "--freeze", "s0", "--freeze", "one",
                            "--freeze", "count", name=f"own-{smoothing}"))  # fmt: skip
expected = weights(programs[1])
assert weights(programs[0]) != expected and weights(programs[0], "--label-smoothing", "0.3") == expected
assert "Label smoothing of cross-entropy (default: 0.1)" in programs[0].run("--help-all").stdout
broken = onnx.load(folder / "own-0.1.onnx")
broken.graph.node[4].metadata_props[0].value = "temperature"
onnx.save(broken, folder / "broken.onnx")
shown = run([MTC, "plan", folder / "broken.onnx", *FLAGS[:2], "--loss", "output"], folder, code=1).stderr
assert "metadata mtc.setting: expected label-smoothing at a constant number, got 'temperature'" in shown, shown

# The gradient model has no settings.
run([MTC, "grad", one_rate, *FLAGS[:4], "--label-smoothing", "0.1", "-o", folder / "gradient.onnx"], folder)
onnx.checker.check_model(onnx.load(folder / "gradient.onnx"))
