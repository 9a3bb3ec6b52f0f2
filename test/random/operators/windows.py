"""Sliding windows over the last axes of a tensor, shared by convolution and pooling."""

from dataclasses import dataclass

import numpy as np
import tape
from tape import Rejected


@dataclass
class Windows:
    kernel: list
    strides: list
    dilations: list
    before: list
    after: list
    output: list


def draw(graph, name: str, spatial, kernel, within_reach: bool) -> dict:
    """Draws attributes of windows; with `within_reach`, no window covers only padding."""
    rank = len(spatial)
    strides = [graph.choose([1, 1, 2, 3]) for _ in spatial]
    dilations = [graph.choose([1, 1, 1, 2]) if graph.allows(name, "dilations") else 1 for _ in spatial]
    attributes = {"strides": strides} if graph.chance(0.7) else {}
    reaches = [(k - 1) * (d if graph.allows(name, "dilations") else 1) for k, d in zip(kernel, dilations)]
    if graph.allows(name, "dilations") and graph.chance(0.6):
        attributes["dilations"] = dilations
    else:
        reaches = [k - 1 for k in kernel]
    if graph.chance(0.3):
        attributes["auto_pad"] = graph.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif graph.chance(0.7):
        most = [min(2, reach) if within_reach else 2 for reach in reaches]
        attributes["pads"] = [graph.random.randint(0, n) for n in most * 2]
    if graph.allows(name, "ceil_mode") and "SAME" not in attributes.get("auto_pad", "") and graph.chance(0.4):
        attributes["ceil_mode"] = 1
    if attributes.get("auto_pad") in (None, "VALID"):
        pads = attributes.get("pads", [0] * 2 * rank)
        if any(n + pads[i] + pads[rank + i] <= reaches[i] for i, n in enumerate(spatial)):
            raise Rejected("windows do not fit")
        for i, n in enumerate(spatial):
            stride = attributes.get("strides", [1] * rank)[i]
            missing = -(n + pads[i] + pads[rank + i] - reaches[i] - 1) % stride
            if "ceil_mode" in attributes and missing and missing + pads[rank + i] >= reaches[i] + 1:
                raise Rejected("a last window in the padding, which onnx's inference counts")
    return attributes


def read(node, spatial, kernel) -> Windows:
    rank = len(spatial)
    strides, dilations = node.attribute("strides") or [1] * rank, node.attribute("dilations") or [1] * rank
    pads, mode = node.attribute("pads") or [0] * 2 * rank, node.attribute("auto_pad", "NOTSET")
    before, after, output = list(pads[:rank]), list(pads[rank:]), []
    for i, extent in enumerate(spatial):
        reach = (kernel[i] - 1) * dilations[i] + 1
        if mode.startswith("SAME"):
            output.append(-(-extent // strides[i]))
            missing = max((output[i] - 1) * strides[i] + reach - extent, 0)
            before[i] = missing // 2 if mode == "SAME_UPPER" else -(-missing // 2)
            after[i] = missing - before[i]
            continue
        if mode == "VALID":
            before[i] = after[i] = 0
        room = extent + before[i] + after[i] - reach
        ceil = node.attribute("ceil_mode", 0)
        output.append((-(-room // strides[i]) if ceil else room // strides[i]) + 1)
    return Windows(kernel, strides, dilations, before, after, output)


def places(windows: Windows, i: int) -> np.ndarray:
    """Returns [window, tap] positions along spatial axis i; those below 0 or past the end are in the padding."""
    o, k = np.arange(windows.output[i]), np.arange(windows.kernel[i])
    return o[:, None] * windows.strides[i] + k * windows.dilations[i] - windows.before[i]


def slide(x, windows: Windows, fill: float = 0.0):
    """Returns [.., window.., tap..]."""
    first = x.rank - len(windows.kernel)

    def arrange(positions):
        for i in range(len(windows.kernel)):
            at, extent = places(windows, i), x.shape[first + i]
            taken = np.take(positions, np.clip(at, 0, extent - 1), first + i)
            inside = ((at >= 0) & (at < extent)).reshape(at.shape + (1,) * (positions.ndim - first - i - 1))
            positions = np.moveaxis(np.where(inside, taken, -1), first + i + 1, -1)
        return positions

    return tape.move(x, arrange, fill)
