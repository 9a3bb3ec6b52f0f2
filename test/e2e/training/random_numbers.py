# RUN: %python %s %t
"""Random operators have the right distributions, depend on the seed, and draw independent numbers in all nodes and steps."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

folder = own_folder()
COUNT = 40_000
WEIGHTS = np.log(np.float32([[1, 2, 5], [8, 0.5, 1.5]]))

nodes = [
    helper.make_node("RandomUniform", [], ["uniform"], shape=[COUNT], low=-1.0, high=3.0),
    helper.make_node("RandomUniformLike", ["like"], ["unit"], dtype=TensorProto.DOUBLE),
    helper.make_node("RandomNormal", [], ["normal"], shape=[COUNT], mean=0.5, scale=2.0),
    helper.make_node("RandomNormalLike", ["like"], ["other"]),
    helper.make_node("Bernoulli", ["chances"], ["flips"], dtype=TensorProto.INT64),
    helper.make_node("Multinomial", ["weights"], ["classes"], sample_size=COUNT, dtype=TensorProto.INT64),
    helper.make_node("MatMul", ["x", "p"], ["product"]),
    helper.make_node("ReduceMean", ["product"], ["mean"], keepdims=0),
    helper.make_node("ReduceMean", ["other"], ["drawn"], keepdims=0),
    helper.make_node("Add", ["mean", "drawn"], ["loss"]),
]
constants = {"like": np.zeros(COUNT, np.float32), "chances": np.full(COUNT, 0.3, np.float32), "weights": WEIGHTS}
nodes = [helper.make_node("Constant", [], [n], value=numpy_helper.from_array(v, n)) for n, v in constants.items()] + nodes
results = {"loss": (TensorProto.FLOAT, ()), "uniform": (TensorProto.FLOAT, (COUNT,)), "unit": (TensorProto.DOUBLE, (COUNT,)),
           "normal": (TensorProto.FLOAT, (COUNT,)), "other": (TensorProto.FLOAT, (COUNT,)),
           "flips": (TensorProto.INT64, (COUNT,)), "classes": (TensorProto.INT64, (2, COUNT))}  # fmt: skip
graph = helper.make_graph(
    nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1))],
    [helper.make_tensor_value_info(n, t, s) for n, (t, s) in results.items()],
    [numpy_helper.from_array(np.ones((1, 1), np.float32), "p")])  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), folder / "random.onnx")
program = compile(folder / "random.onnx", folder, {"x": np.ones((1, 1), np.float32)}, "--loss", "output", "--output", "loss",
                  "--optimizer", "sgd", "--lr", "1e-12")  # fmt: skip
drawn = {name: value.reshape(results[name][1]) for name, value in program.outputs("outputs").items()}


def is_near(found: float, expected: float, deviation: float, what: str):
    """The mean of COUNT numbers is within five of its standard deviations."""
    assert abs(found - expected) < 5 * deviation / math.sqrt(COUNT), (what, found, expected)


for name, low, width in ("uniform", -1, 4), ("unit", 0, 1):
    values = (drawn[name].astype(np.float64) - low) / width
    assert values.min() >= 0 and values.max() <= 1, name
    for power in 1, 2, 3:
        deviation = math.sqrt(1 / (2 * power + 1) - 1 / (power + 1) ** 2)
        is_near((values**power).mean(), 1 / (power + 1), deviation, f"{name}, power {power}")
for name, mean, scale in ("normal", 0.5, 2), ("other", 0, 1):
    values = (drawn[name].astype(np.float64) - mean) / scale
    for power, expected, square in (1, 0, 1), (2, 1, 3), (3, 0, 15), (4, 3, 105):
        is_near((values**power).mean(), expected, math.sqrt(square - expected**2), f"{name}, power {power}")
is_near(drawn["flips"].mean(), 0.3, math.sqrt(0.3 * 0.7), "flips")
assert set(np.unique(drawn["flips"])) == {0, 1}
for row, weights in zip(drawn["classes"], np.exp(WEIGHTS)):
    for index, chance in enumerate(weights / weights.sum()):
        is_near((row == index).mean(), chance, math.sqrt(chance * (1 - chance)), f"class {index}")
assert abs(np.corrcoef(drawn["unit"], drawn["uniform"])[0, 1]) < 5 / math.sqrt(COUNT), "two nodes have equal random numbers"

losses = [[record["loss"] for record in program.train(3, *flags, name=f"log{i}")]
          for i, flags in enumerate([[], [], ["--seed", "7"]])]  # fmt: skip
assert losses[0] == losses[1] != losses[2], losses
assert len(set(losses[0])) == 3, losses
