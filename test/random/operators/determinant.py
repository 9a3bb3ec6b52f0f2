"""Determinants."""

import numpy as np
from operators import operator
from tape import Rejected


def propose(graph, name: str):
    size = graph.choose([1, 2, 3, 5])
    graph.node(name, [graph.of_shape((*graph.small_shape(graph.choose([0, 1, 2])), size, size))])


@operator("Det", propose)
def determinant(node, x):
    """d det(A) = det(A) A^-T. Elimination is inaccurate for nearly singular matrices."""
    if x.data.size and np.linalg.cond(x.data).max() > 100:
        raise Rejected("nearly singular")
    y = np.linalg.det(x.data)
    inverse = np.swapaxes(np.linalg.inv(x.data), -1, -2)
    return x.tape.record(y, [(x, lambda g: (g * y)[..., None, None] * inverse)], np.abs(y) * x.shape[-1] ** 2)
