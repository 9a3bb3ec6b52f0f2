# RUN: %python %s %t
"""Operators of onnxruntime: values equal onnxruntime's (recorded by test/support/record_microsoft.py), gradients in f64 equal central
differences of the program's own loss, and an export has the same nodes.

One model contains all nodes; its loss is a weighted sum of the sines of their results.
"""

import json
from pathlib import Path

import microsoft_cases
import numpy as np
import onnx
from microsoft_cases import cases
from onnx import helper, numpy_helper
from program import MTC, compile, losses, own_folder, run
from safetensors.numpy import save_file

STEP = 1e-5
folder = own_folder()
CASES = cases()
RECORDS = json.loads((Path(__file__).parents[1] / "inputs/microsoft.json").read_text())


def model(dtype) -> tuple[onnx.ModelProto, list[str]]:
    """Returns the model, and the names of the trained operands."""
    random = np.random.default_rng(3)
    element = microsoft_cases.element(dtype)
    nodes, initializers, outputs, parts = [], [], [], []
    for case in CASES:
        made, weights = case.nodes_and_initializers(dtype)
        nodes += made
        initializers += weights
        outputs += case.output_infos(dtype)
    for name in (output.name for output in outputs if output.type.tensor_type.elem_type == element):
        weight = numpy_helper.from_array(random.uniform(0.5, 1.5, 1).astype(dtype))
        nodes += [helper.make_node("Constant", [], [f"{name}.weight"], value=weight),
                  helper.make_node("Sin", [name], [f"{name}.sine"]),
                  helper.make_node("Mul", [f"{name}.sine", f"{name}.weight"], [f"{name}.weighted"]),
                  helper.make_node("ReduceSum", [f"{name}.weighted"], [f"{name}.part"], keepdims=0)]  # fmt: skip
        parts.append(f"{name}.part")
    nodes += [helper.make_node("Sum", parts, ["sum"]), helper.make_node("Mul", ["sum", "x"], ["loss"])]
    inputs = [helper.make_tensor_value_info("x", element, [1])]
    loss = helper.make_tensor_value_info("loss", element, [1])
    graph = helper.make_graph(nodes, "microsoft", inputs, [loss, *outputs], initializers)
    made = helper.make_model(graph, opset_imports=microsoft_cases.imports(), ir_version=10)
    return made, [i.name for i in initializers if i.data_type == element]


def build(dtype, name: str):
    made, trained = model(dtype)
    onnx.save(made, folder / f"{name}.onnx")
    train = [word for parameter in trained for word in ("--train", parameter)]
    return compile(folder / f"{name}.onnx", folder, {"x": np.ones(1, dtype)}, "--loss", "output", "--output", "loss", "--optimizer", "sgd",
                   "--lr", "0.01", *train, name=name), trained  # fmt: skip


def values_are_those_of_onnxruntime(program):
    outputs = program.outputs("values")
    assert len(RECORDS) > 30
    for name, record in RECORDS.items():
        expected = np.reshape(record["values"], record["shape"])
        # Results without a batch axis are written once for each batch, and the data has one batch.
        found = outputs[name].reshape(expected.shape)
        assert outputs[name].shape in (expected.shape, (1, *expected.shape)), (name, outputs[name].shape)
        error = np.abs(found - expected).max()
        assert error <= 2e-5 * max(1, np.abs(expected).max()), (name, error)


def gradients_are_central_differences(program, trained: list[str]):
    """Checks the gradients of each node's operands along a random direction."""
    random = np.random.default_rng(5)
    gradients = program.gradients("gradients")
    assert gradients.keys() == set(trained)
    arrays = {f"{case.name}.{i}": operand.array for case in CASES for i, operand in enumerate(case.operands) if operand}
    weights = {name: arrays[name] for name in trained}

    def loss(moved: dict) -> float:
        save_file({name: np.ascontiguousarray(array) for name, array in (weights | moved).items()}, folder / "moved.safetensors")
        return program.outputs("loss", "--weights", folder / "moved.safetensors")["loss"].item()

    for name in trained:
        direction = random.normal(0, 1, weights[name].shape)
        above, below = (loss({name: weights[name] + sign * STEP * direction}) for sign in (1, -1))
        expected, found = (above - below) / (2 * STEP), float((gradients[name] * direction).sum())
        assert abs(expected) > 1e-7, f"{name} has no gradient"
        assert abs(found - expected) <= 1e-6 * abs(expected) + 1e-7, (name, found, expected)


