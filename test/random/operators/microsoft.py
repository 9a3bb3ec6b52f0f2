"""Operators of onnxruntime: those of the domain com.microsoft, and SimplifiedLayerNormalization."""

import math
import sys
from pathlib import Path

import numpy as np
import tape
from onnx import TensorProto
from operators import operator, windows
from operators.activation import clip, gelu, hard_sigmoid
from operators.attention import attend, rotate, split_heads, transposed
from operators.contraction import gemm, matmul, propose_gemm
from operators.convolution import conv, draw_conv
from operators.normalization import normalized, propose_layer, rms_normalization
from tape import less, softplus, tanh, where

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "support"))
import microsoft_schemas  # noqa: E402

microsoft_schemas.register()
DOMAIN = "com.microsoft::"


def like_rms(x, scale, epsilon):
    return x / tape.sqrt(tape.mean(x * x, [x.rank - 1], True) + epsilon) * scale


def like_layer(x, scale, shift, epsilon):
    y = normalized(x, [x.rank - 1], epsilon)[0] * scale
    return y if shift is None else y + shift


# Activations.


def propose_biased(graph, name: str):
    x = graph.value(min_rank=1)
    operands = [x]
    if not name.endswith("FastGelu") or graph.chance(0.7):
        operands.append(graph.parameter(graph.shape(x)[-1:]))
    graph.node(name, operands)


def propose_activation(graph, name: str):
    alpha = {"alpha": graph.number(0.5, 2)} if name.endswith("QuickGelu") and graph.chance(0.6) else {}
    graph.node(name, [graph.value()], **alpha)


operator(DOMAIN + "Gelu", propose_activation)(lambda node, x: gelu(x, "none"))
operator(DOMAIN + "QuickGelu", propose_activation)(lambda node, x: x * tape.sigmoid(x * node.attribute("alpha", 1.702)))
operator(DOMAIN + "BiasGelu", propose_biased)(lambda node, x, bias: gelu(x + bias, "none"))
operator(DOMAIN + "FastGelu", propose_biased)(lambda node, x, bias=None: gelu(x if bias is None else x + bias, "tanh"))


def propose_bias_add(graph, name: str):
    x = graph.value(min_rank=1)
    graph.node(name, [x, graph.parameter(graph.shape(x)[-1:]), graph.of_shape(graph.shape(x))])


operator(DOMAIN + "BiasAdd", propose_bias_add)(lambda node, x, bias, skip: x + bias + skip)


def propose_split(graph, name: str):
    x = graph.value(min_rank=1, where=lambda shape: shape[-1] % 2 == 0)
    graph.node(name, [x, graph.parameter(graph.shape(x)[-1:])])


@operator(DOMAIN + "BiasSplitGelu", propose_split)
def bias_split_gelu(node, x, bias):
    x = x + bias
    left, right = (tape.move(x, lambda i, part=part: np.split(i, 2, -1)[part]) for part in range(2))
    return left * gelu(right, "none")


FUSED = {
    "": lambda x: x,
    "Relu": lambda x: where(less(x, 0.0), 0.0, x),
    "Sigmoid": tape.sigmoid,
    "Tanh": tanh,
    "Softplus": softplus,
    "LeakyRelu": lambda x, alpha=0.01: where(less(x, 0.0), alpha * x, x),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: hard_sigmoid(x, alpha, beta),
    "Clip": lambda x, low=-math.inf, high=math.inf: clip(x, low, high),
}
PARAMETERS = {"LeakyRelu": (0.1, 0.5), "HardSigmoid": (0.1, 0.5), "Clip": (-0.5, 0.5)}  # range of the parameters of each activation


# Contractions.


