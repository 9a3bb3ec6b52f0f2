"""Patterns of several nodes as exporters and people write them, and variants that are almost such patterns.

The compiler recognizes patterns such as attention, norms, GELU, a stable softmax, or a transpose of three merged axes. Each pattern is
drawn in all supported forms, and with a changed scale, axis or reshape, or an additional user, so that it no longer is the pattern.
"""

import math

import numpy as np
from operators import OPERATORS


def transpose_last(graph, x: str) -> str:
    rank = len(graph.shape(x))
    return graph.node("Transpose", [x], perm=[*range(rank - 2), rank - 1, rank - 2])


def scalar(graph, value: float) -> str:
    return graph.constant(graph.number_of(value))


def binary(graph, op: str, x: str, value: float) -> str:
    return graph.node(op, [x, scalar(graph, value)])


def reduce(graph, op: str, x: str, axis: int, keepdims: int = 1) -> str:
    return graph.node(op, [x], axes=[axis], keepdims=keepdims)


def softmax(graph, x: str, axis: int | None = None) -> str:
    """Softmax over the last axis, in one of its forms."""
    rank = len(graph.shape(x))
    axis = rank - 1 if axis is None else axis
    forms = ["node", "node", "parts", "shifted", "logarithm"] + (["safe"] if graph.opset >= 13 else [])
    form = graph.choose(forms)
    if form == "node" or form == "safe":
        y = graph.node("Softmax", [x], axis=axis)
        if form == "safe":
            y = graph.node("Where", [graph.node("IsNaN", [y]), scalar(graph, 0.0), y])
        return y
    if form == "logarithm":
        return graph.node("Exp", [graph.node("LogSoftmax", [x], axis=axis)])
    if form == "shifted":
        x = graph.node("Sub", [x, reduce(graph, "ReduceMax", x, axis)])
    e = graph.node("Exp", [x])
    return graph.node("Div", [e, reduce(graph, "ReduceSum", e, axis)])


def propose_softmax(graph):
    softmax(graph, graph.bounded(-10, 10, min_rank=1))


def causal_mask(graph, length: int, keys: int, value: float) -> str:
    return graph.constant(np.where(np.tri(length, keys, keys - length, dtype=bool), 0.0, value).astype(graph.float_type))


def masked(graph, scores: str) -> str:
    *_, length, keys = graph.shape(scores)
    form = graph.choose(["none", "none", "causal", "where", "padding", "parameter"])
    if form == "causal":
        return graph.node("Add", [scores, causal_mask(graph, length, keys, graph.choose([-10000.0, -1e9]) / 1.0)])
    if form == "where":
        kept = graph.numbers.random((length, keys)) < 0.7
        kept[:, 0] = True
        return graph.node("Where", [graph.constant(kept), scores, scalar(graph, -10000.0)])
    if form == "padding":
        kept = np.arange(keys) < max(1, keys - 1)
        return graph.node("Add", [scores, graph.constant(np.where(kept, 0.0, -10000.0).astype(graph.float_type))])
    if form == "parameter":
        return graph.node("Add", [scores, graph.parameter((length, keys))])
    return scores


def propose_attention(graph):
    """Softmax between two contractions, with heads, masks, scales in several places, and changes after which it is not attention."""
    batch, heads, length = graph.choose([(), (1,), (2,)]), graph.choose([(), (1,), (2,), (3,)]), graph.extent(129)
    keys, size = graph.choose([length, length, graph.extent(33)]), graph.choose([1, 2, 3, 4, 8, 17])
    leading = batch + heads
    q, k = graph.of_shape((*leading, length, size)), graph.of_shape((*leading, keys, size))
    v = graph.of_shape((*leading, keys, graph.choose([size, size, 5])))
    near_miss = graph.choose([None, None, None, "axis", "reshape", "transpose", "user", "tanh", "dropout"])
    scale = graph.choose(["none", "mul", "div", "both", "query"])
    if scale in ("query", "both"):
        q = binary(graph, "Mul", q, size**-0.25)
        k = binary(graph, "Mul", k, size**-0.25) if scale == "both" else k
    scores = graph.node("MatMul", [q, transpose_last(graph, k)])
    if scale in ("mul", "div"):
        scores = binary(graph, scale.capitalize(), scores, 1 / math.sqrt(size) if scale == "mul" else math.sqrt(size))
    if near_miss == "tanh":
        scores = graph.node("Tanh", [scores])
    scores = masked(graph, scores)
    rank = len(graph.shape(scores))
    weights = softmax(graph, scores, rank - 2 if near_miss == "axis" else None)
    if near_miss == "reshape":  # the last axis no longer is that of the keys
        weights = graph.node("Reshape", [weights, graph.constant(np.array([-1], np.int64))])
        depth = graph.shape(weights)[0]
        graph.node("MatMul", [weights, graph.weight((depth, graph.extent(5)))])
        return
    if near_miss == "transpose" and length == keys:
        weights = transpose_last(graph, weights)
    if near_miss == "dropout":
        weights = graph.node("Dropout", [weights])
    graph.node("MatMul", [weights, v])
    if near_miss == "user":
        graph.node("ReduceMax", [weights], axes=[0], keepdims=0)


