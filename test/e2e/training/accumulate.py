# RUN: %python %s %t
"""`--accumulate 4` with a batch of 3 trains like a batch of 12: equal losses, gradients and norms. Some labels are ignored, and in one
micro-step all of them. The test covers each kind of loss, clipping, an overflowing loss scale, 8-bit state, incomplete batches at the end
of an epoch, and resuming. It runs on the CPU and on an emulated device."""

import json
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, losses, own_folder, read_metrics, run

BATCH, PARTS, STEPS = 3, 4, 20
ROWS = BATCH * PARTS * 3 + 8
EMULATED = ("--target", "cuda", "--emulate")
folder = own_folder()
random = np.random.default_rng(0)


def save(name: str, element: type, nodes: list, inputs: dict, outputs: dict, weights: dict) -> onnx.ModelProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(element))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, name, [info(n, k or kind, ["batch", *shape]) for n, (k, shape) in inputs.items()],
        [info(n, kind, shape) for n, shape in outputs.items()],
        [numpy_helper.from_array(w if w.dtype.kind == "i" or w.ndim == 0 else w.astype(element), n) for n, w in weights.items()],
    )  # fmt: skip
    path = folder / f"{name}-{np.dtype(element).name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def layers(element: type, width: int = 6, hidden: int = 16):
    """The model has two layers with biases, and returns class scores or numbers."""
    nodes = [
        helper.make_node("Gemm", ["x", "first", "a"], ["h"]),
        helper.make_node("Tanh", ["h"], ["t"]),
        helper.make_node("Gemm", ["t", "second", "b"], ["y"], transB=1),
    ]
    shapes = {"first": (width, hidden), "a": (hidden,), "second": (5, hidden), "b": (5,)}
    draw = np.random.default_rng(1)
    weights = {n: draw.normal(0, 0.5, shape) for n, shape in shapes.items()}
    return save(f"layers{width}x{hidden}", element, nodes, {"x": (None, [width])}, {"y": ["batch", 5]}, weights)


