"""Dropout, as one node or as exporters decompose it: random numbers, a comparison and arithmetic.

Among the numbers that a program draws, only 0 is below KEPT. Therefore a mask drops everything in training and nothing in inference.
"""

import numpy as np
import tape
from operators import INFERENCE, operator
from operators.folded import never

KEPT = 2.0**-31


def propose_dropout(graph, name: str):
    """The node has inference form, or training form that drops nothing, because the program's random numbers are unknown."""
    x = graph.value()
    form = graph.choose(["plain", "ratio", "training", "decomposed"])
    if form == "decomposed":
        x = decomposed(graph, x)
    if graph.opset < 12:
        graph.node(name, [x], **({"ratio": 0.3} if form == "ratio" else {}))
    elif form == "training":
        graph.node(name, [x], ratio=0.0, training_mode=np.bool_(True))
    else:
        outputs = 1 if graph.chance(0.7) else 2
        graph.node(name, [x], outputs=outputs, **({"ratio": 0.3} if form == "ratio" else {}))


def decomposed(graph, x: str) -> str:
    """Dropout of elements, rows or channels, scaled before the multiplication with x or after it."""
    shape, before = graph.shape(x), set(graph.values)
    drawn = graph.choose([1, 2, len(shape)])
    mask = tuple(n if axis < drawn else 1 for axis, n in enumerate(shape))
    like = x if mask == shape else graph.constant(np.zeros(mask, graph.float_type))
    u, kept = graph.node("RandomUniformLike", [like]), graph.constant(graph.number_of(KEPT))
    below = graph.node("Less", [u, kept]) if graph.chance(0.5) else graph.node("Greater", [kept, u])
    form = graph.choose(["before", "after", "where"] if graph.opset >= 9 else ["before", "after"])
    if form == "where":
        dropped = graph.node("Where", [below, x, graph.constant(graph.number_of(0.0))])
    else:
        m = graph.node("Cast", [below], to=graph.element)
        m = graph.node("Div", [m, kept]) if form == "before" else m
        dropped = graph.node("Mul", graph.random.sample([x, m], 2))
    replace_in_inference(graph, x)
    if form != "before":
        dropped = graph.node("Div", [dropped, kept])
        replace_in_inference(graph, x)
    graph.drawn |= set(graph.values) - before - {dropped}
    return dropped


def replace_in_inference(graph, x: str):
    """Makes the reference return x in place of the last node in inference."""
    graph.nodes[-1].doc_string = INFERENCE + x


@operator("RandomUniformLike", never)
def random_uniform_like(node, x):
    """Any number above KEPT has the same effect."""
    return x.tape.constant(np.full(x.shape, 0.5))


@operator("Dropout", propose_dropout)
def dropout(node, x, ratio=None, training=None):
    assert training is None or not training.data or ratio.data == 0
    results = [tape.reshape(x, x.shape), x.tape.constant(np.ones(x.shape, bool))]
    return results[: len(node.outputs)]
