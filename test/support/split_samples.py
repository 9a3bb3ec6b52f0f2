"""Random operations of the `mtc` dialect, for the test of the rules that divide them among ranks (`test/passes/splitting/rules.py`).

A sample draws extents and attributes of one operation. A new operation needs one: decorate a function with its mnemonic that returns a
`Sample`. Operations that no rank could divide are in `WITHOUT_RULES`, with the reason."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

EXTENTS = 1, 2, 3, 4, 6, 8, 8, 12, 12, 16, 24


def tensor(shape, element="f32") -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


@dataclass
class Argument:
    """An argument of a function. Floats are from a normal distribution with some zeros of both signs, or from `low` to `high`; integers are below
    `high`."""

    shape: list[int]
    element: str = "f32"
    low: float | None = None
    high: float | None = None

    @property
    def type(self) -> str:
        return tensor(self.shape, self.element)

    def value(self, random: np.random.Generator) -> np.ndarray:
        if self.element in ("f32", "f64"):
            if self.low is None:
                given = random.normal(size=self.shape) * np.where(random.random(self.shape) < 0.05, -0.0, 1)
            else:
                given = random.uniform(self.low, self.high, self.shape)
            return given.astype(np.float32 if self.element == "f32" else np.float64)
        if self.element == "i1":
            return random.random(self.shape) < 0.7
        low, high = (-9, 10) if self.high is None else (self.low or 0, self.high)
        bits = {"i8": np.int8, "ui8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}[self.element]
        return random.integers(low, high, self.shape).astype(bits)


@dataclass
class Sample:
    """An operation without the names of its results. `%0`, `%1`, … in `text` are the arguments."""

    text: str
    arguments: list[Argument]
    results: list[str]

    def function(self, name: str) -> str:
        arguments = ", ".join(f"%a{i}: {each.type}" for i, each in enumerate(self.arguments))
        names = [f"%r{i}" for i in range(len(self.results))]
        text = self.text
        for i in range(len(self.arguments)):
            text = text.replace(f"%{i}", f"%a{i}")
        return (f"func.func @{name}({arguments}) -> ({', '.join(self.results)}) {{\n  {', '.join(names)} = mtc.{text}\n"
                f"  return {', '.join(names)} : {', '.join(self.results)}\n}}\n")  # fmt: skip


SAMPLES: dict[str, Callable[[Random], Sample]] = {}


def sample(*names: str):
    def register(function):
        for name in names:
            SAMPLES[name] = lambda random, name=name: function(random, name)
        return function

    return register


def extents(random: Random, low=1, high=4) -> list[int]:
    return [random.choice(EXTENTS) for _ in range(random.randint(low, high))]


def some(random: Random, count: int, low=1) -> list[int]:
    """Returns ascending axes."""
    return sorted(random.sample(range(count), random.randint(low, count)))


# --- Elementwise -------------------------------------------------------------------------------------------------------


@sample("abs", "ceil", "cos", "detach", "erf", "exp", "expm1", "floor", "is_nan", "logistic", "neg", "round", "sign", "sin", "tanh", "atan")
def unary(random, name):
    x = Argument(extents(random))
    results = tensor(x.shape, "i1") if name == "is_nan" else x.type
    return Sample(f"{name} %0 : {x.type}" + (f" -> {results}" if name == "is_nan" else ""), [x], [results])


@sample("log", "log1p", "sqrt", "rsqrt", "acos", "asin")
def positive(random, name):
    x = Argument(extents(random), low=0.1, high=0.9)
    return Sample(f"{name} %0 : {x.type}", [x], [x.type])


@sample("not")
def logical_not(random, name):
    x = Argument(extents(random), "i1")
    return Sample(f"not %0 : {x.type}", [x], [x.type])


@sample("add", "sub", "mul", "div", "rem", "max", "min", "pow")
def binary(random, name):
    shape = extents(random)
    x, y = (Argument(shape, low=0.5, high=3) for _ in range(2))
    return Sample(f"{name} %0, %1 : {x.type}", [x, y], [x.type])


@sample("and", "or", "xor", "shift_left", "shift_right")
def bitwise(random, name):
    x, y = (Argument(shape, "i32", high=30) for shape in [extents(random)] * 2)
    return Sample(f"{name} %0, %1 : {x.type}", [x, y], [x.type])


@sample("compare")
def compare(random, name):
    x, y = (Argument(shape) for shape in [extents(random)] * 2)
    return Sample(f"compare lt %0, %1 : {x.type} -> {tensor(x.shape, 'i1')}", [x, y], [tensor(x.shape, "i1")])


@sample("select")
def select(random, name):
    shape = extents(random)
    return Sample(f"select %0, %1, %2 : {tensor(shape, 'i1')}, {tensor(shape)}",
                  [Argument(shape, "i1"), Argument(shape), Argument(shape)], [tensor(shape)])  # fmt: skip


@sample("select_by_mode")
def select_by_mode(random, name):
    x, y = (Argument(shape) for shape in [extents(random)] * 2)
    return Sample(f"select_by_mode training %0 inference %1 : {x.type}", [x, y], [x.type])


@sample("cast")
def cast(random, name):
    x = Argument(extents(random))
    result = tensor(x.shape, random.choice(["f64", "i32", "f16"]))
    return Sample(f"cast %0 : {x.type} -> {result}", [x], [result])


ELEMENTWISE = set(SAMPLES)

# --- Data movement -----------------------------------------------------------------------------------------------------


@sample("iota")
def iota(random, name):
    shape = extents(random)
    return Sample(f"iota {random.randrange(len(shape))} : {tensor(shape, 'i32')}", [], [tensor(shape, "i32")])


@sample("broadcast")
def broadcast(random, name):
    shape = extents(random, 2)
    axes = some(random, len(shape))
    x = Argument([extent for axis, extent in enumerate(shape) if axis not in axes])
    return Sample(f"broadcast %0 axes {axes} : {x.type} -> {tensor(shape)}", [x], [tensor(shape)])


@sample("reshape")
def reshape(random, name):
    """Merges and divides axes; a fused axis has blocks then."""
    factors = [random.choice([1, 2, 2, 3, 4, 4, 8]) for _ in range(5)]

    def group() -> list[int]:
        ends = [0, *sorted(random.sample(range(1, 5), random.randint(0, 3))), 5]
        return [int(np.prod(factors[a:b])) for a, b in zip(ends, ends[1:])]

    x, result = Argument(group()), tensor(group())
    return Sample(f"reshape %0 : {x.type} -> {result}", [x], [result])


@sample("transpose")
def transpose(random, name):
    x = Argument(extents(random, 2))
    order = random.sample(range(len(x.shape)), len(x.shape))
    result = tensor([x.shape[axis] for axis in order])
    return Sample(f"transpose %0 {order} : {x.type} -> {result}", [x], [result])


@sample("slice")
def cut(random, name):
    """Most slices are blocks, as those of fused queries, keys and values. Some start within a block."""
    x = Argument(extents(random))
    offsets, strides, shape = [], [], []
    for extent in x.shape:
        blocks = random.choice([n for n in (1, 2, 3) if extent % n == 0])
        if random.random() < 0.75:
            count = random.randint(1, blocks)
            shape.append(extent // blocks * count)
            start = random.randint(0, blocks - count) * (extent // blocks)
            offsets.append(random.choice([start, start, random.randint(0, extent - shape[-1])]))
            strides.append(1)
        else:
            strides.append(random.randint(1, 2))
            shape.append(random.randint(1, (extent - 1) // strides[-1] + 1))
            offsets.append(random.randint(0, extent - 1 - (shape[-1] - 1) * strides[-1]))
    return Sample(f"slice %0 offsets {offsets} strides {strides} : {x.type} -> {tensor(shape)}", [x], [tensor(shape)])


@sample("pad")
def pad(random, name):
    x = Argument(extents(random))
    blocks = [random.choice([n for n in (1, 2) if extent % n == 0]) for extent in x.shape]
    low, high = ([random.choice([0, 0, 1, extent // n, extent]) for extent, n in zip(x.shape, blocks)] for _ in range(2))
    for axis, extent in enumerate(x.shape):
        if random.random() < 0.3:  # whole blocks in all, but none before or after the operand
            low[axis] = random.randint(0, extent)
            high[axis] = extent - low[axis]
    interior = [random.choice([0, 0, 0, 1]) for _ in x.shape]
    result = tensor([a + n + (n - 1) * i + b for a, b, i, n in zip(low, high, interior, x.shape)])
    return Sample(f"pad %0 low {low} high {high} interior {interior} value -1.5 : f32 : {x.type} -> {result}", [x], [result])


@sample("reverse")
def reverse(random, name):
    x = Argument(extents(random))
    return Sample(f"reverse %0 axes {some(random, len(x.shape))} : {x.type}", [x], [x.type])


@sample("concatenate")
def concatenate(random, name):
    shape, blocks = extents(random), random.choice([[1, 1], [1, 2], [2, 1, 1]])
    axis = random.randrange(len(shape))
    inputs = [Argument([n * count if i == axis else n for i, n in enumerate(shape)]) for count in blocks]
    result = tensor([n * sum(blocks) if i == axis else n for i, n in enumerate(shape)])
    names, types = ", ".join(f"%{i}" for i in range(len(inputs))), ", ".join(x.type for x in inputs)
    return Sample(f"concatenate {names} axis {axis} : ({types}) -> {result}", inputs, [result])


@sample("windows")
def windows(random, name):
    x = Argument([*extents(random, 1, 2), random.choice([7, 8, 12])])
    axis, taps, stride = len(x.shape) - 1, random.randint(1, 3), random.randint(1, 2)
    result = tensor([*x.shape[:-1], (x.shape[-1] - taps) // stride + 1, taps])
    return Sample(f"windows %0 axes [{axis}] strides [{stride}] dilations [1] : {x.type} -> {result}", [x], [result])


@sample("overlap_add")
def overlap_add(random, name):
    lead, positions, taps, stride = extents(random, 1, 2), random.choice([3, 4, 8]), random.randint(1, 3), random.randint(1, 2)
    x = Argument([*lead, positions, taps])
    result = tensor([*lead, (positions - 1) * stride + taps])
    return Sample(f"overlap_add %0 axes [{len(lead)}] offsets [0] strides [{stride}] dilations [1] : {x.type} -> {result}", [x], [result])


# --- Sums --------------------------------------------------------------------------------------------------------------


@sample("reduce")
def reduce(random, name):
    kind = random.choice(["add", "add", "add", "max", "min", "mul", "or"])
    x = Argument(extents(random), "i1" if kind == "or" else random.choice(["f32", "f32", "i32"]))
    axes = some(random, len(x.shape))
    result = tensor([n for axis, n in enumerate(x.shape) if axis not in axes], x.element)
    return Sample(f"reduce {kind} %0 axes {axes} : {x.type} -> {result}", [x], [result])


@sample("cumulative_sum")
def cumulative_sum(random, name):
    x = Argument(extents(random))
    return Sample(f"cumulative_sum %0 axis {random.randrange(len(x.shape))} : {x.type}", [x], [x.type])


@sample("contract")
def contract(random, name):
    """Operands have batch, free and contracted axes in any order."""
    batch, over, left, right = extents(random, 0, 2), extents(random, 1, 2), extents(random, 0, 2), extents(random, 0, 2)

    def operand(free):
        axes = [("b", i) for i in range(len(batch))] + [("k", i) for i in range(len(over))] + [("f", i) for i in range(len(free))]
        random.shuffle(axes)
        free_order = [i for kind, i in axes if kind == "f"]
        shape = [{"b": batch, "k": over, "f": free}[kind][i] for kind, i in axes]
        return (Argument(shape), [axes.index(("b", i)) for i in range(len(batch))], [axes.index(("k", i)) for i in range(len(over))],
                [free[i] for i in free_order])  # fmt: skip

    (x, x_batch, x_over, x_free), (y, y_batch, y_over, y_free) = operand(left), operand(right)
    result = tensor([*batch, *x_free, *y_free])
    return Sample(f"contract %0, %1 batch {x_batch} x {y_batch} over {x_over} x {y_over} : {x.type}, {y.type} -> {result}", [x, y], [result])


@sample("convolve", "transposed_convolve", "convolve_weight_gradient")
def convolve(random, name):
    batch, groups = random.choice([1, 2, 4, 8]), random.choice([1, 1, 2, 4, 8])
    channels, outputs, taps = random.choice([1, 2, 3, 4]), random.choice([1, 2, 3, 4]), random.choice([1, 3])
    if groups == 1:
        channels, outputs = random.choice([3, 4, 8, 12]), random.choice([3, 4, 8, 12])
    stride, extent = random.randint(1, 2), random.choice([4, 5])
    before = taps // 2
    output = (extent + 2 * before - taps) // stride + 1
    values = {"input": Argument([batch, extent, groups * channels]), "weights": Argument([groups * outputs, channels, taps]),
              "output": Argument([batch, output, groups * outputs])}  # fmt: skip
    operands = {"convolve": ("input", "weights"), "transposed_convolve": ("output", "weights"), "convolve_weight_gradient": ("input", "output")}
    (result,) = (each.type for key, each in values.items() if key not in operands[name])
    x, y = (values[key] for key in operands[name])
    given = f" groups {groups}" if groups > 1 else ""
    return Sample(f"{name} %0, %1{given} before [{before}] strides [{stride}] dilations [1] : ({x.type}, {y.type}) -> {result}", [x, y], [result])


def heads(random) -> tuple:
    """Returns the arguments of attention, its text up to the types, and the extents of its sums."""
    batch, keys, shared = random.choice([1, 2, 4]), random.choice([1, 2, 4, 8]), random.choice([1, 1, 2, 3])
    queries, length, width, values = random.choice([1, 2, 4]), random.choice([2, 4, 5]), random.choice([2, 4]), random.choice([2, 3])
    arguments = [Argument([batch, keys * shared, queries, width]), Argument([batch, keys, length, width]), Argument([batch, keys, length, values])]
    text = "%0, %1, %2"
    if random.random() < 0.4:
        text += f" bias %{len(arguments)}"
        arguments.append(Argument([random.choice([1, batch]), random.choice([1, keys * shared]), queries, length]))
    if random.random() < 0.3:
        text += f" mask %{len(arguments)}"
        arguments.append(Argument([random.choice([1, batch]), random.choice([1, keys * shared]), 1, length], "i1"))
    if random.random() < 0.4:
        text += " causal 1"
    return arguments, text + " scale 0.5", [batch, keys * shared, queries], values


@sample("attention")
def attention(random, name):
    arguments, text, sums, width = heads(random)
    results = [tensor([*sums, width]), tensor(sums)]
    return Sample(f"attention {text} : ({', '.join(a.type for a in arguments)}) -> ({', '.join(results)})", arguments, results)


@sample("attention_gradient")
def attention_gradient(random, name):
    arguments, text, sums, width = heads(random)
    orders, results = [], []
    for i, key in enumerate(("query_order", "key_order", "value_order")):
        order = [*random.sample(range(3), 3), 3]
        orders.append(f"{key} = array<i64: {', '.join(map(str, order))}>")
        results.append(tensor([arguments[i].shape[axis] for axis in order]))
    first = len(arguments)
    arguments += [Argument(sums, low=1, high=3), Argument(sums), Argument([*sums, width])]
    text += f" of %{first}, %{first + 1}, %{first + 2} {{{', '.join(orders)}}}"
    return Sample(f"attention_gradient {text} : ({', '.join(a.type for a in arguments)}) -> ({', '.join(results)})", arguments, results)


# --- Tables ------------------------------------------------------------------------------------------------------------


def table(random) -> tuple:
    """Returns the table's extents, the axis, the number of batch axes, the extents of indices, and those of the gathered rows."""
    shape = extents(random, 1, 3)
    axis = random.randrange(len(shape))
    batch = random.randint(0, axis)
    indices = [*shape[:batch], *extents(random, 0, 2)]
    return shape, axis, batch, indices, [*shape[:axis], *indices[batch:], *shape[axis + 1 :]]


