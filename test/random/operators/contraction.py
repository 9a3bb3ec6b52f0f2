"""Matrix multiplication and Einsum."""

import string

import numpy as np
import tape
from operators import operator


def matmul(x, y):
    """Computes numpy.matmul, in which an operand lacks the axes of extent 1 that broadcast."""
    left, right = x.rank == 1, y.rank == 1
    if left:
        x = tape.reshape(x, (1, *x.shape))
    if right:
        y = tape.reshape(y, (*y.shape, 1))
    rank = max(x.rank, y.rank)
    batch = string.ascii_lowercase[: rank - 2]
    extents = [1] * (rank - 2)
    for v in (x, y):
        for i, n in enumerate(reversed(v.shape[:-2])):
            extents[-1 - i] = max(extents[-1 - i], n)

    def squeezed(v, matrix):
        own = list(zip(batch[rank - v.rank :], v.shape, extents[rank - v.rank :]))
        kept = [(label, n) for label, n, extent in own if n == extent]
        return tape.reshape(v, [n for _, n in kept] + list(v.shape[-2:])), "".join(label for label, _ in kept) + matrix

    (x, a), (y, b) = squeezed(x, "XY"), squeezed(y, "YZ")
    result = tape.contract(f"{a},{b}->{batch}XZ", x, y)
    shape = extents + ([] if left else [x.shape[-2]]) + ([] if right else [y.shape[-1]])
    return tape.reshape(result, shape)


def propose_matmul(graph, name: str):
    """Multiplies with a parameter or another value. Operands may be vectors, and leading axes may be on one side only or have extent 1."""
    x = graph.value(min_rank=1)
    shape = graph.shape(x)
    depth, form = shape[-1], graph.choose(["matrix", "matrix", "vector", "batch", "self", "left"])
    if form == "vector":
        graph.node(name, [x, graph.weight((depth,))])
    elif form == "batch" and len(shape) > 2:
        leading = graph.broadcastable(shape[:-2])
        graph.node(name, [x, graph.weight((*leading, depth, graph.extent()))])
    elif form == "self" and len(shape) > 1:
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        graph.node(name, [x, graph.node("Transpose", [x], perm=order)])
    elif form == "left" and len(shape) > 1:
        graph.node(name, [graph.weight((graph.extent(), shape[-2])), x])
    else:
        graph.node(name, [x, graph.weight((depth, graph.extent()))])


@operator("MatMul", propose_matmul)
def matmul_node(node, x, y):
    return matmul(x, y)


def propose_gemm(graph, name: str, **attributes):
    x = graph.value(rank=2)
    transposed, columns = [graph.chance(0.4) for _ in range(2)], graph.extent()
    rows, depth = graph.shape(x)[:: -1 if transposed[0] else 1]
    operands = [x, graph.weight((columns, depth) if transposed[1] else (depth, columns))]
    attributes |= {"transA": int(transposed[0]), "transB": int(transposed[1])}
    if graph.chance(0.3):
        attributes |= {"alpha": graph.number(0.3, 1.5), "beta": graph.choose([0.0, 0.5, 2.0])}
    if graph.opset < 11 or graph.chance(0.7):
        added = graph.choose([(columns,), (1, columns), (rows, 1), (rows, columns), (1,)])
        if attributes.get("beta") == 0.0:  # the node does not use it, so it must not be a parameter
            operands.append(graph.constant(graph.numbers.normal(0, 1, added).astype(graph.float_type)))
        else:
            operands.append(graph.parameter(added))
    graph.node(name, operands, **attributes)


@operator("Gemm", propose_gemm)
def gemm(node, a, b, c=None):
    first = "ba" if node.attribute("transA", 0) else "ab"
    second = "cb" if node.attribute("transB", 0) else "bc"
    y = tape.contract(f"{first},{second}->ac", a, b) * node.attribute("alpha", 1.0)
    return y if c is None else y + node.attribute("beta", 1.0) * c


EQUATIONS = [
    "ij,jk->ik", "ij,kj->ik", "ij,jk", "bij,bjk->bik", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "ij,ij->i", "ij,ij->", "i,j->ij",
    "ij->ji", "ij->j", "ij->", "ii->i", "ii->", "ij,i,j->", "abc,cd,d->ab", "bij,jk->bik", "...ij,...jk->...ik", "...i,i->...",
    "ijk,k->ji", "ab,cb,ac->b", "i,i->i", "abc,abc->ca", "ijkl,kl->ij",
]  # fmt: skip


def propose_einsum(graph, name: str):
    """Draws an equation. The first operand is an existing value, and the others are existing values or parameters."""
    equation = graph.choose(EQUATIONS)
    first, *others = equation.split("->")[0].split(",")
    explicit = first.replace("...", "")
    rank = len(explicit) + (graph.choose([0, 1, 2]) if "..." in first else 0)
    x = graph.value(rank=rank)
    shape = graph.shape(x)
    extents = dict(zip(explicit, shape[rank - len(explicit) :]))
    if any(extents[label] != n for label, n in zip(explicit, shape[rank - len(explicit) :])):
        square = min(shape)
        x = graph.parameter((square,) * rank)
        shape, extents = (square,) * rank, dict.fromkeys(explicit, square)
    operands = [x]
    for term in others:
        own = [extents.setdefault(label, graph.extent()) for label in term.replace("...", "")]
        operands.append(graph.of_shape((*(shape[: rank - len(explicit)] if "..." in term else ()), *own)))
    graph.node(name, operands, equation=equation)


@operator("Einsum", propose_einsum)
def einsum(node, *operands):
    equation = node.attribute("equation").replace(" ", "")
    terms, arrow, result = equation.partition("->")
    terms = terms.split(",")
    if not arrow:
        labels = "".join(terms)
        result = "".join(sorted(label for label in set(labels) if labels.count(label) == 1))
    operands = list(operands)
    batch = max((x.rank - len(t) + 3 for t, x in zip(terms, operands) if "..." in t), default=0)
    leading = string.ascii_uppercase[:batch]
    for i, (term, x) in enumerate(zip(terms, operands)):
        term = term.replace("...", leading[batch - (x.rank - len(term) + 3) :] if "..." in term else "")
        if len(set(term)) < len(term):
            kept = "".join(dict.fromkeys(term))
            operands[i] = tape.move(x, lambda p, t=term, k=kept: diagonal(p, t, k))
            term = kept
        terms[i] = term
    return tape.contract(f"{','.join(terms)}->{result.replace('...', leading)}", *operands)


def diagonal(positions, term: str, kept: str):
    return np.einsum(f"{term}->{kept}", positions)
