# RUN: %python %s %t
"""Dropout that exporters decompose into random numbers and arithmetic is active in training steps only, not with --evaluate, --outputs and
--export. Nodes that are random in inference too get a warning with their name."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from program import MTC, compile, own_folder, run

BATCH, ROWS, FLAGS = 4, 12, ("--dim", "batch=4", "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1")
folder = own_folder()
random = np.random.default_rng(0)
DATA = {"x": random.normal(0, 1, (ROWS, 6)).astype(np.float32), "labels": random.normal(0, 1, (ROWS, 5)).astype(np.float32)}
WEIGHT = random.normal(0, 1, (6, 5)).astype(np.float32)
LISTED = {"format": 1, "parameters": [{"name": "w", "names": ["w"], "shape": [6, 5], "dtype": "float32", "requires_grad": True,
          "module": "M"}], "buffers": [], "padding_idx": {}, "mode": "train"}  # fmt: skip


def node(op: str, inputs: str, output: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], name=f"node_{output}", **attributes)


def save(name: str, nodes: list, facts: dict | None = None, functions: tuple = (), output: str = "y") -> str:
    """`h` is x times the weight, and the nodes compute the output; `kept` is 0.7."""
    graph = helper.make_graph(
        [node("MatMul", "x w", "h"), *nodes], name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 6])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", 5])],
        [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(np.float32(0.7), "kept")])  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)
    if facts is not None:
        helper.set_model_props(model, {"mtc.module": json.dumps(LISTED | facts)})
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / f"{name}.onnx")
    return f"{name}.onnx"


def checked(path: str, expected, output: str = "y") -> None:
    """Checks inference and the exported file against `expected`, a function of h, and that training steps are random."""
    name = path.removesuffix(".onnx")
    shown = run([MTC, "inspect", path, *FLAGS[:2]], folder).stderr
    program = compile(folder / path, folder, DATA, *FLAGS, name=name)
    first, other = (program.run("--steps", 1, "--no-shuffle", "--seed", seed).stdout for seed in (1, 2))
    assert first != other, f"{name}: training steps are not random"
    wanted = expected(DATA["x"] @ WEIGHT)
    for seed in (1, 2):
        assert np.allclose(program.outputs("found", "--seed", seed)[output], wanted, 1e-5, 1e-6), name
    found = float(program.run("--evaluate", "--seed", 3).stdout.split()[1])
    assert np.isclose(found, np.mean((wanted - DATA["labels"]) ** 2), 1e-5), (name, found)
    run([program.path, "--export", folder / "exported.onnx", "--export-training", folder / "training.onnx"], folder)
    exported = onnx.load(folder / "exported.onnx")
    onnx.checker.check_model(exported, full_check=True)
    assert "Random" not in str(exported.graph.node), name
    assert np.allclose(ReferenceEvaluator(exported).run(None, {"x": DATA["x"]})[0], wanted, 1e-5, 1e-6), name
    assert list(onnx.load(folder / "training.onnx").graph.node) == list(onnx.load(folder / path).graph.node), name
    assert "random numbers" not in shown and "dropout:" not in shown, (name, shown)


identity = lambda h: h  # noqa: E731
UNIFORM = node("RandomUniformLike", "h", "u")
MASK = [UNIFORM, node("Less", "u kept", "b"), node("Cast", "b", "m", to=1)]
DROPOUT = [*MASK, node("Div", "m kept", "s"), node("Mul", "h s", "y")]
checked(save("dropout", DROPOUT), identity)
checked(save("late", [*MASK, node("Mul", "m h", "d"), node("Div", "d kept", "y")]), identity)
checked(save("early", [node("Div", "h kept", "q"), UNIFORM, node("Add", "u kept", "a"), node("Floor", "a", "m"), node("Mul", "q m", "y")]), identity)
checked(save("rrelu", [node("RandomUniformLike", "h", "u", low=0.125, high=0.375), node("PRelu", "h u", "y")]),
        lambda h: np.where(h < 0, 0.25 * h, h))  # fmt: skip

# The dropout is in a branch of an If: nodes of subgraphs are exported in inference form too.
branch = helper.make_graph(DROPOUT, "then", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
other = helper.make_graph([node("Identity", "h", "z")], "else", [], [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
condition = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True)))
outer = [condition, helper.make_node("If", ["c"], ["result"], then_branch=branch, else_branch=other)]
checked(save("branch", [*outer, node("Neg", "result", "negated"), node("Neg", "negated", "out")], output="out"), identity, output="out")

# Dropout inside a function is off in inference, but exported unchanged, with a warning.
function = helper.make_function("own", "Drop", ["h", "kept"], ["y"], DROPOUT, [helper.make_opsetid("", 17)])
calls = save("function", [helper.make_node("Drop", ["h", "kept"], ["y"], domain="own", name="call")], functions=(function,))
shown = run([MTC, "compile", calls, *FLAGS, "-o", "calls"], folder).stderr
assert "dropout: files of --export drop elements in inference too" in shown and "node_y" in shown and "onnx.inliner" in shown, shown

# Noise may be intended in inference, and an unscaled mask may not be dropout.
noise = [node("RandomNormalLike", "h", "e"), node("Mul", "e kept", "n"), node("Add", "h n", "y")]
for name, nodes, named in (("noise", noise, "'node_e' (RandomNormalLike)"),
                           ("unscaled", [*MASK, node("Mul", "h m", "y")], "'node_u' (RandomUniformLike)")):  # fmt: skip
    for command in ("inspect", "compile"):
        shown = run([MTC, command, save(name, nodes), *(FLAGS if command == "compile" else FLAGS[:2])], folder).stderr
        assert "random numbers: 1 node draws in inference too" in shown and named in shown and "export it with mtc.export" in shown, shown

# A file of mtc.export lists the values that the module replaces in evaluation mode.
checked(save("listed", noise, {"inference": {"y": "h"}}), identity)
checked(save("tripled", [*noise[:2], node("Add", "h n", "t"), node("Neg", "t", "y"), node("Add", "h h", "two"), node("Add", "two h", "three")],
             {"inference": {"t": "three"}}), lambda h: -3 * h)  # fmt: skip
shown = run([MTC, "inspect", save("meant", noise, {"inference": {}}), *FLAGS[:2]], folder).stderr
assert "random numbers: 1 node draws" in shown and "so they are in the module's eval()" in shown, shown
shown = run([MTC, "inspect", save("lost", noise, {"inference": {"y": "gone"}}), *FLAGS[:2]], folder).stderr
assert "has no value 'gone'" in shown and "compile the file that mtc.export wrote" in shown and "with mtc.export" in shown, shown
shown = run([MTC, "compile", save("shapes", [*noise, node("Transpose", "h", "t")], {"inference": {"y": "t"}}), *FLAGS], folder, 1).stderr
assert "expected one type" in shown, shown
cycle = [node("RandomNormalLike", "h", "e"), node("Add", "h e", "t"), node("Neg", "t", "y"), node("Abs", "y", "a")]
shown = run([MTC, "compile", save("cycle", cycle, {"inference": {"t": "a"}}), *FLAGS], folder, 1).stderr
assert "'inference' depend on themselves" in shown, shown
