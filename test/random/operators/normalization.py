"""Softmax and normalizations."""

import math

import numpy as np
import tape
from operators import operator
from tape import exp, log, mean, sqrt, total


def softmax(x, axis: int):
    shifted = exp(x - x.tape.constant(x.data.max(axis, keepdims=True)))
    return shifted / total(shifted, [axis], True)


def log_softmax(x, axis: int):
    shifted = x - x.tape.constant(x.data.max(axis, keepdims=True))
    return shifted - log(total(exp(shifted), [axis], True))


def propose_softmax(graph, name: str):
    x = graph.bounded(-30, 30, min_rank=1)
    rank = len(graph.shape(x))
    axis = graph.choose([rank - 1, rank - 1, graph.random.randrange(rank)])
    if graph.chance(0.8) or rank < 2:
        graph.node(name, [x], axis=graph.signed(axis, rank) if graph.opset >= 11 else axis)
    else:
        graph.node(name, [x])


def rows(node, x, function):
    """Before opset 13, all axes from `axis` on are one row."""
    axis = node.attribute("axis", 1 if node.version < 13 else -1) % x.rank
    if node.version >= 13:
        return function(x, axis)
    flat = tape.reshape(x, (math.prod(x.shape[:axis]), -1))
    return tape.reshape(function(flat, 1), x.shape)


operator("Softmax", propose_softmax)(lambda node, x: rows(node, x, softmax))
operator("LogSoftmax", propose_softmax)(lambda node, x: rows(node, x, log_softmax))


def normalized(x, axes, epsilon):
    centred = x - mean(x, axes, True)
    inverse = 1.0 / sqrt(mean(centred * centred, axes, True) + epsilon)
    return centred * inverse, inverse


