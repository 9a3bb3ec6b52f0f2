# RUN: %python %s %t
"""Gradients at kinks and zeros equal PyTorch's, for piecewise functions at their bounds, for extrema among equal elements, and for
compositions that PyTorch has as one function. docs/reference/onnx.md has the table."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

folder = own_folder()

# Each entry has an operator, its attributes and other operands, and the slopes at some arguments, from PyTorch 2.15.
FUNCTIONS = {
    "relu": ("Relu", {}, [], {-1: 0, 0: 0, 1: 1}),
    "relu6": ("Clip", {}, [0, 6], {-1: 0, 0: 0, 3: 1, 6: 0, 7: 0}),
    "hardtanh": ("Clip", {}, [-1, 1], {-1: 0, 0: 1, 1: 0}),
    "hardswish": ("HardSwish", {}, [], {-4: 0, -3: 0, -2.5: -1 / 3, 0: 0.5, 2.5: 4 / 3, 3: 1, 4: 1, math.inf: 1}),
    "hardsigmoid": ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}, [], {-3: 0, 0: 1 / 6, 3: 0}),
    "leaky_relu": ("LeakyRelu", {"alpha": 0.1}, [], {-1: 0.1, 0: 0.1, 1: 1}),
    "prelu": ("PRelu", {}, [0.25], {-1: 0.25, 0: 0.25, 1: 1}),
    "elu": ("Elu", {"alpha": 2.0}, [], {0: 2, 1: 1}),
    "celu": ("Celu", {"alpha": 2.0}, [], {0: 1, 1: 1}),
    "selu": ("Selu", {}, [], {0: 1.0507010 * 1.6732632, 1: 1.0507010}),
    "threshold": ("ThresholdedRelu", {"alpha": 0.5}, [], {0.5: 0, 0.75: 1}),
    "softshrink": ("Shrink", {"lambd": 0.5, "bias": 0.5}, [], {-1: 1, -0.5: 0, 0: 0, 0.5: 0, 1: 1}),
    "hardshrink": ("Shrink", {"lambd": 0.5}, [], {-1: 1, -0.5: 0, 0: 0, 0.5: 0, 1: 1}),
    "abs": ("Abs", {}, [], {-1: -1, 0: 0, 1: 1}),
    "maximum": ("Max", {}, [0], {-1: 0, 0: 0.5, 1: 1}),
    "minimum": ("Min", {}, [0], {-1: 1, 0: 0.5, 1: 0}),
}


def floats(name: str, shape) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class Graph:
    """A graph whose loss is the sum of the added values; each has its own parameter."""

    def __init__(self):
        self.nodes, self.parameters, self.terms = [], [], []

    def parameter(self, name: str, values) -> str:
        """Returns a parameter plus the input, which is zero, so that the compiler knows nothing about the value."""
        self.parameters.append(numpy_helper.from_array(np.float32(values), name))
        return self.node("Add", name, "x")

    def constant(self, value) -> str:
        return self.node("Constant", value=numpy_helper.from_array(np.asarray(value)))

    def node(self, operator: str, *operands: str, **attributes) -> str:
        result = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(operands), [result], **attributes))
        return result

    def add(self, value: str):
        self.terms.append(self.node("ReduceSum", value, keepdims=0))

    def gradients(self, name: str) -> dict[str, np.ndarray]:
        self.nodes.append(helper.make_node("Sum", self.terms, ["loss"]))
        graph = helper.make_graph(self.nodes, name, [floats("x", (1,))], [floats("loss", ())], self.parameters)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        onnx.save(model, folder / f"{name}.onnx")
        # Parameters are listed by name, because many have elements that look like constants.
        trained = [flag for each in self.parameters for flag in ("--train", each.name)]
        program = compile(folder / f"{name}.onnx", folder, {"x": np.zeros(1, np.float32)}, "--loss", "output",
                          *trained, name=name)  # fmt: skip
        return program.gradients(f"{name}-gradients")


kinks = Graph()
for name, (operator, attributes, operands, slopes) in FUNCTIONS.items():
    places = kinks.parameter(name, list(slopes))
    kinks.add(kinks.node(operator, places, *(kinks.constant(np.float32(each)) for each in operands), **attributes))
# A computed bound receives part of the gradient, as the operand of a maximum does.
bound = kinks.parameter("bound", [1])
kinks.add(kinks.node("Clip", kinks.parameter("bounded", [0, 1, 2]), kinks.node("Squeeze", bound)))
# Equal maxima share the gradient, as in PyTorch's amax. The exporters write the same node for max along an axis.
kinks.add(kinks.node("ReduceMax", kinks.parameter("amax", [2, 1, 2])))
found = kinks.gradients("kinks")
assert len(found) == len(FUNCTIONS) + 3 == 19, sorted(found)
for name, (_, _, _, slopes) in FUNCTIONS.items():
    np.testing.assert_allclose(found[name], list(slopes.values()), rtol=1e-6, atol=1e-7, err_msg=name)
np.testing.assert_allclose(found["amax"], [0.5, 0, 0.5])
np.testing.assert_allclose(found["bounded"], [0, 0.5, 1])
np.testing.assert_allclose(found["bound"], [1.5])

# The operand has rows of equal values or zeros, and another row.
composites = Graph()
rows = [[2, 2, 2], [0, 0, 0], [3, 4, 0]]
last = composites.constant(np.int64([1]))


def squares(value: str) -> str:
    return composites.node("Mul", value, value)


deviating = composites.parameter("std", rows)
centred = composites.node("Sub", deviating, composites.node("ReduceMean", deviating, last))
variance = composites.node("ReduceMean", squares(centred), last)
unbiased = composites.node("Mul", variance, composites.constant(np.float32(3 / 2)))
composites.add(composites.node("Sqrt", unbiased))

composites.add(composites.node("ReduceL2", composites.parameter("norm", rows), last))

cubes = composites.node("Pow", composites.node("Abs", composites.parameter("norm3", rows)), composites.constant(np.float32(3)))
composites.add(composites.node("Pow", composites.node("ReduceSum", cubes, last), composites.constant(np.float32(1 / 3))))

# cdist of the rows to themselves, as the exporter writes it with a contraction: the distance of a row to itself is the square root of 0.
points = composites.parameter("cdist", rows)
squared = composites.node("ReduceSum", squares(points), last)
product = composites.node("MatMul", points, composites.node("Transpose", points, perm=[1, 0]))
both = composites.node("Add", squared, composites.node("Transpose", squared, perm=[1, 0]))
distances = composites.node("Sub", both, composites.node("Mul", product, composites.constant(np.float32(2))))
composites.add(composites.node("Sqrt", composites.node("Clip", distances, composites.constant(np.float32(0)))))

places = [-200, -100, 0, 100]
composites.add(composites.node("Log", composites.node("Sigmoid", composites.parameter("logsigmoid", places))))
found = composites.gradients("composites")
assert len(found) == 5, sorted(found)
# These are the values of PyTorch.
EXPECTED = {
    "std": [[0, 0, 0], [0, 0, 0], [0.16012818, 0.40032041, -0.56044853]],
    "norm": [[0.57735026, 0.57735026, 0.57735026], [0, 0, 0], [0.6, 0.8, 0]],
    "norm3": [[0.48074979, 0.48074979, 0.48074979], [0, 0, 0], [0.44485134, 0.79084682, 0]],
    "cdist": [[0.48803383, -0.17863286, 2.48803377], [-2.35470057, -2.75470066, -1.15470052], [1.86666679, 2.93333340, -1.33333337]],
    "logsigmoid": [1, 1, 0.5, 3.7835e-44],
}
for name, gradient in EXPECTED.items():
    np.testing.assert_allclose(found[name], gradient, rtol=1e-5, atol=1e-6, err_msg=name)
