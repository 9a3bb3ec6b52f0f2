"""Operators that permute, slice and concatenate tensors."""

import numpy as np
import tape
from operators import operator


def propose_transpose(graph, name: str):
    x = graph.value(min_rank=2)
    order = list(range(len(graph.shape(x))))
    graph.random.shuffle(order)
    graph.node(name, [x], **({"perm": order} if graph.chance(0.8) else {}))


@operator("Transpose", propose_transpose)
def transpose(node, x):
    return tape.move(x, lambda i: np.transpose(i, node.attribute("perm")))


def propose_concat(graph, name: str):
    x = graph.value(min_rank=1)
    shape = list(graph.shape(x))
    axis = graph.random.randrange(len(shape))
    operands = [x]
    for _ in range(graph.choose([0, 1, 1, 2])):
        if graph.chance(0.25):
            operands.append(x)
        else:
            operands.append(graph.of_shape((*shape[:axis], graph.extent(), *shape[axis + 1 :])))
    graph.random.shuffle(operands)
    graph.node(name, operands, axis=graph.signed(axis, len(shape)))


@operator("Concat", propose_concat)
def concat(node, *values):
    axis = node.attribute("axis")
    if values[0].is_float:
        return tape.concatenate(list(values), axis % values[0].rank)
    return values[0].tape.constant(np.concatenate([v.data for v in values], axis))


