"""Pooling over windows, and over all places."""

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
    if name == "MaxPool" and math.prod(graph.shape(x)) <= 60 and graph.chance(0.4):  # Indices stay small.
        outputs, attributes["storage_order"] = 2, graph.choose([0, 1])
    graph.node(name, [x], outputs=outputs, kernel_shape=kernel, **attributes)


def slid(node, x, fill: float):
    """The windows of each place, their taps, and the taps' axes."""
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
