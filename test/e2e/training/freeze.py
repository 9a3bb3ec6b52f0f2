# RUN: %python %s %t
"""Parameters that --freeze or --train exclude need no backward computation, saved activations, gradients or optimizer state. Checkpoints
omit them; exports contain their given values."""

import json

import numpy as np
import onnx
from models import GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run, same_bits
from safetensors.numpy import load_file, save_file

LAYERS, WIDTH, ROWS = 8, 64, 512
folder = own_folder()
rng = np.random.default_rng(0)
# The gradient of a layer's weight needs the layer's input and no other activation.
values = {}
for i in range(LAYERS):
    values[f"layers.{i}.weight"] = rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5
    values[f"layers.{i}.bias"] = rng.standard_normal(WIDTH).astype(np.float32)
nodes = [helper.make_node("Gemm", [f"h{i}", f"layers.{i}.weight", f"layers.{i}.bias"], [f"h{i + 1}"], transB=1) for i in range(LAYERS)]
graph = helper.make_graph(
    nodes, "chain", [helper.make_tensor_value_info("h0", TensorProto.FLOAT, [ROWS, WIDTH])],
    [helper.make_tensor_value_info(f"h{LAYERS}", TensorProto.FLOAT, [ROWS, WIDTH])],
    [numpy_helper.from_array(value, name) for name, value in values.items()])  # fmt: skip
CHAIN = folder / "chain.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), CHAIN)
DATA = {"h0": rng.standard_normal((ROWS, WIDTH)).astype(np.float32), "labels": rng.standard_normal((ROWS, WIDTH)).astype(np.float32)}
FLAGS = ("--loss", "mse", "--optimizer", "adamw", "--lr", "0.01")

