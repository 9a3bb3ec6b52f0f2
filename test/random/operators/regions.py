"""Regions of images, and deformable convolutions."""

import math

import numpy as np
import tape
from operators import operator, windows
from operators.sampling import whole
from tape import less, where


def region(graph, extent: float):
    """Returns two ends of a region near the bounds of an axis."""
    begin = graph.number(-0.5, max(extent - 1.5, 0))
    return begin, begin + graph.number(0.8, extent)


def propose_align(graph, name: str):
    x = graph.value(rank=4)
    n, _, height, width = graph.shape(x)
    if max(height, width) > 40:
        raise tape.Rejected("bins of too many elements")
    rows = []
    for _ in range(graph.choose([1, 2, 3])):
        (top, bottom), (left, right) = region(graph, height), region(graph, width)
        rows.append([left, top, right, bottom])
    images = graph.constant(graph.numbers.integers(0, n, len(rows)))
    attributes = {} if graph.opset < 16 else {"coordinate_transformation_mode": graph.choose(["half_pixel", "output_half_pixel"])}
    graph.node(name, [x, graph.constant(graph.numbers_of(rows)), images], output_height=graph.choose([1, 2, 3]),
               output_width=graph.choose([1, 2]), sampling_ratio=graph.choose([1, 2]), **attributes)  # fmt: skip


def region_taps(begin, end, half: bool, scale: float, bins: int, samples: int, extent: int):
    """Returns (index, weight) of two taps for [R, positions]."""
    begin, end = begin * scale - 0.5 * half, end * scale - 0.5 * half
    size = end - begin
    if not half:
        size = where(less(size, 1.0), 1.0, size)
    number = (np.arange(bins * samples) + 0.5) / (bins * samples)
    place = tape.reshape(begin, (-1, 1)) + tape.reshape(size, (-1, 1)) * begin.tape.constant(number)
    near = begin.tape.decide((place.data >= -1) & (place.data <= extent), np.minimum(abs(place.data + 1), abs(place.data - extent)))
    place = where(less(place, 0.0), 0.0, place)
    place = where(less(place.tape.constant(extent - 1.0), place), extent - 1.0, place)
    first = np.floor(place.data)
    place.tape.decide(first, np.where((place.data <= 0) | (place.data >= extent - 1), 1.0, abs(place.data - np.round(place.data))))
    part = place - first
    clipped = lambda at: np.clip(at, 0, extent - 1).astype(np.int64)  # noqa: E731
    return [(clipped(first), where(near, 1.0 - part, 0.0)), (clipped(first + 1), where(near, part, 0.0))]


@operator("RoiAlign", propose_align)
def roi_align(node, x, regions, images):
    half = node.attribute("coordinate_transformation_mode", "output_half_pixel" if node.version < 16 else "half_pixel") == "half_pixel"
    samples, scale = node.attribute("sampling_ratio"), node.attribute("spatial_scale", 1.0)
    corner = lambda i: tape.move(regions, lambda p: p[:, i])  # noqa: E731
    bins = node.attribute("output_height", 1), node.attribute("output_width", 1)
    vertical = region_taps(corner(1), corner(3), half, scale, bins[0], samples, x.shape[2])
    horizontal = region_taps(corner(0), corner(2), half, scale, bins[1], samples, x.shape[3])
    total = None
    for row, by_row in vertical:
        for column, by_column in horizontal:
            read = tape.move(x, lambda p, r=row, c=column: np.stack(
                [p[image][:, r[k]][:, :, c[k]] for k, image in enumerate(images.data)]))  # fmt: skip
            weight = tape.reshape(by_row, (len(row), 1, -1, 1)) * tape.reshape(by_column, (len(row), 1, 1, -1))
            total = read * weight if total is None else total + read * weight
    split = tape.reshape(total, (*total.shape[:2], bins[0], samples, bins[1], samples))
    return tape.mean(split, [3, 5])


def propose_pool(graph, name: str):
    x = graph.value(rank=4)
    n, _, height, width = graph.shape(x)
    rows = []
    for _ in range(graph.choose([1, 2])):
        top, left = graph.random.randrange(height), graph.random.randrange(width)
        rows.append([graph.random.randrange(n), left, top, graph.random.randrange(left, width), graph.random.randrange(top, height)])
    graph.node(name, [x, graph.constant(graph.numbers_of(rows))], pooled_shape=[graph.choose([1, 2, 3]), graph.choose([1, 2])])


