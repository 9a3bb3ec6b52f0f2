"""Convolution and transposed convolution."""

import math

import numpy as np
import tape
from operators import operator, windows
from tape import Rejected


def grouped(x, axis: int, groups: int):
    return tape.reshape(x, (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :]))


def add_bias(y, bias):
    return y if bias is None else y + tape.reshape(bias, (-1, *[1] * (y.rank - 2)))


def propose_operands(graph):
    """A value with at most two channels per group, and a kernel."""
    x = graph.value(min_rank=3, max_rank=5, where=lambda shape: 1 <= shape[1] <= 16)
    spatial = graph.shape(x)[2:]
    kernel = [graph.random.randint(1, min(3, n + 1)) for n in spatial]
    channels = graph.shape(x)[1]
    group = graph.choose([1, 1, channels, graph.choose([n for n in range(1, channels + 1) if channels % n == 0])])
    return x, spatial, kernel, channels, group


def with_weight(graph, x: str, shape, out: int, fan: int) -> list[str]:
    limit = 1.5 / math.sqrt(fan)
    operands = [x, graph.parameter(shape, -limit, limit)]
    return [*operands, graph.parameter((out,))] if graph.chance(0.6) else operands


def draw_conv(graph, name: str) -> tuple[list[str], dict]:
    """Draws operands [N, C, ..] and attributes."""
    x, spatial, kernel, channels, group = propose_operands(graph)
    attributes = windows.draw(graph, name, spatial, kernel, within_reach=False)
    if group > 1 or graph.chance(0.3):
        attributes["group"] = group
    if graph.chance(0.5):
        attributes["kernel_shape"] = kernel
    out = group * graph.choose([1, 2, 3])
    fan = channels // group * math.prod(kernel)
    return with_weight(graph, x, (out, channels // group, *kernel), out, fan), attributes


def propose_conv(graph, name: str):
    operands, attributes = draw_conv(graph, name)
    graph.node(name, operands, **attributes)


@operator("Conv", propose_conv)
def conv(node, x, weight, bias=None):
    group, kernel = node.attribute("group", 1), weight.shape[2:]
    slid = windows.slide(grouped(x, 1, group), windows.read(node, x.shape[2:], kernel))
    o, k = "pqr"[: len(kernel)], "uvw"[: len(kernel)]
    y = tape.contract(f"ngc{o}{k},gmc{k}->ngm{o}", slid, grouped(weight, 0, group))
    return add_bias(tape.reshape(y, (y.shape[0], -1, *y.shape[3:])), bias)


def propose_transposed(graph, name: str):
    x, spatial, kernel, channels, group = propose_operands(graph)
    rank = len(spatial)
    strides = [graph.choose([1, 2, 3]) for _ in spatial]
    dilations = [graph.choose([1, 1, 2]) for _ in spatial]
    attributes = {"strides": strides, "dilations": dilations, "group": group}
    draw = graph.random.random()
    if draw < 0.2:
        attributes["auto_pad"] = graph.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if any((k - 1) * d + 1 < s for k, d, s in zip(kernel, dilations, strides)):
            raise Rejected("more than the windows reach, which onnx's inference leaves out")
    elif draw < 0.7:
        attributes["pads"] = [graph.choose([0, 0, 1]) for _ in range(2 * rank)]
    if "auto_pad" not in attributes and graph.chance(0.4):
        attributes["output_padding"] = [graph.random.randrange(max(s, d)) for s, d in zip(strides, dilations)]
    out = group * graph.choose([1, 2, 3])
    graph.node(name, with_weight(graph, x, (channels, out // group, *kernel), out, channels // group * 2), **attributes)


def transposed_extents(node, spatial, kernel):
    """Returns the padding at the start of each axis, and the result's extents."""
    rank = len(spatial)
    strides, dilations = node.attribute("strides"), node.attribute("dilations")
    pads, mode = node.attribute("pads") or [0] * 2 * rank, node.attribute("auto_pad", "NOTSET")
    added, before, extents = node.attribute("output_padding") or [0] * rank, list(pads[:rank]), []
    for i, n in enumerate(spatial):
        full = strides[i] * (n - 1) + added[i] + dilations[i] * (kernel[i] - 1) + 1
        if mode.startswith("SAME"):
            extents.append(n * strides[i])
            missing = max(full - extents[i], 0)
            before[i] = missing // 2 if mode == "SAME_UPPER" else -(-missing // 2)
        else:
            extents.append(full - pads[i] - pads[rank + i])
    return before, extents


@operator("ConvTranspose", propose_transposed)
def conv_transpose(node, x, weight, bias=None):
    group, kernel, spatial = node.attribute("group", 1), weight.shape[2:], x.shape[2:]
    rank = len(kernel)
    o, k = "pqr"[:rank], "uvw"[:rank]
    products = tape.contract(f"ngc{o},gcm{k}->ngm{o}{k}", grouped(x, 1, group), grouped(weight, 0, group))
    before, extents = transposed_extents(node, spatial, kernel)
    if min(extents) < 1:
        raise Rejected("nothing is left")
    channels = products.shape[0] * products.shape[1] * products.shape[2]
    size = channels * math.prod(extents)
    place, inside = np.arange(channels).reshape(products.shape[:3] + (1,) * 2 * rank), True
    for i in range(rank):
        at = (np.arange(spatial[i])[:, None] * node.attribute("strides")[i]
              + np.arange(kernel[i]) * node.attribute("dilations")[i] - before[i])  # fmt: skip
        shape = [1] * products.rank
        shape[3 + i], shape[3 + rank + i] = at.shape
        at = at.reshape(shape)
        place, inside = place * extents[i] + at, inside & (at >= 0) & (at < extents[i])
    summed = tape.scatter(x.tape.constant(np.zeros(size + 1)), np.where(inside, place, size), products, adds=True)
    y = tape.move(summed, lambda i: i[:-1].reshape(x.shape[0], -1, *extents))
    return add_bias(y, bias)


def propose_columns(graph, name: str):
    rank = graph.choose([1, 2, 2, 3]) if graph.opset >= 18 else 2
    image = [graph.choose([2, 3, 5, 7]) for _ in range(rank)]
    block = [graph.random.randint(1, min(3, n)) for n in image]
    attributes = {"strides": [graph.choose([1, 2]) for _ in image], "pads": [graph.choose([0, 1]) for _ in image * 2],
                  "dilations": [graph.choose([1, 1, 2]) for _ in image]}  # fmt: skip
    blocks = 1
    for i, n in enumerate(image):
        room = n + attributes["pads"][i] + attributes["pads"][rank + i] - (block[i] - 1) * attributes["dilations"][i] - 1
        if room < 0:
            raise Rejected("blocks do not fit")
        blocks *= room // attributes["strides"][i] + 1
    x = graph.of_shape((graph.extent(3), graph.extent(3) * math.prod(block), blocks))
    constants = [graph.constant(np.array(extents, np.int64)) for extents in (image, block)]
    graph.node(name, [x, *constants], **attributes)


@operator("Col2Im", propose_columns)
def columns_to_image(node, x, image, block):
    image, block, rank = image.data.tolist(), block.data.tolist(), image.data.size
    strides, dilations, pads = node.attribute("strides"), node.attribute("dilations"), node.attribute("pads")
    places = [np.arange(-pads[i], image[i] + pads[rank + i] - (block[i] - 1) * dilations[i], strides[i])[None]
              + np.arange(block[i])[:, None] * dilations[i] for i in range(rank)]  # fmt: skip
    flat, inside = np.zeros([1] * 2 * rank, np.int64), True  # [tap.., position..]
    for i, at in enumerate(places):
        shape = [1] * 2 * rank
        shape[i], shape[rank + i] = at.shape
        at = at.reshape(shape)
        flat, inside = flat * image[i] + at, inside & (at >= 0) & (at < image[i])
    size = math.prod(image)
    flat = np.where(inside, flat, size).reshape(math.prod(block), -1)
    rows = tape.reshape(x, (-1, *flat.shape))
    at = np.arange(rows.shape[0]).reshape(-1, 1, 1) * (size + 1) + flat
    summed = tape.scatter(x.tape.constant(np.zeros(rows.shape[0] * (size + 1))), at, rows, adds=True)
    y = tape.move(summed, lambda p: p.reshape(-1, size + 1)[:, :-1])
    return tape.reshape(y, (x.shape[0], -1, *image))


def propose_causal(graph, name: str):
    if graph.is_double:
        raise Rejected("it is not defined for doubles")
    x = graph.value(rank=3)
    n, channels, length = graph.shape(x)
    kernel = graph.choose([1, 2, 3, 4])
    operands = [x, graph.parameter((channels, 1, kernel))]
    operands.append(graph.parameter((channels,)) if graph.chance(0.5) else "")
    operands.append(graph.of_shape((n, channels, kernel - 1)) if kernel > 1 and graph.chance(0.5) else "")
    while not operands[-1]:
        operands.pop()
    graph.node(name, operands, outputs=2, activation=graph.choose(["none", "silu", "swish"]))


@operator("CausalConvWithState", propose_causal)
def causal_conv(node, x, weight, bias=None, state=None):
    n, channels, length = x.shape
    before = weight.shape[2] - 1
    state = x.tape.constant(np.zeros((n, channels, before))) if state is None else state
    padded = tape.concatenate([state, x], 2)
    at = np.arange(length)[:, None] + np.arange(before + 1)
    windows = tape.move(padded, lambda p: p[:, :, at])
    y = tape.contract("ncok,ck->nco", windows, tape.reshape(weight, (channels, -1)))
    y = y if bias is None else y + tape.reshape(bias, (1, -1, 1))
    y = y if node.attribute("activation", "none") == "none" else y * tape.sigmoid(y)
    return [y, tape.move(padded, lambda p: p[:, :, length:])]
