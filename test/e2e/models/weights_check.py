# RUN: %python %s %t
"""mtc compile checks names, types and shapes of --weights, and writes nothing if they do not match the program: all problems of a folder are
reported at once. Tensors that a program need not have are accepted: buffers, tied heads, adapters, frozen and quantized weights."""

import json
import re
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pretrained import BF16, INDEX, write_folder
from program import MTC, own_folder, run
from safetensors.numpy import save_file

WORDS, WIDTH, LENGTH = 40, 16, 6
folder = own_folder()
random = np.random.default_rng(0)
SHAPES = {"embed.weight": (WORDS, WIDTH), "layers.0.up.weight": (WIDTH, WIDTH), "layers.0.up.bias": (WIDTH,), "layers.0.down.weight": (WIDTH, WIDTH)}
WEIGHTS = {name: random.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
SCALE = np.asarray([0.5, 2], np.float32)
POSITIONS = np.arange(LENGTH)[None]


def write_model(name: str, is_tied: bool = False, buffers: dict[str, np.ndarray] | None = None, has_data: bool = True):
    """A language model whose file has a constant and, as exporters write them, facts on buffers."""
    nodes = [
        helper.make_node("Gather", ["embed.weight", "ids"], ["h"]),
        helper.make_node("Add", ["ids", "positions"], ["p"]),
        helper.make_node("Gather", ["embed.weight", "p"], ["e"]),
        helper.make_node("Add", ["h", "e"], ["s"]),
        helper.make_node("MatMul", ["s", "layers.0.up.weight"], ["u"]),
        helper.make_node("Add", ["u", "layers.0.up.bias"], ["b"]),
        helper.make_node("Relu", ["b"], ["r"]),
        helper.make_node("MatMul", ["r", "layers.0.down.weight"], ["d"]),
        helper.make_node("Transpose", ["embed.weight" if is_tied else "head.weight"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["d", "t"], ["logits"]),
    ]
    values = WEIGHTS | {"positions": POSITIONS * 0} | (buffers or {})
    if not is_tied:
        values["head.weight"] = WEIGHTS["embed.weight"] * 2
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", LENGTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", LENGTH, WORDS])],
        [numpy_helper.from_array(value, key) for key, value in values.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / name, save_as_external_data=not has_data, location=f"{name}.data", size_threshold=0)
    if not has_data:
        (folder / f"{name}.data").unlink()
    return folder / name


FLAGS = ("--dim", "batch=2", "--loss", "cross-entropy", "--labels", "labels")
untied, tied = write_model("untied.onnx"), write_model("tied.onnx", is_tied=True)
ALL = WEIGHTS | {"head.weight": WEIGHTS["embed.weight"] * 2, "positions": POSITIONS * 0}


def attempt(model, given: dict[str, np.ndarray], *flags, files: int = 2, code: int = 0, name: str = "given") -> str:
    """Compiles a model, and returns the messages. A program is written only if the exit code is 0."""
    for old in folder.glob("attempt*"):
        old.unlink()
    shutil.rmtree(folder / name, ignore_errors=True)
    write_folder(folder / name, given, files)
    said = run([MTC, "compile", model, *FLAGS, *flags, "--weights", folder / name, "-o", folder / "attempt"], folder, code=code).stderr
    assert (folder / "attempt").exists() == (code == 0) and len(list(folder.glob("attempt*"))) == (code == 0), list(folder.glob("attempt*"))
    return said


def without(given: dict[str, np.ndarray], *names: str) -> dict[str, np.ndarray]:
    return {name: value for name, value in given.items() if name not in names}


def errors(said: str) -> list[str]:
    return [line for line in said.splitlines() if "error: " in line]


# What matches, in every type, and in one file.
for given in (ALL, {name: value.astype(BF16) if value.dtype == np.float32 else value for name, value in ALL.items()}):
    for files in (1, 3):
        assert "error" not in attempt(untied, given, files=files)
        attempt(untied, {f"model.{name}": value for name, value in given.items()}, files=files)
# The program has the constant `positions` itself, and one parameter for both uses of the tied embedding.
attempt(untied, without(ALL, "positions"))
attempt(tied, without(ALL, "positions", "head.weight"))
attempt(tied, without(ALL, "head.weight"))
# Adapters are initialized by the program; frozen and quantized weights are those of the checkpoint.
for flags in (("--lora", "*.weight:rank=2"), ("--lora", "*.weight:rank=2", "--frozen-bits", "4"), ("--freeze", "embed.*"),
              ("--lora", "*.up.weight:rank=2", "--frozen-bits", "16", "--train", "*.bias"), ("--precision", "bf16", "--optimizer", "sgd")):  # fmt: skip
    attempt(untied, ALL, *flags)
    said = errors(attempt(untied, without(ALL, "layers.0.down.weight"), *flags, code=1))
    assert len(said) == 1 and "tensor 'layers.0.down.weight' is missing; the program expects f32 [16, 16]" in said[0], said
