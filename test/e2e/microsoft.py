# RUN: %python %s %t
"""Operators of onnxruntime: values as onnxruntime computes them (recorded by test/support/record_microsoft.py), gradients in
f64 as central differences of the program's own loss, and an export with the same nodes.

One model holds all nodes; its loss is a weighted sum of the sines of their results.
"""

import json
from pathlib import Path

import microsoft_cases
import numpy as np
import onnx
from microsoft_cases import cases
from onnx import helper, numpy_helper
from program import MTC, compile, own_folder, run
from safetensors.numpy import save_file

STEP = 1e-5
folder = own_folder()
CASES = cases()
RECORDS = json.loads((Path(__file__).parent / "inputs/microsoft.json").read_text())


def model(dtype) -> tuple[onnx.ModelProto, list[str]]:
    """The model, and the names of what is trained."""
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
        # Results without a batch axis are written once for each batch, of which there is one.
        found = outputs[name].reshape(expected.shape)
        assert outputs[name].shape in (expected.shape, (1, *expected.shape)), (name, outputs[name].shape)
        error = np.abs(found - expected).max()
        assert error <= 2e-5 * max(1, np.abs(expected).max()), (name, error)


def gradients_are_central_differences(program, trained: list[str]):
    """Of the operands of each node, along a random direction."""
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


def inspect_lists_them():
    text = run([MTC, "inspect", folder / "f32.onnx"], folder).stdout
    assert "Compiles with" in text and "GroupQueryAttention 3" in text, text
    table = run([MTC, "operators", *(f"com.microsoft::{o}" for o in sorted({c.operator for c in CASES if c.domain}))], folder).stdout
    assert all(line.endswith(" yes") for line in table.splitlines()[1:]), table


program, _ = build(np.float32, "f32")
values_are_those_of_onnxruntime(program)
nodes_are_exported(program)
inspect_lists_them()
gradients_are_central_differences(*build(np.float64, "f64"))
