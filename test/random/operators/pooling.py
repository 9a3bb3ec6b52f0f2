"""Pooling over windows, and over all positions."""

import math

import numpy as np
import tape
from operators import operator, windows
from tape import maximum_over, mean, total


def propose_pool(graph, name: str):
    x = graph.value(min_rank=3, max_rank=5)
    spatial = graph.shape(x)[2:]
    kernel = [graph.random.randint(1, min(3, n)) for n in spatial]
    attributes = windows.draw(graph, name, spatial, kernel, within_reach=True)
    if graph.allows(name, "count_include_pad") and graph.chance(0.4):
        attributes["count_include_pad"] = 1
    outputs = 1
    if name == "MaxPool" and math.prod(graph.shape(x)) <= 60 and graph.chance(0.4):  # keeps indices small
        outputs, attributes["storage_order"] = 2, graph.choose([0, 1])
    graph.node(name, [x], outputs=outputs, kernel_shape=kernel, **attributes)


def slid(node, x, fill: float):
    """Returns the windows of each position, their taps, and the taps' axes."""
    read = windows.read(node, x.shape[2:], node.attribute("kernel_shape"))
    return read, windows.slide(x, read, fill), range(x.rank, 2 * x.rank - 2)


@operator("MaxPool", propose_pool)
def max_pool(node, x):
    read, taps, axes = slid(node, x, -math.inf)
    y = maximum_over(taps, axes)
    if len(node.outputs) == 1:
        return y
    order = (0, 1, *(range(2, x.rank) if not node.attribute("storage_order", 0) else reversed(range(2, x.rank))))
    numbers = np.arange(x.data.size).reshape([x.shape[i] for i in order]).transpose(np.argsort(order))
    places = windows.slide(x.tape.constant(numbers), read).data.reshape(*y.shape, -1)
    first = taps.data.reshape(*y.shape, -1).argmax(-1)[..., None]
    return [y, x.tape.constant(np.take_along_axis(places, first, -1)[..., 0])]


@operator("AveragePool", propose_pool)
def average_pool(node, x):
    read, taps, axes = slid(node, x, 0.0)
    count = np.ones(())
    for i, extent in enumerate(x.shape[2:]):
        at = windows.places(read, i)
        low, high = (-read.before[i], extent + read.after[i]) if node.attribute("count_include_pad", 0) else (0, extent)
        count = count[..., None] * ((at >= low) & (at < high)).sum(1)
    return total(taps, axes) / x.tape.constant(count)


def propose_global_pool(graph, name: str):
    graph.node(name, [graph.value(min_rank=3)])


@operator("GlobalAveragePool", propose_global_pool)
def global_average_pool(node, x):
    return mean(x, range(2, x.rank), True)


@operator("GlobalMaxPool", propose_global_pool)
def global_max_pool(node, x):
    return maximum_over(x, range(2, x.rank), True)


def norm(node, x, axes, keepdims: bool):
    p = float(node.attribute("p", 2))
    if x.tape.decide(np.abs(x.data) < 1e-3).any():
        raise tape.Rejected("elements near 0, where absolute values have a kink")
    sums = total(tape.power(tape.absolute(x), x.tape.constant(p)), axes, keepdims)
    if not (sums.data > 1e-3).all():
        raise tape.Rejected("a norm near 0")
    return tape.power(sums, x.tape.constant(1 / p))


def propose_norm_pool(graph, name: str):
    x = graph.value(min_rank=3, max_rank=5)
    if name == "GlobalLpPool":
        graph.node(name, [x], p=graph.choose([1, 2, 3]))
        return
    spatial = graph.shape(x)[2:]
    kernel = [graph.random.randint(1, min(3, n)) for n in spatial]
    attributes = windows.draw(graph, name, spatial, kernel, within_reach=True)
    if "pads" in attributes or "SAME" in attributes.get("auto_pad", "") or "ceil_mode" in attributes:
        raise tape.Rejected("zeros of the padding have a kink in this reference")
    graph.node(name, [x], kernel_shape=kernel, p=graph.choose([1, 2, 3]), **attributes)


@operator("LpPool", propose_norm_pool)
def lp_pool(node, x):
    _, taps, axes = slid(node, x, 0.0)
    return norm(node, taps, axes, False)


@operator("GlobalLpPool", propose_norm_pool)
def global_lp_pool(node, x):
    return norm(node, x, range(2, x.rank), True)


def propose_unpool(graph, name: str):
    """Windows do not overlap, so that each value has a position of its own."""
    x = graph.value(min_rank=3, max_rank=4)
    shape = graph.shape(x)
    kernel = [graph.choose([1, 2, 3]) for _ in shape[2:]]
    whole = (*shape[:2], *(n * k for n, k in zip(shape[2:], kernel)))
    if math.prod(whole) > 4000:
        raise tape.Rejected("too many places")
    places = graph.numbers.permutation(math.prod(whole))[: math.prod(shape)].reshape(shape)
    operands = [x, graph.constant(places.astype(np.int64))]
    if graph.chance(0.3):
        operands.append(graph.constant(np.array([*shape[:2], *(n + graph.choose([0, 1]) for n in whole[2:])], np.int64)))
    graph.node(name, operands, kernel_shape=kernel, strides=kernel)


@operator("MaxUnpool", propose_unpool)
def max_unpool(node, x, places, output=None):
    strides = node.attribute("strides")
    whole = (*x.shape[:2], *(n * s for n, s in zip(x.shape[2:], strides)))
    y = tape.reshape(tape.scatter(x.tape.constant(np.zeros(math.prod(whole))), places.data, x, adds=False), whole)
    if output is None:
        return y
    pads = [(0, n - m) for n, m in zip(output.data.tolist(), whole)]
    return tape.move(y, lambda p: np.pad(p, pads, constant_values=-1))