# PyTorch's batch counters are in checkpoints of every module with batch normalization.
attempt(untied, ALL | {"norm.num_batches_tracked": np.asarray(3)})

# All problems at once, with suggestions.
wrong = without(ALL, "layers.0.up.weight", "head.weight") | {
    "layers.0.upp.weight": ALL["layers.0.up.weight"], "layers.0.up.bias": np.zeros(3, np.float32),
    "layers.0.down.weight": ALL["layers.0.down.weight"].astype(np.float64), "pooler.dense": np.zeros((2, 3), BF16),
}  # fmt: skip
said = attempt(untied, wrong, code=1)
for expected in [
    f"--weights {folder}/given: tensor 'layers.0.up.bias' is f32 [3]; the program expects f32 [16]",
    "tensor 'layers.0.down.weight' is f64 [16, 16]; the program expects f32 [16, 16]",
    "tensor 'layers.0.up.weight' is missing; the program expects f32 [16, 16]; did you mean 'layers.0.upp.weight'",
    "tensor 'head.weight' is missing; the program expects f32 [40, 16]",
    "the program does not have tensor 'layers.0.upp.weight', f32 [16, 16]; did you mean 'layers.0.up.weight'?; --ignore-weights 'layers.0.upp.weight'",
    "the program does not have tensor 'pooler.dense', bf16 [2, 3]; --ignore-weights 'pooler.dense' permits it",
]:
    assert expected in said, (expected, said)
assert len(errors(said)) == 6, said
assert len(errors(attempt(untied, wrong, "--ignore-weights", "pooler.*", "--ignore-weights", "*upp*", code=1))) == 4
attempt(untied, ALL | {"pooler.dense": np.zeros((2, 3), BF16)}, "--ignore-weights", "pooler.*")
# A prefix is known if one explains all names, and only then.
said = attempt(tied, {f"{'ab'[i % 2]}.{name}": value for i, (name, value) in enumerate(WEIGHTS.items())}, code=1)
assert len(errors(said)) == 1 and "expected names that differ from the program's by one prefix at most" in said, said
said = attempt(untied, {f"pooler.{i}": np.zeros(2, BF16) for i in range(3)}, code=1)
assert len(errors(said)) == 8 and said.count("is missing") == 5, said

# A model without data has no values of its own, also not those of its constants.
empty = write_model("empty.onnx", has_data=False)
attempt(empty, ALL)
said = attempt(empty, without(ALL, "layers.0.up.bias"), code=1)
assert "tensor 'layers.0.up.bias' is missing" in said, said

# A constant of the program is compared with the tensor of the same name.
said = errors(attempt(untied, ALL | {"positions": POSITIONS}, code=1))
assert len(said) == 1 and "tensor 'positions' is a constant of the program, with another value in the model's file" in said[0], said
attempt(untied, ALL | {"positions": POSITIONS}, "--ignore-weights", "positions")
said = attempt(untied, ALL | {"positions": np.zeros(3, np.int64)}, code=1)
assert "tensor 'positions' is i64 [3]; the program expects i64 [1, 6]" in said, said

# A file of the index that is missing, and a text of a stage.
write_folder(folder / "lost", ALL, 2)
index = json.loads((folder / "lost" / INDEX).read_text())
lost = sorted(set(index["weight_map"].values()))[-1]
(folder / "lost" / lost).unlink()
said = run([MTC, "compile", untied, *FLAGS, "--weights", folder / "lost", "-o", folder / "attempt"], folder, code=1).stderr
assert re.search(rf"--weights .*/lost/{lost}: .*No such file", said), said
run([MTC, "compile", untied, *FLAGS, "--emit=training", "-o", folder / "training.mlir"], folder)
save_file(without(ALL, "embed.weight"), folder / "one.safetensors")
said = run([MTC, "compile", folder / "training.mlir", "--weights", folder / "one.safetensors", "-o", folder / "x"], folder, code=1).stderr
assert "one.safetensors: tensor 'embed.weight' is missing; the program expects f32 [40, 16]" in said and not (folder / "x").exists(), said