def language(element: type):
    """A tied embedding: its gradient is the sum of a contraction and of scattered rows."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["e"]),
        helper.make_node("Gather", ["places", "at"], ["p"]),
        helper.make_node("Add", ["e", "p"], ["s"]),
        helper.make_node("MatMul", ["s", "mix"], ["m"]),
        helper.make_node("Tanh", ["m"], ["h"]),
        helper.make_node("Transpose", ["table"], ["head"], perm=[1, 0]),
        helper.make_node("MatMul", ["h", "head"], ["logits"]),
    ]
    draw = np.random.default_rng(2)
    weights = {"table": draw.normal(0, 0.5, (256, 8)), "mix": draw.normal(0, 0.5, (8, 8)), "places": draw.normal(0, 0.5, (64, 8)),
               "at": np.arange(5)}  # fmt: skip
    ids = {"ids": (TensorProto.INT64, [5])}
    return save("language", element, nodes, ids, {"logits": ["batch", 5, 256]}, weights)


def image(element: type):
    """A convolution, whose library call overwrites its weight gradient, and weights with two users."""
    nodes = [
        helper.make_node("Conv", ["x", "kernel", "a"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["c", "again"], ["d"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["d"], ["r"]),
        helper.make_node("Conv", ["r", "again"], ["e"], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["e"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "second", "b"], ["y"], transB=1),
    ]
    shapes = {"kernel": (8, 3, 3, 3), "a": (8,), "again": (8, 8, 3, 3), "second": (5, 8), "b": (5,)}
    draw = np.random.default_rng(3)
    weights = {n: draw.normal(0, 0.3, shape) for n, shape in shapes.items()}
    return save("image", element, nodes, {"x": (None, [3, 6, 6])}, {"y": ["batch", 5]}, weights)


def ragged(labels: np.ndarray) -> np.ndarray:
    """Labels with ignored elements; those of the second micro-step are all ignored."""
    labels = np.where(random.random(labels.shape) < 0.4, -100, labels)
    labels[BATCH : 2 * BATCH] = -100
    return labels


def classes(element: type, width: int = 6) -> dict:
    x = random.normal(size=(ROWS, width)).astype(element)
    return {"x": x, "labels": ragged(random.integers(0, 5, ROWS))}


def pixels(element: type) -> dict:
    x = random.normal(size=(ROWS, 3, 6, 6)).astype(element)
    return {"x": x, "labels": ragged(random.integers(0, 5, ROWS))}


def numbers(element: type) -> dict:
    return {"x": random.normal(size=(ROWS, 6)).astype(element), "labels": random.normal(size=(ROWS, 5)).astype(element)}


def tokens(element: type) -> dict:
    ids = random.integers(0, 256, (ROWS, 6))
    return {"ids": ids[:, :-1].copy(), "labels": ragged(ids[:, 1:])}


def pair(name: str, model, data: dict, *flags) -> tuple[Program, Program]:
    """Returns the program with the large batch, and the one with the small batch and accumulation."""
    (folder / name).mkdir()
    large = compile(model, folder / name, data, "--dim", f"batch={BATCH * PARTS}", *flags, name="large")
    small = compile(model, folder / name, data, "--dim", f"batch={BATCH}", "--accumulate", PARTS, *flags, name="small")
    return large, small


def close(found, wanted, tolerance: float, what):
    found, wanted = np.array(found, float), np.array(wanted, float)  # Non-finite metrics are None in the log; they become NaN here.
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=str(what))


def compare(name: str, model, data: dict, tolerance: float, *flags) -> Program:
    large, small = pair(name, model, data, *flags)
    wanted, found = large.train(STEPS, name="wanted"), small.train(STEPS, name="found")
    assert [line["step"] for line in found] == list(range(1, STEPS + 1)), name
    assert np.ptp(losses(wanted)) > 1e-3, f"{name}: nothing is trained"
    for key in "loss", "lr", "grad_norm", "loss_scale", "skipped":
        if key in wanted[0]:
            close([line[key] for line in found], [line[key] for line in wanted], tolerance, (name, key))
    gradients, expected = small.gradients("found-gradients"), large.gradients("wanted-gradients")
    assert gradients.keys() == expected.keys()
    for n in gradients:
        close(gradients[n], expected[n], tolerance, (name, n))
    return small


RECIPES = {
    "sgd": ("--optimizer", "sgd", "--lr", "0.2"),
    "adamw": ("--optimizer", "adamw", "--lr", "0.01", "--schedule", "cosine", "--warmup", "3"),
    "clipped": ("--optimizer", "momentum", "--lr", "0.05", "--clip-value", "0.02", "--clip-norm", "0.05"),
    "muon": ("--optimizer", "muon", "--lr", "0.02", "--grad-norm"),
}  # fmt: skip
LOSSES = {"cross-entropy": (layers, classes), "causal-lm": (language, tokens), "mse": (layers, numbers)}
for loss, (model, data) in LOSSES.items():
    for recipe, flags in RECIPES.items():
        compare(f"{loss}-{recipe}-f64", model(np.float64), data(np.float64), 1e-12, "--loss", loss, *flags)
WEIGHTED = ("--loss", "cross-entropy", "--class-weights", "0.1,0.02,0.05,0,0.03", "--label-smoothing", "0.1")  # The sum of the class weights may be less than 1.
compare("weighted-f64", layers(np.float64), classes(np.float64), 1e-12, *WEIGHTED, "--optimizer", "sgd", "--lr", "0.2")
for loss, recipe in ("cross-entropy", "adamw"), ("causal-lm", "clipped"), ("mse", "sgd"):
    model, data = LOSSES[loss]
    single = model(np.float32), data(np.float32), 2e-5, "--loss", loss, *RECIPES[recipe]
    compare(f"{loss}-{recipe}", *single)
    compare(f"{loss}-{recipe}-emulated", *single, *EMULATED)
for target, flags in ("cpu", ()), ("emulated", EMULATED):
    compare(f"image-{target}", image(np.float32), pixels(np.float32), 1e-4, "--loss", "cross-entropy", *RECIPES["clipped"], *flags)

# In f16, the first loss scale overflows, and both programs skip the same steps. All targets are valid here. 8-bit state needs larger
# parameters.
for target, flags in ("cpu", ()), ("emulated", EMULATED):
    half = ("--precision", "f16", *flags)
    scaled = compare(f"overflow-{target}", layers(np.float32), numbers(np.float32), 1e-2, "--loss", "mse", "--loss-scale", 2.0**26,
                     "--ema", 0.5, *RECIPES["clipped"], *half)  # fmt: skip
    skipped = [line["skipped"] for line in read_metrics(scaled.folder / "found.jsonl")]
    assert skipped[0] and not skipped[-1], skipped
    compare(f"f16-{target}", language(np.float32), tokens(np.float32), 2e-2, "--loss", "causal-lm", "--loss-scale", 1024,
            *RECIPES["sgd"], *half)
    compare(f"bits-{target}", layers(np.float32, 80, 64), classes(np.float32, 80), 2e-4, "--loss", "cross-entropy",
            "--optimizer-bits", 8, *RECIPES["adamw"], *flags)  # fmt: skip

# Incomplete batches at the end of an epoch, with and without shuffling, are handled as with the large batch.
model, data = layers(np.float64), classes(np.float64)
large, small = pair("epochs", model, data, "--loss", "cross-entropy", *RECIPES["sgd"])
for how in "wrap", "drop", "mask":
    for order in "--shuffle", "--no-shuffle":
        found = []
        for program in large, small:
            metrics = program.folder / f"{program.path.name}.jsonl"
            program.run("--epochs", 3, order, "--last-batch", how, "--metrics", metrics)
            found.append(losses(read_metrics(metrics)))
        close(found[1], found[0], 1e-12, (how, order))
few = Program(small.path, {n: a[:5] for n, a in data.items()})
few.run("--steps", 2, "--last-batch", "mask")
said = few.run("--last-batch", "drop", code=1).stderr
assert "the data has 5 samples and a batch has 12 (4 of 3: --accumulate)" in said, said

# Without any valid target, the loss is NaN with and without accumulation.
nothing = {**data, "labels": np.full_like(data["labels"], -100)}
for program in large, small:
    said = Program(program.path, nothing).run("--steps", 1, code=2).stderr
    assert "the loss of step 1 is nan" in said, said
small = Program(small.path, data)

# Resuming is bit-exact; a program with other micro-steps continues with equal losses; the arena has the planned size.
whole = small.exported("whole", "--steps", 6)
small.run("--steps", 2, "--save", "saved")
assert small.exported("resumed", "--steps", 6, "--resume", "saved") == whole
metrics = [program.folder / f"{program.path.name}.jsonl" for program in (small, large)]
small.run("--steps", 6, "--resume", "saved", "--metrics", metrics[0])
said = run([large.path, *large.data_flags, "--resume", "saved", "--steps", 6, "--metrics", metrics[1]], small.folder).stderr
assert f"up to step 2 the batch was {PARTS} x {BATCH}; from now on it is {PARTS * BATCH}" in said, said
close(losses(read_metrics(metrics[1]))[-4:], losses(read_metrics(metrics[0]))[-4:], 1e-12, "another program")
for target in (), EMULATED:
    model, recipe = language(np.float32), ("--loss", "causal-lm", "--dim", f"batch={BATCH}", *RECIPES["adamw"], *target)
    name = "-".join(("planned", *target)).replace("--", "")
    program = compile(model, folder, tokens(np.float32), *recipe, "--accumulate", PARTS, name=name)
    program.run("--steps", 2, "--memory-report", "memory.json")
    report = json.loads((folder / "memory.json").read_text())

    def plan(*flags):
        return json.loads(run([MTC, "plan", model, *recipe, *flags, "--json"], folder).stdout)

    planned = plan("--accumulate", PARTS)
    assert planned["peak_bytes"] == report["planned_bytes"] == report["arena_bytes"], (planned, report)
    # Accumulation in place needs no additional memory.
    apart = plan("--skip-pass", "mtc-fuse-update")
    assert planned["peak_bytes"] <= apart["peak_bytes"] + 1024, (planned, apart)
    assert planned["categories"]["gradients"] == apart["categories"]["gradients"], (planned, apart)

    # Each contraction adds to the gradient in place, and the embedding's rows are scattered into it. Only one kernel adds a computed
    # gradient: that of the few sliced rows of the parameter `places`.
    text = run([MTC, "compile", model, *recipe, "--accumulate", PARTS, "--emit=kernels"], folder).stdout
    step = text[text.index("@micro_step") : text.index("func.func @", text.index("@micro_step") + 1)]
    writes = re.findall(r"mtc\.write @([\w.]+)\.grad, (%\w+)", step)
    kinds = []
    for parameter, value in writes:
        line = next(line for line in step.splitlines() if line.strip().startswith(f"{value} = "))
        body = step[step.index(line) :]
        is_onto = "mtc.kernel " in line and " onto %" in body[: body.index("\n    }")]
        kinds.append((parameter, "rows" if is_onto else re.search(r"= mtc\.(\w+) ", line)[1]))
        if "fused_contract" in line:
            addend = re.search(r" adding (%\w+) :", line)[1]
            assert f"{addend} = mtc.read @{parameter}.grad" in step, line
    wanted = [("mix", "fused_contract"), ("places", "kernel"), ("table", "fused_contract"), ("table", "rows")]
    assert sorted(kinds) == wanted, kinds
    # The plan stores the sums in place of the gradients: the calls have no separate addend, and nothing is copied.
    placed = run([MTC, "compile", model, *recipe, "--accumulate", PARTS, "--emit=allocated"], folder).stdout
    step = placed[placed.index("mtc.step @micro_step") :]
    step = step[: step.index("mtc.step @", 1)]
    assert step.count("accumulate = 1") == 2 and "mtc.copy" not in step, step

# Random bits depend on the micro-step: without updates, the loss of a step of two micro-steps is the mean of two steps' losses.
nodes = [
    helper.make_node("Dropout", ["x", "ratio", "training"], ["d"]),
    helper.make_node("Mul", ["d", "scale"], ["y"]),
]
weights = {"scale": np.ones(64), "ratio": np.array(0.5, np.float32), "training": np.array(True)}
model = save("dropout", np.float32, nodes, {"x": (None, [64])}, {"y": ["batch", 64]}, weights)
data = {"x": np.ones((2, 64), np.float32), "labels": np.zeros((2, 64), np.float32)}
recipe = ("--loss", "mse", "--dim", "batch=2", "--optimizer", "sgd", "--lr", "1e-30")
for target in (), EMULATED:
    once = losses(compile(model, folder, data, *recipe, *target, name="once").train(6))
    assert len(set(once)) > 3, once
    twice = compile(model, folder, data, *recipe, *target, "--accumulate", 2, name="twice")
    close(losses(twice.train(3)), np.reshape(once, (3, 2)).mean(1), 1e-6, "dropout")

# If the data has one entry per step, each micro-step reads one entry; the loss is the mean of the output.
graph = helper.make_graph(
    [helper.make_node("Mul", ["w", "x"], ["terms"]), helper.make_node("ReduceSum", ["terms"], ["loss"], keepdims=0)],
    "entries",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [7])],
    [helper.make_tensor_value_info("loss", TensorProto.DOUBLE, [])],
    [numpy_helper.from_array(random.normal(size=7), "w")],
)
model = folder / "entries.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
x, w = random.normal(size=(5, 7)), numpy_helper.to_array(graph.initializer[0])
recipe = ("--batch-input", "none", "--optimizer", "sgd", "--lr", 0.1)
program = compile(model, folder, {"x": x}, *recipe, "--accumulate", 2, name="entries")
for step, found in enumerate(losses(program.train(4))):
    mean = x[[2 * step % 5, (2 * step + 1) % 5]].mean(0)
    close(found, w @ mean, 1e-12, ("entries", step))
    w = w - 0.1 * mean
