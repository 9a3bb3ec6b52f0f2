"""Fourier transforms as linear maps of real and imaginary parts along the last axis."""

import numpy as np
import tape
from operators import operator


def transform(x, axis: int, length: int, inverse: bool, onesided: bool):
    """Applies numpy's transforms to unit vectors."""
    half = length // 2 + 1
    points, parts = min(x.shape[axis], half if inverse and onesided else length), x.shape[-1]
    unit = np.zeros((points, parts, points, parts))
    for n in range(points):
        for c in range(parts):
            unit[n, c, n, c] = 1
    signal = unit[..., 0] + (1j * unit[..., 1] if parts == 2 else 0)  # [n, c, points]
    if inverse and onesided:
        result = np.fft.irfft(signal, length)[..., None]
    else:
        result = np.fft.ifft(signal, length) if inverse else np.fft.fft(signal, length)
        result = result[..., :half] if onesided else result
        result = np.stack([result.real, result.imag], -1)
    kept = tape.move(x, lambda p: np.take(p, np.arange(points), axis))
    last = tape.move(kept, lambda p: np.moveaxis(p, axis, -2))
    rows = tape.reshape(last, (-1, points, parts))
    y = tape.contract("anc,ncko->ako", rows, x.tape.constant(result))
    y = tape.reshape(y, (*last.shape[:-2], *result.shape[2:]))
    return tape.move(y, lambda p: np.moveaxis(p, -2, axis))


def propose_dft(graph, name: str):
    x = graph.value(min_rank=2, max_rank=4, where=lambda shape: shape[-1] in (1, 2))
    shape = graph.shape(x)
    if shape[-1] > 2:
        raise tape.Rejected("no parts of complex numbers")
    axis = graph.random.randrange(len(shape) - 1)
    inverse, onesided = graph.choose([0, 1]), graph.choose([0, 1])
    if onesided and not inverse and shape[-1] == 2 or inverse and onesided and (shape[axis] < 2 or shape[-1] == 1):
        onesided = 0
    if shape[axis] > 40:
        raise tape.Rejected("sums of too many terms")
    operands = [x]
    if graph.chance(0.4):
        operands.append(graph.constant(np.array(graph.random.randint(1, 2 * shape[axis]), np.int64)))
    if graph.opset < 20:
        graph.node(name, operands, axis=axis, inverse=inverse, onesided=onesided)
    else:
        operands += [""] * (2 - len(operands)) + [graph.constant(np.array(axis, np.int64))]
        graph.node(name, operands, inverse=inverse, onesided=onesided)


@operator("DFT", propose_dft)
def dft(node, x, length=None, axis=None):
    axis = (node.attribute("axis", 1) if node.version < 20 else -2 if axis is None else int(axis.data)) % x.rank
    inverse, onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    points = 2 * (x.shape[axis] - 1) if inverse and onesided else x.shape[axis]
    return transform(x, axis, points if length is None else int(length.data), inverse, onesided)


def propose_stft(graph, name: str):
    parts = graph.choose([1, 1, 2])
    x = graph.of_shape((graph.extent(4), graph.choose([8, 13, 17, 32]), parts))
    points = graph.shape(x)[1]
    length = graph.random.randint(2, points)
    operands = [x, graph.constant(np.array(graph.random.randint(1, 6), np.int64))]
    if graph.chance(0.6):
        operands += [graph.of_shape((length,))]
    else:
        operands += ["", graph.constant(np.array(length, np.int64))]
    graph.node(name, operands, onesided=0 if parts == 2 else graph.choose([0, 1]))


@operator("STFT", propose_stft)
def stft(node, x, step, window=None, length=None):
    length, step = window.shape[0] if length is None else int(length.data), int(step.data)
    at = np.arange(0, x.shape[1] - length + 1, step)[:, None] + np.arange(length)
    frames = tape.move(x, lambda p: p[:, at])
    if window is not None:
        frames = frames * tape.reshape(window, (-1, 1))
    return transform(frames, 2, length, False, bool(node.attribute("onesided", 1)))
