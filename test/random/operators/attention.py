"""Attention and rotary embedding as single nodes. Their decomposed forms are in motifs.py."""

import math

import numpy as np
import tape
from onnx import helper, numpy_helper
from operators import evaluate, operator
from operators.contraction import matmul
from tape import tanh


def transposed(x, *order: int):
    return tape.move(x, lambda i: np.transpose(i, order))


def split_heads(x, heads: int):
    if x.rank == 4:
        return x
    return transposed(tape.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads)), 0, 2, 1, 3)


def masked_softmax(x):
    """Softmax whose rows without any finite score are zero."""
    top = x.data.max(-1, keepdims=True)
    shifted = tape.exp(x - x.tape.constant(np.where(np.isinf(top), 0, top)))
    sums = tape.total(shifted, [-1 % x.rank], True)
    return shifted / tape.where(np.isinf(top), 1.0, sums)


def attend(q, k, v, scale: float, biases=(), kept=None, softcap: float = 0.0):
    """Attention of operands [batch, heads, length, size]; several query heads may share one head of keys and values."""
    groups = q.shape[1] // k.shape[1]
    k, v = (tape.move(x, lambda i: np.repeat(i, groups, 1)) for x in (k, v))
    scores = matmul(q, transposed(k, 0, 1, 3, 2)) * scale
    if softcap:
        scores = tanh(scores * (1 / softcap)) * softcap
    for bias in biases:
        scores = scores + bias
    if kept is not None:
        scores = tape.where(kept, scores, -math.inf)
    return matmul(masked_softmax(scores), v)


def propose_attention(graph, name: str):
    batch, keys, size = graph.choose([1, 2, 3]), graph.extent(9), graph.choose([1, 2, 4, 8])
    groups, key_heads = graph.choose([1, 1, 2, 3]), graph.choose([1, 2])
    heads, value_size = groups * key_heads, graph.choose([size, size, 3])
    length = graph.choose([keys, keys, graph.extent(9)])
    attributes = {}
    if graph.chance(0.5):
        shapes = [(batch, length, heads * size), (batch, keys, key_heads * size), (batch, keys, key_heads * value_size)]
        attributes = {"q_num_heads": heads, "kv_num_heads": key_heads}
    else:
        shapes = [(batch, heads, length, size), (batch, key_heads, keys, size), (batch, key_heads, keys, value_size)]
    operands = [graph.of_shape(shape) for shape in shapes]
    if graph.chance(0.3):
        attributes["scale"] = graph.number(0.2, 1)
    if graph.chance(0.25):
        attributes["softcap"] = graph.number(1, 5)
    form = graph.choose(["none", "causal", "boolean", "float", "parameter"])
    mask = graph.choose([(length, keys), (heads, length, keys), (batch, 1, length, keys), (batch, heads, length, keys)])
    if form == "causal" and length == keys:
        attributes["is_causal"] = 1
    elif form == "boolean":
        kept = graph.numbers.random(mask) < 0.7
        kept[..., 0] = True
        operands.append(graph.constant(kept))
    elif form == "float":
        operands.append(graph.constant(graph.numbers.choice([0.0, -1.0, -10000.0], mask).astype(graph.float_type)))
    elif form == "parameter":
        operands.append(graph.parameter(mask))
    graph.node(name, operands, **attributes)


@operator("Attention", propose_attention)
def attention(node, q, k, v, mask=None):
    flat = q.rank == 3
    q = split_heads(q, node.attribute("q_num_heads", 1))
    k, v = (split_heads(x, node.attribute("kv_num_heads", 1)) for x in (k, v))
    batch, _, length, size = q.shape
    kept = np.tri(length, k.shape[2], dtype=bool) if node.attribute("is_causal", 0) else None
    if mask is not None and not mask.is_float:
        kept = mask.data if kept is None else kept & mask.data
    biases = [mask] if mask is not None and mask.is_float else []
    y = attend(q, k, v, node.attribute("scale", 1 / math.sqrt(size)), biases, kept, node.attribute("softcap", 0.0))
    return tape.reshape(transposed(y, 0, 2, 1, 3), (batch, length, -1)) if flat else y


def soft_cap(graph, name: str, shape):
    """A subgraph with one operand: limit * tanh(x / limit)."""
    value = lambda end: helper.make_tensor_value_info(f"{name}_{end}", graph.element, shape)  # noqa: E731
    limit = graph.number(1, 4)
    factors = [helper.make_tensor(f"{name}_{i}", graph.element, (), [number]) for i, number in enumerate((1 / limit, limit))]
    nodes = [helper.make_node(op, [f"{name}_{i}" for i in inputs], [f"{name}_{output}"], f"{name}_{output}")
             for op, inputs, output in (("Mul", ("x", 0), "scaled"), ("Tanh", ("scaled",), "tanh"), ("Mul", ("tanh", 1), "y"))]
    return helper.make_graph(nodes, name, [value("x")], [value("y")], factors)