def propose_split(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    extent = shape[axis]
    count = graph.choose([n for n in (1, 2, 3) if n <= extent])
    if graph.chance(0.4) and (extent % count == 0):
        parts = {} if graph.opset < 18 else {"num_outputs": count}
    else:
        bounds = sorted(graph.random.sample(range(1, extent), count - 1))
        parts = {"split": [b - a for a, b in zip([0, *bounds], [*bounds, extent])]}
    graph.node(name, [x], outputs=count, axis=graph.signed(axis, len(shape)), **parts)


@operator("Split", propose_split)
def split(node, x, sizes=None):
    axis, count = node.attribute("axis", 0) % x.rank, len(node.outputs)
    extents = node.argument("split", sizes) or [-(-x.shape[axis] // count)] * count
    starts = np.cumsum([0, *extents])
    return [tape.move(x, lambda i: np.take(i, np.arange(a, min(b, x.shape[axis])), axis)) for a, b in zip(starts, starts[1:])]


def propose_slice(graph, name: str):
    """Slices of some axes, with steps of either sign; bounds may count from the end or be out of range."""
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axes = graph.random.sample(range(len(shape)), graph.random.randint(1, min(2, len(shape))))
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = shape[axis]
        first, last = sorted(graph.random.randrange(extent) for _ in range(2))
        step = graph.choose([1, 1, 1, 2, 3, -1, -2]) if graph.opset >= 10 else 1
        if step > 0:
            start, end = first, graph.choose([last + 1, 2**31 if last + 1 == extent else last + 1])
            starts.append(graph.choose([start, start - extent]))
        else:
            start, end = last, first - 1 if first > 0 else -(2**31)
            starts.append(start)
        ends.append(end)
        steps.append(step)
    attributes = {"starts": starts, "ends": ends, "axes": axes}
    if any(step != 1 for step in steps) or graph.opset >= 10 and graph.chance(0.3):
        attributes["steps"] = steps
    graph.node(name, [x], **attributes)


@operator("Slice", propose_slice)
def slice_node(node, x, starts=None, ends=None, axes=None, steps=None):
    starts, ends = node.argument("starts", starts), node.argument("ends", ends)
    axes = node.argument("axes", axes) or list(range(len(starts)))
    steps = node.argument("steps", steps) or [1] * len(starts)
    places = [slice(None)] * x.rank
    for start, end, axis, step in zip(starts, ends, axes, steps):
        extent = x.shape[axis]
        start, end = start + (extent if start < 0 else 0), end + (extent if end < 0 else 0)
        if step > 0:
            places[axis] = slice(np.clip(start, 0, extent), np.clip(end, 0, extent), step)
        else:
            end = int(np.clip(end, -1, extent - 1))
            places[axis] = slice(np.clip(start, 0, extent - 1), None if end < 0 else end, step)
    return tape.move(x, lambda i: i[tuple(places)])


def propose_pad(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    modes = ["constant", "constant", "edge", "reflect"] + (["wrap"] if graph.opset >= 19 else [])
    mode = graph.choose(modes)
    low, high = ([graph.choose([0, 0, 1, 2]) for _ in shape] for _ in range(2))
    if mode in ("reflect", "wrap"):
        low, high = ([min(n, extent - 1) for n, extent in zip(side, shape)] for side in (low, high))
    if mode == "constant" and graph.chance(0.3):
        axis = graph.random.randrange(len(shape))
        low[axis] = -1 if shape[axis] + high[axis] > 1 else 0
    attributes = {"pads": low + high, "mode": mode}
    if graph.opset >= 18 and graph.chance(0.3):
        axes = graph.random.sample(range(len(shape)), len(shape))
        attributes |= {"axes": axes, "pads": [low[a] for a in axes] + [high[a] for a in axes]}
    if mode == "constant" and graph.chance(0.4):
        attributes["value" if graph.opset < 11 else "constant_value"] = graph.number(-1, 1)
    graph.node(name, [x], **attributes)


@operator("Pad", propose_pad)
def pad(node, x, pads=None, value=None, axes=None):
    pads, mode = node.argument("pads", pads), node.attribute("mode", "constant")
    axes = range(x.rank) if axes is None else axes.data.tolist()
    value = node.attribute("value", 0.0) if value is None else float(value.data)
    for i, axis in enumerate(axes):
        low, high = pads[i], pads[len(axes) + i]
        kept = slice(max(-low, 0), x.shape[axis] - max(-high, 0))
        x = tape.move(x, lambda p: p[(slice(None),) * axis + (kept,)])
        widths = [(max(low, 0), max(high, 0)) if a == axis else (0, 0) for a in range(x.rank)]
        filled = {"constant_values": -1} if mode == "constant" else {}
        x = tape.move(x, lambda p: np.pad(p, widths, mode, **filled), value)
    return x


def propose_crop_pad(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axes = graph.random.sample(range(len(shape)), graph.random.randint(1, len(shape)))
    extents = [max(1, shape[a] + graph.choose([-3, -2, -1, 0, 1, 2, 3])) for a in axes]
    graph.node(name, [x, graph.constant(np.array(extents, np.int64))], axes=[graph.signed(a, len(shape)) for a in axes])


@operator("CenterCropPad", propose_crop_pad)
def center_crop_pad(node, x, extents):
    for axis, extent in zip(node.attribute("axes"), extents.data.tolist()):
        axis %= x.rank
        n = x.shape[axis]
        if extent <= n:
            start = (n - extent) // 2
            x = tape.move(x, lambda p, a=axis, s=start, e=extent: np.take(p, np.arange(s, s + e), a))
        else:
            low = (extent - n) // 2
            widths = [(low, extent - n - low) if a == axis else (0, 0) for a in range(x.rank)]
            x = tape.move(x, lambda p, w=widths: np.pad(p, w, constant_values=-1))
    return x


def propose_trilu(graph, name: str):
    x = graph.value(min_rank=2)
    attributes = {"k": np.array(graph.choose([-2, -1, 0, 1, 3]), np.int64)} if graph.chance(0.6) else {}
    graph.node(name, [x], upper=graph.choose([0, 1]), **attributes)


@operator("Trilu", propose_trilu)
def trilu(node, x, k=None):
    keep = np.triu if node.attribute("upper", 1) else np.tril
    kept = keep(np.ones(x.shape, bool), 0 if k is None else int(k.data.item()))
    return tape.move(x, lambda i: np.where(kept, i, -1))


