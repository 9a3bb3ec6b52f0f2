# RUN: %python %s %t
"""A program with several shapes trains rows of different lengths as one whose length is that of the longest row: it gives the same losses,
gradients, metrics and weights, for classes of rows and for tokens, with accumulation and in a resumed run."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, losses, own_folder, run
from safetensors.numpy import save_file

ROWS, BATCH, WORDS, WIDTH, CLASSES, LENGTHS = 44, 4, 50, 8, 3, (4, 8, 16)
folder = own_folder()
random = np.random.default_rng(0)
embedding = numpy_helper.from_array(random.normal(0, 0.5, (WORDS, WIDTH)).astype(np.float32), "embedding")


def save(name, nodes, inputs, output, weights):
    graph = helper.make_graph(nodes, name, inputs, [output], [embedding, *weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / f"{name}.onnx")


def tokens(name):
    return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])


# The mean of the embeddings of a row's tokens.
save(
    "classes",
    [
        helper.make_node("Gather", ["embedding", "input_ids"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["weights"]),
        helper.make_node("Mul", ["words", "weights"], ["valid"]),
        helper.make_node("ReduceSum", ["valid", "sequence_axis"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "sequence_axis"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("MatMul", ["mean", "weight"], ["logits"]),
    ],
    [tokens("input_ids"), tokens("attention_mask")],
    helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES]),
    [
        numpy_helper.from_array(random.normal(0, 0.5, (WIDTH, CLASSES)).astype(np.float32), "weight"),
        numpy_helper.from_array(np.array([-1]), "last"),
        numpy_helper.from_array(np.array([1]), "sequence_axis"),
    ],
)
# Each token predicts the next one. The sum up to a token depends on a constant that depends on the shape.
save(
    "tokens",
    [
        helper.make_node("Gather", ["embedding", "input_ids"], ["words"]),
        helper.make_node("CumSum", ["words", "axis"], ["past"]),
        helper.make_node("MatMul", ["past", "weight"], ["logits"]),
    ],
    [tokens("input_ids")],
    helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", WORDS]),
    [
        numpy_helper.from_array(random.normal(0, 0.5, (WIDTH, WORDS)).astype(np.float32), "weight"),
        numpy_helper.from_array(np.array(1), "axis"),
    ],
)

# Rows of 1 to 16 tokens, and the same rows padded to 16.
lengths = np.minimum(random.integers(1, 17, ROWS), random.integers(1, 17, ROWS))
lengths[5] = 16
rows = [random.integers(1, WORDS, length) for length in lengths]
save_file(
    {"offsets": np.concatenate([[0], np.cumsum(lengths)]), "values": np.concatenate(rows).astype(np.int32)}, folder / "ids.safetensors"
)
padded, mask = np.zeros((ROWS, 16), np.int64), np.zeros((ROWS, 16), np.int64)
for i, row in enumerate(rows):
    padded[i, : len(row)], mask[i, : len(row)] = row, 1
next_tokens = np.where(np.roll(mask, -1, axis=1) * (np.arange(16) < 15), np.roll(padded, -1, axis=1), -100)
classes = random.integers(0, CLASSES, ROWS)
np.save(folder / "classes.npy", classes)


def compiled(name, model, sizes, *flags):
    run([MTC, "compile", folder / f"{model}.onnx", "--dim", f"batch={BATCH}", "--dim", f"sequence={sizes}", *flags, "-o", folder / name], folder)
    return folder / name


def pair(model, name, *flags):
    """Returns a program with three shapes and its ragged data, and one with one shape and padded data."""
    several = Program(compiled(f"{name}-shapes", model, "4,16,8", *flags), {})
    several.data_flags = ["--data", "input_ids=ids.safetensors"]
    if model == "classes":
        several.data_flags += ["--data", "labels=classes.npy"]
        data = {"input_ids": padded, "attention_mask": mask, "labels": classes}
    else:
        data = {"input_ids": padded, "labels": next_tokens}
    return several, Program(compiled(f"{name}-one", model, "16", *flags), data)


def check_close(found, wanted, what):
    assert found.keys() == wanted.keys(), what
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6, err_msg=f"{what}: {name}")


for model, loss in (("classes", "cross-entropy"), ("tokens", "causal-lm")):
    for flags in ((), ("--accumulate", 2), ("--accumulate", 2, "--clip-norm", 1)):
        name = "-".join([model, *map(str, flags)])
        several, one = pair(model, name, "--loss", loss, *flags)
        np.testing.assert_allclose(losses(several.train(25)), losses(one.train(25)), rtol=1e-5, err_msg=name)
        check_close(several.gradients("gradients"), one.gradients("gradients-one"), name)
        found, wanted = (p.run("--evaluate", "--metrics", p.folder / "evaluated.json").stdout.split() for p in (several, one))
        assert found[0::2] == wanted[0::2], (found, wanted)
        np.testing.assert_allclose([float(v) for v in found[1::2]], [float(v) for v in wanted[1::2]], rtol=1e-5)
        # A resumed run gives the same bits.
        whole = several.exported("whole", "--epochs", 3)
        several.run("--steps", 7, "--save", f"saved-{name}")
        assert several.exported("resumed", "--epochs", 3, "--resume", f"saved-{name}") == whole, name

# The outputs of classes have one size; those of tokens depend on the shape.
several, one = pair("classes", "outputs", "--loss", "cross-entropy")
check_close(several.outputs("outputs"), one.outputs("outputs-one"), "outputs")
several, one = pair("tokens", "outputs-of-tokens", "--loss", "causal-lm")
refused = several.run("--outputs", "none.safetensors", code=1).stderr
assert "the output 'logits' is [4, 16, 50] with" in refused and "sequence = 16" in refused, refused

# The arena of all shapes is that of the largest one, as planned, but for constants of the smaller shapes.
plans = {}
for sizes in ("4,16,8", "16"):
    shown = run([MTC, "plan", folder / "classes.onnx", "--dim", f"batch={BATCH}", "--dim", f"sequence={sizes}", "--loss", "cross-entropy", "--json"], folder)
    plans[sizes] = json.loads(shown.stdout)["peak_bytes"]
    known = json.loads(shown.stdout).get("shapes")
    assert known == ([{"batch": BATCH, "dims": {"sequence": n}} for n in (16, 4, 8)] if "," in sizes else None), known
assert plans["16"] <= plans["4,16,8"] <= plans["16"] + 1024, plans

# Rows of one length use the largest shape, and wrong data is refused.
dense = Program(several.path, {"dense": padded})
dense.data_flags = ["--data", "input_ids=dense.npy"]
dense.run("--steps", 2)
save_file({"offsets": np.array([0, 17, 18, 19, 20]), "values": np.ones(20, np.int64)}, folder / "long.safetensors")
save_file({"offsets": np.array([0, 4, 2, 5, 6]), "values": np.ones(6, np.int64)}, folder / "wrong.safetensors")
save_file({"offsets": np.array([0, 1, 2, 3, 4]), "values": np.full(4, WORDS)}, folder / "range.safetensors")
for file, problem in (
    ("long", "row 0 has 17 values, but the largest shape of the input 'input_ids' is [4, 16]"),
    ("wrong", "the offsets of row 1 are 4 and 2, expected numbers from 0 to 6 in ascending order"),
    ("range", f"row 0 holds {WORDS} (element 0)"),
):
    dense.data_flags = ["--data", f"input_ids={file}.safetensors"]
    shown = dense.run("--steps", 1, code=1).stderr
    assert problem in shown, shown
for sizes, problem in (
    (("sequence=4,8", "batch=4,4,4"), "--dim batch=4,4,4: has 3 sizes, but another dimension has 2"),
    (("sequence=4,8", "batch=8,4"), "the batch must be the same in all shapes"),
    (("sequence=4,8", "batch=4", "--ranks", "2"), "the ranks of a step would run different shapes"),
    (("sequence=4,8", "batch=4", "--emit", "library"), "functions of a library take inputs of one shape"),
    (("sequence=4,8", "batch=4", "--memory", "1MiB", "--fit-batch"), "which --fit-batch does not change"),
):
    dims = [word for size in sizes for word in (("--dim", size) if "=" in size else (size,))]
    shown = run([MTC, "compile", folder / "tokens.onnx", *dims, "--loss", "causal-lm", "-o", folder / "none"], folder, code=1).stderr
    assert problem in shown, shown
shown = run([MTC, "grad", folder / "tokens.onnx", "--dim", "sequence=4,8", "-o", folder / "none.onnx"], folder, code=1).stderr
assert "a gradient model has one shape" in shown, shown
