"""Operators that only change the shape, or repeat elements."""

import numpy as np
import tape
from operators import operator


def propose_reshape(graph, name: str):
    """Reshapes to any shape with as many elements, also with a copied extent (0) or an inferred one (-1)."""
    x = graph.value()
    shape = graph.shape(x)
    target = list(graph.factored(int(np.prod(shape))))
    written = list(target)
    for i, n in enumerate(target):
        if i < len(shape) and shape[i] == n and graph.chance(0.3):
            written[i] = 0
    if written and graph.chance(0.4):
        written[graph.random.randrange(len(written))] = -1
    graph.node(name, [x, graph.constant(np.array(written, np.int64))])


@operator("Reshape", propose_reshape)
def reshape(node, x, shape):
    extents = [x.shape[i] if n == 0 else n for i, n in enumerate(shape.data.tolist())]
    return tape.reshape(x, extents)


def propose_flatten(graph, name: str):
    x = graph.value(min_rank=1)
    graph.node(name, [x], **({"axis": graph.random.randint(0, len(graph.shape(x)))} if graph.chance(0.7) else {}))


@operator("Flatten", propose_flatten)
def flatten(node, x):
    axis = node.attribute("axis", 1)
    return tape.reshape(x, (int(np.prod(x.shape[:axis])), -1))


def propose_squeeze(graph, name: str):
    x = graph.value(where=lambda shape: 1 in shape)
    ones = [i for i, n in enumerate(graph.shape(x)) if n == 1]
    if graph.chance(0.7):
        axes = graph.random.sample(ones, graph.random.randint(1, len(ones)))
        # onnx's shape inference assumes that the attribute's axes are ascending
        graph.node(name, [x], axes=axes if graph.opset >= 13 else sorted(axes))
    else:
        graph.node(name, [x])


@operator("Squeeze", propose_squeeze)
def squeeze(node, x, axes=None):
    axes = node.argument("axes", axes)
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axes is None else [a % x.rank for a in axes]
    return tape.reshape(x, [n for i, n in enumerate(x.shape) if i not in axes])


def propose_unsqueeze(graph, name: str):
    x = graph.value(max_rank=4)
    rank = len(graph.shape(x)) + 1
    graph.node(name, [x], axes=[graph.random.randrange(rank)])


@operator("Unsqueeze", propose_unsqueeze)
def unsqueeze(node, x, axes=None):
    return tape.move(x, lambda i: np.expand_dims(i, tuple(node.argument("axes", axes))))


def propose_expand(graph, name: str):
    x = graph.value()
    shape = list(graph.shape(x))
    target = [graph.extent() if n == 1 and graph.chance(0.7) else graph.choose([1, n]) for n in shape]
    if len(shape) < 5 and graph.chance(0.4):
        target.insert(0, graph.extent())
    graph.node(name, [x, graph.constant(np.array(target, np.int64))])


@operator("Expand", propose_expand)
def expand(node, x, shape):
    return tape.repeat(x, np.broadcast_shapes(x.shape, tuple(shape.data.tolist())))


def propose_tile(graph, name: str):
    x = graph.value(min_rank=1)
    graph.node(name, [x, graph.constant(np.array([graph.choose([1, 1, 2, 3]) for _ in graph.shape(x)], np.int64))])


@operator("Tile", propose_tile)
def tile(node, x, repeats):
    return tape.move(x, lambda i: np.tile(i, repeats.data.tolist()))


def propose_blocks(graph, name: str):
    """Returns a value of shape [N, C, H, W]: a reshaped value with as many elements, or a parameter."""
    s, c = graph.choose([2, 3]), graph.choose([1, 2])
    n, h, w = graph.choose([1, 2, 3]), graph.choose([1, 2, 3]), graph.choose([1, 2, 5])
    shape = (n, c * s * s, h, w) if name == "DepthToSpace" else (n, c, h * s, w * s)
    x = graph.of_shape(shape)
    modes = {"mode": graph.choose(["DCR", "CRD"])} if name == "DepthToSpace" and graph.opset >= 11 else {}
    graph.node(name, [x], blocksize=s, **modes)


@operator("DepthToSpace", propose_blocks)
def depth_to_space(node, x):
    s, (n, c, h, w) = node.attribute("blocksize"), x.shape
    if node.attribute("mode", "DCR") == "DCR":
        blocks = lambda i: i.reshape(n, s, s, c // s**2, h, w).transpose(0, 3, 4, 1, 5, 2)  # noqa: E731
    else:
        blocks = lambda i: i.reshape(n, c // s**2, s, s, h, w).transpose(0, 1, 4, 2, 5, 3)  # noqa: E731
    return tape.move(x, lambda i: blocks(i).reshape(n, c // s**2, h * s, w * s))


@operator("SpaceToDepth", propose_blocks)
def space_to_depth(node, x):
    s, (n, c, h, w) = node.attribute("blocksize"), x.shape
    blocks = lambda i: i.reshape(n, c, h // s, s, w // s, s).transpose(0, 3, 5, 1, 2, 4)  # noqa: E731
    return tape.move(x, lambda i: blocks(i).reshape(n, c * s * s, h // s, w // s))


