# RUN: %python %s %t
"""Files that a program writes have the names and layouts of the user's module, even if the ONNX file differs: the gates of an LSTM are in
another order and its bias is two vectors, one matrix is stored in three parts, one has two names in the module, and one is also stored
transposed. --weights reads these files, and files that other tools write in these layouts."""

import json

import numpy as np
import onnx
from module_images import Image, Part, stage_with, transposed
from onnx import TensorProto, helper, numpy_helper
from program import Program, compile, own_folder
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

HIDDEN, INPUTS, OUTPUTS, STEPS, BATCH = 8, 5, 6, 3, 4
folder = own_folder()
random = np.random.default_rng(0)


def normal(*shape) -> np.ndarray:
    return (random.standard_normal(shape) * 0.4).astype(np.float32)


WEIGHTS = {
    "W": normal(1, 4 * HIDDEN, INPUTS), "R": normal(1, 4 * HIDDEN, HIDDEN), "B": normal(1, 8 * HIDDEN),
    "q": normal(HIDDEN, HIDDEN), "k": normal(HIDDEN, HIDDEN), "v": normal(HIDDEN, HIDDEN),
    "head": normal(HIDDEN, OUTPUTS),
}  # fmt: skip
WEIGHTS["copy"] = np.ascontiguousarray(WEIGHTS["head"].T)  # No node of the graph reads the tensor.


def gates(name: str, shape: tuple[int, ...], offset: int = 0) -> Image:
    """An ONNX LSTM's gates i, o, f, c from row `offset`, in PyTorch's order i, f, g, o."""
    parts = []
    for place, gate in enumerate((0, 2, 3, 1)):
        rows = slice(offset + gate * HIDDEN, offset + (gate + 1) * HIDDEN)
        rest = (slice(None),) * (len(shape) - 1)
        axes = tuple(range(len(shape) + 1))
        parts.append(Part((slice(0, 1), rows, *rest), (slice(place * HIDDEN, (place + 1) * HIDDEN), *rest), axes))
    return Image(name, shape, tuple(parts))


def third(place: int) -> Image:
    """A third of in_proj_weight's rows, as the transpose of a matrix."""
    rows = slice(place * HIDDEN, (place + 1) * HIDDEN)
    return Image("attn.in_proj_weight", (3 * HIDDEN, HIDDEN), (Part((slice(None),) * 2, (rows, slice(None)), (1, 0)),))


IMAGES = {
    "W": [gates("lstm.weight_ih_l0", (4 * HIDDEN, INPUTS))],
    "R": [gates("lstm.weight_hh_l0", (4 * HIDDEN, HIDDEN))],
    "B": [gates("lstm.bias_ih_l0", (4 * HIDDEN,)), gates("lstm.bias_hh_l0", (4 * HIDDEN,), 4 * HIDDEN)],
    "q": [third(0)], "k": [third(1)], "v": [third(2)],
    "head": [transposed("head.weight", (HIDDEN, OUTPUTS)), transposed("tied.weight", (HIDDEN, OUTPUTS))],
}  # fmt: skip
FILE_IMAGES = {"head": [transposed("copy", (HIDDEN, OUTPUTS))]}
BUFFERS = 'onnx.buffer "bn.num_batches_tracked" counts_batches = dense<2> : tensor<i64>\nonnx.buffer "mask" = dense<[true, false]> : tensor<2xi1>'


def of_module(weights: dict[str, np.ndarray], names: str = "all") -> dict[str, np.ndarray]:
    """Converts initializers to the module's tensors; a tensor with several names has `all` of them or the `first` one."""
    made = {}
    for name, images in IMAGES.items():
        for image in images if names == "all" or name == "B" else images[:1]:
            made[image.name] = image.of(weights[name], made.get(image.name))
    return {name: np.ascontiguousarray(value) for name, value in made.items()}


nodes = [
    helper.make_node("Transpose", ["x"], ["xt"], perm=[1, 0, 2]),
    helper.make_node("LSTM", ["xt", "W", "R", "B"], ["", "last"], hidden_size=HIDDEN),
    helper.make_node("Squeeze", ["last", "axis"], ["h"]),
    helper.make_node("MatMul", ["h", "q"], ["hq"]),
    helper.make_node("MatMul", ["h", "k"], ["hk"]),
    helper.make_node("MatMul", ["h", "v"], ["hv"]),
    helper.make_node("Mul", ["hk", "hv"], ["product"]),
    helper.make_node("Add", ["hq", "product"], ["sum"]),
    helper.make_node("MatMul", ["sum", "head"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", STEPS, INPUTS])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", OUTPUTS])],
    [numpy_helper.from_array(value, name) for name, value in WEIGHTS.items()]
    + [numpy_helper.from_array(np.array([0]), "axis")],
)
model = folder / "model.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), model)
DIM = ("--dim", f"batch={BATCH}")
FLAGS = ("--loss", "mse", "--labels", "labels", "--optimizer", "adamw", "--lr", "1e-2")
DATA = {"x": normal(8, STEPS, INPUTS), "labels": normal(8, OUTPUTS)}
TRAIN = ("--steps", 4, "--no-shuffle")