BIASES = ("--train", "*.bias")
LAST_TWO = ("--train", f"layers.{LAYERS - 2}.*", "--train", f"layers.{LAYERS - 1}.*")
SOME = ("--train", "layers.2.weight", "--train", "layers.5.weight")
FRONT = tuple(word for i in range(LAYERS // 2) for word in ("--freeze", f"layers.{i}.*"))


def backward_contractions(model, *flags) -> int:
    text = run([MTC, "compile", model, *flags, "--emit=training"], folder).stdout
    functions = {part.split("(")[0]: part.count("mtc.contract ") for part in text.split("func.func @")[1:]}
    assert functions["evaluate"] >= LAYERS
    return functions["micro_step"] - functions["evaluate"]


# The backward pass has one contraction for each trained weight, and one for each layer after the first layer with a trained parameter.
assert backward_contractions(CHAIN, *FLAGS) == LAYERS + LAYERS - 1
assert backward_contractions(CHAIN, *FLAGS, *BIASES) == LAYERS - 1
assert backward_contractions(CHAIN, *FLAGS, *LAST_TWO) == 2 + 1
assert backward_contractions(CHAIN, *FLAGS, *SOME) == 2 + LAYERS - 3
assert backward_contractions(CHAIN, *FLAGS, *FRONT) == LAYERS // 2 + LAYERS // 2 - 1


def plan(model, *flags) -> dict:
    found = json.loads(run([MTC, "plan", model, *flags, "--json"], folder).stdout)["categories"]
    return found | {"temporaries": found["activations"] + found["activation_gradients"]}


def moments(*shapes) -> int:
    return sum(2 * 64 * -(-4 * int(np.prod(shape)) // 64) for shape in shapes)


# At most the result, its operand, and the saved activations of earlier layers are live.
buffer = 4 * ROWS * WIDTH
MATRIX, VECTOR = (WIDTH, WIDTH), (WIDTH,)
assert plan(CHAIN, *FLAGS)["activations"] >= (LAYERS - 1) * buffer
for patterns, buffers, trained in [(BIASES, 3, LAYERS * [VECTOR]), (LAST_TWO, 4, 2 * [MATRIX, VECTOR]), (SOME, 4, 2 * [MATRIX])]:
    found = plan(CHAIN, *FLAGS, *patterns)
    # Gradients of a kernel and column sums are live in addition to whole buffers.
    assert found["temporaries"] < (buffers + 0.5) * buffer, (patterns, found["temporaries"] / buffer)
    assert found["optimizer"] == moments(*trained), (patterns, found)
    assert found["gradients"] <= moments(*trained) // 2, (patterns, found)

# In a transformer, the backward pass also needs activations that are not operands of contractions.
language = (GPT2.model, *GPT2.flags)
whole, biases, head = plan(*language), plan(*language, *BIASES), plan(*language, "--train", "transformer.ln_f.*")
assert backward_contractions(*language, *BIASES) <= backward_contractions(*language) // 2
assert backward_contractions(*language, "--train", "transformer.ln_f.*") == 1
assert head["temporaries"] < biases["temporaries"] < whole["temporaries"]

# Gradients are equal, and only trained parameters have one.
program = compile(CHAIN, folder, DATA, *FLAGS, *BIASES, name="biases")
gradients, all_gradients = program.gradients("biases"), compile(CHAIN, folder, DATA, *FLAGS, name="all").gradients("all")
assert gradients.keys() == {name for name in values if name.endswith("bias")}
for name, gradient in gradients.items():
    np.testing.assert_allclose(gradient, all_gradients[name], rtol=1e-5, atol=1e-6, err_msg=name)

# A checkpoint contains trained parameters only; resuming is bit-exact.
saved = folder / "saved"
program.run("--steps", 2, "--no-shuffle", "--save", saved)
tensors = load_file(next(saved.glob("*.safetensors")))
assert {name.removesuffix(".moment1").removesuffix(".moment2") for name in tensors} == gradients.keys(), tensors.keys()
exported = program.exported("straight", "--steps", 4, "--no-shuffle")
assert program.exported("resumed", "--steps", 4, "--resume", saved) == exported


def initializers(file: bytes) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.ModelProto.FromString(file).graph.initializer}


def check_export(file: bytes, given: dict[str, np.ndarray]):
    found = initializers(file)
    assert found.keys() == given.keys()
    for name in given:
        assert (found[name] == given[name]).all() == name.endswith("weight"), name


# Frozen weights are exported with the values of the run, independently of their origin.
check_export(exported, values)
other = {name: np.ascontiguousarray(value[::-1]) for name, value in values.items()}
save_file(other, folder / "other.safetensors")
check_export(program.exported("other", "--weights", folder / "other.safetensors", "--steps", 1, "--no-shuffle"), other)
missing = {name: value for name, value in other.items() if name != "layers.3.weight"}
save_file(missing, folder / "missing.safetensors")
said = program.run("--weights", folder / "missing.safetensors", "--steps", 1, code=1).stderr
assert "tensor 'layers.3.weight' is missing" in said, said
# A checkpoint depends on the frozen weights: a run with other initial weights cannot be resumed without them.
others, given = folder / "others", ("--weights", folder / "other.safetensors")
program.run(*given, "--steps", 2, "--no-shuffle", "--save", others)
said = program.run("--resume", others, "--steps", 4, code=1).stderr
assert "was trained with another value of 'layers.0.weight', which is frozen; --weights names" in said, said
whole = program.exported("whole", *given, "--steps", 4, "--no-shuffle")
assert program.exported("halves", *given, "--resume", others, "--steps", 4) == whole
assert same_bits(initializers(program.exported("again", "--steps", 4, "--no-shuffle")), initializers(exported))

# The message reports both problems.
said = run([MTC, "plan", CHAIN, *FLAGS, *BIASES], folder).stderr
assert f"note: {LAYERS} of {2 * LAYERS} parameters trained ({LAYERS * WIDTH} of {LAYERS * WIDTH * (WIDTH + 1)} elements)" in said, said
rows = json.loads(run([MTC, "inspect", CHAIN, *BIASES, "--json"], folder).stdout)["initializers"]
assert {(row["role"], row["reason"]) for row in rows} == {("frozen", "no --train pattern matches it"), ("parameter", "--train *.bias")}, rows
