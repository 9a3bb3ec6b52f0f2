# RUN: %python %s %t
"""Fused attention trains like the decomposed form, on the CPU and on a device. Results are bit-identical for any number of threads, and
memory grows linearly with the sequence length.

The model has two layers of causal attention over packed projections with padding: as opset 23's operator, and as the nodes that exporters
write (transposed keys, square roots of the scale, and a guard for rows without keys).
"""

import json

import numpy as np
import onnx
from models import GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run, same_bits

BATCH, HEADS, WIDTH = 2, 3, 24
PARTS = ("--skip-pass", "mtc-recognize-attention")
EMULATED = ("--target", "cuda", "--emulate")
folder = own_folder()
random = np.random.default_rng(0)


def model(length, dtype=np.float32):
    """x is [batch, length, WIDTH]; `keep` is true where a position is no padding."""
    random = np.random.default_rng(1)
    name = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
    weights, nodes = {}, []

    def constant(key, value):
        weights[key] = np.asarray(value)
        return key

    def node(operator, inputs, output, **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    split = constant("split", np.array([WIDTH] * 3, np.int64))
    heads = constant("heads", np.array([0, length, HEADS, WIDTH // HEADS], np.int64))
    merged = constant("merged", np.array([0, length, WIDTH], np.int64))
    triangle = constant("triangle", np.tri(length, dtype=bool)[None, None])
    rows = constant("rows", np.array([1, 2], np.int64))
    real = node("Unsqueeze", ["keep", rows], "real")
    allowed = node("And", [triangle, real], "allowed")
    zero, none = constant("zero", dtype(0)), constant("none", dtype(-np.inf))
    bias = node("Where", [allowed, zero, none], "bias")
    root = constant("root", dtype((WIDTH // HEADS) ** -0.25))
    x = "x"
    for layer in range(2):
        p = f"layer{layer}."
        packed = node("MatMul", [x, constant(p + "qkv", random.normal(0, 0.3, (WIDTH, 3 * WIDTH)).astype(dtype))], p + "packed")
        nodes.append(helper.make_node("Split", [packed, split], [p + "q", p + "k", p + "v"], axis=2, name=p + "split"))
        q, k, v = (node("Reshape", [p + part, heads], f"{p}{part}4") for part in "qkv")
        q, v = (node("Transpose", [part], part + "t", perm=[0, 2, 1, 3]) for part in (q, v))
        k = node("Transpose", [k], k + "t", perm=[0, 2, 3, 1])
        scores = node("MatMul", [node("Mul", [q, root], p + "qs"), node("Mul", [k, root], p + "ks")], p + "scores")
        soft = node("Softmax", [node("Add", [scores, bias], p + "masked")], p + "softmax", axis=-1)
        safe = node("Where", [node("IsNaN", [soft], p + "isnan"), zero, soft], p + "safe")
        mixed = node("Transpose", [node("MatMul", [safe, v], p + "mixed")], p + "back", perm=[0, 2, 1, 3])
        y = node("MatMul", [node("Reshape", [mixed, merged], p + "merged"),
                            constant(p + "out", random.normal(0, 0.3, (WIDTH, WIDTH)).astype(dtype))], p + "y")  # fmt: skip
        x = node("Add", [x, y], p + "sum")
    nodes[-1].output[0] = "y"
    graph = helper.make_graph(
        nodes, "attention",
        [helper.make_tensor_value_info("x", name, ["batch", length, WIDTH]),
         helper.make_tensor_value_info("keep", TensorProto.BOOL, ["batch", length])],
        [helper.make_tensor_value_info("y", name, ["batch", length, WIDTH])],
        [numpy_helper.from_array(value, key) for key, value in weights.items()],
    )  # fmt: skip
    file = folder / f"{np.dtype(dtype).name}_{length}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), file)
    return file


FLAGS = ("--dim", f"batch={BATCH}", "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1", "--train", "layer*")
LENGTH = 70
for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
    # The second entry of the batch has its padding first: its first rows have no keys.
    keep = np.ones((2 * BATCH, LENGTH), bool)
    keep[1::2, :9] = False
    data = {name: random.normal(0, 1, (2 * BATCH, LENGTH, WIDTH)).astype(dtype) for name in ("x", "labels")} | {"keep": keep}
    runs = []
    for name, flags in (("whole", ()), ("parts", PARTS), ("device", EMULATED)):
        place = folder / f"{name}_{np.dtype(dtype).name}"
        place.mkdir()
        program = compile(model(LENGTH, dtype), place, data, *FLAGS, *flags)
        gradients = program.gradients("g", *([] if flags == EMULATED else ["--threads", 2]))
        assert len(gradients) == 4 and all(np.isfinite(g).all() and np.abs(g).max() > 0 for g in gradients.values())
        runs.append((gradients, [row["loss"] for row in program.train(4)]))
        if name == "whole" and dtype == np.float64:  # No operation calls oneDNN, which splits contractions by thread.
            assert same_bits(gradients, program.gradients("g1", "--threads", 1))
    whole, (parts, expected), device = runs
    for gradients, losses in (whole, device):
        for key, gradient in parts.items():
            assert np.allclose(gradients[key], gradient, tolerance, tolerance), (key, np.abs(gradients[key] - gradient).max())
        assert np.allclose(losses, expected, tolerance), (losses, expected)


# Tensor cores keep 10 bits of the operands' mantissa.
place = folder / "tf32"
place.mkdir()
program = compile(model(LENGTH), place, data, *FLAGS, *EMULATED, "--precision", "tf32")
rounded = program.gradients("g")
for key, gradient in parts.items():
    error = np.abs(rounded[key] - gradient).max() / np.abs(gradient).max()
    assert 1e-6 < error < 5e-3, (key, error)
assert np.allclose([row["loss"] for row in program.train(4)], expected, 5e-3)


def peak(length, *flags):
    command = [MTC, "plan", model(length), *FLAGS, "--json", *flags]
    return json.loads(run(command, folder).stdout)["peak_bytes"]


lengths = (512, 1024, 2048)
for target in ((), ("--target", "cuda:sm_90")):
    linear = [peak(n, *target) for n in lengths]
    square = [peak(n, *PARTS, *target) for n in lengths]
    assert linear[2] - linear[1] < 2.1 * (linear[1] - linear[0]), (target, linear)
    assert square[2] - square[1] > 3.5 * (square[1] - square[0]), (target, square)

inspected = run([MTC, "inspect", GPT2.model, *GPT2.flags[:4]], folder).stdout
assert "fused, 0 decomposed" in inspected, inspected