@sample("gather")
def gather(random, name):
    shape, axis, batch, places, rows = table(random)
    x, indices = Argument(shape), Argument(places, "i64", low=-shape[axis], high=shape[axis])
    return Sample(f"gather %0, %1 axis {axis} batch {batch} : {x.type}, {indices.type} -> {tensor(rows)}", [x, indices], [tensor(rows)])


@sample("scatter_add")
def scatter_add(random, name):
    shape, axis, batch, places, rows = table(random)
    updates, indices = Argument(rows), Argument(places, "i64", low=-shape[axis], high=shape[axis])
    onto = [Argument(shape)] if random.random() < 0.5 else []
    given = f" onto %2 : {tensor(shape)}" if onto else ""
    return Sample(f"scatter_add %0, %1 axis {axis} batch {batch}{given} : {updates.type}, {indices.type} -> {tensor(shape)}",
                  [updates, indices, *onto], [tensor(shape)])  # fmt: skip


@sample("random_bits")
def random_bits(random, name):
    result = tensor([min(extent, 8) for extent in extents(random)], "i32")
    number = Argument([], "i64", high=1000)
    return Sample(f"random_bits %0, %1 stream 3 : (tensor<i64>, tensor<i64>) -> {result}", [number, number], [result])


# --- Others ------------------------------------------------------------------------------------------------------------