def propose_layer(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    if 0 in shape[axis:]:
        raise tape.Rejected("a mean of no elements")
    operands = [x, graph.parameter(shape[axis:], 0.5, 1.5)]
    if name == "LayerNormalization" and graph.chance(0.7):
        operands.append(graph.parameter(shape[axis:]))
    epsilon = {"epsilon": graph.choose([1e-3, 1e-2])} if graph.chance(0.5) else {}
    statistics = name == "LayerNormalization" and not graph.is_double and graph.chance(0.2)  # the statistics are always f32
    outputs = 3 if statistics else 1
    graph.node(name, operands, outputs=outputs, axis=graph.signed(axis, len(shape)), **epsilon)


@operator("LayerNormalization", propose_layer)
def layer_normalization(node, x, scale, bias=None):
    axes = range(node.attribute("axis", -1) % x.rank, x.rank)
    y, inverse = normalized(x, axes, node.attribute("epsilon", 1e-5))
    y = y * scale if bias is None else y * scale + bias
    return [y, mean(x, axes, True), inverse][: len(node.outputs)]


@operator("RMSNormalization", propose_layer)
def rms_normalization(node, x, scale):
    axes = range(node.attribute("axis", -1) % x.rank, x.rank)
    return x / sqrt(mean(x * x, axes, True) + node.attribute("epsilon", 1e-5)) * scale


def along_channels(channel, rank: int):
    return tape.reshape(channel, (-1, *[1] * (rank - 2)))


def propose_channels(graph, name: str):
    x = graph.value(min_rank=3)
    channels = graph.shape(x)[1]
    attributes = {"epsilon": graph.choose([1e-3, 1e-2])} if graph.chance(0.5) else {}
    if name == "GroupNormalization":
        attributes["num_groups"] = graph.choose([n for n in range(1, channels + 1) if channels % n == 0])
        if graph.opset < 21:
            channels = attributes["num_groups"]
    graph.node(name, [x, graph.parameter((channels,), 0.5, 1.5), graph.parameter((channels,))], **attributes)


@operator("InstanceNormalization", propose_channels)
def instance_normalization(node, x, scale, bias):
    y, _ = normalized(x, range(2, x.rank), node.attribute("epsilon", 1e-5))
    return y * along_channels(scale, x.rank) + along_channels(bias, x.rank)


@operator("GroupNormalization", propose_channels)
def group_normalization(node, x, scale, bias):
    groups, channels = node.attribute("num_groups"), x.shape[1]
    grouped = tape.reshape(x, (x.shape[0], groups, -1))
    y, _ = normalized(grouped, [2], node.attribute("epsilon", 1e-5))
    y = tape.reshape(y, x.shape)
    if node.version < 21:
        spread = lambda i: np.repeat(i, channels // groups)  # noqa: E731
        scale, bias = tape.move(scale, spread), tape.move(bias, spread)
    return y * along_channels(scale, x.rank) + along_channels(bias, x.rank)


def propose_batch(graph, name: str):
    """Statistics are constants, because as initializers they would be state, which test/e2e covers."""
    x = graph.value(min_rank=2)
    shape = graph.shape(x)
    channels, attributes, outputs = shape[1], {}, 1
    if graph.chance(0.6) and math.prod(shape) // channels > 1:
        attributes["momentum"] = graph.choose([0.9, 0.5])
        outputs = 5
        if graph.opset >= 14:
            outputs, attributes["training_mode"] = 3, 1
    if graph.chance(0.5):
        attributes["epsilon"] = graph.choose([1e-3, 1e-2])
    statistics = [graph.numbers.normal(0, 1, channels), graph.numbers.uniform(0.5, 1.5, channels)]
    operands = [x, graph.parameter((channels,), 0.5, 1.5), graph.parameter((channels,))]
    operands += [graph.constant(v.astype(np.float32).astype(graph.float_type)) for v in statistics]
    graph.node(name, operands, outputs=outputs, **attributes)


@operator("BatchNormalization", propose_batch)
def batch_normalization(node, x, scale, bias, running_mean, running_variance):
    epsilon, momentum = node.attribute("epsilon", 1e-5), node.attribute("momentum", 0.9)
    scale, bias = along_channels(scale, x.rank), along_channels(bias, x.rank)
    if len(node.outputs) == 1 or node.is_inference:
        inverse = 1.0 / sqrt(running_variance + epsilon)
        y = (x - along_channels(running_mean, x.rank)) * along_channels(inverse, x.rank) * scale + bias
        return [y, *[running_mean, running_variance] * 2][: len(node.outputs)]
    axes = [0, *range(2, x.rank)]
    y, _ = normalized(x, axes, epsilon)
    average = mean(x, axes)
    centred = x - along_channels(average, x.rank)
    batch = [average, mean(centred * centred, axes)]
    moved = [old * momentum + now * (1 - momentum) for old, now in zip((running_mean, running_variance), batch)]
    return [y * scale + bias, *moved, *batch][: len(node.outputs)]


def propose_mean_variance(graph, name: str):
    if graph.is_double:
        raise tape.Rejected("its definition has constants of f32")
    x = graph.value(min_rank=1)
    rank = len(graph.shape(x))
    axes = sorted(graph.random.sample(range(rank), graph.random.randint(1, rank)))
    if math.prod(graph.shape(x)[a] for a in axes) < 2:
        raise tape.Rejected("a deviation of 0")
    # From opset 13 on, onnx's checker expands the node, and misses the default of the axes.
    default = rank == 4 and graph.chance(0.3) and graph.opset < 13
    graph.node(name, [x], **({} if default else {"axes": axes}))


@operator("MeanVarianceNormalization", propose_mean_variance)
def mean_variance_normalization(node, x):
    axes = node.attribute("axes", [0, 2, 3])
    centred = x - mean(x, axes, True)
    variance = mean(centred * centred, axes, True)
    x.tape.decide(np.zeros(0), variance.data)  # A square root and a division that are singular at 0.
    return centred / (sqrt(variance) + 1e-9)


def propose_lp(graph, name: str):
    x = graph.value(min_rank=1)
    rank = len(graph.shape(x))
    graph.node(name, [x], axis=graph.random.randrange(rank), p=graph.choose([1, 2]))


@operator("LpNormalization", propose_lp)
def lp_normalization(node, x):
    axis = node.attribute("axis", -1) % x.rank
    if node.attribute("p", 2) == 1:
        return x / total(tape.absolute(x), [axis], True)
    square = total(x * x, [axis], True)
    x.tape.decide(np.zeros(0), square.data)
    return x / sqrt(square)


def propose_response(graph, name: str):
    x = graph.value(min_rank=3)
    numbers = {"alpha": graph.number(0.01, 0.5), "beta": graph.choose([0.5, 0.75, 1.0]), "bias": graph.number(0.5, 2)}
    graph.node(name, [x], size=graph.random.randint(1, 6), **(numbers if graph.chance(0.8) else {}))


@operator("LRN", propose_response)
def local_response(node, x):
    size, channels = node.attribute("size"), x.shape[1]
    distance = np.arange(channels)[None] - np.arange(channels)[:, None]  # [of, from]
    near = ((distance >= -((size - 1) // 2)) & (distance <= size // 2)).astype(np.float64)
    rows = tape.reshape(x * x, (x.shape[0], channels, -1))
    sums = tape.reshape(tape.contract("oc,ncp->nop", x.tape.constant(near), rows), x.shape)
    scale = sums * (node.attribute("alpha", 1e-4) / size) + node.attribute("bias", 1.0)
    return x * tape.power(scale, x.tape.constant(-node.attribute("beta", 0.75)))