def propose_multi_head(graph):
    """Projections, heads by reshape and transpose, attention, and the output projection. Several heads may share keys and values."""
    batch, length, size = graph.batch, graph.extent(9), graph.choose([1, 2, 4])
    groups, key_heads = graph.choose([1, 1, 2]), graph.choose([1, 2])
    heads = groups * key_heads
    width = graph.choose([heads * size, graph.extent(9)])
    x = graph.of_shape((batch, length, width))

    def split(count: int) -> str:
        y = graph.node("MatMul", [x, graph.weight((width, count * size))])
        y = graph.node("Reshape", [y, graph.constant(np.array([batch, length, count, size], np.int64))])
        return graph.node("Transpose", [y], perm=[0, 2, 1, 3])

    q, k, v = split(heads), split(key_heads), split(key_heads)
    if groups > 1:
        k, v = (shared(graph, y, groups) for y in (k, v))
    scores = binary(graph, "Mul", graph.node("MatMul", [q, transpose_last(graph, k)]), 1 / math.sqrt(size))
    weights = softmax(graph, masked(graph, scores))
    y = graph.node("Transpose", [graph.node("MatMul", [weights, v])], perm=[0, 2, 1, 3])
    y = graph.node("Reshape", [y, graph.constant(np.array([batch, length, heads * size], np.int64))])
    y = graph.node("MatMul", [y, graph.weight((heads * size, width))])
    graph.node("Add", [x, y])


def shared(graph, x: str, groups: int) -> str:
    """Repeats each head, as exporters of grouped-query attention write it."""
    batch, heads, length, size = graph.shape(x)
    y = graph.node("Unsqueeze", [x], axes=[2])
    y = graph.node("Expand", [y, graph.constant(np.array([batch, heads, groups, length, size], np.int64))])
    return graph.node("Reshape", [y, graph.constant(np.array([batch, heads * groups, length, size], np.int64))])


def propose_gelu(graph):
    """GELU by erf or tanh, with its factors in several orders, or with a constant that makes it another function."""
    x = graph.bounded(-8, 8)
    half, spoiled = graph.choose([0.5, 0.5, 0.5, 0.4]), graph.choose([1.0, 1.0, 1.0, 1.1])
    if graph.chance(0.5):
        inner = graph.choose(["Div", "Mul"])
        inner = graph.node("Erf", [binary(graph, inner, x, math.sqrt(2) if inner == "Div" else math.sqrt(0.5) * spoiled)])
    else:
        if graph.chance(0.5):
            cube = graph.node("Pow", [x, scalar(graph, 3.0)])
        else:
            cube = graph.node("Mul", [x, graph.node("Mul", [x, x])])
        sum = graph.node("Add", [x, binary(graph, "Mul", cube, 0.044715 * spoiled)])
        inner = graph.node("Tanh", [binary(graph, "Mul", sum, math.sqrt(2 / math.pi))])
    inner = binary(graph, "Add", inner, 1.0)
    form = graph.choose(["half first", "half last", "half inside"])
    if form == "half first":
        graph.node("Mul", [binary(graph, "Mul", x, half), inner])
    elif form == "half last":
        binary(graph, "Mul", graph.node("Mul", [x, inner]), half)
    else:
        graph.node("Mul", [x, binary(graph, "Mul", inner, half)])


def propose_norm(graph):
    """Decomposed layer norm and RMS norm, with Pow or Mul, Div or Reciprocal, over one axis or two."""
    x = graph.bounded(-20, 20, min_rank=1)
    shape = graph.shape(x)
    axis = graph.choose([len(shape) - 1, len(shape) - 1, graph.random.randrange(len(shape))])
    centred = x if graph.chance(0.3) else graph.node("Sub", [x, reduce(graph, "ReduceMean", x, axis)])
    square = graph.node("Pow", [centred, scalar(graph, 2.0)]) if graph.chance(0.5) else graph.node("Mul", [centred, centred])
    variance = binary(graph, "Add", reduce(graph, "ReduceMean", square, axis), graph.choose([1e-5, 1e-2]))
    form = graph.choose(["div", "reciprocal", "pow"])
    if form == "pow":
        y = graph.node("Mul", [centred, graph.node("Pow", [variance, scalar(graph, -0.5)])])
    else:
        deviation = graph.node("Sqrt", [variance])
        y = (graph.node("Div", [centred, deviation]) if form == "div"
             else graph.node("Mul", [centred, graph.node("Reciprocal", [deviation])]))  # fmt: skip
    if graph.chance(0.7):
        y = graph.node("Mul", [y, graph.parameter(shape[axis:] if axis == len(shape) - 1 else (), 0.5, 1.5)])
    if graph.chance(0.5):
        graph.node("Add", [y, graph.parameter(shape[-1:])])


