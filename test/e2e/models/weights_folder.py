# RUN: %python %s %t
"""mtc compile --weights reads a folder of save_pretrained, and --export-weights DIR writes one with the same names and types: several files,
bf16, a head that is tied to an embedding, names with a prefix, of torch.compile and of TensorFlow, and tensors that the model lacks."""

import json
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pretrained import BF16, INDEX, read_folder, write_folder
from program import MTC, Program, compile, own_folder, run, same_bits
from safetensors.numpy import load_file

WORDS, WIDTH, LENGTH, BATCH = 40, 16, 6, 4
folder = own_folder()
random = np.random.default_rng(0)
shapes = {
    "embed.weight": (WORDS, WIDTH), "layers.0.up.weight": (WIDTH, 2 * WIDTH), "layers.0.up.bias": (2 * WIDTH,),
    "layers.0.down.weight": (2 * WIDTH, WIDTH), "norm.weight": (WIDTH,), "norm.bias": (WIDTH,),
}  # fmt: skip
# Values of bf16, so that files of any type can hold them.
WEIGHTS = {n: (random.standard_normal(s) * 0.3).astype(BF16).astype(np.float32) for n, s in shapes.items()}
DATA = {"ids": random.integers(0, WORDS, (8, LENGTH)), "labels": random.integers(0, WORDS, (8, LENGTH))}


def write_model(name: str, values: dict[str, np.ndarray]):
    """The head is the transposed embedding, as in language models with tied weights."""
    nodes = [
        helper.make_node("Gather", ["embed.weight", "ids"], ["h"]),
        helper.make_node("MatMul", ["h", "layers.0.up.weight"], ["u"]),
        helper.make_node("Add", ["u", "layers.0.up.bias"], ["b"]),
        helper.make_node("Relu", ["b"], ["r"]),
        helper.make_node("MatMul", ["r", "layers.0.down.weight"], ["d"]),
        helper.make_node("LayerNormalization", ["d", "norm.weight", "norm.bias"], ["n"]),
        helper.make_node("Transpose", ["embed.weight"], ["head"], perm=[1, 0]),
        helper.make_node("MatMul", ["n", "head"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", LENGTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", LENGTH, WORDS])],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / name)
    return folder / name


model = write_model("model.onnx", WEIGHTS)
other = write_model("other.onnx", {name: np.zeros_like(value) for name, value in WEIGHTS.items()})
FLAGS = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--labels", "labels", "--optimizer", "adamw", "--lr", "1e-2")
TRAIN = ("--steps", 3, "--no-shuffle")


def bf16(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: value.astype(BF16) for name, value in weights.items()}


plain = compile(model, folder, DATA, *FLAGS, name="plain")
plain.run(*TRAIN, "--export-weights", folder / "plain.safetensors")
trained = load_file(folder / "plain.safetensors")
assert all(np.abs(trained[name] - WEIGHTS[name]).max() > 1e-3 for name in WEIGHTS), "nothing was trained"


def check_folder(what: str, given: dict[str, np.ndarray], renamed, note: str = "", files: int = 3, flags: tuple = ()) -> Program:
    """Trains from a folder, and compares the exported one with the weights that the same training of `plain` has."""
    source, target = folder / f"{what}-source", folder / f"{what}-out"
    write_folder(source, given, files)
    program = compile(other, folder, DATA, *FLAGS, "--weights", source, *flags, name=what)
    assert not (folder / f"{what}.weights.safetensors").exists(), "the weights were copied"
    said = program.run(*TRAIN, "--export-weights", target, "--max-shard-size", "2KB").stderr
    assert note in said, said
    found = read_folder(target)
    assert (target / INDEX).exists() and found.keys() == given.keys(), found.keys() ^ given.keys()
    expected = given | {renamed(name): value.astype(given[renamed(name)].dtype) for name, value in trained.items() if renamed(name) in given}
    assert same_bits(found, expected), [name for name in found if not np.array_equal(found[name], expected[name])]
    assert (target / "config.json").read_text() == (source / "config.json").read_text()
    assert (target / "vocab.txt").exists()
    return program


# The model's own weights are zeros: those of the folder replace them.
program = check_folder("folder", bf16(WEIGHTS), lambda name: name)
check_folder("one", WEIGHTS, lambda name: name, files=1)
check_folder("prefix", bf16({f"model.{n}": v for n, v in WEIGHTS.items()}), lambda name: f"model.{name}",
             "have names with the prefix 'model.' there")  # fmt: skip