def propose_fused_matmul(graph, name: str):
    """Operands with transposed axes, which come after a value's other axes."""
    x = graph.value(min_rank=2, max_rank=4)
    shape = graph.shape(x)
    flags = {flag: int(graph.chance(0.4)) for flag in ("transA", "transB")}
    flags |= {flag: int(len(shape) > 2 and graph.chance(0.3)) for flag in ("transBatchA", "transBatchB")}
    used = [shape[i] for i in order(len(shape), flags["transA"], flags["transBatchA"])]
    batch = used[:-2] if flags["transBatchA"] or flags["transBatchB"] or graph.chance(0.5) else []
    wanted = [*batch, used[-1], graph.extent(17)]
    back = np.argsort(order(len(wanted), flags["transB"], flags["transBatchB"]))
    if graph.chance(0.4):
        flags["alpha"] = graph.number(0.3, 1.5)
    limit = 1.5 / math.sqrt(used[-1])
    graph.node(name, [x, graph.parameter([wanted[i] for i in back], -limit, limit)], **flags)


def order(rank: int, exchanges: int, moves: int) -> list[int]:
    axes = list(range(rank))
    if moves:
        axes = [*axes[1:-1], axes[0], axes[-1]]
    if exchanges:
        axes[-2:] = axes[:-3:-1]
    return axes


@operator(DOMAIN + "FusedMatMul", propose_fused_matmul)
def fused_matmul(node, a, b):
    a, b = (transposed(x, *order(x.rank, node.attribute("trans" + which, 0), node.attribute("transBatch" + which, 0)))
            for x, which in ((a, "A"), (b, "B")))  # fmt: skip
    return matmul(a, b) * node.attribute("alpha", 1.0)


def propose_fused_gemm(graph, name: str):
    activation = graph.choose(["", "Relu", "Sigmoid", "Tanh", "Softplus", "LeakyRelu", "HardSigmoid"])
    attributes = {"activation": activation} if activation else {}
    if activation in PARAMETERS and graph.chance(0.7):
        attributes["activation_alpha"] = graph.number(*PARAMETERS[activation])
        if activation == "HardSigmoid":
            attributes["activation_beta"] = graph.number(*PARAMETERS[activation])
    propose_gemm(graph, name, **attributes)


@operator(DOMAIN + "FusedGemm", propose_fused_gemm)
def fused_gemm(node, a, b, c=None):
    numbers = {name: node.attributes[f"activation_{name}"] for name in ("alpha", "beta") if f"activation_{name}" in node.attributes}
    return FUSED[node.attribute("activation", "")](gemm(node, a, b, c), **numbers)


# Convolutions.


class Drawn:
    """The attributes of a node that is not created yet."""

    def __init__(self, attributes: dict):
        self.attributes = attributes

    def attribute(self, name: str, default=None):
        return self.attributes.get(name, default)


def propose_fused_conv(graph, name: str):
    operands, attributes = draw_conv(graph, name)
    spatial, weight = graph.shape(operands[0])[2:], graph.shape(operands[1])
    output = windows.read(Drawn(attributes), spatial, weight[2:]).output
    shape = (graph.shape(operands[0])[0], weight[0], *output)
    if name.startswith(DOMAIN + "Nhwc"):
        operands[0] = graph.node("Transpose", operands[:1], perm=[0, *range(2, len(shape)), 1])
        shape = (shape[0], *output, shape[1])
    if name.endswith("FusedConv"):
        activation = graph.choose(list(FUSED))
        if activation:
            attributes["activation"] = activation
        if activation in PARAMETERS and graph.chance(0.7):
            count = 1 if activation == "LeakyRelu" else 2
            attributes["activation_params"] = sorted(graph.number(*PARAMETERS[activation]) for _ in range(count))
        if graph.chance(0.4):
            operands += [""] * (3 - len(operands)) + [graph.of_shape(shape)]
    graph.node(name, operands, **attributes)


def fused_conv(node, x, weight, bias=None, residual=None):
    is_last = node.op.startswith(DOMAIN + "Nhwc")
    if is_last:
        x = transposed(x, 0, x.rank - 1, *range(1, x.rank - 1))
    y = conv(node, x, weight, bias)
    if is_last:
        y = transposed(y, 0, *range(2, y.rank), 1)
    if residual is not None:
        y = y + residual
    return FUSED[node.attribute("activation", "")](y, *node.attribute("activation_params", []))


