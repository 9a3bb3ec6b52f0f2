"""A reference interpreter for functions after `mtc-form-kernels`, with kernels, contractions, views and constants.

    mtc-opt FILE -mtc-test-gradient -mtc-decompose -canonicalize -mtc-form-kernels -mlir-print-local-scope |
        interpret.py FILE

checks the functions on stdin by the comments of FILE, in which a0, a1, .. are the function's arguments:

    // given @f a1 = EXPRESSION      the argument's value; floats are random by default
    // expect @f = EXPRESSION        the result's value, a tuple for several results
    // fault @f                      an index is out of bounds
    // given @f @w = EXPRESSION      a variable's value before the call; floats are random by default
    // expect @f @w = EXPRESSION     its value after the call; `v["w"]` is the one before

Names of functions after FILE restrict the check to these. Expressions are numpy's. If `@f` has an `@f_vjp`, that is checked against central
differences, unless the comments give the expected results of `@f_vjp`. Scalars of a kernel are computed for all iterations at once, as
arrays over the iteration space; an out-of-bounds index is an error. Exits with 1 at the first difference, or if nothing was checked.
"""

import json
import math
import re
import sys

import numpy as np
from exchange import Exchange, run_on_ranks

ELEMENTS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
            "i32": np.int32, "i64": np.int64, "ui8": np.int8, "ui16": np.int16, "ui32": np.int32, "ui64": np.int64}
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Fault(Exception):
    """The error of a program for an out-of-bounds index."""


def unsigned(x):
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(UNSIGNED[x.itemsize])


def tensor_type(text):
    *shape, element = re.fullmatch(r"tensor<(.*)>", text.strip()).group(1).split("x")
    return tuple(int(n) for n in shape), ELEMENTS[element]


def number(text, dtype):
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x") and np.issubdtype(dtype, np.floating):
        return np.array(int(text, 16), UNSIGNED[np.dtype(dtype).itemsize]).view(dtype)
    return dtype(int(text) if np.issubdtype(dtype, np.integer) else float(text))


def dense(text, kind):
    """Returns the value of `dense<..> : tensor<..>`."""
    shape, dtype = tensor_type(kind)
    if text.startswith("["):
        text = re.sub(r"0x\w+", lambda bits: json.dumps(float(number(bits.group(), dtype))), text)
        return np.array(json.loads(text), dtype).reshape(shape)
    return np.full(shape, number(text, dtype), dtype) if text else np.zeros(shape, dtype)


CMPF = {"oeq": np.equal, "une": np.not_equal, "olt": np.less, "ole": np.less_equal, "ogt": np.greater,
        "oge": np.greater_equal, "uno": lambda x, y: np.isnan(x) | np.isnan(y)}
CMPI = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
REDUCE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "and": np.logical_and,
          "or": np.logical_or}
SIMPLE = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.negf": np.negative, "arith.remf": np.fmod, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.maxui": lambda x, y: np.maximum(unsigned(x), unsigned(y)).view(x.dtype),
    "arith.minui": lambda x, y: np.minimum(unsigned(x), unsigned(y)).view(x.dtype),
    "arith.shrui": lambda x, y: (unsigned(x) >> unsigned(y)).view(x.dtype), "arith.shli": np.left_shift,
    "arith.select": np.where,
    "math.exp": np.exp, "math.expm1": np.expm1, "math.log": np.log, "math.log1p": np.log1p, "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.tanh": np.tanh, "math.sin": np.sin, "math.cos": np.cos,
    "math.asin": np.arcsin, "math.acos": np.arccos, "math.atan": np.arctan,
    "math.erf": lambda x: np.vectorize(math.erf, otypes=[x.dtype])(x), "math.floor": np.floor, "math.ceil": np.ceil,
    "math.roundeven": np.rint, "math.absf": np.abs, "math.absi": np.abs, "math.powf": np.power,
    "math.fma": lambda x, y, z: x * y + z,
}


def convert(name, x, dtype):
    if name in ("extui", "uitofp"):
        return unsigned(x).astype(dtype)
    return x.astype(dtype)


