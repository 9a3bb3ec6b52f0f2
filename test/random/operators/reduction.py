"""Reductions and cumulative sums."""

import math

import numpy as np
import tape
from operators import operator
from tape import exp, log, maximum_over, mean, sqrt, total

RANGE = {"ReduceLogSum": (0.2, 5), "ReduceProd": (0.5, 1.6), "ReduceLogSumExp": (-20, 20), "ReduceL2": (-20, 20)}


def propose(graph, name: str):
    """Reduces some axes, all axes by omitting them, or no axis with `noop_with_empty_axes`."""
    x = graph.bounded(*RANGE.get(name, (-30, 30)))
    rank = len(graph.shape(x))
    attributes = {"keepdims": graph.choose([0, 1])}
    if rank and graph.chance(0.8):
        axes = graph.random.sample(range(rank), graph.random.randint(1, min(rank, 3)))
        attributes["axes"] = [graph.signed(axis, rank) for axis in axes] if graph.opset >= 11 else axes
    elif graph.allows(name, "noop_with_empty_axes") and graph.chance(0.2):
        attributes["noop_with_empty_axes"] = 1
    graph.node(name, [x], **attributes)


def product(x, axes, keepdims):
    """The derivative with respect to a factor is the product of the factors before and after it, which needs no division."""
    kept = [i for i in range(x.rank) if i not in axes]
    rows = tape.move(x, lambda i: np.transpose(i, kept + list(axes)).reshape([x.shape[k] for k in kept] + [-1]))
    a = rows.data
    ones = np.ones((*a.shape[:-1], 1))
    before = np.cumprod(np.concatenate([ones, a[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, a[..., :0:-1]], -1), -1)[..., ::-1]
    y = x.tape.record(np.prod(a, -1), [(rows, lambda g: g[..., None] * before * after)], a.shape[-1] * np.abs(np.prod(a, -1)))
    return tape.reshape(y, [1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else y


def log_sum_exp(x, axes, keepdims):
    shift = x.tape.constant(x.data.max(axes, keepdims=True))
    y = log(total(exp(x - shift), axes, True)) + shift
    return y if keepdims else tape.reshape(y, [n for i, n in enumerate(x.shape) if i not in axes])


RULES = {
    "ReduceSum": total,
    "ReduceMean": mean,
    "ReduceProd": product,
    "ReduceL1": lambda x, axes, k: total(tape.absolute(x), axes, k),
    "ReduceL2": lambda x, axes, k: sqrt(total(x * x, axes, k)),
    "ReduceSumSquare": lambda x, axes, k: total(x * x, axes, k),
    "ReduceLogSum": lambda x, axes, k: log(total(x, axes, k)),
    "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": maximum_over,
    "ReduceMin": lambda x, axes, k: -maximum_over(-x, axes, k),
}


def reduce(node, x, axes, rule):
    axes = node.argument("axes", axes)
    if not axes:
        axes = [] if node.attribute("noop_with_empty_axes", 0) else range(x.rank)
    axes = tuple(sorted(axis % x.rank for axis in axes))
    if not axes:  # The elementwise part of the rule, for axes of extent 1.
        wide = tape.reshape(x, (*x.shape, 1))
        return rule(wide, (x.rank,), False)
    return rule(x, axes, bool(node.attribute("keepdims", 1)))


for _name, _rule in RULES.items():
    operator(_name, propose)(lambda node, x, axes=None, r=_rule: reduce(node, x, axes, r))


def propose_cumulative(graph, name: str):
    x = graph.value(min_rank=1)
    rank = len(graph.shape(x))
    axis = graph.constant(np.array(graph.signed(graph.random.randrange(rank), rank), np.int64))
    graph.node(name, [x, axis], exclusive=graph.choose([0, 1]), reverse=graph.choose([0, 1]))


@operator("CumSum", propose_cumulative)
def cumsum(node, x, axis):
    axis, extent = int(axis.data) % x.rank, x.shape[int(axis.data) % x.rank]
    term = np.tri(extent, extent, -1 if node.attribute("exclusive", 0) else 0).T  # [from, to]
    if node.attribute("reverse", 0):
        term = term.T
    last = tape.move(x, lambda i: np.moveaxis(i, axis, -1))
    rows = tape.reshape(last, (math.prod(last.shape[:-1]), extent))
    sums = tape.contract("ab,bc->ac", rows, x.tape.constant(term))
    return tape.move(tape.reshape(sums, last.shape), lambda i: np.moveaxis(i, -1, axis))


@operator("CumProd", propose_cumulative)
def cumprod(node, x, axis):
    axis = int(axis.data) % x.rank
    extent = x.shape[axis]
    if extent > 33:
        raise tape.Rejected("a product of too many")
    order = range(extent - 1, -1, -1) if node.attribute("reverse", 0) else range(extent)
    parts, product = [None] * extent, None
    for at in order:
        part = tape.move(x, lambda p, at=at: np.take(p, [at], axis))
        after = part if product is None else product * part
        if node.attribute("exclusive", 0):
            parts[at] = x.tape.constant(np.ones(part.shape)) if product is None else product
        else:
            parts[at] = after
        product = after
    return tape.concatenate(parts, axis)