def propose_flex(graph, name: str):
    batch, length, keys, size = graph.choose([1, 2, 3]), graph.extent(9), graph.extent(9), graph.choose([1, 2, 4, 8])
    groups, key_heads = graph.choose([1, 1, 2, 3]), graph.choose([1, 2])
    heads, value_size = groups * key_heads, graph.choose([size, 3])
    shapes = [(batch, heads, length, size), (batch, key_heads, keys, size), (batch, key_heads, keys, value_size)]
    operands, attributes = [graph.of_shape(shape) for shape in shapes], {}
    if graph.chance(0.3):
        attributes["scale"] = graph.number(0.2, 1)
    for modifier in ("score_mod", "prob_mod"):
        if graph.chance(0.5):
            attributes[modifier] = soft_cap(graph, graph.fresh(modifier), (batch, heads, length, keys))
    graph.node(name, operands, **attributes)


@operator("ai.onnx.preview::FlexAttention", propose_flex)
def flex_attention(node, q, k, v):
    def modified(name: str, x):
        if (graph := node.attribute(name)) is None:
            return x
        values = {graph.input[0].name: x}
        values |= {factor.name: x.tape.constant(numpy_helper.to_array(factor)) for factor in graph.initializer}
        for inner in graph.node:
            values[inner.output[0]], = evaluate(inner, 13, [values[i] for i in inner.input])
        return values[graph.output[0].name]

    groups = q.shape[1] // k.shape[1]
    k, v = (tape.move(x, lambda i: np.repeat(i, groups, 1)) for x in (k, v))
    scores = matmul(q, transposed(k, 0, 1, 3, 2)) * node.attribute("scale", 1 / math.sqrt(q.shape[3]))
    return matmul(modified("prob_mod", masked_softmax(modified("score_mod", scores))), v)


def propose_rotary(graph, name: str):
    if graph.is_double:
        raise tape.Rejected("it is not defined for doubles")
    batch, heads, length, size = graph.choose([1, 2]), graph.choose([1, 2, 3]), graph.extent(9), graph.choose([2, 4, 6, 8])
    rotated = graph.choose([0, 0, *(n for n in (2, 4) if n < size)])
    half, attributes = (rotated or size) // 2, {}
    if graph.chance(0.5):
        x, attributes["num_heads"] = graph.of_shape((batch, length, heads * size)), heads
    else:
        x = graph.of_shape((batch, heads, length, size))
    if rotated:
        attributes |= {"rotary_embedding_dim": rotated, "num_heads": heads}
    if graph.chance(0.4):
        attributes["interleaved"] = 1
    if graph.chance(0.5):
        positions = length + graph.choose([0, 3])
        tables = [graph.of_shape((positions, half)) for _ in range(2)]
        ids = [graph.constant(graph.numbers.integers(0, positions, (batch, length)))]
    else:
        tables, ids = [graph.of_shape((batch, length, half)) for _ in range(2)], []
    graph.node(name, [x, *tables, *ids], **attributes)


def rotate(x, cosine, sine, interleaved):
    """x is [batch, heads, length, size], a table is [batch or 1, 1, length, half]."""
    half = cosine.shape[-1]
    rotated = 2 * half
    part = lambda s: tape.move(x, lambda i: i[..., s])  # noqa: E731
    first, second = (slice(0, rotated, 2), slice(1, rotated, 2)) if interleaved else (slice(0, half), slice(half, rotated))
    real = cosine * part(first) - sine * part(second)
    imaginary = sine * part(first) + cosine * part(second)
    y = tape.concatenate([real, imaginary, part(slice(rotated, None))], 3)
    if interleaved:
        order = [i // 2 + i % 2 * half for i in range(rotated)] + list(range(rotated, x.shape[3]))
        y = tape.move(y, lambda i: i[..., order])
    return y


@operator("RotaryEmbedding", propose_rotary)
def rotary_embedding(node, x, cosine, sine, positions=None):
    shape = x.shape
    if x.rank == 3:
        heads = node.attribute("num_heads")
        x = split_heads(x, heads)
    if positions is not None:
        cosine, sine = (tape.move(t, lambda i: i[positions.data]) for t in (cosine, sine))
    cosine, sine = (tape.reshape(t, (t.shape[0], 1, *t.shape[1:])) for t in (cosine, sine))
    y = rotate(x, cosine, sine, node.attribute("interleaved", 0))
    return tape.reshape(transposed(y, 0, 2, 1, 3), shape) if len(shape) == 3 else y


