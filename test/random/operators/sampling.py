"""Interpolation at positions of a grid."""

import itertools
import math

import numpy as np
import tape
from operators import operator
from tape import less, where


def propose_grid_sample(graph, name: str):
    rank = graph.choose([2, 2, 2, 1, 3]) if graph.opset >= 20 else 2
    x = graph.value(rank=rank + 2)
    shape = graph.shape(x)
    linear, cubic = ("linear", "cubic") if graph.opset >= 20 else ("bilinear", "bicubic")
    mode = graph.choose([linear, linear, "nearest", cubic if rank < 3 else linear])
    output = graph.small_shape(rank)
    if math.prod(shape) * math.prod(output) > 100000:
        raise tape.Rejected("too many elements")
    grid = graph.bounded(-1.6, 1.6, (shape[0], *output, rank))
    graph.node(name, [x, grid], mode=mode, align_corners=graph.choose([0, 1]),
               padding_mode=graph.choose(["zeros", "border", "reflection"]))  # fmt: skip


def whole(x):
    """Returns the integral part of positions. Rounding to another integral part would select another element."""
    return x.tape.decide(np.floor(x.data), np.abs(x.data - np.round(x.data)))


def reflect(x, extent: int, aligned: bool):
    low, high = (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)
    if high == low:
        return x * 0.0
    turns = x.tape.decide(np.floor((x.data - low) / (high - low)), np.abs((x.data - low) % (high - low)))
    odd = turns % 2 != 0
    return where(odd, -1.0 * x + (low + high + turns * (high - low)), x - turns * (high - low))


def inside(x, extent: int, outside: str, aligned: bool):
    if outside == "zeros":
        return x
    if outside == "reflection":
        x = reflect(x, extent, aligned)
    x = where(less(x, 0.0), 0.0, x)
    return where(less(x.tape.constant(extent - 1.0), x), extent - 1.0, x)


def taps_at(x, extent: int, mode: str, outside: str, aligned: bool):
    """Returns [(indices, weight)] for positions from -1 to 1."""
    x = (x + 1.0) * ((extent - 1) / 2) if aligned else (x + 1.0) * (extent / 2) - 0.5
    zeros = outside == "zeros"

    def tap(at, weight):
        known = (at >= 0) & (at <= extent - 1)
        return np.clip(at, 0, extent - 1).astype(np.int64), where(known, weight, 0.0) if zeros else weight

    if mode == "nearest":
        x = inside(x, extent, outside, aligned)
        at = x.tape.decide(np.round(x.data), 0.5 - np.abs(x.data - np.round(x.data)))
        return [tap(at, x.tape.constant(np.ones(x.shape)))]
    if "linear" in mode:
        x = inside(x, extent, outside, aligned)
        # Clipping moves positions to an end of the axis, which is an integer, so that there is no additional kink.
        first = np.floor(x.data) if not zeros else whole(x)
        if not zeros:
            x.tape.decide(first, np.where((x.data <= 0) | (x.data >= extent - 1), 1.0, np.abs(x.data - np.round(x.data))))
        part = x - first
        return [tap(first, 1.0 - part), tap(first + 1, part)]
    first = whole(x)
    part = x - first
    taps = []
    for i in range(-1, 3):
        d = part - float(i) if i <= 0 else float(i) - part
        weight = (1.25 * d - 2.25) * d * d + 1.0 if i in (0, 1) else ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0
        at = inside(x.tape.constant(first + i), extent, outside, aligned).data
        taps.append(tap(at, weight))
    return taps


@operator("GridSample", propose_grid_sample)
def grid_sample(node, x, grid):
    mode, outside = node.attribute("mode", "linear" if node.version >= 20 else "bilinear"), node.attribute("padding_mode", "zeros")
    aligned, rank = bool(node.attribute("align_corners", 0)), x.rank - 2
    axes = []
    for i in range(rank):
        place = tape.move(grid, lambda p, i=i: p[..., rank - 1 - i])
        axes.append(taps_at(place, x.shape[2 + i], mode, outside, aligned))
    batch = np.arange(x.shape[0]).reshape([-1] + [1] * rank)
    result = None
    for combination in itertools.product(*axes):
        weight = combination[0][1]
        for _, other in combination[1:]:
            weight = weight * other
        index = tuple(at for at, _ in combination)
        read = tape.move(x, lambda p, index=index: np.moveaxis(p[(batch, slice(None), *index)], -1, 1))
        term = read * tape.move(weight, lambda p: p[:, None])
        result = term if result is None else result + term
    return result


def propose_affine_grid(graph, name: str):
    rank, batch = graph.choose([2, 2, 3]), graph.extent(3)
    size = np.array([batch, 1, *graph.small_shape(rank)], np.int64)
    graph.node(name, [graph.of_shape((batch, rank, rank + 1)), graph.constant(size)], align_corners=graph.choose([0, 1]))


@operator("AffineGrid", propose_affine_grid)
def affine_grid(node, theta, size):
    extents = size.data[2:].tolist()
    rank = len(extents)
    places = []
    for n in extents:
        i = np.arange(n)
        places.append(2 * i / max(n - 1, 1) - 1.0 if node.attribute("align_corners", 0) else (2 * i + 1) / n - 1)
    base = np.stack([*reversed(np.meshgrid(*places, indexing="ij")), np.ones(extents)], -1)
    out = "xyz"[:rank]
    return tape.contract(f"nrk,{out}k->n{out}r", theta, theta.tape.constant(base))