def propose_layers(graph):
    """Linear layers with activations, a residual, and a bias as Add or in Gemm; batches of 1 and single columns."""
    x = graph.value(min_rank=2, max_rank=3)
    for _ in range(graph.choose([1, 2, 3])):
        *rows, width = graph.shape(x)
        columns = graph.choose([1, width, graph.extent(33)])
        if len(rows) == 1 and graph.chance(0.5):
            y = graph.node("Gemm", [x, graph.weight((columns, width)), graph.parameter((columns,))], transB=1)
        else:
            y = graph.node("Add", [graph.node("MatMul", [x, graph.weight((width, columns))]), graph.parameter((columns,))])
        y = graph.node(graph.choose(["Relu", "Tanh", "Sigmoid", "Softplus"]), [y])
        x = graph.node("Add", [x, y]) if columns == width and graph.chance(0.6) else y


def propose_embedding(graph):
    """Looks up rows of a table by ids from the data, adds positions, and uses the table again as the matrix of the last contraction."""
    vocabulary, width, length = graph.extent(33), graph.extent(9), graph.extent(9)
    table = graph.parameter((vocabulary, width))
    ids = graph.input((length,), vocabulary)
    x = graph.node("Gather", [table, ids])
    x = graph.node("Add", [x, graph.parameter((length, width))])
    if graph.chance(0.5):
        graph.node("MatMul", [x, graph.node("Transpose", [table], perm=[1, 0])])


def propose_movements(graph):
    """A chain of data movement: reshape, transpose, slice, concat, gather, pad."""
    names = ["Reshape", "Transpose", "Slice", "Concat", "Gather", "Pad", "Squeeze", "Unsqueeze", "Expand", "Split",
             "GatherElements", "ScatterElements", "ScatterND", "Flatten", "Tile"]  # fmt: skip
    for _ in range(graph.random.randint(3, 6)):
        name = graph.choose(names)
        graph.attempt(lambda: OPERATORS[name].propose(graph, name))


def propose_transpose_of_three(graph):
    """Swaps the last two axes by a transpose of three dimensions. If leading axes move too, the result is another transpose."""
    shape = (graph.extent(4), graph.extent(4), graph.extent(9), graph.extent(9))
    x = graph.of_shape(shape)
    a, b, m, n = shape
    y = graph.node("Reshape", [x, graph.constant(np.array([a * b, m, n], np.int64))])
    y = graph.node("Transpose", [y], perm=[0, 2, 1])
    target = graph.choose([(a, b, n, m), (b, a, n, m), (a, b, m, n)])
    graph.node("Reshape", [y, graph.constant(np.array(target, np.int64))])


def propose_rotation(graph):
    """Rotary embedding by slices, a negated half and a concatenation."""
    length, size = graph.extent(9), graph.choose([2, 4, 8])
    x = graph.of_shape((graph.choose([1, 2]), graph.choose([1, 3]), length, size))
    angle = np.outer(np.arange(length), 0.7 ** np.arange(size // 2))
    table = [graph.constant(np.concatenate([f(angle)] * 2, -1).astype(graph.float_type)) for f in (np.cos, np.sin)]
    first = graph.node("Slice", [x], starts=[0], ends=[size // 2], axes=[3])
    second = graph.node("Slice", [x], starts=[size // 2], ends=[size], axes=[3])
    turned = graph.node("Concat", [graph.node("Neg", [second]), first], axis=3)
    graph.node("Add", [graph.node("Mul", [x, table[0]]), graph.node("Mul", [turned, table[1]])])


def propose_stop(graph):
    """A value with a stopped gradient: detach, a detached scale, a straight-through estimator, the shift of a softmax."""
    x = graph.value()
    form = graph.choose(["value", "scale", "straight", "shift", "both"])
    if form == "value":
        graph.stop(x)
    elif form == "scale":
        graph.node("Mul", [graph.partner(x), graph.stop(x)])
    elif form == "straight":
        rounded = graph.node(graph.choose(["Round", "Floor", "Sign", "Tanh"]), [x])
        graph.node("Add", [x, graph.stop(graph.node("Sub", [rounded, x]))])
    elif form == "shift":
        x = graph.bounded(-10, 10, min_rank=1)
        axis = len(graph.shape(x)) - 1
        graph.node("Exp", [graph.node("Sub", [x, graph.stop(reduce(graph, "ReduceMax", x, axis))])])
    else:
        y = graph.node("Sigmoid", [x])
        graph.node("Sub", [graph.node("Mul", [y, graph.stop(y)]), graph.stop(x)])


def propose_read_shape(graph):
    """A computed shape: A constant whose shape is computed by Shape, Gather and Concat."""
    x = graph.value(min_rank=2, max_rank=4)
    rank = len(graph.shape(x))
    own = graph.node("Shape", [x])
    first = graph.node("Gather", [own, graph.constant(np.array([0], np.int64))])
    target = graph.node("Concat", [first, graph.constant(np.array([-1], np.int64))], axis=0)
    graph.node("Reshape", [x, target])
    if rank == 2:
        graph.node("Mul", [x, graph.node("ConstantOfShape", [own], value=graph.filled(0.5))])


MOTIFS = [propose_attention, propose_attention, propose_multi_head, propose_softmax, propose_gelu, propose_norm, propose_layers,
          propose_layers, propose_embedding, propose_movements, propose_transpose_of_three, propose_rotation,
          propose_read_shape, propose_stop, propose_stop]  # fmt: skip
