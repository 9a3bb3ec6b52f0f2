"""Comparisons, and operators on booleans."""

import numpy as np
import tape
from operators import operator


def propose_comparison(graph, name: str):
    """Compares floats or integers. Integers may be equal."""
    if graph.chance(0.3):
        numbers = graph.node("Cast", [graph.bounded(-5, 5)], to=graph.INT64)
        graph.node(name, [numbers, graph.constant(np.array(graph.choose([-1, 0, 1]), np.int64))])
    else:
        x = graph.value()
        if name == "Equal" and graph.opset < 11:
            raise tape.Rejected("before version 11 it has no floats")
        graph.node(name, [x, graph.partner(x)])


def compare(x, y, function):
    distance = np.abs(x.data - y.data) if x.is_float else None
    return x.tape.constant(x.tape.decide(function(x.data, y.data), distance))


for _name, _function in {"Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater,
                         "GreaterOrEqual": np.greater_equal, "Equal": np.equal}.items():  # fmt: skip
    operator(_name, propose_comparison)(lambda node, x, y, f=_function: compare(x, y, f))


def propose_logic(graph, name: str):
    x = graph.value()
    shape = graph.shape(x)
    graph.node(name, [graph.condition(shape), *([] if name == "Not" else [graph.condition(shape)])])


for _name, _function in {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}.items():
    operator(_name, propose_logic)(lambda node, x, y, f=_function: x.tape.constant(f(x.data, y.data)))
operator("Not", propose_logic)(lambda node, x: x.tape.constant(~x.data))


def propose_bits(graph, name: str):
    """Bitwise operators on small numbers, which are not negative for operators on unsigned numbers. Results are converted to floats for a
    loss."""
    to = graph.UINT64 if name == "BitShift" else graph.INT64
    x = graph.node("Cast", [graph.bounded(0.2, 5) if name == "BitShift" else graph.bounded(-5, 5)], to=to)
    if name == "BitShift":
        places = graph.constant(np.array(graph.choose([0, 1, 3, 64]), np.uint64))
        y = graph.node(name, [x, places], direction=graph.choose(["LEFT", "RIGHT"]))
    elif name == "BitwiseNot":
        y = graph.node(name, [x])
    else:
        other = graph.numbers.integers(-9, 9, graph.broadcastable(graph.shape(x)))
        y = graph.node(name, [x, graph.constant(np.asarray(other))])
    graph.node("Cast", [y], to=graph.element)


for _name, _function in {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}.items():
    operator(_name, propose_bits)(lambda node, x, y, f=_function: x.tape.constant(f(x.data, y.data)))
operator("BitwiseNot", propose_bits)(lambda node, x: x.tape.constant(~x.data))


@operator("BitShift", propose_bits)
def bit_shift(node, x, y):
    shift = np.left_shift if node.attribute("direction") == "LEFT" else np.right_shift
    places = y.data.astype(np.uint64)
    moved = shift(x.data.astype(np.uint64), np.minimum(places, 63))
    return x.tape.constant(np.where(places < 64, moved, 0).astype(np.uint64))
