"""Writes small models as ONNX bytes, for machines without the onnx package."""

import math
import random
import struct

FLOAT = 1


def number(value: int) -> bytes:
    """Returns a protobuf varint, which has seven bits in each byte."""
    head, rest = value & 0x7F, value >> 7
    return bytes([head | 0x80]) + number(rest) if rest else bytes([head])


def field(index: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return number(index << 3) + number(value)
    content = value.encode() if isinstance(value, str) else value
    return number(index << 3 | 2) + number(len(content)) + content


def integer(name: str, value: int) -> bytes:
    return field(1, name) + field(3, value) + field(20, 2)


def integers(name: str, *values: int) -> bytes:
    return field(1, name) + b"".join(field(8, value) for value in values) + field(20, 7)


def text(name: str, value: str) -> bytes:
    return field(1, name) + field(4, value) + field(20, 3)


def node(operator: str, inputs: list[str], outputs: str | list[str], *attributes: bytes) -> bytes:
    outputs = [outputs] if isinstance(outputs, str) else outputs
    names = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    return field(1, names + field(3, outputs[0]) + field(4, operator) + b"".join(field(5, a) for a in attributes))


def initializer(name: str, *shape: int, values: list[float] | None = None) -> bytes:
    """Returns an initializer with the given values, or with random values whose seed depends on the name."""
    generator = random.Random(name)
    values = values or [generator.gauss(0, 0.2) for _ in range(math.prod(shape))]
    content = struct.pack(f"<{len(values)}f", *values)
    return field(5, b"".join(field(1, extent) for extent in shape) + field(2, FLOAT) + field(8, name) + field(9, content))


def value(index: int, name: str, *extents: int) -> bytes:
    """Returns a tensor [batch, extents...] as an input (11) or output (12) of the graph."""
    shape = field(1, field(2, "batch")) + b"".join(field(1, field(1, extent)) for extent in extents)
    return field(index, field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape))))


def model(graph: bytes, opset: int) -> bytes:
    return field(1, 9) + field(7, graph) + field(8, field(2, opset))
