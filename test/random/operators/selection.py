"""Operators that select the largest elements and their indices."""

import numpy as np
import tape
from operators import operator


def ordered(x, axis: int, largest: bool) -> np.ndarray:
    """Returns positions along the axis, best element first. The margin is the minimum distance of neighbors in this order."""
    order = np.argsort(-x.data if largest else x.data, axis, kind="stable")
    values = np.take_along_axis(x.data, order, axis)
    gaps = np.abs(np.diff(values, axis=axis))
    x.tape.decide(order, gaps if gaps.size else None)
    return order


def propose_top_k(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    k = graph.random.randint(1, min(shape[axis], 5))
    flags = {"largest": graph.choose([0, 1])} if graph.opset >= 11 else {}
    k = k if graph.allows(name, "k") else np.array([k], np.int64)
    graph.node(name, [x], outputs=2, k=k, axis=graph.signed(axis, len(shape)), **flags)


@operator("TopK", propose_top_k)
def top_k(node, x, k=None):
    axis = node.attribute("axis", -1) % x.rank
    order = ordered(x, axis, bool(node.attribute("largest", 1)))
    order = np.take(order, np.arange(int(np.array(node.argument("k", k)).item())), axis)
    return [tape.move(x, lambda i: np.take_along_axis(i, order, axis)), x.tape.constant(order)][: len(node.outputs)]


def propose_arg(graph, name: str):
    x = graph.value(min_rank=1)
    rank = len(graph.shape(x))
    flags = {"select_last_index": 1} if graph.opset >= 12 and graph.chance(0.3) else {}
    graph.node(name, [x], axis=graph.signed(graph.random.randrange(rank), rank), keepdims=graph.choose([0, 1]), **flags)


def arg_extremum(node, x, largest: bool):
    axis = node.attribute("axis", 0) % x.rank
    place = np.take(ordered(x, axis, largest), [0], axis)
    return x.tape.constant(place if node.attribute("keepdims", 1) else np.squeeze(place, axis))


operator("ArgMax", propose_arg)(lambda node, x: arg_extremum(node, x, True))
operator("ArgMin", propose_arg)(lambda node, x: arg_extremum(node, x, False))


def propose_hardmax(graph, name: str):
    x = graph.value(min_rank=1)
    graph.node(name, [x], axis=graph.random.randrange(len(graph.shape(x))))


@operator("Hardmax", propose_hardmax)
def hardmax(node, x):
    axis = node.attribute("axis", 1 if node.version < 13 else -1) % x.rank
    flat = tape.reshape(x, (int(np.prod(x.shape[:axis])), -1)) if node.version < 13 else x
    axis = 1 if node.version < 13 else axis
    best = np.take(ordered(flat, axis, True), [0], axis)
    hot = np.zeros(flat.shape)
    np.put_along_axis(hot, best, 1.0, axis)
    return x.tape.constant(hot.reshape(x.shape))


def propose_compress(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    extent = shape[axis] if graph.chance(0.7) else int(np.prod(shape))
    kept = graph.numbers.random(graph.random.randint(1, extent)) < 0.6
    kept[graph.random.randrange(len(kept))] = True
    condition = graph.constant(kept)
    graph.node(name, [x, condition], **({"axis": graph.signed(axis, len(shape))} if len(kept) <= shape[axis] else {}))


@operator("Compress", propose_compress)
def compress(node, x, condition):
    axis = node.attribute("axis")
    return tape.move(x, lambda p: np.compress(condition.data, p, axis))
