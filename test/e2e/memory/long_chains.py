# RUN: %python %s %t
"""Compile time is about linear in the number of nodes: four times as many nodes take at most seven times as long.

A quadratic search over operations or over the users of a value takes sixteen times as long. Two models have values with many users: one
whose parameters all have the same gradient value, and one whose contractions share an operand. Each softmax of a chain may be the end of an
attention; a search that considers all combinations would take 2^n steps.
"""

import resource

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

FEW, MANY, MOST_TIMES = 600, 2400, 7
SOFTMAXES = 60
WIDTH = 8
folder = own_folder()


def save(name: str, nodes: list, initializers: dict):
    nodes = [*nodes, helper.make_node("MatMul", [nodes[-1].output[0], "head"], ["y"])]
    initializers = initializers | {"head": np.ones((WIDTH, 3), np.float32)}
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3])],
        [numpy_helper.from_array(value, key) for key, value in initializers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / f"{name}.onnx")


def layers(count: int) -> tuple[list, dict]:
    """Linear layers with residuals: many parameters and many long lifetimes."""
    nodes, initializers, x = [], {}, "x"
    for i in range(count // 4):
        initializers[f"w{i}"] = np.full((WIDTH, WIDTH), 0.1 + i, np.float32)
        initializers[f"b{i}"] = np.zeros(WIDTH, np.float32)
        nodes += [helper.make_node("MatMul", [x, f"w{i}"], [f"m{i}"]),
                  helper.make_node("Add", [f"m{i}", f"b{i}"], [f"a{i}"]),
                  helper.make_node("Tanh", [f"a{i}"], [f"t{i}"]),
                  helper.make_node("Add", [f"t{i}", x], [f"r{i}"])]  # fmt: skip
        x = f"r{i}"
    return nodes, initializers


def chain(count: int, operator: str, *others: str) -> tuple[list, dict]:
    """Each node uses the preceding node's value and a parameter."""
    nodes, initializers, x = [], {}, "x"
    for i in range(count):
        initializers[f"p{i}"] = np.arange(i, WIDTH + i, dtype=np.float32)
        nodes.append(helper.make_node(operator, [*others, x, f"p{i}"], [f"v{i}"]))
        x = f"v{i}"
    return nodes, initializers


def sums(count: int) -> tuple[list, dict]:
    """All parameters have the same gradient value."""
    return chain(count, "Add")


def choices(count: int) -> tuple[list, dict]:
    nodes, initializers = chain(count, "Where", "condition")
    return nodes, initializers | {"condition": np.tile([True, False], WIDTH // 2)}


def branches(count: int) -> tuple[list, dict]:
    """One value is an operand of all contractions, and one node sums their results."""
    nodes, initializers = [helper.make_node("Tanh", ["x"], ["t"])], {}
    for i in range(count // 2):
        initializers |= {f"w{i}": np.full((WIDTH, WIDTH), 0.1 + i, np.float32)}
        nodes.append(helper.make_node("MatMul", ["t", f"w{i}"], [f"m{i}"]))
    return [*nodes, helper.make_node("Sum", [f"m{i}" for i in range(count // 2)], ["sum"])], initializers


def parts(count: int) -> tuple[list, dict]:
    """One node uses all parts of a split value."""
    nodes, initializers = [helper.make_node("Tanh", ["x"], ["t"])], {"axis": np.array([0])}
    for i in range(count // 2):
        initializers[f"p{i}"] = np.arange(i, WIDTH + i, dtype=np.float32)
        nodes.append(helper.make_node("Mul", ["t", f"p{i}"], [f"m{i}"]))
    initializers["shape"] = np.array([count // 2, 4, WIDTH])
    return [*nodes, helper.make_node("Concat", [f"m{i}" for i in range(count // 2)], ["c"], axis=0),
            helper.make_node("Reshape", ["c", "shape"], ["r"]),
            helper.make_node("ReduceSum", ["r", "axis"], ["s"], keepdims=0)], initializers  # fmt: skip


def seconds(name: str) -> float:
    """Returns the CPU time, which depends less on other load of the machine than wall time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run([MTC, "plan", folder / f"{name}.onnx", "--loss", "mse"], folder, timeout=900)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


wrong = []
for model in (layers, sums, choices, branches, parts):
    took = []
    for count in (FEW, MANY):
        name = f"{model.__name__}-{count}"
        save(name, *model(count))
        took.append(seconds(name))
    print(f"{model.__name__}: {FEW} nodes {took[0]:.2f} s, {MANY} nodes {took[1]:.2f} s")
    if took[1] > MOST_TIMES * took[0]:
        wrong.append(f"{model.__name__}: {MANY} nodes take {took[1] / took[0]:.1f} times as long as {FEW} nodes")
assert not wrong, "; ".join(wrong)

values = ["x", *(f"s{i}" for i in range(SOFTMAXES))]
save("softmaxes", [helper.make_node("Softmax", [a], [b], axis=-1) for a, b in zip(values, values[1:])], {})
print(f"{SOFTMAXES} softmaxes {seconds('softmaxes'):.2f} s")
