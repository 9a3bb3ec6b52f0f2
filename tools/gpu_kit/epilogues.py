"""A model whose activations and biases' gradients the library computes, and the bytes of ONNX that hold it."""

import random
import struct

WIDTHS = (64, 256, 128, 16)  # of x, of GELU, of ReLU, of the result
FLOAT = 1


def number(value: int) -> bytes:
    """As protobuf writes one: seven bits in each byte."""
    head, rest = value & 0x7F, value >> 7
    return bytes([head | 0x80]) + number(rest) if rest else bytes([head])


def field(index: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return number(index << 3) + number(value)
    content = value.encode() if isinstance(value, str) else value
    return number(index << 3 | 2) + number(len(content)) + content


def node(operator: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    names = b"".join(field(1, name) for name in inputs)
    return field(1, names + field(2, output) + field(3, output) + field(4, operator) + b"".join(field(5, a) for a in attributes))


def initializer(name: str, *shape: int) -> bytes:
    generator = random.Random(name)
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    values = struct.pack(f"<{count}f", *(generator.gauss(0, 0.2) for _ in range(count)))
    return field(5, b"".join(field(1, extent) for extent in shape) + field(2, FLOAT) + field(8, name) + field(9, values))


def value(index: int, name: str, width: int) -> bytes:
    """[batch, width], an input (11) or output (12) of the graph."""
    shape = field(1, field(2, "batch")) + field(1, field(1, width))
    return field(index, field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape))))


def model() -> bytes:
    """Three linear layers, with GELU (by tanh) and ReLU between them; both are outputs, too."""
    transposed = field(1, "transB") + field(3, 1) + field(20, 2)
    by_tanh = field(1, "approximate") + field(4, "tanh") + field(20, 3)
    graph = field(2, "epilogues")
    for i, (x, y) in enumerate((("x", "p0"), ("gelu", "p1"), ("relu", "y"))):
        graph += node("Gemm", [x, f"w{i}", f"b{i}"], y, transposed)
        graph += initializer(f"w{i}", WIDTHS[i + 1], WIDTHS[i]) + initializer(f"b{i}", WIDTHS[i + 1])
        if i < 2:
            graph += node(*(("Gelu", ["p0"], "gelu", by_tanh), ("Relu", ["p1"], "relu"))[i])
    graph += value(11, "x", WIDTHS[0])
    for name, width in zip(("y", "gelu", "relu"), (WIDTHS[3], WIDTHS[1], WIDTHS[2]), strict=True):
        graph += value(12, name, width)
    return field(1, 9) + field(7, graph) + field(8, field(2, 20))