for conv_name in ("FusedConv", "NhwcConv", "NhwcFusedConv"):
    operator(DOMAIN + conv_name, propose_fused_conv)(fused_conv)


# Normalizations.


for simplified_name in ("SimplifiedLayerNormalization", DOMAIN + "SimplifiedLayerNormalization"):
    operator(simplified_name, propose_layer)(rms_normalization)


def propose_skip(graph, name: str):
    x = graph.value(min_rank=2, max_rank=3)
    shape, simplified = graph.shape(x), "Simplified" in name
    skip = graph.choose([shape, shape, (1, *shape[1:]), shape[1:]])
    operands = [x, graph.of_shape(skip), graph.parameter(shape[-1:], 0.5, 1.5)]
    if not simplified:
        operands.append(graph.parameter(shape[-1:]) if graph.chance(0.8) else "")
    if graph.chance(0.5):
        operands.append(graph.parameter(shape[-1:]))
    operands = operands[:-1] if operands[-1] == "" else operands
    results = {"outputs": 4, "omitted": (1, 2)} if graph.chance(0.4) else {}
    graph.node(name, operands, epsilon=graph.choose([1e-3, 1e-2]), **results)


def skipped(node, x, skip, scale, *rest):
    simplified = "Simplified" in node.op
    shift, bias = (None, *rest, None)[:2] if simplified else (*rest, None, None)[:2]
    total = x + skip if bias is None else x + bias + skip
    epsilon = node.attribute("epsilon", 1e-12)
    y = like_rms(total, scale, epsilon) if simplified else like_layer(total, scale, shift, epsilon)
    return [y, None, None, total][: len(node.outputs)]


for skip_name in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"):
    operator(DOMAIN + skip_name, propose_skip)(skipped)


def integers(graph, shape, below: int) -> str:
    """Returns i32 numbers below a limit, which are data or constants."""
    if shape[0] == graph.batch and graph.chance(0.5):
        return graph.node("Cast", [graph.input(shape[1:], below)], to=TensorProto.INT32)
    return graph.constant(graph.numbers.integers(0, below, shape).astype(np.int32))


def propose_embedding(graph, name: str):
    batch, length, columns = graph.choose([graph.batch, 2]), graph.extent(9), graph.choose([3, 8, 16])
    words, positions = graph.extent(33) + 1, length + graph.choose([0, 3])
    has_segments = graph.chance(0.6)
    operands = [integers(graph, (batch, length), words), integers(graph, (batch, length), 2) if has_segments else "",
                graph.of_shape((words, columns)), graph.of_shape((positions, columns)),
                graph.of_shape((2, columns)) if has_segments else "", graph.parameter((columns,), 0.5, 1.5),
                graph.parameter((columns,))]  # fmt: skip
    if graph.chance(0.4):
        operands += ["", integers(graph, graph.choose([(1, length), (batch, length)]), positions)]
    results = {"outputs": 3, "omitted": (1,)} if graph.chance(0.3) else {"mask_index_type": 0}
    graph.node(name, operands, epsilon=graph.choose([1e-3, 1e-2]), **results)


@operator(DOMAIN + "EmbedLayerNormalization", propose_embedding)
def embed_layer_normalization(node, words, segments, table, positions, segment_table, scale, shift, mask=None, ids=None):
    rows = np.arange(words.shape[1])[None] if ids is None else ids.data
    total = tape.move(table, lambda i: i[words.data]) + tape.move(positions, lambda i: i[rows])
    if segments is not None:
        total = total + tape.move(segment_table, lambda i: i[segments.data])
    y = like_layer(total, scale, shift, node.attribute("epsilon", 1e-12))
    return [y, None, total][: len(node.outputs)]


# Attention.


