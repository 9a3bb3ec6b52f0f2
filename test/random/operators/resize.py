"""Interpolation."""

import math

import numpy as np
import tape
from operators import operator

COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
ROUNDINGS = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda place: math.ceil(place - 0.5),
    "round_prefer_ceil": lambda place: math.floor(place + 0.5),
}


def propose(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    mode = graph.choose(["nearest", "nearest", "linear"] + (["cubic"] if graph.allows(name, "cubic_coeff_a") else []))
    attributes = {"mode": mode}
    if graph.allows(name, "nearest_mode"):
        symmetric = ["half_pixel_symmetric"] if graph.opset >= 19 else []
        attributes["coordinate_transformation_mode"] = graph.choose(COORDINATES + symmetric)
        if mode == "nearest":
            attributes["nearest_mode"] = graph.choose(list(ROUNDINGS))
        elif mode == "cubic":
            attributes |= {"cubic_coeff_a": graph.choose([-0.75, -0.5]), "exclude_outside": graph.choose([0, 1])}
        if mode != "nearest" and graph.opset >= 18 and graph.chance(0.3):
            attributes["antialias"] = 1
    scales = [1.0] * len(shape)
    scales[axis] = graph.choose([s for s in (0.5, 0.75, 1.5, 2.0, 2.5, 3.0) if math.floor(shape[axis] * s) >= 1])
    if graph.allows(name, "nearest_mode") and graph.chance(0.4):
        sizes, region = list(shape), {}
        sizes[axis] = graph.random.randint(1, min(2 * shape[axis] + 1, 40))
        if graph.chance(0.25):
            attributes |= {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": graph.number(-1, 1)}
            starts, ends = [0.0] * len(shape), [1.0] * len(shape)
            starts[axis], ends[axis] = graph.number(-0.2, 0.4), graph.number(0.5, 1.3)
            region = {"roi": np.array(starts + ends, np.float32)}
        graph.node(name, [x], **region, sizes=np.array(sizes, np.int64), **attributes)
    else:
        graph.node(name, [x], scales=np.array(scales, np.float32), **attributes)


def place(node, i: int, extent: int, size: int, scale: float, length: float, region=(0.0, 1.0)) -> float:
    """Maps positions; The extent `size` is the integral part of `length`, which is `extent` times `scale`."""
    mode = node.attribute("coordinate_transformation_mode", "half_pixel" if node.version >= 11 else "asymmetric")
    if mode == "asymmetric":
        return i / scale
    if mode == "align_corners":
        return 0 if size == 1 else i * (extent - 1) / (length - 1)
    if mode == "tf_crop_and_resize":
        start, end = region
        if length == 1:
            return (start + end) / 2 * (extent - 1)
        return start * (extent - 1) + i * (end - start) * (extent - 1) / (length - 1)
    if mode == "pytorch_half_pixel" and length <= 1:
        return 0
    shift = extent / 2 * (1 - size / length) if mode == "half_pixel_symmetric" else 0
    return shift + (i + 0.5) / scale - 0.5


def keys(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def weights(node, places: list[float], extent: int, scale: float) -> np.ndarray:
    """[size, extent]"""
    narrow = min(scale, 1.0) if node.attribute("antialias", 0) else 1.0
    reach = math.ceil(2 / narrow) + 1  # Weights are 0 outside the axis.
    linear, result = node.attribute("mode") == "linear", np.zeros((len(places), extent))
    for i, at in enumerate(places):
        for j in range(math.floor(at) - reach, math.floor(at) + reach + 1):
            distance = narrow * (j - at)
            weight = max(0.0, 1 - abs(distance)) if linear else keys(distance, node.attribute("cubic_coeff_a", -0.75))
            if 0 <= j < extent or not node.attribute("exclude_outside", 0):
                result[i, min(max(j, 0), extent - 1)] += weight
    sums = result.sum(1, keepdims=True)
    return result / np.where(sums == 0, 1, sums)  # A position without any weight is extrapolated.


@operator("Resize", propose)
def resize(node, x, *operands):
    crops = node.attribute("coordinate_transformation_mode") == "tf_crop_and_resize"
    region, *operands = operands if crops else (None, *operands)
    given = [operand.data for operand in operands if operand is not None and operand.data.size]
    by_scale = given[0].dtype.kind == "f"
    for axis, (extent, number) in enumerate(zip(x.shape, given[0])):
        size = math.floor(extent * number) if by_scale else int(number)
        scale, length = (float(number), extent * number) if by_scale else (size / extent, size)
        bounds = region.data[axis :: x.rank] if crops else (0.0, 1.0)
        if scale == 1 and tuple(bounds) == (0, 1):
            continue
        places = [place(node, i, extent, size, scale, length, bounds) for i in range(size)]
        if node.attribute("mode", "nearest") == "nearest":
            rounding = ROUNDINGS[node.attribute("nearest_mode", "round_prefer_floor" if node.version >= 11 else "floor")]
            at = [*map(rounding, places)]
            x = tape.move(x, lambda i: np.take(i, np.clip(at, 0, extent - 1), axis))
        else:
            labels = "abcdef"[: x.rank]
            matrix = x.tape.constant(weights(node, places, extent, scale))
            x = tape.contract(f"{labels},z{labels[axis]}->{labels.replace(labels[axis], 'z')}", x, matrix)
        if crops:
            outside = np.array([at < 0 or at > extent - 1 for at in places])
            outside = outside.reshape([-1 if k == axis else 1 for k in range(x.rank)])
            x = tape.where(outside, node.attribute("extrapolation_value", 0.0), x)
    return x



def propose_upsample(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))
    scales = [1.0] * len(shape)
    scales[axis] = graph.choose([1.5, 2.0, 2.5, 3.0])
    if graph.opset < 9:
        graph.node(name, [x], scales=scales, mode=graph.choose(["nearest", "linear"]))
    else:
        scales = graph.constant(np.array(scales, np.float32))
        graph.node(name, [x, scales], mode=graph.choose(["nearest", "linear"]))


@operator("Upsample", propose_upsample)
def upsample(node, x, scales=None):
    scales = x.tape.constant(np.array(node.attribute("scales"))) if scales is None else scales
    return resize(node, x, scales)
