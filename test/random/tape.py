"""Reverse-mode differentiation of f64 arrays: the arithmetic of the reference.

A `Value` is an array with functions that propagate its cotangent to its operands. Operators consist of the functions below, so that there
are few gradient rules, and every run compares them with central differences (`comparison.py`).

With `noise`, a tape changes each result and each cotangent by a random relative amount of that size, as arithmetic of that precision could.
The spread of such evaluations is the basis of tolerances. `decisions` are the results of comparisons, maxima and roundings: if two
evaluations differ in one, a kink is too near for a comparison. `margin` is the minimum distance to a kink.
"""

import math

import numpy as np


class Rejected(Exception):
    """The result of an evaluation is not comparable: it is not finite, too large, or near a kink."""


def growth(terms: float) -> float:
    """Returns the error of a sum, relative to one rounding. Roundings of equal terms have the same sign in sequential summation, but long
    sums are split into parts."""
    return max(1.0, min(terms / 16, math.sqrt(terms)))


class Tape:
    def __init__(self, noise: float = 0.0, seed: int = 0, stopped: list[np.ndarray] | None = None):
        """`stopped` are the `stops` of another evaluation, which replace this one's: differences of losses then exclude the contribution of
        stopped values, as gradients do."""
        self.noise, self.random = noise, np.random.default_rng(seed)
        self.stops, self.stopped = [], stopped  # values at gradient stops, in the order of evaluation
        self.decisions, self.margin = [], math.inf
        self.values = []

    def constant(self, array) -> "Value":
        array = np.asarray(array)
        return Value(self, array.astype(np.float64) if array.dtype.kind == "f" else array, (), False)

    def variable(self, array) -> "Value":
        return Value(self, np.asarray(array, np.float64), (), True)

    def rounded(self, array, magnitude=None, terms: float = 1):
        """Adds the tape's noise to `array`, relative to its elements or to those of `magnitude`. Each element is a sum of `terms`."""
        if not self.noise:
            return array
        size = np.abs(array if magnitude is None else magnitude)
        size = np.where(np.isinf(size), 0.0, size)
        return array + self.noise * growth(terms) * self.random.uniform(-1, 1, np.shape(array)) * size

    def record(self, array, edges, magnitude=None, terms: float = 1) -> "Value":
        """Records a floating-point result. An edge is an operand and a function from the result's cotangent to the operand's."""
        array = self.rounded(np.asarray(array, np.float64), magnitude, terms)
        return Value(self, array, edges, any(operand.varies for operand, _ in edges))

    def decide(self, side: np.ndarray, distance=None) -> np.ndarray:
        """Records a decision, and the distance of its operands from the other decision."""
        self.decisions.append(np.asarray(side))
        if distance is not None and np.size(distance):
            self.margin = min(self.margin, float(np.min(distance)))
        return side

    def gradients(self, loss: "Value", variables: list["Value"]) -> list[np.ndarray]:
        cotangents = {id(loss): np.ones_like(loss.data)}
        for value in reversed(self.values):
            if id(value) not in cotangents or not value.edges:
                continue
            cotangent = cotangents.pop(id(value))
            for operand, back in value.edges:
                if operand.varies:
                    part = np.asarray(back(self.rounded(cotangent)))
                    part = self.rounded(part, terms=cotangent.size / max(part.size, 1))
                    known = cotangents.get(id(operand))
                    cotangents[id(operand)] = part if known is None else self.rounded(known + part)
        return [cotangents.get(id(v), np.zeros_like(v.data)) for v in variables]


class Value:
    """An array on a tape; `varies` if it depends on a variable and propagates a cotangent."""

    __slots__ = "tape", "data", "edges", "varies"

    def __init__(self, tape: Tape, data, edges, varies: bool):
        self.tape, self.data, self.varies = tape, data, varies
        self.edges = edges if varies else ()
        if self.edges:
            tape.values.append(self)

    @property
    def shape(self) -> tuple:
        return self.data.shape

    @property
    def rank(self) -> int:
        return self.data.ndim

    @property
    def is_float(self) -> bool:
        return self.data.dtype.kind == "f"

    def __add__(self, other): return binary(np.add, self, other, lambda a, b, g: g, lambda a, b, g: g)  # fmt: skip
    def __sub__(self, other): return binary(np.subtract, self, other, lambda a, b, g: g, lambda a, b, g: -g)  # fmt: skip
    def __mul__(self, other): return binary(np.multiply, self, other, lambda a, b, g: g * b, lambda a, b, g: g * a)  # fmt: skip
    def __truediv__(self, other):
        return binary(np.divide, self, other, lambda a, b, g: g / b, lambda a, b, g: -g * a / b / b)

    __radd__, __rmul__ = __add__, __mul__
    def __rsub__(self, other): return self.tape.constant(float(other)) - self  # fmt: skip
    def __rtruediv__(self, other): return self.tape.constant(float(other)) / self  # fmt: skip
    def __neg__(self): return unary(self, -self.data, -1.0)  # fmt: skip