@sample("constant")
def constant(random, name):
    shape = extents(random)
    return Sample(f"constant dense<1.5> : {tensor(shape)}", [], [tensor(shape)])


@sample("average_over_ranks")
def average_over_ranks(random, name):
    x = Argument(extents(random))
    return Sample(f"average_over_ranks %0 ranks 1 : {x.type}", [x], [x.type])


@sample("softmax_cross_entropy")
def softmax_cross_entropy(random, name):
    shape = extents(random, 2, 3)
    logits, labels = Argument(shape), Argument(shape[:-1], "i64", high=shape[-1])
    return Sample(f"softmax_cross_entropy %0, %1 ignore -100 : {logits.type}, {labels.type} -> {tensor(shape[:-1])}",
                  [logits, labels], [tensor(shape[:-1])])  # fmt: skip


@sample("top_k")
def top_k(random, name):
    x = Argument(extents(random))
    shape = [*x.shape[:-1], random.randint(1, x.shape[-1])]
    results = [tensor(shape), tensor(shape, "i64")]
    return Sample(f"top_k %0 : {x.type} -> {', '.join(results)}", [x], results)


@sample("add_rows")
def add_rows(random, name):
    shape = extents(random, 1, 2)
    rows = Argument([random.choice([2, 4, 8]), int(np.prod(shape))])
    return Sample(f"add_rows %0 : {rows.type} -> {tensor(shape)}", [rows], [tensor(shape)])


WITHOUT_RULES = {
    "state and structure of programs": "read write read_flat write_flat variable program input arena buffer adapter step message tasks",
    "kernels, which exist only after the division": "kernel kernel.add_rows kernel.check kernel.index kernel.load kernel.reduce kernel.yield "
    "kernel_function",
    "allocated programs": "async_copy async_launch async_transfer call copy hold launch move repeat transfer transfer_slots",
    "library calls with epilogues and layouts, which exist only after the division": "fused_contract fused_convolve permuted_attention "
    "strided_view tile assemble",
    "exchanges and partial values, which the division creates": "all_gather all_to_all own_piece partial all_reduce reduce_scatter "
    "reshard",
    "steps that depend on each other": "recurrence recurrence_gradient scan",
    "optimizer state, which exists only after the division": "dequantize_blocks quantize_blocks pack_codes unpack_codes",
    "elements of bf16, which NumPy lacks; the rule is that of other elementwise operations": "high_half low_half join_halves",
    "compressed matrices": "stored_contract widen_stored",
}
