"""Operators with several operands that broadcast."""

import numpy as np
import tape
from operators import operator
from tape import less, where


def propose(graph, name: str):
    x = graph.value()
    graph.node(name, [x, graph.partner(x)])


def propose_many(graph, name: str):
    x = graph.value()
    operands = [x, *(graph.partner(x) for _ in range(graph.choose([0, 1, 1, 2])))]
    try:
        np.broadcast_shapes(*(graph.shape(operand) for operand in operands))
    except ValueError as error:
        raise tape.Rejected("partners that do not go together") from error
    graph.node(name, operands)


def propose_div(graph, name: str):
    x = graph.value()
    graph.node(name, [x, graph.bounded(0.4, 4, shape=graph.broadcastable(graph.shape(x)))])


@operator("Add", propose)
def add(node, x, y):
    return x + y if x.is_float else x.tape.constant(x.data + y.data)


@operator("Sub", propose)
def sub(node, x, y):
    return x - y if x.is_float else x.tape.constant(x.data - y.data)


@operator("Mul", propose)
def mul(node, x, y):
    return x * y if x.is_float else x.tape.constant(x.data * y.data)


@operator("Div", propose_div)
def div(node, x, y):
    return x / y


@operator("Sum", propose_many)
def sum_of(node, x, *others):
    for y in others:
        x = x + y
    return x


@operator("Mean", propose_many)
def mean_of(node, x, *others):
    return sum_of(node, x, *others) * (1 / (1 + len(others)))


@operator("Max", propose_many)
def maximum(node, x, *others):
    for y in others:
        x = where(less(x, y), y, x)
    return x


@operator("Min", propose_many)
def minimum(node, x, *others):
    for y in others:
        x = where(less(y, x), y, x)
    return x


def propose_mod(graph, name: str):
    x = graph.bounded(-8, 8)
    y = graph.bounded(0.5, 3, shape=graph.broadcastable(graph.shape(x)))
    if graph.chance(0.7):
        graph.node(name, [x, y], fmod=1)
    else:
        numbers = graph.node("Cast", [x], to=graph.INT64)
        rest = graph.node(name, [numbers, graph.constant(np.array(graph.choose([-3, 2, 5, 7]), np.int64))])
        graph.node("Cast", [rest], to=graph.element)


@operator("Mod", propose_mod)
def mod(node, x, y):
    if not x.is_float:
        return x.tape.constant((np.fmod if node.attribute("fmod", 0) else np.mod)(x.data, y.data))
    ratio = x.data / y.data
    whole = np.trunc(ratio)
    distance = np.where(whole == 0, 1 - np.abs(ratio), np.minimum(np.abs(ratio - whole), 1 - np.abs(ratio - whole)))
    x.tape.decide(whole, distance)
    return x - y * x.tape.constant(whole)


def propose_pow(graph, name: str):
    """The exponent is a constant, which may be integral or broadcast, or a parameter."""
    form = graph.choose(["whole", "special", "other", "parameter"])
    if form == "whole":
        exponent = graph.constant(graph.number_of(graph.choose([1, 2, 3, 4, 5])))
        graph.node(name, [graph.bounded(-2.5, 2.5), exponent])
        return
    x = graph.bounded(0.3, 4)
    if form == "special":
        exponent = graph.constant(graph.number_of(graph.choose([0.5, -0.5, -1.0, 0.0, -2.0])))
    elif form == "other":
        exponent = graph.constant(graph.number_of(graph.number(-2, 3)))
    else:
        exponent = graph.parameter(graph.broadcastable(graph.shape(x)), -1.5, 2.5)
    graph.node(name, [x, exponent])


@operator("Pow", propose_pow)
def pow_node(node, x, y):
    exponent = y if y.is_float else y.tape.constant(y.data.astype(np.float64))
    return tape.power(x, exponent)


def propose_where(graph, name: str):
    x = graph.value()
    graph.node(name, [graph.condition(graph.shape(x)), x, graph.partner(x)])


@operator("Where", propose_where)
def where_node(node, condition, x, y):
    return where(condition.data, x, y)
