"""Operators that scatter elements by index. Only added updates may have equal indices, because the order of others is undefined."""

import numpy as np
import tape
from operators import operator


def reduction(graph, meets: bool) -> dict:
    """Draws the reduction: `reduction` was added in opset 16, as an attribute of both operators."""
    if graph.opset >= 16 and (meets or graph.chance(0.4)):
        return {"reduction": graph.choose(["add", "add", "mul"] + (["max", "min"] if graph.opset >= 18 else []))}
    if meets:
        raise tape.Rejected("two updates of one element")
    return {"reduction": "none"} if graph.opset >= 16 and graph.chance(0.3) else {}


def propose_elements(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    own = [graph.choose([n, n, max(n - 1, 1)]) for n in shape]
    adds = name != "Scatter" and graph.opset >= 16 and graph.chance(0.5)
    if adds:
        own[axis] = graph.extent(9)
        indices = graph.random_indices(tuple(own), shape[axis])
    else:
        rows = (*own[:axis], *own[axis + 1 :], shape[axis])
        order = graph.numbers.permuted(np.broadcast_to(np.arange(shape[axis]), rows), axis=-1)
        indices = np.moveaxis(order, -1, axis)[tuple(slice(0, n) for n in own)]
        indices = graph.some_negative(np.ascontiguousarray(indices), shape[axis])
    attributes = {} if name == "Scatter" else reduction(graph, adds)
    operands = [x, graph.constant(indices), graph.of_shape(tuple(own))]
    graph.node(name, operands, axis=graph.signed(axis, len(shape)), **attributes)


def met(node, x, places, updates):
    """Splits updates by position into the first updates of each position, the second ones, and so on."""
    how = node.attribute("reduction", "none")
    if how in ("none", "add"):
        return tape.scatter(x, places, updates, how == "add")
    flat, order, seen = places.ravel(), [], {}
    for place in flat.tolist():
        seen[place] = seen.get(place, -1) + 1
        order.append(seen[place])
    for turn in range(max(order, default=-1) + 1):
        chosen = np.flatnonzero(np.array(order) == turn)
        old = tape.move(x, lambda p, c=chosen: p.ravel()[flat[c]])
        new = tape.move(updates, lambda p, c=chosen: p.ravel()[c])
        if how == "mul":
            value = old * new
        else:
            value = tape.where(tape.less(old, new) == (how == "max"), new, old)
        x = tape.scatter(x, flat[chosen], value, adds=False)
    return x


def scatter_elements(node, x, indices, updates):
    axis = node.attribute("axis", 0) % x.rank
    wrapped = np.where(indices.data < 0, indices.data + x.shape[axis], indices.data)
    grid = list(np.indices(wrapped.shape))
    grid[axis] = wrapped
    places = np.arange(x.data.size).reshape(x.shape)[tuple(grid)]
    return met(node, x, places, updates)


operator("Scatter", propose_elements)(scatter_elements)
operator("ScatterElements", propose_elements)(scatter_elements)


def propose_nd(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    length = graph.random.randint(1, len(shape))
    places = int(np.prod(shape[:length]))
    meets = graph.opset >= 16 and graph.chance(0.4)
    count = graph.extent(9) if meets else graph.random.randint(1, min(places, 9))
    flat = graph.numbers.integers(0, places, count) if meets else graph.numbers.permutation(places)[:count]
    leading = graph.choose([(count,), (1, count), (count, 1)])
    columns = [graph.some_negative(c, n) for c, n in zip(np.unravel_index(flat, shape[:length]), shape)]
    indices = np.stack(columns, -1).reshape(*leading, length).astype(np.int64)
    updates = graph.of_shape((*leading, *shape[length:]))
    graph.node(name, [x, graph.constant(indices), updates], **reduction(graph, meets))


@operator("ScatterND", propose_nd)
def scatter_nd(node, x, indices, updates):
    all_places = np.arange(x.data.size).reshape(x.shape)
    places = all_places[tuple(indices.data[..., k] for k in range(indices.shape[-1]))]
    return met(node, x, places, updates)


def propose_cache(graph, name: str):
    x = graph.value(min_rank=2, max_rank=4)
    shape = graph.shape(x)
    axis = graph.random.randrange(1, len(shape))
    length = graph.random.randint(1, shape[axis])
    mode = graph.choose(["linear", "circular"])
    last = shape[axis] if mode == "circular" else shape[axis] - length + 1
    updates = graph.of_shape((*shape[:axis], length, *shape[axis + 1 :]))
    operands = [x, updates]
    if graph.chance(0.7):
        operands.append(graph.constant(graph.numbers.integers(0, last, shape[0])))
    graph.node(name, operands, axis=graph.signed(axis, len(shape)), mode=mode)


@operator("TensorScatter", propose_cache)
def tensor_scatter(node, cache, updates, begins=None):
    axis = node.attribute("axis", -2) % cache.rank
    begins = np.zeros(cache.shape[0], np.int64) if begins is None else begins.data
    grid = list(np.indices(updates.shape))
    grid[axis] = (grid[axis] + begins.reshape(-1, *[1] * (cache.rank - 1))) % cache.shape[axis]
    return tape.scatter(cache, np.ravel_multi_index(grid, cache.shape), updates, adds=False)
