# RUN: %python %s %t
"""Metadata of a file lists the tensors of save_pretrained that differ from the module's: renamed, transposed, joined and split ones, and one of
the same name in another layout. --weights reads such a folder, --export-weights DIR writes one, and files have the module's names."""

import copy
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pretrained import BF16, read_folder, write_folder
from program import MTC, Program, compile, own_folder, run, same_bits
from safetensors.numpy import load_file, save_file

WIDTH, HIDDEN, OUTPUTS, EXPERTS, ROWS = 8, 6, 5, 3, 16
folder = own_folder()
random = np.random.default_rng(0)
SHAPES = {
    "attn.q.weight": (WIDTH, WIDTH), "attn.k.weight": (WIDTH, WIDTH), "attn.v.weight": (WIDTH, WIDTH),
    "experts.up": (EXPERTS, WIDTH, HIDDEN), "norm.scale": (HIDDEN,), "bn.weight": (HIDDEN,), "bn.bias": (HIDDEN,),
    "out.weight": (HIDDEN, OUTPUTS), "out.bias": (OUTPUTS,),
}  # fmt: skip
STATE = {"bn.running_mean": np.zeros(HIDDEN, np.float32), "bn.running_var": np.ones(HIDDEN, np.float32)}
# Values of bf16, so that files of both types have them.
WEIGHTS = {n: (random.standard_normal(s) * 0.4).astype(BF16).astype(np.float32) for n, s in SHAPES.items()} | STATE


def part(extents: list[int], variable: list[int], image: list[int], first: int = 0, at: int = 0) -> list:
    return [first, at, extents, variable, image]


def joined(place: int) -> dict:
    """A third of the columns of the joined matrix is the transpose of a matrix."""
    parts = [part([WIDTH, WIDTH], [1, WIDTH], [3 * WIDTH, 1], 0, place * WIDTH)]
    return {"name": "c_attn.weight", "shape": [WIDTH, 3 * WIDTH], "parts": parts}


def expert(index: int) -> dict:
    parts = [part([HIDDEN, WIDTH], [1, HIDDEN], [WIDTH, 1], index * WIDTH * HIDDEN)]
    return {"name": f"experts.{index}.w1.weight", "shape": [HIDDEN, WIDTH], "parts": parts}