class Affine:
    """Returns `affine_map<(d0, ..)[s0, ..] -> (..)>` as a function of arrays."""

    def __init__(self, text):
        dims, symbols, results = re.fullmatch(r"affine_map<\(([^)]*)\)(?:\[([^\]]*)\])? -> \((.*)\)>", text).groups()
        code = results.replace("floordiv", "//").replace("mod", "%")
        self.names = [name for name in re.findall(r"\w+", dims + "," + (symbols or ""))]
        self.code = compile(f"({code},)" if code else "()", text, "eval")

    def __call__(self, values):
        return eval(self.code, {}, dict(zip(self.names, values)))


class Kernel:
    def __init__(self, space, reduced, inputs, outputs):
        self.space, self.reduced, self.inputs, self.outputs = space, reduced, inputs, outputs
        self.values = {}
        self.dims = [np.arange(n).reshape([n if i == d else 1 for i in range(len(space))]) for d, n in enumerate(space)]

    def places(self, affine, symbols, shape, guard=None):
        """Returns checked indices, as arrays over the iteration space."""
        index = []
        for place, extent in zip(affine(self.dims + symbols), shape):
            place = np.broadcast_to(np.asarray(place), self.space)
            wrong = (place < 0) | (place >= extent)
            if guard is not None:
                wrong &= guard
                place = np.where(guard, place, 0)
            assert not wrong.any(), f"index {place[wrong][0]} of a tensor of extents {shape}"
            index.append(place)
        return tuple(index)

    def run(self, line):
        """Executes a line of the body; returns the results at the yield."""
        if match := re.fullmatch(r"mtc.kernel.yield (.*) at \[(.*?)\](?:\[(.*?)\])?(?: add \[(.*?)\])?"
                                 r"(?: onto (%\S+) : tensor<.*?>)? : .*", line):
            names, maps, symbols, added, onto = match.groups()
            assert symbols or not added, "before fusion, no kernel sums columns in a yield"
            return self.store([self.values[n.strip()] for n in names.split(",")],
                              [Affine(m) for m in re.findall(r"affine_map<.*?\)>", maps)],
                              self.named(symbols), bool(added), self.values.get(onto))
        target, name, rest = re.fullmatch(r"(%\S+) = (\S+) +(.*)", line).groups()
        self.values[target] = np.broadcast_to(self.compute(name, rest), self.space)

    def named(self, names):
        return [self.values[n.strip()] for n in names.split(",")] if names else []

    def compute(self, name, rest):
        if name == "arith.constant":
            if rest in ("true", "false"):
                return np.bool_(rest == "true")
            text, kind = rest.split(" : ")
            return number(text, ELEMENTS[kind])
        if name == "mtc.kernel.load":
            source, affine, symbols, guard, otherwise = re.match(
                r"(%\S+) at (affine_map<.*?\)>)(?:\[(.*?)\])?(?: if (%\S+) else (%\S+) : \w+)? :", rest).groups()
            tensor = self.values[source]
            if not guard:
                return tensor[self.places(Affine(affine), self.named(symbols), tensor.shape)]
            guard = self.values[guard]
            if not guard.any():
                return self.values[otherwise]
            place = self.places(Affine(affine), self.named(symbols), tensor.shape, guard)
            return np.where(guard, tensor[place], self.values[otherwise])
        if name == "mtc.kernel.index":
            return np.asarray(Affine(rest)(self.dims)[0]).astype(np.int64)
        if name == "mtc.kernel.check":
            index, extent = re.fullmatch(r"(%\S+) below (\d+)", rest).groups()
            value = self.values[index]
            if ((value < -int(extent)) | (value >= int(extent))).any():
                raise Fault
            return np.where(value < 0, value + int(extent), value)
        if name == "mtc.kernel.reduce":
            kind, value, is_unsigned = re.match(r"(\w+) (%\S+)( unsigned)?", rest).groups()
            value = self.values[value]
            given = unsigned(value) if is_unsigned else value
            # The order of numpy's sums depends on the extents; in f64, it hardly changes sums of f32.
            wide = np.float64 if given.dtype == np.float32 else given.dtype
            return REDUCE[kind].reduce(given, axis=tuple(self.reduced), dtype=wide, keepdims=True).astype(value.dtype)
        operands = [self.values[v] for v in re.findall(r"%[\w.$-]+", rest)]
        if name in ("arith.cmpf", "arith.cmpi"):
            predicate = rest.split(",")[0]
            if name == "arith.cmpf":
                return CMPF[predicate](*operands)
            if predicate[0] == "u":
                operands = [unsigned(x) for x in operands]
            return CMPI[predicate if predicate in CMPI else predicate[1:]](*operands)
        if match := re.search(r" : \w+ to (\w+)$", rest):
            return convert(name.split(".")[1], operands[0], ELEMENTS[match.group(1)])
        return SIMPLE[name](*operands)

    def store(self, values, maps, symbols, add, onto):
        results = []
        for value, affine, (shape, dtype) in zip(values, maps, self.outputs, strict=True):
            result = np.zeros(shape, dtype) if onto is None else onto.copy()
            written = np.zeros(shape, bool)
            place = self.places(affine, symbols, shape)
            if add:
                np.add.at(result, place, value)
            elif place:
                result[place] = value
                written[place] = True
                assert written.all(), "a kernel leaves elements of its result unwritten"
            else:
                result[()] = value.flat[0]
            results.append(result)
        return results