def initializers(file: bytes) -> dict[str, np.ndarray]:
    return {i.name: numpy_helper.to_array(i) for i in onnx.load_from_string(file).graph.initializer}


def check_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], what: str) -> None:
    assert found.keys() == expected.keys(), (what, sorted(found.keys() ^ expected.keys()))
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{what}: {name}")


def compile_both(name: str, flags: tuple, target: tuple) -> tuple[Program, Program]:
    """Compiles a program that knows the module's names, and one that does not. The text of a stage includes the target's flags."""
    text = stage_with(model, folder, (*DIM, *target), IMAGES, FILE_IMAGES, BUFFERS)
    return (
        compile(text, folder, DATA, *FLAGS, *flags, name=name),
        compile(model, folder, DATA, *DIM, *FLAGS, *flags, *target, name=f"{name}-plain"),
    )


def check_program(name: str, *flags, target: tuple = (), exports: tuple = ()) -> tuple[Program, Program]:
    """All files of a run contain the values of the program without names, in the module's layout."""
    program, plain = compile_both(name, flags, target)
    check_same(load_file(folder / f"{name}.weights.safetensors"), of_module(WEIGHTS, "first"), f"{name}: initial weights")
    saved, weights = folder / f"{name}-saved", folder / f"{name}-trained.safetensors"
    expected = initializers(plain.exported(f"{name}-plain-model", *TRAIN, *exports))
    assert any(np.abs(expected[n] - WEIGHTS[n]).max() > 1e-3 for n in expected if n in WEIGHTS), "nothing was trained"
    expected["copy"] = expected["head"].T
    model_file = program.exported(f"{name}-model", *TRAIN, *exports, "--export-weights", weights, "--save", saved)
    check_same(initializers(model_file), expected, f"{name}: --export")
    found = load_file(weights)
    assert found.pop("bn.num_batches_tracked") == 2 + 4 and found.pop("mask").tolist() == [True, False]
    check_same(found, of_module(expected), f"{name}: --export-weights")
    # Resuming is bit-exact.
    half = folder / f"{name}-half"
    program.run("--steps", 2, "--no-shuffle", "--save", half)
    again = program.exported(f"{name}-again", "--steps", 4, "--resume", half, *exports)
    assert again == model_file, f"{name}: other weights after --resume"
    return program, plain


program, plain = check_program("program")

# Checkpoints contain each tensor once, and the optimizer's state.
checkpoint = folder / "program-saved"
file = checkpoint / json.loads((checkpoint / "manifest.json").read_text())["file"]
tensors = load_file(file)
trained = load_file(folder / "program-trained.safetensors")
first = of_module(WEIGHTS, "first").keys()
check_same({n: t for n, t in tensors.items() if n in first}, {n: trained[n] for n in first}, "checkpoint")
assert {n for n in tensors if n not in first} == {f"{n}.moment{i}" for n in IMAGES for i in (1, 2)}, list(tensors)
with safe_open(file, "np") as opened:
    assert opened.metadata() == {"mtc.names": "module", "written_by": "mtc"}

# Gradients have the names and shapes of the file's initializers.
check_same(program.gradients("gradients"), plain.gradients("plain-gradients"), "gradients")

# --weights reads files in the module's layout and in the ONNX file's.
weights = folder / "program-trained.safetensors"
in_model = initializers((folder / "program-model.onnx").read_bytes())
save_file({n: np.ascontiguousarray(v) for n, v in in_model.items() if n in IMAGES}, folder / "of-model.safetensors")
expected = plain.outputs("expected", "--weights", folder / "of-model.safetensors")


def check_weights(what: str, tensors: dict[str, np.ndarray] | None, said: str = "", path=None) -> None:
    """The program's outputs are those of the trained weights; standard error contains `said`, or is empty."""
    path = path or folder / f"{what}.safetensors"
    if tensors is not None:
        save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, path)
    found = folder / f"{what}-outputs.safetensors"
    result = program.run("--outputs", found, "--weights", path)
    check_same(load_file(found), expected, what)
    assert said in result.stderr and bool(said) == bool(result.stderr), (what, result.stderr)


state = {n: t for n, t in trained.items() if n not in ("bn.num_batches_tracked", "mask")}
check_weights("module", trained)
check_weights("model", None, path=folder / "of-model.safetensors")
check_weights("checkpoint", None, path=file)
for left_out in ("head.weight", "tied.weight"):
    check_weights(f"without-{left_out}", {n: t for n, t in state.items() if n != left_out})
check_weights("prefixed", {f"net.{n}": t for n, t in state.items()}, "7 of the program's tensors have names with the prefix 'net.' there")
tracked = {**state, "bn.num_batches_tracked": np.array(7)}
check_weights("tracked", tracked)
check_weights("more", {**state, "other.weight": normal(2)}, "ignored, since the program does not have them: 'other.weight'")

# The weights are stored as Hugging Face's save_pretrained writes them: in a folder with one file, or with several files and an index.
whole = folder / "whole"
whole.mkdir()
save_file(state, whole / "model.safetensors")
check_weights("folder", None, path=whole)
shards = folder / "shards"
shards.mkdir()
names = sorted(state)
files = {"one.safetensors": names[:3], "two.safetensors": names[3:]}
for shard, held in files.items():
    save_file({n: state[n] for n in held}, shards / shard)
