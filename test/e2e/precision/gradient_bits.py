# RUN: %python %s %t
"""`--gradient-bits 16` stores accumulated gradients in bf16. They are bit-identical to f32 gradients if bf16 represents all sums, and
otherwise rounded once per micro-step, however many terms a gradient has. The test runs on the CPU and on an emulated device, in f32 and
bf16, with quantized state, clipping, Muon, averages and loss scaling. The plan counts half of the bytes.
"""

import json

import numpy as np
import onnx
from models import DIGITS, GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, losses, own_folder, run, same_bits

PARTS, STEPS, ROWS = 4, 3, 32
EMULATED = ("--target", "cuda", "--emulate")
TARGETS = {"cpu": (), "emulated": EMULATED}
folder = own_folder()


def bf16(x: np.ndarray) -> np.ndarray:
    """Returns f32 numbers rounded to the nearest bf16, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def linear_model() -> onnx.ModelProto:
    """A loss that is linear in each parameter, so that gradients depend on the data alone: a contraction, a table that is an
    operand of two contractions and of a lookup, a table that is only looked up, a convolution and a vector whose size is odd."""
    nodes = [
        helper.make_node("MatMul", ["x", "matrix"], ["a"]),
        helper.make_node("Mul", ["a", "t"], ["a_terms"]),
        helper.make_node("MatMul", ["t", "tied"], ["b"]),
        helper.make_node("Mul", ["b", "x"], ["b_terms"]),
        helper.make_node("Transpose", ["tied"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "turned"], ["c"]),
        helper.make_node("Mul", ["c", "u"], ["c_terms"]),
        helper.make_node("Gather", ["tied", "ids"], ["d"]),
        helper.make_node("Mul", ["d", "x"], ["d_terms"]),
        helper.make_node("Gather", ["table", "ids"], ["e"]),
        helper.make_node("Mul", ["e", "x"], ["e_terms"]),
        helper.make_node("Conv", ["image", "kernel"], ["f"], pads=[1, 1, 1, 1]),
        helper.make_node("Mul", ["f", "image"], ["f_terms"]),
        helper.make_node("Mul", ["vector", "v"], ["g_terms"]),
        *(helper.make_node("ReduceSum", [f"{n}_terms"], [f"{n}_sum"], keepdims=0) for n in "abcdefg"),
        helper.make_node("Sum", [f"{n}_sum" for n in "abcdefg"], ["loss"]),
    ]
    inputs = {"x": [ROWS, 64], "t": [ROWS, 80], "u": [ROWS, 80], "image": [ROWS, 4, 5, 5], "v": [5]}
    draw = np.random.default_rng(0)
    shapes = {"matrix": (64, 80), "tied": (80, 64), "table": (256, 64), "kernel": (4, 4, 3, 3), "vector": (5,)}
    graph = helper.make_graph(
        nodes, "linear",
        [*(helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()),
         helper.make_tensor_value_info("ids", TensorProto.INT64, [ROWS])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(draw.normal(size=s).astype(np.float32), n) for n, s in shapes.items()],
    )  # fmt: skip
    path = folder / "linear.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def integers(largest: int) -> dict[str, np.ndarray]:
    """Returns integers, with one entry for each micro-step. If the largest is 1, only few are not zero, so that sums are less than 256."""
    draw = np.random.default_rng(1)
    shapes = {"x": (ROWS, 64), "t": (ROWS, 80), "u": (ROWS, 80), "image": (ROWS, 4, 5, 5), "v": (5,)}
    share = 1 if largest > 1 else 0.1
    columns = {
        n: (draw.integers(-largest, largest + 1, (PARTS * STEPS, *s)) * (draw.random((PARTS * STEPS, *s)) < share)).astype(np.float32)
        for n, s in shapes.items()
    }
    return columns | {"ids": draw.integers(0, 80, (PARTS * STEPS, ROWS))}


def gradients_of(data: dict[str, np.ndarray], step: int) -> dict[str, np.ndarray]:
    """Returns the gradients of the loss of one micro-step in f64."""
    x, t, u, image, v, ids = (data[n][step].astype(np.int64 if n == "ids" else np.float64) for n in ("x", "t", "u", "image", "v", "ids"))
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    kernel = np.zeros((4, 4, 3, 3))
    for i in range(3):
        for j in range(3):
            kernel[:, :, i, j] = np.einsum("nmyx,ncyx->mc", image, padded[:, :, i : i + 5, j : j + 5])
    tied, table = t.T @ x + u.T @ x, np.zeros((256, 64))
    np.add.at(tied, ids, x)
    np.add.at(table, ids, x)
    return {"matrix": x.T @ t, "tied": tied, "table": table, "kernel": kernel, "vector": v}


def pair(name: str, model, data: dict, *flags) -> tuple[Program, Program]:
    flags = ("--accumulate", PARTS, *flags)
    (folder / name).mkdir()
    return tuple(compile(model, folder / name, data, *flags, "--gradient-bits", bits, name=f"bits{bits}") for bits in (32, 16))


# If bf16 represents all sums, gradients and weights are bit-identical to those of f32 gradients.
model = linear_model()
small, large = integers(1), integers(15)
for step in range(STEPS):
    total = None
    for micro in range(step * PARTS, (step + 1) * PARTS):
        found = gradients_of(small, micro)
        total = found if total is None else {n: total[n] + found[n] for n in found}
        assert all(np.array_equal(bf16(g), g) for g in total.values()), "the test's own sums are not representable"
RECIPES = {
    "adamw": ("--optimizer", "adamw", "--lr", 0.01),
    "sgd-bf16": ("--optimizer", "sgd", "--lr", 0.01, "--precision", "bf16"),
    "bits": ("--optimizer", "adamw", "--lr", 0.01, "--optimizer-bits", 8, "--clip-value", 0.5),
    "muon": ("--optimizer", "muon", "--lr", 0.01, "--clip-norm", 1, "--ema", 0.5),
    "scaled": ("--optimizer", "momentum", "--lr", 0.01, "--loss-scale", 1024, "--grad-norm"),
    "tiled": ("--optimizer", "adamw", "--lr", 0.01, "--precision", "bf16", "--tile", "all"),
}
LINEAR = ("--batch-input", "none", "--loss", "output")
for target, its in TARGETS.items():
    for recipe, flags in RECIPES.items():
        name = f"{recipe}-{target}"
        wide, narrow = pair(name, model, small, *LINEAR, *flags, *its)
        assert same_bits(wide.gradients("gradients32"), narrow.gradients("gradients16")), name
        logs = [[{k: line.get(k) for k in ("loss", "grad_norm")} for line in p.train(STEPS)] for p in (wide, narrow)]
        assert logs[0] == logs[1], (name, logs)
        assert wide.exported("weights32", "--steps", STEPS) == narrow.exported("weights16", "--steps", STEPS), name

# Larger sums are rounded once per micro-step. With --precision bf16, convolutions return bf16.
expected = {}
for micro in range(PARTS):
    for name, gradient in gradients_of(large, micro).items():
        expected[name] = bf16(expected.get(name, 0) + gradient / PARTS)
for target, its in TARGETS.items():
    for precision in "f32", "bf16":
        name = f"rounded-{precision}-{target}"
        wide, narrow = pair(name, model, large, *LINEAR, "--optimizer", "sgd", "--precision", precision, *its)
        found, exact = narrow.gradients("gradients16"), wide.gradients("gradients32")
        assert found.keys() == expected.keys()
        for n in found:
            assert found[n].dtype == np.float32, (name, n)
            if n != "kernel" or precision == "f32":
                np.testing.assert_array_equal(found[n], expected[n], err_msg=f"{name} {n}")
        assert any(not np.array_equal(found[n], exact[n]) for n in found), f"{name}: nothing was rounded"

# Models. The rounding of each of the four sums of an element is at most 2^-9 of its magnitude. The sums before the last may be larger than
# the last, here by less than a factor of 2. An error of 1% in a gradient changes a step of AdamW by about as much, and all steps
# together change the loss by less than a tenth.
BOUND = 2 * PARTS * 2.0**-9
for example in DIGITS, GPT2:
    for name, flags in {
        "plain": (),
        "bf16": ("--precision", "bf16", "--clip-norm", 1),
        "f16": ("--precision", "f16", "--loss-scale", 2.0**30, "--ema", 0.5),
        "bits": ("--optimizer-bits", 8, "--clip-value", 0.01),
        "muon": ("--clip-norm", 1),
        "emulated": EMULATED,
        "offload": ("--offload", "optimizer", "--offload-window", "64KiB"),
    }.items():
        steps = 2 if name == "emulated" else 8
        model_flags = [flag.replace("batch=8", "batch=2") if name == "emulated" else flag for flag in example.flags]
        optimizer = ("--optimizer", "muon" if name == "muon" else "adamw", "--lr", 1e-3)
        what = f"{example.name}-{name}"
        wide, narrow = (
            compile(example.model, folder, example.data(8 * PARTS * example.batch), *model_flags, *optimizer, "--accumulate", PARTS,
                    *flags, "--gradient-bits", bits, name=f"{what}{bits}")
            for bits in (32, 16)
        )  # fmt: skip
        exact, found = wide.gradients(f"{what}-32"), narrow.gradients(f"{what}-16")
        for n in exact:
            error, size = np.linalg.norm(found[n] - exact[n]), np.linalg.norm(exact[n])
            assert error <= BOUND * size, (what, n, error / size)
        wanted, metrics = (p.train(steps, "--memory-report", f"{what}.json", name=what) for p in (wide, narrow))
        np.testing.assert_allclose(losses(metrics), losses(wanted), rtol=1e-3, err_msg=what)
        if name == "f16":
            skipped = [[line["skipped"] for line in lines] for lines in (metrics, wanted)]
            assert skipped[0] == skipped[1] and skipped[0][0] and not skipped[0][-1], skipped
        report = json.loads((folder / f"{what}.json").read_text())
        assert report["planned_bytes"] == report["arena_bytes"], report
        if name == "plain":
            # Repeated runs and resumed runs are bit-identical. A checkpoint does not contain gradients.
            whole = narrow.exported("whole", "--steps", 4)
            assert narrow.exported("again", "--steps", 4) == whole, what
            saved = folder / f"{what}-saved"
            narrow.run("--steps", 2, "--save", saved)
            assert narrow.exported("resumed", "--steps", 4, "--resume", saved) == whole, what

# The plan has half as many bytes of gradients.
recipe = (*GPT2.flags, "--optimizer", "adamw", "--accumulate", PARTS)


def plan(*flags, code=0) -> dict:
    return json.loads(run([MTC, "plan", GPT2.model, *recipe, *flags, "--json"], folder, code).stdout)


for its in TARGETS.values():
    for precision in "f32", "bf16":
        whole, half = (plan("--gradient-bits", bits, "--precision", precision, *its) for bits in (32, 16))
        assert whole["categories"]["gradients"] == 2 * half["categories"]["gradients"] > 0, (whole, half)
        assert half["peak_bytes"] < whole["peak_bytes"], (whole, half)

# The search uses 16-bit gradients if a budget needs them, and suggests them if they are not allowed.
budget = plan("--memory", 1, code=1)["peak_bytes"] - 1
refused = plan("--memory", budget, code=1)
assert any(each["flags"] == "--gradient-bits 16" for each in refused["suggestions"]), refused["suggestions"]
said = run([MTC, "plan", GPT2.model, *recipe, "--memory", budget, "--allow", "gradient-bits"], folder).stderr
assert "--memory: selected --gradient-bits 16 (other numerics)" in said, said
ample = run([MTC, "plan", GPT2.model, *recipe, "--memory", "1GiB", "--allow", "gradient-bits"], folder).stderr
assert "--gradient-bits" not in ample, ample

said = run([MTC, "plan", GPT2.model, *GPT2.flags, "--gradient-bits", "16"], folder).stderr
assert "--gradient-bits 16 has no effect: gradients are not accumulated; use it with --accumulate" in said, said
said = run([MTC, "plan", GPT2.model, *recipe, "--gradient-bits", "8"], folder, code=1).stderr
assert "--gradient-bits 8: invalid value; expected one of: 32, 16" in said, said