class State:
    """Returns the values of a module's variables by name."""

    def __init__(self, text):
        self.types = {name: tensor_type(kind)
                      for name, kind in re.findall(r"mtc.variable +\w+ @([\w.]+) : (tensor<.*?>)", text)}
        self.values = {}

    def read(self, name):
        return self.values[name]

    def write(self, name, value):
        shape, dtype = self.types[name]
        assert value.dtype == dtype, f"@{name} is written with {value.dtype}"
        self.values[name] = value.reshape(shape).copy()

    def read_flat(self, names):
        """Returns values one after another, each padded to 64 bytes."""
        parts = []
        for name in names:
            flat = self.values[name].reshape(-1)
            parts += [flat, np.zeros(-flat.nbytes % 64 // flat.itemsize, flat.dtype)]
        return np.concatenate(parts)

    def write_flat(self, names, value):
        for name in names:
            size = self.values[name].size
            self.write(name, value[:size])
            value = value[size + -self.values[name].nbytes % 64 // value.itemsize:]


def contract(lhs, rhs, lhs_batch, rhs_batch, lhs_axes, rhs_axes):
    """Returns a contraction that libraries compute. The sums are those of f64, which the order of the terms hardly changes."""
    left, right = list(range(lhs.ndim)), [lhs.ndim + axis for axis in range(rhs.ndim)]
    for axis, other in zip([*lhs_batch, *lhs_axes], [*rhs_batch, *rhs_axes], strict=True):
        right[other] = left[axis]
    kept = [left[axis] for axis in lhs_batch]
    kept += [left[axis] for axis in range(lhs.ndim) if axis not in lhs_batch + lhs_axes]
    kept += [right[axis] for axis in range(rhs.ndim) if axis not in rhs_batch + rhs_axes]
    return np.einsum(lhs.astype(np.float64), left, rhs.astype(np.float64), right, kept)


class Function:
    def __init__(self, name, arguments, state):
        self.name, self.lines, self.state = name, [], state
        self.arguments = [a.split(":")[0].strip() for a in arguments]
        self.types = [tensor_type(a.split(":")[1].split("{")[0]) for a in arguments]

    def __call__(self, *arguments):
        return run_on_ranks([self], [arguments])[0]

    def steps(self, *arguments):
        """Executes the function. Yields each exchange with other ranks, and is sent the value that this rank receives."""
        values = dict(zip(self.arguments, arguments, strict=True))
        kernel = None
        for line in self.lines:
            if kernel:
                if match := re.fullmatch(r"\^bb0\((.*)\):", line):
                    names = re.findall(r"(%\w+):", match.group(1))
                    kernel.values.update(zip(names, kernel.inputs, strict=True))
                elif line == "}":
                    for i, result in enumerate(results):
                        values[f"{target}#{i}" if len(results) > 1 else target] = result
                    kernel = None
                else:
                    results = kernel.run(line)
            elif line.startswith("return"):
                return [values[v] for v in re.findall(r"%[\w#]+", line)]
            elif match := re.fullmatch(r"(%\w+)(?::\d+)? = mtc.kernel \[(.*?)\](?: reduce \[(.*?)\])?\s?\((.*?)\) "
                                       r": \(.*\) -> (.*) \{", line):
                target, space, reduced, inputs, outputs = match.groups()
                kernel = Kernel([int(n) for n in space.split(",")], [int(n) for n in (reduced or "").split(",") if n],
                                [values[v.strip()] for v in inputs.split(",") if v],
                                [tensor_type(t) for t in re.findall(r"tensor<.*?>", outputs)])
            elif match := re.fullmatch(r"(%\w+) = mtc.constant dense<(.*)> : (tensor<.*>)", line):
                values[match.group(1)] = dense(*match.group(2, 3))
            elif match := re.fullmatch(r"(%\w+) = mtc.(?:reshape|detach) (%[\w#]+) : .*?(tensor<[^>]*>)", line):
                values[match.group(1)] = values[match.group(2)].reshape(tensor_type(match.group(3))[0])
            elif match := re.fullmatch(r"(%\w+) = mtc.contract (%[\w#]+), (%[\w#]+) batch (\[.*?\]) x (\[.*?\]) over (\[.*?\]) x (\[.*?\]) "
                                       r": .* -> (tensor<.*>)", line):
                target, lhs, rhs, *axes, result = match.groups()
                values[target] = contract(values[lhs], values[rhs], *map(json.loads, axes)).astype(tensor_type(result)[1])
            elif match := Exchange.pattern.fullmatch(line):
                values[match["target"]] = yield Exchange(match, values[match["value"]])
            elif match := re.fullmatch(r"(%\w+) = mtc.read @([\w.]+) : .*", line):
                values[match.group(1)] = self.state.read(match.group(2))
            elif match := re.fullmatch(r"mtc.write @([\w.]+), (%[\w#]+) : .*", line):
                self.state.write(match.group(1), values[match.group(2)])
            elif match := re.fullmatch(r"(%\w+) = mtc.read_flat \[(.*?)\] : .*", line):
                values[match.group(1)] = self.state.read_flat(re.findall(r"@([\w.]+)", match.group(2)))
            elif match := re.fullmatch(r"mtc.write_flat \[(.*?)\], (%[\w#]+) : .*", line):
                self.state.write_flat(re.findall(r"@([\w.]+)", match.group(1)), values[match.group(2)])
            else:
                raise SystemExit(f"@{self.name}: cannot interpret `{line}`")


def parse(text):
    functions, current, state = {}, None, State(text)
    for line in map(str.strip, text.splitlines()):
        if match := re.match(r"func.func @(\w+)\((.*?)\)(?: ->|$| \{)", line):
            arguments = re.findall(r"%\w+: tensor<[^>]*>", match.group(2))
            current = functions[match.group(1)] = Function(match.group(1), arguments, state)
        elif current and line:
            current.lines.append(line)
    return functions


def philox(seed, step, stream, count):
    """Returns the first words of Philox4x32-10 with the counter (element, stream, step) and the key `seed`, computed in Python's
    integers."""
    words, low = [], 0xFFFFFFFF
    for element in range(count):
        counter = [element, stream, step & low, step >> 32 & low]
        key = [seed & low, seed >> 32 & low]
        for _ in range(10):
            p, q = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
            counter = [q >> 32 ^ counter[1] ^ key[0], q & low, p >> 32 ^ counter[3] ^ key[1], p & low]
            key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
        words.append(counter[0])
    return np.array(words, np.uint32).view(np.int32)


def central_differences(function, arguments, cotangents, place):
    """Returns d(sum of cotangents * results) / d argument `place`, elementwise."""
    gradient = np.zeros_like(arguments[place])
    for index in np.ndindex(gradient.shape):
        sums, step = [], 1e-5
        for sign in (1, -1):
            moved = [a.copy() for a in arguments]
            moved[place][index] += sign * step
            results = [y for y in function(*moved) if y.dtype.kind == "f"]
            sums.append(sum((dy * y).sum() for dy, y in zip(cotangents, results, strict=True)))
        gradient[index] = (sums[0] - sums[1]) / (2 * step)
    return gradient


def main():
    source, only = open(sys.argv[1]).read(), sys.argv[2:]
    functions = parse(sys.stdin.read())
    given, expected, faults = {}, {}, set(re.findall(r"^// fault @(\w+)$", source, re.M))
    for name, argument, expression in re.findall(r"^// given @(\w+) a(\d+) = (.*)$", source, re.M):
        given[name, int(argument)] = expression
    for name, expression in re.findall(r"^// expect @(\w+) = (.*)$", source, re.M):
        expected[name] = expression
    for name, variable, expression in re.findall(r"^// given @(\w+) @([\w.]+) = (.*)$", source, re.M):
        given[name, variable] = expression
    after = {}
    for name, variable, expression in re.findall(r"^// expect @(\w+) @([\w.]+) = (.*)$", source, re.M):
        after.setdefault(name, {})[variable] = expression
    scope = {"np": np, "nan": np.nan, "inf": np.inf, "philox": philox}
    checked = 0

    def draw(function):
        random = np.random.default_rng(7)
        for i, (shape, dtype) in enumerate(function.types):
            base = function.name.removesuffix("_vjp")
            expression = given.get((function.name, i)) or given.get((base, i))
            if expression:
                yield np.array(eval(expression, scope), dtype).reshape(shape)
            elif np.issubdtype(dtype, np.floating):
                yield random.normal(size=shape).astype(dtype)
            else:
                raise SystemExit(f"@{function.name}: argument {i} is not given")

    def fill(function):
        """Sets the variables to their values before the function runs."""
        random = np.random.default_rng(11)
        for name, (shape, dtype) in function.state.types.items():
            expression = given.get((function.name, name))
            value = eval(expression, scope) if expression else random.normal(size=shape)
            function.state.values[name] = np.broadcast_to(np.array(value, dtype), shape)

    def compare(name, found, wanted, tolerance):
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert a.shape == np.shape(b), f"@{name}: result {i} has extents {a.shape}, expected {np.shape(b)}"
            if not np.allclose(a, b, tolerance, tolerance, equal_nan=True):
                raise SystemExit(f"@{name}: result {i} is\n{a}\nexpected\n{np.asarray(b)}")

    np.seterr(all="ignore")
    for name, function in functions.items():
        if not (name in faults or name in expected or name in after or name.endswith("_vjp")):
            continue
        if only and name.removesuffix("_vjp") not in only:
            continue
        arguments = list(draw(function))
        fill(function)
        names = scope | {f"a{i}": a for i, a in enumerate(arguments)} | {"v": dict(function.state.values)}
        if name in faults:
            try:
                function(*arguments)
            except Fault:
                checked += 1
                continue
            raise SystemExit(f"@{name}: no fault, expected one")
        if name in expected or name in after:
            results = function(*arguments)
            if name in expected:
                wanted = eval(expected.pop(name), names)
                compare(name, results, wanted if isinstance(wanted, tuple) else (wanted,), 1e-5)
            for variable, expression in after.pop(name, {}).items():
                compare(f"{name} @{variable}", [function.state.values[variable]], [eval(expression, names)], 1e-5)
            checked += 1
        elif name.endswith("_vjp"):
            forward = functions[name.removesuffix("_vjp")]
            count = len(forward.types)
            floats = [i for i in range(count) if arguments[i].dtype.kind == "f"]
            wanted = [central_differences(forward, arguments[:count], arguments[count:], i) for i in floats]
            compare(name, function(*arguments), wanted, 1e-6)
            checked += 1
    missing = expected.keys() | after.keys() | faults - functions.keys()
    if missing or not checked:
        raise SystemExit(f"checked {checked} functions; not found: {', '.join(sorted(missing)) or 'none'}")
    print(f"checked {checked} functions")


if __name__ == "__main__":
    main()
