"""A graph under construction, to which the generators of operators and the motifs add nodes.

The reference evaluates every node when it is added, so that generators see the values of operands, and a node is rejected at once if its
results are not comparable (not finite, too large, near a kink).
"""

import math
import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from operators import evaluate, schema, split_name
from tape import Rejected, Tape, Value

# Most extents are small; 1, odd and prime numbers are as frequent as others. The largest ones limit the other extents.
EXTENTS = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 32, 33, 129, 1000]
MOST_ELEMENTS = 6000  # maximum number of elements of drawn values; computed values may have three times as many
LARGEST = 60.0  # maximum magnitude of values, so that small values that are added to them keep enough digits in f32
NEAREST = 3e-5  # minimum distance to a kink


# The number of operands whose elements an operator uses, for operators that use only the shape or type of the others.
READS = {"CastLike": 1, "Shape": 0, "RandomUniformLike": 0}


def read_by(node: onnx.NodeProto, results: set[str] | None = None) -> list[str]:
    """Returns the operands on which the node's results, or only `results`, depend."""
    if node.op_type == "Dropout" and results is not None and node.output[0] not in results:
        return []  # the mask depends on no operand's elements
    return list(node.input)[: READS.get(node.op_type)]


class Graph:
    INT64, UINT64 = TensorProto.INT64, TensorProto.UINT64

    def __init__(self, seed: int, opset: int, is_double: bool, batch: int, rows: int):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.opset, self.batch, self.rows = opset, batch, rows
        self.is_double = is_double
        self.element = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
        self.float_type = np.float64 if is_double else np.float32
        self.arguments: set[str] = set()  # constants that are f32 in f64 models too: the scales of Resize
        self.tape = Tape()
        self.values: dict[str, Value] = {}  # in the order of their creation
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, np.ndarray] = {}
        self.data: dict[str, np.ndarray] = {}  # samples of inputs: `rows` times the batch
        self.bounds: dict[str, int] = {}  # integers that are indices below this number in every batch
        self.used: set[str] = set()
        self.drawn: set[str] = set()  # values that depend on random numbers; they get no other users

    # Random choices.

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, options):
        return self.random.choice(options)

    def number(self, low: float, high: float) -> float:
        """Returns a number with three significant digits."""
        return float(f"{self.random.uniform(low, high):.3g}")

    def extent(self, most: int = 1000) -> int:
        return self.choose([n for n in EXTENTS if n <= most])

    def small_shape(self, rank: int) -> tuple:
        return tuple(self.extent(9) for _ in range(rank))

    def new_shape(self, rank: int) -> tuple:
        while True:
            shape = tuple(self.extent() for _ in range(rank))
            if math.prod(shape) <= MOST_ELEMENTS // 2:
                return shape

    def signed(self, axis: int, rank: int) -> int:
        return self.choose([axis, axis - rank])

    def factored(self, count: int) -> tuple:
        """Returns a random shape with `count` elements: distributes the prime factors, and adds extents of 1."""
        shape = [1] * self.random.randint(0 if count == 1 else 1, 5)
        factor = 2
        while count > 1:
            while count % factor:
                factor += 1
            shape[self.random.randrange(len(shape))] *= factor
            count //= factor
        return tuple(shape)

    def broadcastable(self, shape: tuple) -> tuple:
        """Returns a shape that broadcasts to `shape`."""
        kept = shape[self.random.choice([0, 0, self.random.randint(0, len(shape))]) :]
        return tuple(1 if self.chance(0.2) else n for n in kept)

    def random_indices(self, shape: tuple, below: int, negative: bool = True) -> np.ndarray:
        if self.chance(0.25) and math.prod(shape) <= below:  # evenly spaced
            count = math.prod(shape)
            step = self.random.randint(1, max(1, below // max(count, 1)))
            return (np.arange(count) * step % below).reshape(shape)
        indices = self.numbers.integers(0, below, shape)
        return self.some_negative(np.asarray(indices), below) if negative and self.chance(0.3) else np.asarray(indices)

    def some_negative(self, indices: np.ndarray, below: int) -> np.ndarray:
        if self.opset < 11:
            return indices.astype(np.int64)
        return np.where(self.numbers.random(indices.shape) < 0.3, indices - below, indices).astype(np.int64)

    # Operands.

    def shape(self, name: str) -> tuple:
        return self.values[name].shape

    def available(self) -> list[tuple[str, Value]]:
        """Returns the values that a node may use."""
        return [(name, value) for name, value in self.values.items() if name not in self.drawn]

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{sum(name.startswith(prefix) for name in self.values)}"

    def constant(self, array) -> str:
        """Adds a constant. Integers may become initializers; floats become nodes, because float initializers are trained."""
        array = np.asarray(array)
        array = array.astype(np.int64) if array.dtype.kind == "i" and array.dtype != np.int32 else array
        name = self.fresh("c")
        self.values[name] = self.tape.constant(array)
        if array.dtype.kind == "f" and array.dtype != self.float_type:
            self.arguments.add(name)
        if array.dtype.kind == "f" or self.chance(0.3):
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array, name)))
        else:
            self.initializers[name] = array
        return name

    def number_of(self, value: float) -> np.ndarray:
        return np.array(value, self.float_type)

    def numbers_of(self, values) -> np.ndarray:
        return np.array(values, self.float_type)

    def filled(self, value: float) -> onnx.TensorProto:
        """Returns the value that ConstantOfShape repeats."""
        return numpy_helper.from_array(self.numbers_of([value]))

    def parameter(self, shape, low: float | None = None, high: float | None = None) -> str:
        """Adds a trained initializer, with a normal distribution if there are no bounds."""
        shape = tuple(shape)
        if math.prod(shape) > MOST_ELEMENTS:
            raise Rejected("too large a parameter")
        drawn = self.numbers.normal(0, 0.8, shape) if low is None else self.numbers.uniform(low, high, shape)
        array = np.asarray(drawn, np.float32).astype(self.float_type)
        name = self.fresh("p")
        self.initializers[name] = array
        self.values[name] = self.tape.variable(array)
        return name

    def weight(self, shape) -> str:
        """Adds a matrix whose product with a value is about as large as the value."""
        depth = shape[-2] if len(shape) > 1 else shape[-1]
        limit = 1.5 / math.sqrt(depth)
        return self.parameter(shape, -limit, limit)

    def input(self, shape, below: int | None = None) -> str:
        """Adds an input whose first axis is the batch: floats, or indices below a number."""
        name = self.fresh("x")
        whole = (self.batch * self.rows, *shape)
        if below is None:
            array = self.numbers.normal(0, 1, whole).astype(np.float32).astype(self.float_type)
        else:
            array = self.numbers.integers(0, below, whole)
            self.bounds[name] = below
        self.data[name] = array
        self.values[name] = self.tape.constant(array[: self.batch])
        return name

    def floats(self, test: Callable[[Value], bool]) -> list[str]:
        return [name for name, value in self.available()
                if value.is_float and name not in self.arguments and test(value)]  # fmt: skip

    def value(self, rank: int | None = None, min_rank: int = 0, max_rank: int = 5, where=None) -> str:
        """Returns a float value, which usually has no users or is recent, and otherwise is a new parameter or input."""
        def fits(value: Value) -> bool:
            ranks = value.rank == rank if rank is not None else min_rank <= value.rank <= max_rank
            return ranks and (where is None or where(value.shape))

        found = [name for name in self.floats(fits) if not name.startswith("c")]
        unread = [name for name in found if name not in self.used]
        draw = self.random.random()
        if unread and draw < 0.6:
            return self.choose(unread)
        if found and draw < 0.88:
            return self.choose(found[-6:])
        wanted = rank if rank is not None else self.random.randint(min_rank, min(max_rank, 5))
        for _ in range(20):
            shape = self.new_shape(wanted)
            if where is not None and wanted and not where(shape):
                at = self.random.randrange(wanted)
                shape = (*shape[:at], 1, *shape[at + 1 :])
            if wanted and self.chance(0.3) and (where is None or where((self.batch, *shape[1:]))):
                return self.input(shape[1:])
            if where is None or where(shape):
                return self.parameter(shape)
        raise Rejected("no value fits")

    def of_shape(self, shape) -> str:
        """Returns a float value of a shape: an existing one, a reshaped one, or a new one."""
        shape = tuple(shape)
        if math.prod(shape) > MOST_ELEMENTS:
            raise Rejected("too large a value")
        exact = self.floats(lambda v: v.shape == shape)
        if exact and self.chance(0.6):
            return self.choose(exact)
        equal = [name for name in self.floats(lambda v: v.data.size == math.prod(shape)) if not name.startswith("c")]
        if equal and 0 not in shape and self.chance(0.6):  # Reshape copies an extent for 0
            return self.node("Reshape", [self.choose(equal), self.constant(np.array(shape, np.int64))])
        if shape and shape[0] == self.batch and self.chance(0.3):
            return self.input(shape[1:])
        return self.parameter(shape)

    def partner(self, x: str) -> str:
        """Returns a second operand for x, such that one of the two broadcasts to the other."""
        shape = self.shape(x)
        if self.chance(0.1):
            return x
        def fits(value: Value) -> bool:
            try:
                return math.prod(np.broadcast_shapes(shape, value.shape)) <= MOST_ELEMENTS
            except ValueError:
                return False

        found = [name for name in self.floats(fits) if name != x]
        if found and self.chance(0.6):
            return self.choose(found[-8:])
        if self.chance(0.2):
            return self.constant(self.number_of(self.number(-2, 2)))
        return self.parameter(self.broadcastable(shape))

    def bounded(self, low: float, high: float, shape=None, min_rank: int = 0) -> str:
        """Returns a value whose elements are in [low, high] and stay there during a few small steps of training."""
        def fits(value: Value) -> bool:
            if shape is not None and value.shape != tuple(shape) or value.rank < min_rank:
                return False
            margin = 0.02 * (high - low)
            return value.data.size > 0 and value.data.min() >= low + margin and value.data.max() <= high - margin

        found = [name for name in self.floats(fits) if not name.startswith("c")]
        unread = [name for name in found if name not in self.used]
        if unread and self.chance(0.6):
            return self.choose(unread)
        if found and self.chance(0.5):
            return self.choose(found[-6:])
        middle, half = (low + high) / 2, 0.45 * (high - low)
        if self.chance(0.3):
            own = self.new_shape(self.random.randint(min_rank, 4)) if shape is None else shape
            return self.parameter(own, max(low + 0.1 * half, middle - 3), min(middle + half, middle + 3))
        x = self.value(min_rank=min_rank) if shape is None else self.of_shape(shape)
        x = self.node("Tanh", [x])
        if half != 1:
            x = self.node("Mul", [x, self.constant(self.number_of(min(half, 3.0)))])
        return self.node("Add", [x, self.constant(self.number_of(middle))]) if middle else x

    def condition(self, shape) -> str:
        """Returns a computed or constant boolean that broadcasts to `shape`."""
        def fits(value: Value) -> bool:
            if value.data.dtype.kind != "b" or value.rank > len(shape):
                return False
            return all(n in (1, m) for n, m in zip(reversed(value.shape), reversed(shape)))

        found = [name for name, value in self.available() if fits(value)]
        if found and self.chance(0.6):
            return self.choose(found)
        if self.chance(0.4):
            return self.constant(self.numbers.random(self.broadcastable(shape)) < 0.5)
        name = self.choose(["Less", "Greater"] + (["LessOrEqual", "GreaterOrEqual"] if self.opset >= 12 else []))
        x = self.of_shape(self.broadcastable(shape))
        return self.node(name, [x, self.constant(self.number_of(self.number(-1, 1)))])

    def indices(self, shape, below: int) -> str:
        """Returns indices below a number, which are computed, data, or constants."""
        found = [name for name, bound in self.bounds.items() if bound <= below and self.values[name].rank <= 2]
        if found and self.chance(0.5):
            return self.choose(found)
        if shape and self.chance(0.3):
            return self.input(shape[1:], below)
        return self.constant(self.random_indices(shape, below))

    # Nodes.

    def allows(self, op: str, attribute: str) -> bool:
        found = schema(op, self.opset)
        return found is not None and attribute in found.attributes

    def stop(self, x: str) -> str:
        """Adds a node that stops the gradient of x, as `mtc.export` writes it."""
        return self.node("Identity", [x], metadata={"mtc.detached": "true"})

    def node(self, op: str, inputs: list[str], outputs: int = 1, omitted: tuple[int, ...] = (), metadata=None, **arguments):
        """Adds a node and returns the name of its first output. An argument becomes a constant if it is an operand in this opset. Outputs
        at the indices in `omitted` have no name."""
        definition = schema(op, self.opset)
        if definition is None:
            raise Rejected(f"{op} is not in opset {self.opset}")
        inputs, attributes = list(inputs), {}
        formal = [parameter.name.lower() for parameter in definition.inputs]
        for name, value in arguments.items():
            if name in definition.attributes:
                attributes[name] = value
            elif name in formal:
                place = formal.index(name)
                inputs += [""] * (place + 1 - len(inputs))
                array = np.asarray(value, self.float_type if isinstance(value, float) else None)
                inputs[place] = self.constant(array)
            else:
                raise Rejected(f"{op} of opset {self.opset} has no {name}")
        names = [f"{self.fresh('v')}" if outputs == 1 else f"{self.fresh('v')}_{i}" for i in range(outputs)]
        names = ["" if i in omitted else name for i, name in enumerate(names)]
        domain, operator = split_name(op)
        proto = helper.make_node(operator, inputs, names, f"{operator}_{len(self.nodes)}", domain=domain, **attributes)
        for key, value in (metadata or {}).items():
            proto.metadata_props.add(key=key, value=value)
        self.tape.margin = math.inf
        with np.errstate(all="ignore"):
            results = evaluate(proto, self.opset, [self.values[name] if name else None for name in inputs])
        if self.tape.margin < NEAREST:
            raise Rejected(f"{op} near a kink")
        for name, value in zip(names, results, strict=True):
            if name:
                self.accept(op, value)
                self.values[name] = value
        self.nodes.append(proto)
        self.used.update(read_by(proto))
        if op in ("ArgMax", "ArgMin"):
            axis = next((a.i for a in proto.attribute if a.name == "axis"), 0)
            self.bounds[names[0]] = self.shape(inputs[0])[axis]
        return names[0]

    def accept(self, op: str, value: Value):
        if value.data.size > 3 * MOST_ELEMENTS or value.rank > 6:
            raise Rejected(f"{op} gives {value.shape}")
        if value.is_float and not (np.abs(value.data) <= LARGEST).all() and op != "Where":
            raise Rejected(f"{op} gives values that are too large")

    # Attempts.

    def attempt(self, build: Callable[[], None]) -> bool:
        """Runs `build`, and undoes its changes if it is rejected."""
        tables = [dict(self.values), dict(self.initializers), dict(self.data), dict(self.bounds), set(self.used), set(self.drawn)]
        counts = len(self.nodes), len(self.tape.values), len(self.tape.decisions)
        try:
            build()
            return True
        except Rejected:
            self.values, self.initializers, self.data, self.bounds, self.used, self.drawn = tables
            del self.nodes[counts[0] :], self.tape.values[counts[1] :], self.tape.decisions[counts[2] :]
            return False
