"""Elementwise operators with one operand."""


import numpy as np
import onnx
import tape
from onnx import helper
from operators import operator

# The interval in which an operator is defined and its result is in the range of f32.
RANGE = {
    "Log": (0.2, 20), "Sqrt": (0.1, 20), "Reciprocal": (0.3, 5), "Acosh": (1.2, 8), "Atanh": (-0.9, 0.9),
    "Tan": (-1.2, 1.2), "Exp": (-4, 3), "Sinh": (-3, 3), "Cosh": (-3, 3), "Asinh": (-6, 6),
    "Asin": (-0.9, 0.9), "Acos": (-0.9, 0.9),
}  # fmt: skip


def propose(graph, name: str):
    graph.node(name, [graph.bounded(*RANGE.get(name, (-30, 30)))])


def register(name: str, function):
    operator(name, propose)(lambda node, x: function(x))


@operator("Identity", propose)
def identity(node, x):
    return tape.stop(x) if node.metadata.get("mtc.detached") == "true" else tape.reshape(x, x.shape)


register("Neg", lambda x: -x)
register("Abs", tape.absolute)
register("Exp", tape.exp)
register("Log", tape.log)
register("Sqrt", tape.sqrt)
register("Reciprocal", lambda x: 1.0 / x)
register("Erf", tape.erf)
register("Sin", tape.sin)
register("Cos", tape.cos)
register("Tan", lambda x: tape.sin(x) / tape.cos(x))
register("Sinh", lambda x: tape.unary(x, np.sinh(x.data), np.cosh(x.data)))
register("Cosh", lambda x: tape.unary(x, np.cosh(x.data), np.sinh(x.data)))
register("Asinh", lambda x: tape.unary(x, np.arcsinh(x.data), 1 / np.sqrt(x.data**2 + 1)))
register("Acosh", lambda x: tape.unary(x, np.arccosh(x.data), 1 / np.sqrt(x.data**2 - 1)))
register("Asin", lambda x: tape.unary(x, np.arcsin(x.data), 1 / np.sqrt(1 - x.data**2)))
register("Acos", lambda x: tape.unary(x, np.arccos(x.data), -1 / np.sqrt(1 - x.data**2)))
register("Atan", lambda x: tape.unary(x, np.arctan(x.data), 1 / (1 + x.data**2)))
register("Atanh", lambda x: tape.unary(x, np.arctanh(x.data), 1 / (1 - x.data**2)))


def step(function, distance):
    """A step function; `distance` is the distance to the next step."""
    return lambda x: x.tape.constant(x.tape.decide(function(x.data), distance(x.data)))


def to_integer(x):
    return np.abs(x - np.round(x))


register("Sign", step(np.sign, np.abs))
register("Floor", step(np.floor, to_integer))
register("Ceil", step(np.ceil, to_integer))
register("Round", step(np.round, lambda x: 0.5 - np.abs(x - np.round(x))))


def propose_is_special(graph, name: str):
    flags = {}
    if name == "IsInf" and graph.chance(0.5):
        flags = {graph.choose(["detect_negative", "detect_positive"]): 0}
    graph.node(name, [graph.value()], **flags)


@operator("IsNaN", propose_is_special)
def is_nan(node, x):
    return x.tape.constant(np.isnan(x.data))


@operator("IsInf", propose_is_special)
def is_inf(node, x):
    negative, positive = node.attribute("detect_negative", 1), node.attribute("detect_positive", 1)
    return x.tape.constant((np.isneginf(x.data) & bool(negative)) | (np.isposinf(x.data) & bool(positive)))


def propose_cast(graph, name: str):
    """Casts to an integer or a boolean and back, or between the two float types that keep every digit."""
    x = graph.bounded(-20, 20)
    to = graph.choose([onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.BOOL, graph.element])
    if name == "Cast":
        y = graph.node("Cast", [x], to=to)
        if to != graph.element:
            graph.node("Cast", [y], to=graph.element)
    else:
        type = {onnx.TensorProto.INT32: np.int32, onnx.TensorProto.INT64: np.int64, onnx.TensorProto.BOOL: np.bool_}
        model = graph.value() if to == graph.element else graph.constant(np.ones((1,), type[to]))
        y = graph.node("CastLike", [x, model])
        if to != graph.element:
            graph.node("CastLike", [y, graph.value()])


def converted(x, type: np.dtype):
    if type.kind == "f":
        return x if x.is_float else x.tape.constant(x.data.astype(np.float64))
    if type.kind == "b":
        return x.tape.constant(x.tape.decide(x.data != 0, np.abs(x.data) if x.is_float else None))
    if not x.is_float:
        return x.tape.constant(x.data.astype(type))
    whole = np.trunc(x.data)
    jump = np.where(whole == 0, 1 - np.abs(x.data), np.minimum(np.abs(x.data - whole), 1 - np.abs(x.data - whole)))
    return x.tape.constant(x.tape.decide(whole.astype(type), jump))


@operator("Cast", propose_cast)
def cast(node, x):
    return converted(x, helper.tensor_dtype_to_np_dtype(node.attribute("to")))


@operator("CastLike", propose_cast)
def cast_like(node, x, model):
    return converted(x, model.data.dtype)
