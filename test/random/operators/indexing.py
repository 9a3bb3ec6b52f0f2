"""Operators that gather elements by index."""

import numpy as np
import tape
from operators import operator


def propose_gather(graph, name: str):
    """Returns constant indices (also evenly spaced and negative ones), indices from the data, or computed indices."""
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    rank = graph.choose([0, 1, 1, 2]) if len(shape) < 5 else graph.choose([0, 1])
    graph.node(name, [x, graph.indices(graph.small_shape(rank), shape[axis])], axis=graph.signed(axis, len(shape)))


@operator("Gather", propose_gather)
def gather(node, x, indices):
    axis = node.attribute("axis", 0)
    return tape.move(x, lambda i: np.take(i, np.where(indices.data < 0, indices.data + x.shape[axis], indices.data), axis))


def shorter(graph, shape, axis: int):
    """Returns a shape of indices, with any extent along the axis, and at most the data's extent along the others."""
    return tuple(graph.extent(7) if i == axis else graph.choose([n, n, max(n - 1, 1), 1]) for i, n in enumerate(shape))


def propose_gather_elements(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    indices = graph.constant(graph.random_indices(shorter(graph, shape, axis), shape[axis]))
    graph.node(name, [x, indices], axis=graph.signed(axis, len(shape)))


@operator("GatherElements", propose_gather_elements)
def gather_elements(node, x, indices):
    axis = node.attribute("axis", 0) % x.rank
    wrapped = np.where(indices.data < 0, indices.data + x.shape[axis], indices.data)
    others = tuple(slice(0, n if i != axis else None) for i, n in enumerate(wrapped.shape))
    return tape.move(x, lambda i: np.take_along_axis(i[others], wrapped, axis))


def propose_gather_nd(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    batch = graph.choose([0, 0, 1]) if graph.opset >= 12 and len(shape) > 1 else 0
    length = graph.random.randint(1, len(shape) - batch)
    leading = (*shape[:batch], *graph.small_shape(graph.choose([0, 1, 2])))
    columns = [graph.random_indices(leading, n) for n in shape[batch : batch + length]]
    indices = graph.constant(np.stack(columns, -1)) if leading else graph.constant(np.array(columns, np.int64))
    graph.node(name, [x, indices], **({"batch_dims": batch} if batch else {}))


@operator("GatherND", propose_gather_nd)
def gather_nd(node, x, indices):
    batch = node.attribute("batch_dims", 0)
    leading, length = indices.shape[:-1], indices.shape[-1]
    grids = np.meshgrid(*(np.arange(n) for n in leading), indexing="ij")[:batch] if batch else []
    places = (*grids, *(indices.data[..., k] for k in range(length)))
    return tape.move(x, lambda i: i[places])


def propose_one_hot(graph, name: str):
    depth = graph.extent(9)
    classes = graph.indices(graph.small_shape(graph.choose([1, 2])), depth)
    if not graph.shape(classes):
        raise tape.Rejected("shape inference asks for an axis")
    rank = len(graph.shape(classes)) + 1
    values = graph.parameter((2,)) if graph.chance(0.5) else graph.constant(graph.numbers_of([0.0, 1.0]))
    graph.node(name, [classes, graph.constant(np.array(depth, np.int64)), values], axis=graph.random.randrange(-rank, rank))


@operator("OneHot", propose_one_hot)
def one_hot(node, classes, depth, values):
    axis, depth = node.attribute("axis", -1) % (classes.rank + 1), int(depth.data.item())
    place = np.arange(depth).reshape([depth if i == axis else 1 for i in range(classes.rank + 1)])
    hot = np.expand_dims(np.mod(classes.data, depth), axis) == place
    return tape.move(values, lambda i: np.where(hot, i[1], i[0]))


def propose_reverse(graph, name: str):
    x = graph.value(min_rank=2)
    batch = graph.choose([0, 1])
    shape = graph.shape(x)
    lengths = graph.numbers.integers(1, shape[1 - batch] + 1, shape[batch])
    graph.node(name, [x, graph.constant(lengths)], batch_axis=batch, time_axis=1 - batch)


@operator("ReverseSequence", propose_reverse)
def reverse_sequence(node, x, lengths):
    batch = node.attribute("batch_axis", 1)

    def arrange(places):
        rows = np.swapaxes(places, 0, 1) if batch == 1 else places.copy()
        rows = np.array([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(rows, lengths.data.tolist())])
        return np.swapaxes(rows, 0, 1) if batch == 1 else rows

    return tape.move(x, arrange)