def nodes_are_exported(program):
    exported = onnx.load_from_string(program.exported("exported", "--steps", 1))
    counts = [sum(node.op_type == case.operator and node.domain == case.domain for node in exported.graph.node) for case in CASES]
    assert all(counts), counts


PROMPT = """<ir_version: 9, opset_import: ["" : 18, "com.microsoft" : 1]>
prompt (int64[batch, length] ids, int64[batch, total] mask, float[batch, 1, past, 16] past_key, float[batch, 1, past, 16] past_value)
    => (float[batch, length, 20] logits, float[batch, 1, total, 16] key, float[batch, 1, total, 16] value) {
  x = Gather (table, ids)
  norm = SimplifiedLayerNormalization <epsilon = 1e-6, axis = -1> (x, scale)
  packed = MatMul (norm, qkv)
  narrow = Cast <to = 6> (mask)
  axis = Constant <value = int64[1] {1}> ()
  sums = ReduceSum <keepdims = 0> (narrow, axis)
  one = Constant <value = int32 {1}> ()
  lengths = Sub (sums, one)
  shape = Shape <start = 1> (mask)
  wide = Squeeze (shape)
  positions = Cast <to = 6> (wide)
  y, key, value = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1, do_rotary = 1>
      (packed, , , past_key, past_value, lengths, positions, cosine, sine)
  norm2, mean, deviation, sum = com.microsoft.SkipSimplifiedLayerNormalization <epsilon = 1e-6> (x, y, scale2)
  logits = MatMul (norm2, head)
}"""


def prompts_are_trained():
    """A decoder as onnxruntime-genai writes it: --bind sets an empty cache, and its tables are constants."""
    random = np.random.default_rng(9)
    model = onnx.parser.parse_model(PROMPT)
    skip = next(node for node in model.graph.node if node.op_type == "SkipSimplifiedLayerNormalization")
    skip.output[1] = skip.output[2] = ""
    shapes = {"table": (20, 32), "scale": (32,), "qkv": (32, 64), "scale2": (32,), "head": (32, 20)}
    values = {name: random.normal(1 if "scale" in name else 0, 0.3, shape) for name, shape in shapes.items()}
    angles = np.outer(np.arange(12), 100.0 ** -(np.arange(8) / 8))
    values |= {"cosine": np.cos(angles), "sine": np.sin(angles)}
    model.graph.initializer.extend(numpy_helper.from_array(array.astype(np.float32), name) for name, array in values.items())
    onnx.save(model, folder / "prompt.onnx")
    np.save(folder / "past.npy", np.zeros((2, 1, 0, 16), np.float32))
    data = {"ids": random.integers(0, 20, (2, 6)), "mask": np.ones((2, 6), np.int64), "labels": random.integers(0, 20, (2, 6))}
    sizes = [word for name, size in (("batch", 2), ("length", 6), ("total", 6)) for word in ("--dim", f"{name}={size}")]
    bound = [word for name in ("past_key", "past_value") for word in ("--bind", f"{name}={folder / 'past.npy'}")]
    program = compile(folder / "prompt.onnx", folder, data, "--loss", "causal-lm", "--output", "logits", "--optimizer", "adamw", "--lr",
                      "0.02", *sizes, *bound, name="prompt")  # fmt: skip
    assert program.gradients("prompt_gradients").keys() == shapes.keys()
    log = losses(program.train(40))
    assert log[-1] < 0.2 * log[0], log


def inspect_lists_them():
    text = run([MTC, "inspect", folder / "f32.onnx"], folder).stdout
    assert "Compiles with" in text and "GroupQueryAttention 3" in text, text
    table = run([MTC, "operators", *(f"com.microsoft::{o}" for o in sorted({c.operator for c in CASES if c.domain}))], folder).stdout
    assert all(line.endswith(" yes") for line in table.splitlines()[1:]), table


program, _ = build(np.float32, "f32")
values_are_those_of_onnxruntime(program)
nodes_are_exported(program)
inspect_lists_them()
prompts_are_trained()
gradients_are_central_differences(*build(np.float64, "f64"))