@operator("MaxRoiPool", propose_pool)
def max_roi_pool(node, x, regions):
    bins, rows = node.attribute("pooled_shape"), []
    for image, left, top, right, bottom in regions.data.astype(int).tolist():
        size = (bottom - top + 1) / bins[0], (right - left + 1) / bins[1]
        cells = []
        for i in range(bins[0]):
            for j in range(bins[1]):
                r = slice(top + math.floor(i * size[0]), top + math.ceil((i + 1) * size[0]))
                c = slice(left + math.floor(j * size[1]), left + math.ceil((j + 1) * size[1]))
                cell = tape.move(x, lambda p, r=r, c=c, image=image: p[image, :, r, c])
                cells.append(tape.reshape(tape.maximum_over(cell, [1, 2]), (1, -1, 1)))
        rows.append(tape.reshape(tape.concatenate(cells, 2), (1, x.shape[1], *bins)))
    return tape.concatenate(rows, 0)


def propose_deformed(graph, name: str):
    x = graph.value(rank=4)
    n, channels, *spatial = graph.shape(x)
    kernel = [graph.random.randint(1, min(3, e)) for e in spatial]
    group = graph.choose([g for g in range(1, channels + 1) if channels % g == 0])
    offsets = graph.choose([g for g in range(1, channels + 1) if channels % g == 0])
    strides, pads = [graph.choose([1, 2]) for _ in spatial], [graph.choose([0, 1]) for _ in range(4)]
    output = [(e + pads[i] + pads[2 + i] - kernel[i]) // strides[i] + 1 for i, e in enumerate(spatial)]
    taps = math.prod(kernel)
    out = group * graph.choose([1, 2])
    if n * channels * taps * math.prod(output) > 4000 or channels > 16:
        raise tape.Rejected("too many taps")
    limit = 1.5 / math.sqrt(channels // group * taps)
    operands = [x, graph.parameter((out, channels // group, *kernel), -limit, limit),
                graph.bounded(-1.4, 1.4, (n, offsets * taps * 2, *output))]  # fmt: skip
    operands.append(graph.parameter((out,)) if graph.chance(0.5) else "")
    operands.append(graph.of_shape((n, offsets * taps, *output)) if graph.chance(0.5) else "")
    while not operands[-1]:
        operands.pop()
    graph.node(name, operands, group=group, offset_group=offsets, strides=strides, pads=pads)


@operator("DeformConv", propose_deformed)
def deform_conv(node, x, weight, offset, bias=None, mask=None):
    n, channels, *spatial = x.shape
    groups, split, kernel = node.attribute("offset_group", 1), node.attribute("group", 1), weight.shape[2:]
    read = windows.read(node, spatial, kernel)
    places, taps = read.output, math.prod(kernel)
    moved = tape.reshape(offset, (n, groups, taps, 2, *places))
    axes = []
    for axis in range(2):
        k = np.indices(kernel)[axis].reshape(-1, 1, 1) - read.before[axis]
        regular = k + np.indices(places)[axis] * read.strides[axis]
        at = tape.move(moved, lambda p: p[:, :, :, axis]) + x.tape.constant(regular.astype(np.float64))  # noqa: B023
        first = whole(at)
        part, extent = at - first, spatial[axis]
        inside = lambda i, e=extent: (i >= 0) & (i <= e - 1)  # noqa: E731
        axes.append([(np.clip(i, 0, extent - 1).astype(np.int64), where(inside(i), w, 0.0))
                     for i, w in ((first, 1.0 - part), (first + 1, part))])  # fmt: skip
    grouped = tape.reshape(x, (n, groups, channels // groups, *spatial))
    batch, group = np.indices((n, groups)).reshape(2, n, groups, 1, 1, 1)
    total = None
    for row, by_row in axes[0]:
        for column, by_column in axes[1]:
            value = tape.move(grouped, lambda p, r=row, c=column: np.moveaxis(p[batch, group, :, r, c], -1, 2))
            weights = tape.reshape(by_row * by_column, (n, groups, 1, taps, *places))
            total = value * weights if total is None else total + value * weights
    if mask is not None:
        total = total * tape.reshape(mask, (n, groups, 1, taps, *places))
    total = tape.reshape(total, (n, split, channels // split, taps, -1))
    kernels = tape.reshape(weight, (split, -1, channels // split, taps))
    y = tape.reshape(tape.contract("ngcko,gmck->ngmo", total, kernels), (n, -1, *places))
    return y if bias is None else y + tape.reshape(bias, (1, -1, 1, 1))
