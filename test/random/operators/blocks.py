"""Operators of onnxruntime with weights of 2, 4 or 8 bits and a scale for each block."""

import math

import ml_dtypes
import numpy as np
import tape
from operators import operator
from operators.attention import transposed
from operators.contraction import matmul

DOMAIN = "com.microsoft::"


def unpacked(codes, bits: int):
    """Unpacks numbers that are packed into bytes, the low bits first."""
    parts = [(codes >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*codes.shape[:-1], -1)


def draw_bytes(graph, shape) -> str:
    return graph.constant(graph.numbers.integers(0, 256, shape).astype(np.uint8))


def draw_scales(graph, shape, bits: int, depth: int) -> str:
    size = 1.5 / math.sqrt(depth) / 2 ** (bits - 1)
    return graph.parameter(shape, 0.5 * size, size)


def propose_matmul(graph, name: str):
    """The number of columns is rarely a multiple of the block size. Zero points are bytes, floats or absent."""
    x = graph.value(min_rank=1, max_rank=4)
    depth, rows = graph.shape(x)[-1], graph.extent(33)
    bits, block = graph.choose([2, 4, 4, 8]), graph.choose([16, 16, 32, 128])
    blocks = -(-depth // block)
    shape = graph.choose([(rows, blocks), (rows, blocks), (rows * blocks,)])
    operands = [x, draw_bytes(graph, (rows, blocks, block * bits // 8)), draw_scales(graph, shape, bits, depth)]
    zeros = graph.choose(["", "bytes", "floats"])
    if zeros:
        packed = -(-blocks * bits // 8)
        operands.append(draw_bytes(graph, (rows, packed)) if zeros == "bytes" else graph.parameter(shape, 0, 2**bits))
    if graph.chance(0.3):
        operands += [""] * (4 - len(operands))
        operands.append(graph.constant(graph.numbers.integers(0, blocks, graph.choose([depth, blocks * block])).astype(np.int32)))
    if graph.chance(0.5):
        operands += [""] * (5 - len(operands)) + [graph.parameter((rows,))]
    level = {"accuracy_level": graph.choose([0, 4])} if graph.chance(0.3) else {}
    graph.node(name, operands, K=depth, N=rows, bits=bits, block_size=block, **level)


@operator(DOMAIN + "MatMulNBits", propose_matmul)
def matmul_nbits(node, x, codes, scales, zeros=None, groups=None, bias=None):
    rows, depth, bits, block = (node.attribute(name) for name in ("N", "K", "bits", "block_size"))
    blocks = -(-depth // block)
    group = np.arange(depth) // block if groups is None else groups.data[:depth]
    spread = lambda each: tape.move(tape.reshape(each, (rows, blocks)), lambda i: i[:, group])  # noqa: E731
    weights = x.tape.constant(unpacked(codes.data, bits).reshape(rows, -1)[:, :depth].astype(np.float64))
    if zeros is None:
        weights = weights - 2.0 ** (bits - 1)
    elif zeros.data.dtype == np.uint8:
        numbers = unpacked(zeros.data.reshape(rows, -1), bits)[:, :blocks].astype(np.float64)
        weights = weights - spread(x.tape.constant(numbers))
    else:
        weights = weights - spread(zeros)
    y = matmul(x, transposed(weights * spread(scales), 1, 0))
    return y if bias is None else y + bias


NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]  # fmt: skip
FP4 = [0.0, 0.005208333333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25]


def propose_bnb4(graph, name: str):
    x = graph.value(min_rank=1, max_rank=4)
    depth, rows, block = graph.shape(x)[-1], graph.extent(33), graph.choose([16, 32, 64])
    codes = draw_bytes(graph, (-(-rows * depth // 2),))
    maxima = draw_scales(graph, (-(-rows * depth // block),), 1, depth)
    graph.node(name, [x, codes, maxima], K=depth, N=rows, block_size=block, quant_type=graph.choose([0, 1]))


@operator(DOMAIN + "MatMulBnb4", propose_bnb4)
def matmul_bnb4(node, x, codes, maxima):
    rows, depth, block = (node.attribute(name) for name in ("N", "K", "block_size"))
    table = np.array(NF4 if node.attribute("quant_type") else [*FP4, *(-value for value in FP4)])
    numbers = np.stack([codes.data >> 4, codes.data & 15], -1).ravel()[: rows * depth]
    spread = tape.move(maxima, lambda i: np.repeat(i, block)[: rows * depth].reshape(rows, depth))
    return matmul(x, transposed(spread * x.tape.constant(table[numbers].reshape(rows, depth)), 1, 0))


def propose_gather(graph, name: str):
    """Bytes are gathered along the first axis, 4-bit integers along any axis, including the axis of the blocks."""
    kinds = ["bytes", "int4", "uint4"] if graph.opset >= 21 else ["bytes"]  # earlier opsets have no Constant of these types
    kind, bits, block = graph.choose(kinds), graph.choose([2, 4, 8]), graph.choose([16, 32])
    if kind == "bytes":
        rank = graph.choose([2, 3])
        axis, gathered = rank - 1, 0
        shape = (*(graph.extent(9) for _ in range(rank - 1)), graph.extent(33) * 8 // bits)
        packed = lambda extents: (*extents[:-1], -(-extents[-1] * bits // 8))  # noqa: E731
        draw = lambda extents: draw_bytes(graph, packed(extents))  # noqa: E731
    else:
        bits, rank = 4, graph.choose([1, 2, 3])
        axis, gathered = graph.random.randrange(rank), graph.random.randrange(rank)
        shape = tuple(graph.extent(65 if i == axis else 9) for i in range(rank))
        low, dtype = (-8, ml_dtypes.int4) if kind == "int4" else (0, ml_dtypes.uint4)
        draw = lambda extents: graph.constant(graph.numbers.integers(low, low + 16, extents).astype(dtype))  # noqa: E731
    blocks = tuple(-(-n // block) if i == axis else n for i, n in enumerate(shape))
    indices = graph.indices(graph.small_shape(graph.choose([0, 1, 2])), shape[gathered])
    operands = [draw(shape), indices, draw_scales(graph, blocks, bits, 1)]
    if graph.chance(0.6):
        operands.append(draw(blocks))
    width = {} if kind != "bytes" or (bits == 4 and graph.chance(0.3)) else {"bits": bits}
    graph.node(name, operands, block_size=block, quantize_axis=graph.signed(axis, rank), gather_axis=graph.signed(gathered, rank), **width)


@operator(DOMAIN + "GatherBlockQuantized", propose_gather)
def gather_block_quantized(node, table, indices, scales, zeros=None):
    bits, block, rank = node.attribute("bits", 4), node.attribute("block_size"), scales.rank
    axis, gathered = (node.attribute(f"{name}_axis") % rank for name in ("quantize", "gather"))
    is_packed = table.data.dtype == np.uint8
    numbers = lambda x: unpacked(x.data, bits) if is_packed else x.data.astype(np.float64)  # noqa: E731
    codes = numbers(table).astype(np.float64)
    at = np.arange(codes.shape[axis]) // block
    zero = 2.0 ** (bits - 1) * is_packed if zeros is None else np.take(numbers(zeros).astype(np.float64), at, axis)
    rows = np.where(indices.data < 0, indices.data + codes.shape[gathered], indices.data)
    factors = tape.move(scales, lambda i: np.take(np.take(i, at, axis), rows, gathered))
    return factors * scales.tape.constant(np.take(codes - zero, rows, gathered))
