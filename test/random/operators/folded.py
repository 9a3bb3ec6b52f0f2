"""Operators that the compiler evaluates itself, because they depend only on shapes and constants."""

import numpy as np
from onnx import numpy_helper
from operators import operator


def never(graph, name: str):
    """Generates nothing: the motifs contain these operators."""


@operator("Shape", never)
def shape_of(node, x):
    return x.tape.constant(np.array(x.shape, np.int64))


@operator("ConstantOfShape", never)
def constant_of_shape(node, shape):
    value = numpy_helper.to_array(node.attribute("value"))
    return shape.tape.constant(np.full(shape.data.tolist(), value.item(), value.dtype))
