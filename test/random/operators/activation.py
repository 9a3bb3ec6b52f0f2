"""Activation functions."""

import math

import numpy as np
import tape
from operators import operator
from tape import less, softplus, tanh, where


def propose(graph, name: str):
    if name == "Celu" and graph.is_double:
        raise tape.Rejected("it is not defined for doubles")
    attributes = {"alpha": graph.number(0.05, 1.5)} if graph.chance(0.5) else {}
    if name in ("Elu", "Celu", "LeakyRelu", "ThresholdedRelu", "Swish"):
        graph.node(name, [graph.value()], **attributes)
    elif name in ("Selu", "HardSigmoid"):
        if attributes:
            attributes["gamma" if name == "Selu" else "beta"] = graph.number(0.2, 1.5)
        graph.node(name, [graph.value()], **attributes)
    elif name == "Shrink":
        graph.node(name, [graph.value()], lambd=graph.number(0.1, 1), bias=graph.choose([0.0, 0.3, -0.2]))
    elif name == "Gelu":
        graph.node(name, [graph.value()], **({"approximate": "tanh"} if graph.chance(0.5) else {}))
    else:
        graph.node(name, [graph.value()])


def negative_part(x):
    """e^x - 1 for x < 0, without overflow for x > 0."""
    below = np.minimum(x.data, 0)
    return tape.unary(x, np.expm1(below), np.exp(below))


def expm1_below(x, scale, alpha):
    """x for x > 0, otherwise alpha (e^(x / scale) - 1)."""
    return where(less(x, 0.0), alpha * negative_part(x * (1 / scale)), x)


def clip(x, low, high):
    if low is not None:
        x = where(less(x, low), low, x)
    if high is not None:
        x = where(less(high if isinstance(high, tape.Value) else x.tape.constant(float(high)), x), high, x)
    return x


def gelu(x, approximate):
    if approximate == "tanh":
        inner = tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))
    else:
        inner = tape.erf(x * math.sqrt(0.5))
    return 0.5 * x * (1.0 + inner)


def hard_sigmoid(x, alpha, beta):
    return clip(alpha * x + beta, 0.0, 1.0)


@operator("Gelu", propose)
def gelu_node(node, x):
    return gelu(x, node.attribute("approximate", "none"))


@operator("Relu", propose)
def relu(node, x):
    return where(less(x, 0.0), 0.0, x)


@operator("LeakyRelu", propose)
def leaky_relu(node, x):
    return where(less(x, 0.0), node.attribute("alpha", 0.01) * x, x)


@operator("Elu", propose)
def elu(node, x):
    return expm1_below(x, 1.0, node.attribute("alpha", 1.0))


@operator("Celu", propose)
def celu(node, x):
    alpha = node.attribute("alpha", 1.0)
    return expm1_below(x, alpha, alpha)


@operator("Selu", propose)
def selu(node, x):
    alpha, gamma = node.attribute("alpha", 1.6732631921768188), node.attribute("gamma", 1.0507010221481323)
    return gamma * expm1_below(x, 1.0, alpha)


@operator("ThresholdedRelu", propose)
def thresholded_relu(node, x):
    return where(less(x, node.attribute("alpha", 1.0)), 0.0, x)


@operator("HardSigmoid", propose)
def hard_sigmoid_node(node, x):
    return hard_sigmoid(x, node.attribute("alpha", 0.2), node.attribute("beta", 0.5))


@operator("HardSwish", propose)
def hard_swish(node, x):
    return x * hard_sigmoid(x, 1 / 6, 0.5)


@operator("Swish", propose)
def swish(node, x):
    return x * tape.sigmoid(node.attribute("alpha", 1.0) * x)


@operator("Tanh", propose)
def tanh_node(node, x):
    return tanh(x)


@operator("Sigmoid", propose)
def sigmoid_node(node, x):
    return tape.sigmoid(x)


@operator("Softplus", propose)
def softplus_node(node, x):
    return softplus(x)


@operator("Softsign", propose)
def softsign(node, x):
    return x / (1.0 + tape.absolute(x))


@operator("Mish", propose)
def mish(node, x):
    return x * tanh(softplus(x))


def propose_prelu(graph, name: str):
    x = graph.value(min_rank=1)
    shape = graph.broadcastable(graph.shape(x))
    graph.node(name, [x, graph.parameter(shape, 0.1, 0.6)])


@operator("PRelu", propose_prelu)
def prelu(node, x, slope):
    return where(less(x, 0.0), x * slope, x)


def propose_clip(graph, name: str):
    bounds = {"min": graph.number(-1.5, -0.2), "max": graph.number(0.2, 1.5)}
    if graph.chance(0.4):
        del bounds[graph.choose(list(bounds))]
    graph.node(name, [graph.value()], **bounds)


@operator("Clip", propose_clip)
def clip_node(node, x, low=None, high=None):
    low = node.attribute("min") if low is None else low
    high = node.attribute("max") if high is None else high
    return clip(x, low, high)




@operator("Shrink", propose)
def shrink(node, x):
    limit, bias = node.attribute("lambd", 0.5), node.attribute("bias", 0.0)
    above = where(less(x.tape.constant(limit), x), x - bias, 0.0)
    return where(less(x, -limit), x + bias, above)