def propose_mask(graph, batch: int, length: int, keys: int, forms=("lengths", "keys", "queries")) -> str:
    """Returns a mask that keeps the first key for every query."""
    form = graph.choose(forms)
    if form == "lengths":
        return graph.constant(graph.numbers.integers(1, keys + 1, batch).astype(np.int32))
    if form == "bounds":
        ends = graph.numbers.integers(1, keys + 1, batch)
        return graph.constant(np.concatenate([ends, 0 * ends]).astype(np.int32))
    shape = {"keys": (batch, keys), "queries": (batch, length, keys), "positions": (batch, 1, keys + 2, keys + 2)}[form]
    kept = graph.numbers.random(shape) < 0.7
    kept[..., 0] = True
    return graph.constant(kept.astype(np.int32))


def mask_bias(node, mask, batch: int, length: int, keys: int):
    """Returns the bias that is added to the scores."""
    data, position = mask.data, np.arange(keys)
    if data.ndim == 1:
        kept = position < data[:batch].reshape(-1, 1, 1, 1)
        if len(data) == 2 * batch:
            kept = kept & (position >= data[batch:].reshape(-1, 1, 1, 1))
    else:
        kept = data[:, :, :length, :keys] > 0 if data.ndim == 4 else data.reshape(len(data), 1, -1, keys) > 0
    return mask.tape.constant(np.where(kept, 0.0, node.attribute("mask_filter_value", -10000.0)))


def draw_scores(graph) -> dict:
    attributes = {"scale": graph.number(0.2, 1)} if graph.chance(0.3) else {}
    if graph.chance(0.4):
        attributes["unidirectional"] = 1
    if graph.chance(0.4):
        attributes["mask_filter_value"] = graph.number(-3, -1)
    return attributes


def propose_score_bias(graph, batch: int, heads: int, length: int, keys: int) -> str:
    shape = (graph.choose([1, batch]), graph.choose([1, heads]), length, keys)
    return graph.constant(graph.numbers.normal(0, 1, shape).astype(graph.float_type)) if graph.chance(0.5) else graph.parameter(shape)


def propose_fused_attention(graph, name: str):
    batch, length, columns = graph.choose([1, 2, 3]), graph.extent(9), graph.extent(17)
    heads, size = graph.choose([1, 2, 3]), graph.choose([1, 2, 4])
    value_size = graph.choose([size, size, 3])
    attributes = draw_scores(graph) | {"num_heads": heads}
    width, total = heads * size, heads * (2 * size + value_size)
    if value_size != size or graph.chance(0.3):
        attributes["qkv_hidden_sizes"] = [width, width, heads * value_size]
    operands = [graph.of_shape((batch, length, columns)), graph.weight((columns, total))]
    operands.append(graph.parameter((total,)) if graph.chance(0.8) else "")
    forms = ["lengths", "bounds", "keys", "queries", "positions"]
    operands.append(propose_mask(graph, batch, length, length, forms) if graph.chance(0.5) else "")
    if graph.chance(0.4):
        operands += ["", propose_score_bias(graph, batch, heads, length, length)]
    while operands[-1] == "":
        operands.pop()
    outputs = 2 if value_size == size and graph.chance(0.2) else 1
    graph.node(name, operands, outputs=outputs, **attributes)


def joined(y):
    return tape.reshape(transposed(y, 0, 2, 1, 3), (y.shape[0], y.shape[2], -1))


def causal(node, length: int, keys: int):
    return np.tri(length, keys, dtype=bool) if node.attribute("unidirectional", 0) else None