compiled = {n.replace("layers.0.", "layers.0._orig_mod."): v for n, v in WEIGHTS.items()}
check_folder("compiled", compiled, lambda name: name.replace("layers.0.", "layers.0._orig_mod."),
             "3 tensors have names with '_orig_mod.', of torch.compile")  # fmt: skip


def old(name: str) -> str:
    return name.replace("norm.weight", "norm.gamma").replace("norm.bias", "norm.beta")


check_folder("old", {f"bert.{old(n)}": v for n, v in WEIGHTS.items()}, lambda name: f"bert.{old(name)}",
             "2 tensors are named gamma or beta, which are weight and bias")  # fmt: skip
# A tensor that the model lacks is kept: the folder stays valid for its configuration.
extra = bf16(WEIGHTS) | {"pooler.weight": np.full((3, 2), 0.5, BF16)}
check_folder("extra", extra, lambda name: name, "ignored, since the program does not have them: 'pooler.weight'",
             flags=("--ignore-weights", "pooler.*"))  # fmt: skip

# The exported folder is valid for --weights, and replaced by the next export.
again = folder / "folder-out"
program.run("--weights", again, "--steps", 1, "--export-weights", folder / "second", "--export-dtype", "f32")
assert {value.dtype for value in read_folder(folder / "second").values()} == {np.dtype(np.float32)}
assert json.loads((folder / "second/config.json").read_text())["dtype"] == "float32"
program.run("--weights", again, "--steps", 1, "--export-weights", folder / "second")
assert {value.dtype for value in read_folder(folder / "second").values()} == {BF16}
assert not list(folder.glob(".*.tmp")), "temporary folders remain"
(folder / "second/notes.txt").write_text("kept")
program.run("--steps", 1, "--export-weights", folder / "second")
assert (folder / "second/notes.txt").read_text() == "kept"
(folder / "scripts").mkdir()
(folder / "scripts/train.py").write_text("")
for target, message in [
    (folder / "folder-source", "the run uses this folder otherwise"),
    (folder, "which an export of weights does not write; choose a new folder"),
    (folder / "scripts", "has 'train.py', which an export of weights does not write; choose a new folder"),
    (folder / "model.onnx", "is a file; expected the name of a folder, or FILE.safetensors"),
    (folder / "missing/out", "cannot be written to"),
]:
    said = program.run("--steps", 1, "--export-weights", target, code=1).stderr
    assert message in said, said

# A moved folder, and one that does not fit, of which all problems are reported.
(folder / "moved").mkdir()
shutil.copy(program.path, folder / "moved/train")
shutil.copytree(folder / "folder-source", folder / "moved/folder-source")
moved = Program(folder / "moved/train", DATA)
moved.run("--steps", 1)
(folder / "moved/folder-source").rename(folder / "moved/elsewhere")
said = moved.run("--steps", 1, code=1).stderr
assert "compiled to start from the weights in" in said and "name them with --weights" in said, said
moved.run("--steps", 1, "--weights", folder / "moved/elsewhere")
wrong = bf16(WEIGHTS) | {"norm.weight": np.zeros(3, BF16), "upper.weight": np.zeros(2, BF16)}
del wrong["layers.0.up.weight"]
write_folder(folder / "wrong", wrong)
said = program.run("--weights", folder / "wrong", code=1).stderr
for message in ["tensor 'norm.weight' is bf16 [3]; the program expects bf16 [16]", "tensor 'layers.0.up.weight' is missing",
                "does not have its tensors 'upper.weight'"]:  # fmt: skip
    assert message in said, said
said = run([MTC, "compile", other, *FLAGS, "--weights", folder / "absent", "-o", folder / "x"], folder, code=1).stderr
assert "--weights" in said and "absent" in said, said

# A checkpoint has all weights, so that a run resumes without the folder, under the names of the module.
saved = folder / "saved"
program.run(*TRAIN, "--save", saved)
shutil.move(folder / "folder-source", folder / "away")
program.run("--resume", saved, "--export-weights", folder / "resumed")
assert same_bits(read_folder(folder / "resumed"), trained)
shutil.move(folder / "away", folder / "folder-source")
program.run("--resume", saved, "--export-weights", folder / "resumed-as-loaded")
assert same_bits(read_folder(folder / "resumed-as-loaded"), bf16(trained))