PRETRAINED = {
    "attn.q.weight": [joined(0)], "attn.k.weight": [joined(1)], "attn.v.weight": [joined(2)],
    "experts.up": [expert(i) for i in range(EXPERTS)],
    "norm.scale": [{"name": "ln.gain", "shape": [HIDDEN]}],
    "bn.running_mean": [{"name": "stem.running_mean", "shape": [HIDDEN]}], "bn.running_var": [{"name": "stem.running_var", "shape": [HIDDEN]}],
    # Even rows, then odd ones.
    "out.weight": [{"name": "out.weight", "shape": [HIDDEN, OUTPUTS], "parts": [
        part([HIDDEN // 2, OUTPUTS], [2 * OUTPUTS, 1], [OUTPUTS, 1]),
        part([HIDDEN // 2, OUTPUTS], [2 * OUTPUTS, 1], [OUTPUTS, 1], OUTPUTS, HIDDEN // 2 * OUTPUTS)]}],
}  # fmt: skip


def saved(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Converts the module's tensors to those of save_pretrained, independently of the metadata."""
    kept = {name: value for name, value in weights.items() if name not in PRETRAINED}
    made = {f"experts.{i}.w1.weight": weights["experts.up"][i].T for i in range(EXPERTS)} | {
        "c_attn.weight": np.concatenate([weights[f"attn.{name}.weight"].T for name in "qkv"], 1),
        "ln.gain": weights["norm.scale"],
        "stem.running_mean": weights["bn.running_mean"], "stem.running_var": weights["bn.running_var"],
        "out.weight": np.concatenate([weights["out.weight"][::2], weights["out.weight"][1::2]]),
    }  # fmt: skip
    if "bn.num_batches_tracked" in kept:
        made["stem.num_batches_tracked"] = kept.pop("bn.num_batches_tracked")
    return {name: np.array(value, order="C") for name, value in (kept | made).items()}


NODES = [
    *(helper.make_node("MatMul", ["x", f"attn.{name}.weight"], [name]) for name in "qkv"),
    helper.make_node("Mul", ["q", "k"], ["qk"]),
    helper.make_node("Add", ["qk", "v"], ["a"]),
    helper.make_node("Unsqueeze", ["a", "zero"], ["rows"]),
    helper.make_node("MatMul", ["rows", "experts.up"], ["e"]),
    helper.make_node("ReduceSum", ["e", "zero"], ["s"], keepdims=0),
    helper.make_node("BatchNormalization", ["s", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"],
                     ["n", "mean", "variance"], training_mode=1),
    helper.make_node("Mul", ["n", "norm.scale"], ["g"]),
    helper.make_node("MatMul", ["g", "out.weight"], ["o"]),
    helper.make_node("Add", ["o", "out.bias"], ["y"]),
]  # fmt: skip


def write_model(name: str, weights: dict[str, np.ndarray], pretrained: dict):
    facts = {"format": 1, "parameters": [], "buffers": []}
    for key, value in weights.items():
        entry = {"name": key, "shape": list(value.shape), "dtype": "float32"} | ({"pretrained": pretrained[key]} if key in pretrained else {})
        if key in STATE:
            facts["buffers"].append(entry | {"persistent": True})
        else:
            facts["parameters"].append(entry | {"names": [key], "requires_grad": True, "module": "test.Module"})
    facts["buffers"].append({"name": "bn.num_batches_tracked", "shape": [], "dtype": "int64", "persistent": True, "value": [0]})
    graph = helper.make_graph(
        NODES, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", OUTPUTS])],
        [numpy_helper.from_array(value, key) for key, value in (weights | {"zero": np.asarray([0])}).items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="pytorch")
    helper.set_model_props(model, {"mtc.module": json.dumps(facts)})
    onnx.save(model, folder / name)
    return folder / name


DATA = {"x": random.standard_normal((ROWS, WIDTH)).astype(np.float32), "labels": random.standard_normal((ROWS, OUTPUTS)).astype(np.float32)}
FLAGS = ("--dim", "batch=4", "--loss", "mse", "--optimizer", "adamw", "--lr", "1e-2")
TRAIN = ("--steps", 3, "--no-shuffle")
model = write_model("model.onnx", WEIGHTS, PRETRAINED)
other = write_model("other.onnx", {name: np.zeros_like(value) + (name in STATE) for name, value in WEIGHTS.items()}, PRETRAINED)


def exported(program: Program, name: str, *flags) -> dict[str, np.ndarray]:
    target = folder / name
    said = program.run(*TRAIN, "--export-weights", target, *flags).stderr
    assert "ignored" not in said, said
    return load_file(target) if name.endswith(".safetensors") else read_folder(target)


# A program of the file's own weights. Files have the module's names, and folders those of save_pretrained.
plain = compile(model, folder, DATA, *FLAGS, name="plain")
trained = exported(plain, "plain.safetensors")
assert trained.keys() == WEIGHTS.keys() | {"bn.num_batches_tracked"} and trained["bn.num_batches_tracked"] == 3, trained.keys()
assert all(np.abs(trained[name] - WEIGHTS[name]).max() > 1e-3 for name in WEIGHTS), "nothing was trained"
expected = saved(trained)
assert same_bits(exported(plain, "plain-folder"), expected)

# A folder of save_pretrained, in each type and number of files, with a prefix, and started from by either flag.
given = saved(WEIGHTS | {"bn.num_batches_tracked": np.asarray(0)})
for i, (tensors, files) in enumerate([(given, 1), (given, 3), ({n: v.astype(BF16) if v.dtype == np.float32 else v for n, v in given.items()}, 2),
                                      ({f"model.{n}": v for n, v in given.items()}, 2)]):  # fmt: skip
    write_folder(folder / f"given{i}", tensors, files)
    program = compile(other, folder, DATA, *FLAGS, "--weights", folder / f"given{i}", name=f"given{i}-program")
    assert same_bits(exported(program, f"given{i}.safetensors"), trained)
    found = exported(program, f"given{i}-out")
    assert found.keys() == tensors.keys(), found.keys() ^ tensors.keys()
    prefix = "model." if i == 3 else ""
    assert same_bits(found, {prefix + n: v.astype(tensors[prefix + n].dtype) for n, v in expected.items()})
    assert same_bits(exported(plain, "run.safetensors", "--weights", folder / f"given{i}"), trained)
# The index and the only file of a folder are in the layout of the folder, other files in that of the module.
assert same_bits(exported(plain, "run.safetensors", "--weights", folder / "given0/model.safetensors"), trained)
save_file(WEIGHTS, folder / "state.safetensors")
program = compile(other, folder, DATA, *FLAGS, "--weights", folder / "state.safetensors", name="state-program")
assert same_bits(exported(program, "state-out.safetensors"), trained)
assert same_bits(exported(program, "state-folder"), expected)
# Checkpoints do not depend on these names.
program.run(*TRAIN, "--save", folder / "saved")
program.run("--resume", folder / "saved", "--steps", 3, "--export-weights", folder / "resumed.safetensors")
assert same_bits(load_file(folder / "resumed.safetensors"), trained)
adapted = compile(other, folder, DATA, *FLAGS, "--weights", folder / "given1", "--lora", "attn.q.weight:rank=2", name="adapted")
adapted.run(*TRAIN, "--export-adapters", folder / "adapters", "--export-weights", folder / "merged")
names = load_file(folder / "adapters/adapter_model.safetensors").keys()
assert {name for name in names if "lora" in name} == {f"base_model.model.attn.q.lora_{x}.weight" for x in "AB"}, names
assert read_folder(folder / "merged").keys() == given.keys()

# Tensors that do not match are named as in the folder.
wrong = {name: value for name, value in given.items() if name != "experts.1.w1.weight"} | {"c_attn.weight": np.zeros((2, 2), np.float32)}
write_folder(folder / "wrong", wrong)
said = run([MTC, "compile", other, *FLAGS, "--weights", folder / "wrong", "-o", folder / "x"], folder, code=1).stderr
for message in ["tensor 'experts.1.w1.weight' is missing; the program expects f32 [6, 8]",
                "tensor 'c_attn.weight' is f32 [2, 2]; the program expects f32 [8, 24]"]:  # fmt: skip
    assert message in said, said

# Metadata that describes no tensors of the parameter is an error of the file.
for change, message in [
    (lambda p: p.update({"norm.scale": 3}), "parameter 'norm.scale': malformed 'pretrained'"),
    (lambda p: p["norm.scale"][0].pop("shape"), "parameter 'norm.scale': malformed 'pretrained'"),
    (lambda p: p["out.weight"][0]["parts"][0].pop(), "parameter 'out.weight': malformed 'pretrained'"),
    (lambda p: p["bn.running_var"][0].update(name=3), "buffer 'bn.running_var': malformed 'pretrained'"),
    (lambda p: p["norm.scale"][0].update(shape=[7]), "'pretrained' of 'norm.scale': has the image"),
    (lambda p: p["experts.up"].pop(), "'pretrained' of 'experts.up': has 144 elements, but its images hold 96"),
    (lambda p: p["out.weight"][0]["parts"][0].__setitem__(0, -1), "'pretrained' of 'out.weight': has 30 elements, but its image 'out.weight'"),
    (lambda p: p["out.weight"][0]["parts"][0].__setitem__(2, [0, 1]), "expected extents and strides of at least 1"),
]:
    changed = copy.deepcopy(PRETRAINED)
    change(changed)
    said = run([MTC, "compile", write_model("broken.onnx", WEIGHTS, changed), *FLAGS, "-o", folder / "x"], folder, code=1).stderr
    assert message in said and "export the module again with mtc.export" in said, (message, said)
