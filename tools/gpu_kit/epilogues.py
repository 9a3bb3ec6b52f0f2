"""Writes a model whose activations and bias gradients are epilogues of library calls."""

import onnx_bytes
from onnx_bytes import field, initializer, integer, node, text, value

WIDTHS = (64, 256, 128, 16)  # widths of x, of the results of GELU and ReLU, and of the result


def model() -> bytes:
    """Three linear layers with GELU (by tanh) and ReLU between them; both activations are outputs too."""
    transposed, by_tanh = integer("transB", 1), text("approximate", "tanh")
    graph = field(2, "epilogues")
    for i, (x, y) in enumerate((("x", "p0"), ("gelu", "p1"), ("relu", "y"))):
        graph += node("Gemm", [x, f"w{i}", f"b{i}"], y, transposed)
        graph += initializer(f"w{i}", WIDTHS[i + 1], WIDTHS[i]) + initializer(f"b{i}", WIDTHS[i + 1])
        if i < 2:
            graph += node(*(("Gelu", ["p0"], "gelu", by_tanh), ("Relu", ["p1"], "relu"))[i])
    graph += value(11, "x", WIDTHS[0])
    for name, width in zip(("y", "gelu", "relu"), (WIDTHS[3], WIDTHS[1], WIDTHS[2]), strict=True):
        graph += value(12, name, width)
    return onnx_bytes.model(graph, opset=20)
