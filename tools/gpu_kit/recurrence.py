"""Writes a model of recurrent layers: a bidirectional LSTM, GRUs of both kinds and an RNN, whose final states are classified."""

import onnx_bytes
from onnx_bytes import field, initializer, integer, node, text, value

STEPS, INPUTS, HIDDEN = 12, 24, 20
# Each layer has an operator, the number of gates and of directions, and attributes.
LAYERS = {
    "lstm": ("LSTM", 4, 2, [text("direction", "bidirectional")]),
    "gru": ("GRU", 3, 1, []),
    "gru_reset_after": ("GRU", 3, 1, [integer("linear_before_reset", 1)]),
    "rnn": ("RNN", 1, 1, [text("direction", "reverse")]),
}


def model() -> bytes:
    graph = field(2, "recurrence")
    shapes = {}
    for name, (operator, gates, directions, attributes) in LAYERS.items():
        shapes |= {f"{name}.w": (directions, gates * HIDDEN, INPUTS), f"{name}.r": (directions, gates * HIDDEN, HIDDEN),
                   f"{name}.b": (directions, 2 * gates * HIDDEN)}  # fmt: skip
        operands = ["x", f"{name}.w", f"{name}.r", f"{name}.b"]
        graph += node(operator, operands, [f"{name}.y", f"{name}.h"], integer("hidden_size", HIDDEN), integer("layout", 1), *attributes)
        graph += node("Flatten", [f"{name}.h"], f"{name}.state")
    graph += node("Concat", [f"{name}.state" for name in LAYERS], "states", integer("axis", 1))
    graph += node("Gemm", ["states", "head", "bias"], "y", integer("transB", 1))
    directions = sum(directions for _, _, directions, _ in LAYERS.values())
    shapes |= {"head": (10, directions * HIDDEN), "bias": (10,)}
    graph += b"".join(initializer(name, *shape) for name, shape in shapes.items())
    return onnx_bytes.model(graph + value(11, "x", STEPS, INPUTS) + value(12, "y", 10), opset=17)