@operator(DOMAIN + "Attention", propose_fused_attention)
def fused_attention(node, x, weights, bias=None, mask=None, past=None, added=None):
    heads, total = node.attribute("num_heads"), weights.shape[1]
    sizes = node.attribute("qkv_hidden_sizes") or [total // 3] * 3
    batch, length, _ = x.shape
    y = matmul(x, weights)
    y = y if bias is None else y + bias
    bounds = np.cumsum([0, *sizes])
    q, k, v = (split_heads(tape.move(y, lambda i, a=a, b=b: i[..., a:b]), heads) for a, b in zip(bounds, bounds[1:]))
    biases = [] if mask is None else [mask_bias(node, mask, batch, length, length)]
    biases += [] if added is None else [added]
    scale = node.attribute("scale", 0.0) or 1 / math.sqrt(q.shape[3])
    result = joined(attend(q, k, v, scale, biases, causal(node, length, length)))
    if len(node.outputs) == 1:
        return result
    return [result, tape.concatenate([tape.reshape(part, (1, *part.shape)) for part in (k, v)], 0)]


def propose_heads(graph, name: str):
    batch, keys, size = graph.choose([1, 2, 3]), graph.extent(9), graph.choose([1, 2, 4])
    heads, value_size, length = graph.choose([1, 2, 3]), graph.choose([size, size, 3]), graph.choose([keys, graph.extent(9)])
    form = graph.choose(["separate", "separate", "split", "keys", "all"])
    width = heads * size
    if form != "separate":
        value_size = size
    if form == "all":
        length = keys
    operands = {
        "separate": lambda: [(batch, length, width), (batch, keys, width), (batch, keys, heads * value_size)],
        "split": lambda: [(batch, length, width), (batch, heads, keys, size), (batch, heads, keys, value_size)],
        "keys": lambda: [(batch, length, width), (batch, keys, heads, 2, size)],
        "all": lambda: [(batch, length, heads, 3, size)],
    }[form]()
    operands = [graph.of_shape(shape) for shape in operands]
    operands += [""] * (3 - len(operands))
    # with separate keys and values, only the bias of the queries has an effect
    has_bias = form != "split" and graph.chance(0.5)
    operands.append(graph.parameter((2 * width + heads * value_size,)) if has_bias else "")
    operands.append(propose_mask(graph, batch, length, keys) if graph.chance(0.5) else "")
    operands.append(propose_score_bias(graph, batch, heads, length, keys) if graph.chance(0.4) else "")
    while operands[-1] == "":
        operands.pop()
    attributes = draw_scores(graph)
    if length != keys:
        attributes.pop("unidirectional", None)
    graph.node(name, operands, num_heads=heads, **attributes)


@operator(DOMAIN + "MultiHeadAttention", propose_heads)
def multi_head_attention(node, q, k=None, v=None, bias=None, mask=None, added=None):
    heads = node.attribute("num_heads")
    unpacked = lambda x, at: tape.reshape(tape.move(x, lambda i: i[:, :, :, at]), (*x.shape[:2], -1))  # noqa: E731
    if k is None:
        q, k, v = (unpacked(q, at) for at in range(3))
    elif v is None:
        k, v = (unpacked(k, at) for at in range(2))
    if bias is not None:
        bounds = np.cumsum([0, q.shape[2], q.shape[2], v.shape[-1] if v.rank == 3 else heads * v.shape[3]])
        parts = [tape.move(bias, lambda i, a=a, b=b: i[a:b]) for a, b in zip(bounds, bounds[1:])]
        q, k, v = (x + part if x.rank == 3 else x for x, part in zip((q, k, v), parts))
    q, k, v = (split_heads(x, heads) for x in (q, k, v))
    batch, _, length, size = q.shape
    keys = k.shape[2]
    biases = [] if mask is None else [mask_bias(node, mask, batch, length, keys)]
    biases += [] if added is None else [added]
    return joined(attend(q, k, v, node.attribute("scale", 0.0) or 1 / math.sqrt(size), biases, causal(node, length, keys)))


def propose_group_query(graph, name: str):
    batch, length, size = graph.choose([1, 2, 3]), graph.extent(9), graph.choose([2, 4, 8])
    key_heads = graph.choose([1, 2])
    heads = key_heads * graph.choose([1, 1, 2, 3])
    attributes = {"num_heads": heads, "kv_num_heads": key_heads}
    if graph.chance(0.3):
        attributes["scale"] = graph.number(0.2, 1)
    if graph.chance(0.25):
        attributes["softcap"] = graph.number(1, 5)
    if graph.chance(0.2):
        attributes["causal"] = 0
    elif graph.chance(0.4):
        attributes["local_window_size"] = graph.choose([1, 2, 3, 20])
    if graph.chance(0.4):
        operands = [graph.of_shape((batch, length, (heads + 2 * key_heads) * size)), "", ""]
    else:
        operands = [graph.of_shape((batch, length, n * size)) for n in (heads, key_heads, key_heads)]
    lengths = graph.numbers.integers(0, length, batch) if "causal" in attributes else np.full(batch, length - 1)
    operands += ["", "", graph.constant(lengths.astype(np.int32)), graph.constant(np.array(length, np.int32))]
    if graph.chance(0.5):
        attributes["do_rotary"] = 1
        attributes["rotary_interleaved"] = graph.choose([0, 1])
        half, positions = graph.choose([size // 2, 1]), length + graph.choose([0, 3])
        operands += [graph.of_shape((positions, half)) for _ in range(2)]
    if graph.chance(0.3):
        operands += [""] * (10 - len(operands)) + [propose_score_bias(graph, batch, heads, length, length)]
    graph.node(name, operands, outputs=graph.choose([1, 1, 3]), **attributes)


@operator(DOMAIN + "GroupQueryAttention", propose_group_query)
def group_query_attention(node, q, k, v, past_key, past_value, lengths, total, cosine=None, sine=None, ids=None, added=None):
    heads, key_heads = node.attribute("num_heads"), node.attribute("kv_num_heads")
    if k is None:
        both = split_heads(q, heads + 2 * key_heads)
        bounds = np.cumsum([0, heads, key_heads, key_heads])
        q, k, v = (tape.move(both, lambda i, a=a, b=b: i[:, a:b]) for a, b in zip(bounds, bounds[1:]))
    else:
        q, k, v = (split_heads(x, n) for x, n in ((q, heads), (k, key_heads), (v, key_heads)))
    _, _, length, size = q.shape
    if node.attribute("do_rotary", 0):
        tables = [tape.move(t, lambda i: i[None, None, :length]) for t in (cosine, sine)]
        q, k = (rotate(x, *tables, node.attribute("rotary_interleaved", 0)) for x in (q, k))
    row, column = np.arange(length)[:, None], np.arange(length)[None]
    kept = column <= row
    if not node.attribute("causal", 1):
        kept = (column <= lengths.data.reshape(-1, 1, 1))[:, None]
    window = node.attribute("local_window_size", -1)
    if window > 0:
        kept = kept & (column > row - window)
    scale = node.attribute("scale", 0.0) or 1 / math.sqrt(size)
    y = attend(q, k, v, scale, [] if added is None else [added], kept, node.attribute("softcap", 0.0))
    return [joined(y), k, v][: len(node.outputs)]


def propose_table_rotation(graph, name: str):
    batch, heads, length, size = graph.choose([1, 2]), graph.choose([1, 2, 3]), graph.extent(9), graph.choose([2, 4, 6])
    rotated = graph.choose([0, 0, *(n for n in (2, 4) if n < size)])
    attributes = {"rotary_embedding_dim": rotated, "num_heads": heads} if rotated else {}
    if graph.chance(0.5):
        x = graph.of_shape((batch, length, heads * size))
    else:
        x = graph.of_shape((batch, heads, length, size))
    if graph.chance(0.4):
        attributes["interleaved"] = 1
    positions = length + 3
    ids = graph.numbers.integers(0, positions, (batch, length)) if graph.chance(0.5) else graph.numbers.integers(0, 3, 1)
    tables = [graph.of_shape((positions, (rotated or size) // 2)) for _ in range(2)]
    graph.node(name, [x, graph.constant(ids), *tables], **attributes)


@operator(DOMAIN + "RotaryEmbedding", propose_table_rotation)
def table_rotation(node, x, ids, cosine, sine):
    shape, is_split = x.shape, x.rank == 4
    if not is_split:
        size = 2 * cosine.shape[1]
        x = split_heads(x, node.attribute("num_heads", 0) or shape[2] // size)
    rows = ids.data[:, None] if ids.rank == 2 else (ids.data[0] + np.arange(x.shape[2]))[None, None]
    tables = [tape.move(t, lambda i: i[rows]) for t in (cosine, sine)]
    y = rotate(x, *tables, node.attribute("interleaved", 0))
    return y if is_split else joined(y)
