"""Quantization. The straight-through gradient of a pair is not a derivative, so test/e2e covers it."""

import numpy as np
import tape
from operators import operator


def saturated(x, y, scale, zero, low, high):
    """Returns x / scale + zero, rounded, and the distance to the next rounding boundary."""
    ratio = y / scale
    part = np.abs(ratio - np.round(ratio))
    inside = (ratio + zero > low - 1) & (ratio + zero < high + 1)
    rounded = x.tape.decide(np.round(ratio), np.where(inside, (0.5 - part) * np.abs(scale), 1.0))
    return np.clip(rounded + zero, low, high).astype(np.int64)


def along(operand, rank: int, axis: int):
    return operand.data if operand.data.size == 1 else operand.data.reshape([-1 if i == axis else 1 for i in range(rank)])


def scales(graph, shape, axis: int):
    """Draws a scale and a zero point, or one of each for every index of an axis."""
    count = shape[axis] if graph.chance(0.5) else None
    scale, zero = graph.numbers.uniform(0.02, 0.3, count), graph.numbers.integers(0, 9, count)
    return [graph.constant(np.asarray(scale, np.float32)), graph.constant(np.asarray(zero, np.uint8))]


def propose_quantize(graph, name: str):
    if graph.is_double:
        raise tape.Rejected("it is not defined for doubles")
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    graph.node(name, [x, *scales(graph, shape, axis)], axis=graph.signed(axis, len(shape)))


@operator("QuantizeLinear", propose_quantize)
@operator("com.microsoft::QuantizeLinear", propose_quantize)
def quantize(node, x, scale, zero):
    axis = node.attribute("axis", 1) % max(x.rank, 1)
    return x.tape.constant(saturated(x, x.data, along(scale, x.rank, axis), along(zero, x.rank, axis), 0, 255).astype(np.uint8))


def propose_dequantize(graph, name: str):
    if graph.is_double:
        raise tape.Rejected("it gives no doubles")
    shape = graph.new_shape(graph.choose([1, 2, 3]))
    x = graph.constant(graph.numbers.integers(0, 256, shape).astype(np.uint8))
    axis = graph.random.randrange(len(shape))
    graph.node(name, [x, *scales(graph, shape, axis)], axis=graph.signed(axis, len(shape)))


@operator("DequantizeLinear", propose_dequantize)
@operator("com.microsoft::DequantizeLinear", propose_dequantize)
def dequantize(node, x, scale, zero):
    axis = node.attribute("axis", 1) % max(x.rank, 1)
    difference = x.data.astype(np.float64) - along(zero, x.rank, axis)
    return x.tape.constant(difference * along(scale, x.rank, axis))