def like(value: Value, other) -> Value:
    return other if isinstance(other, Value) else value.tape.constant(np.asarray(other, np.float64))


def to_shape(cotangent: np.ndarray, shape: tuple) -> np.ndarray:
    """Sums a cotangent over the axes along which an operand of `shape` was broadcast."""
    cotangent = cotangent.sum(tuple(range(cotangent.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and cotangent.shape[i] != 1)
    return cotangent.sum(axes, keepdims=True)


def unary(x: Value, y: np.ndarray, derivative) -> Value:
    return x.tape.record(y, [(x, lambda g: g * derivative)])


def binary(function, x: Value, y, back_x, back_y) -> Value:
    y = like(x, y)
    a, b = x.data, y.data
    return x.tape.record(function(a, b), [(x, lambda g: to_shape(back_x(a, b, g), a.shape)),
                                          (y, lambda g: to_shape(back_y(a, b, g), b.shape))])


def stop(x: Value) -> Value:
    """Returns x without a gradient."""
    tape = x.tape
    data = x.data if tape.stopped is None else tape.stopped[len(tape.stops)]
    tape.stops.append(x.data)
    return Value(tape, data, (), False)


def exp(x: Value) -> Value:
    y = np.exp(x.data)
    return unary(x, y, y)


def log(x: Value) -> Value: return unary(x, np.log(x.data), 1 / x.data)  # fmt: skip
def log1p(x: Value) -> Value: return unary(x, np.log1p(x.data), 1 / (1 + x.data))  # fmt: skip
def sin(x: Value) -> Value: return unary(x, np.sin(x.data), np.cos(x.data))  # fmt: skip
def cos(x: Value) -> Value: return unary(x, np.cos(x.data), -np.sin(x.data))  # fmt: skip


def sqrt(x: Value) -> Value:
    y = np.sqrt(x.data)
    return unary(x, y, 0.5 / y)


def tanh(x: Value) -> Value:
    """The derivative uses the rounded result, as in all implementations: near 1, few of its digits are accurate."""
    y = x.tape.record(np.tanh(x.data), [(x, lambda g: g * (1 - y.data * y.data))])
    return y


def sigmoid(x: Value) -> Value:
    y = x.tape.record(1 / (1 + np.exp(-x.data)), [(x, lambda g: g * y.data * (1 - y.data))])
    return y


_erf = np.vectorize(math.erf, otypes=[np.float64])


def erf(x: Value) -> Value:
    return unary(x, _erf(x.data), 2 / math.sqrt(math.pi) * np.exp(-x.data * x.data))


def power(x: Value, y: Value) -> Value:
    a, b = x.data, y.data
    result = np.power(a, b)
    logarithm = np.log(np.where(a > 0, a, 1.0))
    return x.tape.record(result, [(x, lambda g: to_shape(g * b * np.power(a, b - 1), a.shape)),
                                  (y, lambda g: to_shape(g * result * logarithm, b.shape))])


def softplus(x: Value) -> Value:
    y = np.maximum(x.data, 0) + np.log1p(np.exp(-np.abs(x.data)))
    return unary(x, y, 1 / (1 + np.exp(-x.data)))


def less(x: Value, y) -> np.ndarray:
    """Decides x < y elementwise. Comparisons of integers have no margin."""
    y = like(x, y)
    side = x.data < y.data
    floats = x.is_float or y.is_float
    with np.errstate(invalid="ignore"):  # inf - inf
        return x.tape.decide(side, np.abs(x.data - y.data) if floats else None)


def where(side: np.ndarray, x, y) -> Value:
    """Returns x where `side` holds, and y elsewhere. Operands broadcast."""
    tape = (x if isinstance(x, Value) else y).tape
    x, y = (v if isinstance(v, Value) else tape.constant(np.asarray(v, np.float64)) for v in (x, y))
    data = np.where(side, x.data, y.data)
    if data.dtype.kind != "f":
        return Value(tape, data, (), False)
    edges = [(x, lambda g: to_shape(np.where(side, g, 0.0), x.shape)), (y, lambda g: to_shape(np.where(side, 0.0, g), y.shape))]
    return Value(tape, data, edges, x.varies or y.varies)


def absolute(x: Value) -> Value:
    return where(less(x, 0.0), -x, x)


def total(x: Value, axes=None, keepdims: bool = False) -> Value:
    """Returns the sum over `axes`, or over all axes."""
    axes = tuple(range(x.rank)) if axes is None else tuple(axes)
    if not axes:
        return x
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    back = lambda g: np.broadcast_to(np.reshape(g, kept), x.shape)  # noqa: E731
    data = x.data.sum(axes, keepdims=keepdims)
    return x.tape.record(data, [(x, back)], np.abs(x.data).sum(axes, keepdims=keepdims), x.data.size / max(data.size, 1))


def mean(x: Value, axes=None, keepdims: bool = False) -> Value:
    axes = tuple(range(x.rank)) if axes is None else tuple(axes)
    return total(x, axes, keepdims) * (1 / math.prod(x.shape[i] for i in axes))


def maximum_over(x: Value, axes, keepdims: bool = False) -> Value:
    """Returns the maximum over `axes`, whose cotangent is that of the maximal element. The margin is the distance to the second largest."""
    axes = tuple(axes)
    kept = [i for i in range(x.rank) if i not in axes]
    rows = move(x, lambda i: np.transpose(i, kept + list(axes)).reshape([x.shape[k] for k in kept] + [-1]))
    place = np.expand_dims(rows.data.argmax(-1), -1)
    ordered = np.sort(rows.data, -1)
    x.tape.decide(place, ordered[..., -1] - ordered[..., -2] if ordered.shape[-1] > 1 else None)
    result = move(rows, lambda i: np.take_along_axis(i, place, -1)[..., 0])
    return reshape(result, [1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else result


def contract(equation: str, *operands: Value) -> Value:
    """Computes numpy.einsum without ellipses. Each label occurs at most once in an operand."""
    terms, result = equation.split("->")
    terms = terms.split(",")
    arrays = [operand.data for operand in operands]

    def back(i, g):
        others = [t for j, t in enumerate(terms) if j != i]
        known = "".join(c for c in terms[i] if c in result or any(c in t for t in others))
        rest = [a for j, a in enumerate(arrays) if j != i]
        part = np.einsum(f"{','.join([result, *others])}->{known}", g, *rest, optimize=True)
        part = part.reshape([n if c in known else 1 for c, n in zip(terms[i], arrays[i].shape)])
        return np.broadcast_to(part, arrays[i].shape)

    data = np.einsum(equation, *arrays, optimize=True)
    size = np.einsum(equation, *map(np.abs, arrays), optimize=True) if operands[0].tape.noise else None
    edges = [(operand, lambda g, i=i: back(i, g)) for i, operand in enumerate(operands)]
    return operands[0].tape.record(data, edges, size)


def move(x: Value, function, fill: float = 0.0) -> Value:
    """Rearranges the elements of x: `function` is applied to their positions, and may return -1 for `fill`."""
    count = x.data.size
    places = np.asarray(function(np.arange(count).reshape(x.shape)))
    padded = np.append(x.data.ravel(), np.asarray(fill).astype(x.data.dtype))
    data = padded[places]

    def back(g):
        counted = np.bincount(np.where(places < 0, count, places).ravel(), g.ravel(), count + 1)
        return counted[:count].reshape(x.shape)

    return Value(x.tape, data, [(x, back)], x.varies and x.is_float)


def reshape(x: Value, shape) -> Value:
    return move(x, lambda i: i.reshape(shape))


def repeat(x: Value, shape) -> Value:
    return move(x, lambda i: np.broadcast_to(i, shape))


def concatenate(values: list[Value], axis: int) -> Value:
    data = np.concatenate([v.data for v in values], axis)
    bounds = np.cumsum([0, *(v.shape[axis] for v in values)])
    edges = [(v, lambda g, a=a, b=b: np.take(g, np.arange(a, b), axis)) for v, a, b in zip(values, bounds, bounds[1:])]
    return Value(values[0].tape, data, edges, any(v.varies for v in values))


def scatter(data: Value, places: np.ndarray, updates: Value, adds: bool) -> Value:
    """Returns `data` with `updates` at flat `places`, which are added or replace elements."""
    count = data.data.size
    spread = move(updates, lambda i: _placed(places, i, count)) if not adds else _sums(places, updates, count)
    if adds:
        return data + reshape(spread, data.shape)
    written = np.zeros(count, bool)
    written[places.ravel()] = True
    return where(written.reshape(data.shape), reshape(spread, data.shape), data)


def _placed(places, positions, count):
    result = np.full(count, -1)
    result[places.ravel()] = positions.ravel()
    return result


def _sums(places, updates: Value, count: int) -> Value:
    add = lambda a: np.bincount(places.ravel(), a.ravel(), count)  # noqa: E731
    back = lambda g: g.ravel()[places.ravel()].reshape(updates.shape)  # noqa: E731
    return updates.tape.record(add(updates.data), [(updates, back)], add(np.abs(updates.data)))
