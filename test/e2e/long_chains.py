# RUN: %python %s %t
"""The compiler's time grows with the number of nodes: four times as many take no more than nine times the time.

Quadratic searches over operations or a value's readers take sixteen times as long. A chain of softmaxes, each of which is
looked at as the end of an attention, took 2^n steps.
"""

import resource

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

FEW, MANY, MOST_TIMES = 600, 2400, 9
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
    """Linear layers with a residual each, so that there are many parameters and values that live long."""
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


def seconds(name: str) -> float:
    """Of the processor, which other load disturbs less."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run([MTC, "plan", folder / f"{name}.onnx", "--loss", "mse"], folder, timeout=900)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


for count in (FEW, MANY):
    save(str(count), *layers(count))
few, many = seconds(str(FEW)), seconds(str(MANY))
print(f"{FEW} nodes {few:.2f} s, {MANY} nodes {many:.2f} s")
assert many < MOST_TIMES * few, f"{MANY} nodes take {many / few:.1f} times as long as {FEW}"

chain = ["x", *(f"s{i}" for i in range(SOFTMAXES))]
save("softmaxes", [helper.make_node("Softmax", [a], [b], axis=-1) for a, b in zip(chain, chain[1:])], {})
print(f"{SOFTMAXES} softmaxes {seconds('softmaxes'):.2f} s")
