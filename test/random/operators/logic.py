"""Comparisons, and operators of booleans."""

import numpy as np
import tape
from operators import operator


def propose_comparison(graph, name: str):
    """Of floats; of integers too, which may be equal."""
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