index = {"metadata": {"total_size": 1}, "weight_map": {n: shard for shard, held in files.items() for n in held}}
(shards / "model.safetensors.index.json").write_text(json.dumps(index))
check_weights("shards", None, path=shards)
check_weights("index", None, path=shards / "model.safetensors.index.json")

# 16-bit weights are converted to f32.
half = {n: t.astype(np.float16) for n, t in state.items()}
save_file(half, folder / "half.safetensors")
widened = {n: t.astype(np.float32) for n, t in half.items()}
save_file(widened, folder / "widened.safetensors")
check_same(
    program.outputs("half-outputs", "--weights", folder / "half.safetensors"),
    program.outputs("widened-outputs", "--weights", folder / "widened.safetensors"),
    "16 bits",
)


def refused(what: str, tensors: dict[str, np.ndarray], *said: str, path=None) -> None:
    if path is None:
        path = folder / f"refused-{what}.safetensors"
        save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, path)
    error = program.run("--evaluate", "--weights", path, code=1).stderr
    for part in said:
        assert part in error, (what, part, error)


renamed = {**{n: t for n, t in state.items() if n != "lstm.bias_hh_l0"}, "lstm.bias_hh_10": state["lstm.bias_hh_l0"]}
refused("typo", renamed, "is missing", "lstm.bias_hh_10")
refused("shape", {**state, "head.weight": state["head.weight"].T}, "tensor 'head.weight' is f32 [8, 6]", "f32 [6, 8]")
refused("untied", {**state, "tied.weight": state["tied.weight"] + 1}, "'head.weight' and 'tied.weight' differ")
twice = {f"{prefix}.{n}": t for prefix in "ab" for n, t in state.items()}
refused("twice", twice, "with the prefix 'a.'", "with the prefix 'b.'")
(folder / "empty").mkdir()
refused("empty", {}, "neither model.safetensors nor model.safetensors.index.json", path=folder / "empty")
outside = shards / "outside.index.json"
outside.write_text(json.dumps({"weight_map": {"head.weight": "../whole/model.safetensors"}}))
refused("outside", {}, "expected the name of a file in the same folder", path=outside)

# The exported model has other layouts of the same variables.
check_program("averaged", "--ema", "0.9", exports=("--use-ema",))
check_program("bf16", target=("--precision", "bf16"))
check_program("f16", target=("--precision", "f16"))
check_program("quantized", "--optimizer-bits", "8")
check_program("offloaded", "--offload", "parameters", "--offload", "optimizer")

# Exported adapters have the names of the module's layers. Without these names, the export is an error.
weights = {"a": normal(INPUTS, HIDDEN), "b": normal(HIDDEN, OUTPUTS)}
two = folder / "two.onnx"
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "a"], ["h"]), helper.make_node("MatMul", ["h", "b"], ["y"])],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", INPUTS])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", OUTPUTS])],
    [numpy_helper.from_array(value, name) for name, value in weights.items()],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), two)
data = {"x": normal(8, INPUTS), "labels": normal(8, OUTPUTS)}
images = {"a": [transposed("one.weight", (INPUTS, HIDDEN))], "b": []}
for bits in (32, 16):
    lora = ("--lora", "one*:rank=2", "--frozen-bits", bits)
    text = stage_with(two, folder, (*DIM, *lora[:2]), images)
    adapted = compile(text, folder, data, *FLAGS, *lora[2:], name=f"adapted{bits}")
    run_flags = (*TRAIN, "--export-adapters", folder / "adapters", "--export-weights", folder / "merged.safetensors")
    merged = initializers(adapted.exported(f"adapted{bits}", *run_flags))
    found = load_file(folder / "adapters/adapter_model.safetensors")
    assert {n: f.shape for n, f in found.items()} == {
        "base_model.model.one.lora_A.weight": (2, INPUTS), "base_model.model.one.lora_B.weight": (HIDDEN, 2),
    }, found  # fmt: skip
    config = json.loads((folder / "adapters/adapter_config.json").read_text())
    assert config["target_modules"] == ["one"] and config["fan_in_fan_out"] is False, config
    factors = [found[f"base_model.model.one.lora_{factor}.weight"].astype(np.float64) for factor in "AB"]
    expected = weights["a"].T + 8 / 2 * factors[1] @ factors[0]
    merged_weights = load_file(folder / "merged.safetensors")
    assert merged_weights.keys() == {"one.weight", "b"}
    np.testing.assert_allclose(merged_weights["one.weight"], expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(merged["a"].T, merged_weights["one.weight"])
text = stage_with(two, folder, (*DIM, "--lora", "*:rank=2"), images)
both = compile(text, folder, data, *FLAGS, name="both")
said = both.run(*TRAIN, "--export-adapters", folder / "none", code=1).stderr
assert "--export-adapters: which module of the user's model has the matrix 'b' of the ONNX file" in said, said
print("the module's names and layouts in", len(list(folder.glob("*.safetensors"))), "files")
