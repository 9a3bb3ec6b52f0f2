"""Models of tokens of any number, their ragged data, and the same data padded to one length, in the test's own folder."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, own_folder, run
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


def compiled(name, model, sizes, *flags, batch=BATCH):
    dims = ["--dim", f"batch={batch}", "--dim", f"sequence={sizes}"]
    run([MTC, "compile", folder / f"{model}.onnx", *dims, *flags, "-o", folder / name], folder)
    return folder / name


def pair(model, name, *flags):
    """Returns a program with three shapes and its ragged data, and one with one shape and padded data."""
    several = Program(compiled(f"{name}-shapes", model, "4,16,8", *flags), {})
    several.data_flags = ["--data", "input_ids=ids.safetensors", "--bucket-by", "none"]
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
