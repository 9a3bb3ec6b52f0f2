# RUN: %python %s %t
"""Runs ONNX's own backend tests of operators in compiled programs.

Many tests share one model and one program: each test's nodes have a prefix, and read their inputs, whose first axes differ, through a
reshape of an input of one row. Tests that the compiler rejects are removed, by the node names in its messages; integers that must be known
at compile time become constants. Tests of training form use the training step, because outputs are computed in inference form. The script
prints rejected tests by reason. It fails if a value differs, if the compiler fails without naming a node, and if fewer tests pass than
MINIMUM.

Arguments after the folder select tests whose names start with one of them; then no minimum applies.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder
from safetensors import deserialize
from safetensors.numpy import save_file

MINIMUM = 1637
PER_PROGRAM = 60
TESTS = Path(onnx.__file__).parent / "backend/test/data/node"
# The expected values of these tests are random numbers of numpy.
RANDOM = ("test_training_dropout", "test_bernoulli")
NOT_RANDOM = ("test_training_dropout_zero_ratio",)
# The expected values of these tests are those of training form.
TRAINING = "_training_mode"
# The element types that a program reads and writes. Inputs of other types become constants.
TYPES = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16,
         TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.BOOL,
         TensorProto.INT64, TensorProto.INT32, TensorProto.INT16, TensorProto.INT8,
         TensorProto.UINT64, TensorProto.UINT32, TensorProto.UINT16, TensorProto.UINT8}
# Results of these types are stored in 8 bits.
PACKED = (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)
NARROW_FLOATS = {"BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2}
# The names of element types in safetensors files. They are listed because the reader of the package `safetensors` lacks 8-bit floats.
DTYPES = {"BOOL": np.bool_, **{f"F{n}": np.dtype(f"f{n // 8}") for n in (16, 32, 64)},
          **{f"{kind}{n}": np.dtype(f"{kind}{n // 8}".lower()) for kind in "IU" for n in (8, 16, 32, 64)}, **NARROW_FLOATS}
TOLERANCE = {np.dtype(np.float16): (1e-2, 1e-3), np.dtype(np.float32): (1e-3, 1e-5), np.dtype(np.float64): (1e-6, 1e-7)}


class Case:
    """One test. `stage` selects the inputs that are constants: none, then the integers, then all but the first, then all.

    A sequence is represented by its elements: those of an input become a sequence in the model, those of an output are extracted. An
    optional is represented by its element.
    """

    STAGES = 4

    def __init__(self, name: str, index: int):
        self.name, self.prefix, self.stage = name, f"t{index}/", 0
        self.model = onnx.load(TESTS / name / "model.onnx")
        self.sequences = {}  # the names of their elements
        self.elements = {}  # for optionals: the name of the element, or None
        self.inputs = self.read("input", self.model.graph.input)
        self.outputs = self.read("output", self.model.graph.output)

    def read(self, kind: str, values) -> list[tuple[str, TensorProto]]:
        """Returns the tensors by name."""
        found = []
        for i, value in enumerate(values):
            data = (TESTS / self.name / f"test_data_set_0/{kind}_{i}.pb").read_bytes()
            if value.type.HasField("sequence_type"):
                found += self.read_sequence(value.name, onnx.SequenceProto.FromString(data))
            elif value.type.HasField("optional_type"):
                found += self.read_optional(value.name, onnx.OptionalProto.FromString(data))
            else:
                found.append((value.name, TensorProto.FromString(data)))
        return found

    def read_sequence(self, name: str, sequence: onnx.SequenceProto) -> list[tuple[str, TensorProto]]:
        self.sequences[name] = [f"{name}/{k}" for k in range(len(sequence.tensor_values))]
        return [*zip(self.sequences[name], sequence.tensor_values)]

    def read_optional(self, name: str, optional: onnx.OptionalProto) -> list[tuple[str, TensorProto]]:
        self.elements[name] = element = None if optional.elem_type == onnx.OptionalProto.UNDEFINED else f"{name}/element"
        if optional.elem_type == onnx.OptionalProto.TENSOR:
            return [(element, optional.tensor_value)]
        return self.read_sequence(element, optional.sequence_value) if element else []

    def opset(self) -> tuple:
        """Returns the imports, including ai.onnx for the nodes that all tests share."""
        imports = {"": onnx.defs.onnx_opset_version()} | {entry.domain: entry.version for entry in self.model.opset_import}
        return tuple(sorted(imports.items()))

    def is_constant(self, i: int) -> bool:
        integers = {TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL}
        _, given = self.inputs[i]
        if given.data_type not in TYPES:
            return True
        if not given.dims or 0 in given.dims:  # a scalar has no axis for the batch, and an empty input no elements
            return self.stage > 0
        return self.stage == 3 or i > 0 and (self.stage == 2 or self.stage == 1 and given.data_type in integers)

    def rename(self, name: str) -> str:
        return self.prefix + name if name else ""

    def rename_in(self, node: onnx.NodeProto):
        node.name = self.rename(node.name or next(filter(None, node.output)))
        node.input[:] = map(self.rename, node.input)
        node.output[:] = map(self.rename, node.output)
        for graph in (a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH):
            for value in [*graph.input, *graph.output, *graph.value_info, *graph.initializer]:
                value.name = self.rename(value.name)
            for inner in graph.node:
                self.rename_in(inner)

    def add_to(self, graph: onnx.GraphProto, data: dict):
        for i, (own, given) in enumerate(self.inputs):
            name = self.rename(own)
            if self.is_constant(i) or 0 in given.dims:
                node = helper.make_node("Constant", [], [name], value=given, name=name)
            else:
                array = numpy_helper.to_array(given)
                data[f"{name}:row"] = np.ascontiguousarray(array.reshape(1, -1))
                graph.input.append(helper.make_tensor_value_info(f"{name}:row", given.data_type, (1, array.size)))
                shape = numpy_helper.from_array(np.array(array.shape, np.int64))
                graph.node.append(helper.make_node("Constant", [], [f"{name}:shape"], value=shape))
                node = helper.make_node("Reshape", [f"{name}:row", f"{name}:shape"], [name])
            graph.node.append(node)
        for value in self.model.graph.input:
            own = self.elements.get(value.name) or value.name
            if own in self.sequences:
                elements = [*map(self.rename, self.sequences[own])]
                op = "SequenceConstruct" if elements else "SequenceEmpty"
                graph.node.append(helper.make_node(op, elements, [self.rename(own)]))
            if value.name in self.elements:
                element = [self.rename(own)] if self.elements[value.name] else []
                typed = {} if element else {"type": value.type.optional_type.elem_type}
                graph.node.append(helper.make_node("Optional", element, [self.rename(value.name)], **typed))
        for constant in self.model.graph.initializer:
            name = self.rename(constant.name)
            graph.node.append(helper.make_node("Constant", [], [name], value=constant, name=name))
        for node in self.model.graph.node:
            copy = graph.node.add()
            copy.CopyFrom(node)
            self.rename_in(copy)
        for value in self.model.graph.output:
            own = self.elements.get(value.name) or value.name
            if own != value.name:
                graph.node.append(helper.make_node("OptionalGetElement", [self.rename(value.name)], [self.rename(own)]))
            for k, element in enumerate(self.sequences.get(own, [])):
                position = numpy_helper.from_array(np.array(k, np.int64))
                name = self.rename(element)
                graph.node.append(helper.make_node("Constant", [], [f"{name}:position"], value=position))
                graph.node.append(helper.make_node("SequenceAt", [self.rename(own), f"{name}:position"], [name],
                                                   name=name))
        for name, expected in self.outputs:
            graph.output.append(helper.make_tensor_value_info(self.rename(name), expected.data_type, expected.dims))

    def differences(self, tensors: dict[str, np.ndarray]) -> list[str]:
        found = []
        for name, given in self.outputs:
            expected, actual = numpy_helper.to_array(given), tensors[self.rename(name)]
            if expected.dtype in PACKED:
                expected = expected.astype(np.int8 if expected.dtype.name.startswith("int") else np.uint8)
            if expected.shape[:1] != (1,):  # for an output without a batch axis, the file has a leading axis of batches
                actual = actual[0]
            if expected.shape != actual.shape or expected.dtype != actual.dtype:
                found.append(f"{name} is {actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}")
            elif expected.dtype in TOLERANCE:
                relative, absolute = TOLERANCE[expected.dtype]
                if not np.allclose(actual, expected, relative, absolute, equal_nan=True):
                    with np.errstate(all="ignore"):
                        found.append(f"{name} differs by {np.nanmax(np.abs(np.float64(actual) - expected))}")
            elif expected.dtype in NARROW_FLOATS.values():
                if not np.array_equal(np.float32(actual), np.float32(expected), equal_nan=True):
                    found.append(f"{name} differs: {actual.ravel()[:8]}, expected {expected.ravel()[:8]}")
            elif not np.array_equal(actual, expected):
                found.append(f"{name} differs: {actual.ravel()[:8]}, expected {expected.ravel()[:8]}")
        return found


def read_tensors(file: Path) -> dict[str, np.ndarray]:
    return {name: np.frombuffer(view["data"], DTYPES[view["dtype"]]).reshape(view["shape"])
            for name, view in deserialize(file.read_bytes())}


def read_cases(prefixes: list[str]) -> list[Case]:
    return [Case(name, index) for index, name in enumerate(sorted(folder.name for folder in TESTS.iterdir()))
            if name.startswith(tuple(prefixes)) and (name.startswith(NOT_RANDOM) or not name.startswith(RANDOM))]


def without_prefixes(message: str) -> str:
    """Returns a message without its locations, so that the messages of several tests are equal."""
    return re.sub(r"(.*?: (note|error): )|node '[^']*'( \(\w+\))?: |the output '[^']*' is omitted: ", "", message)


class Batch:
    """Tests of one opset, and the program that runs them."""

    def __init__(self, folder: Path, cases: list[Case]):
        self.folder, self.cases = folder, cases
        self.passed, self.refused, self.failures = 0, {}, []
        folder.mkdir()

    def write(self) -> dict:
        """Writes the model, with the tests and a loss of its own parameter. Returns the data."""
        weight = numpy_helper.from_array(np.ones((1, 1), np.float32), "w")
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["wx"]),
                                   helper.make_node("ReduceMean", ["wx"], ["loss"], keepdims=0)], "tests",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1))],
                                  [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())], [weight])
        data = {"x": np.ones((1, 1), np.float32)}
        for case in self.cases:
            case.add_to(graph, data)
        opsets = [helper.make_opsetid(*entry) for entry in self.cases[0].opset()]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), self.folder / "tests.onnx")
        save_file(data, self.folder / "data.safetensors")
        return data

    def command(self, *words) -> subprocess.CompletedProcess:
        words = [str(word) for word in words]
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=600)

    def leave_out(self, result: subprocess.CompletedProcess) -> bool:
        """Adds constants to the tests that an error names, or removes these tests; returns whether it names any. The loss does not depend
        on the tests' outputs, so that the compiler may omit outputs that it cannot compute."""
        errors = [line for line in result.stderr.splitlines() if "error:" in line or "is omitted:" in line]
        named = set(re.findall(r"\bt\d+/", "\n".join(errors)))
        concerned = [case for case in self.cases if case.prefix in named]
        for case in concerned:
            case.stage += 1
            if case.stage == Case.STAGES:
                self.cases.remove(case)
                reason = next(line for line in errors if re.search(rf"\b{case.prefix}", line))
                self.refused[case.name] = without_prefixes(reason)
        return bool(concerned)

    def compile(self) -> dict | None:
        """Removes tests that the compiler rejects until it accepts the remaining ones."""
        while self.cases:
            data = self.write()
            result = self.command(MTC, "compile", "tests.onnx", "--loss", "output", "--output", "loss", "-o", "program")
            if result.returncode not in (0, 1):
                return self.split(result)
            if self.leave_out(result):
                continue
            if opset := re.search(r"uses opset .*", result.stderr):  # The same for all tests of a program.
                self.refused |= {case.name: opset[0] for case in self.cases}
                return None
            if result.returncode == 0:
                return data
            if result.returncode == 1:
                return self.split(result)
        return None

    def split(self, result: subprocess.CompletedProcess) -> None:
        """Finds the test that causes a failure without a name, by bisection."""
        if len(self.cases) == 1:
            text = result.stderr[-600:] or result.stdout[-600:]
            self.failures.append(f"{self.cases[0].name}: {result.args[0]}: exit code {result.returncode}: {text}")
        else:
            for half, name in ((self.cases[::2], "a"), (self.cases[1::2], "b")):
                part = Batch(self.folder / name, half)
                part.run()
                self.passed += part.passed
                self.failures += part.failures
                self.refused |= part.refused
        self.cases = []

    def run(self):
        while data := self.compile():
            flags = [word for name in data for word in ("--data", f"{name}=data.safetensors:{name}")]
            result = self.command("./program", *flags, "--outputs", "outputs.safetensors")
            if result.returncode == 0:
                self.compare()
                return
            # Exit code 2: this machine's libraries lack support, as for contractions in f16 on older processors.
            if result.returncode != 2 or not self.leave_out(result):
                self.split(result)

    def compare(self):
        tensors = read_tensors(self.folder / "outputs.safetensors")
        for case in self.cases:
            differences = case.differences(tensors)
            self.passed += not differences
            self.failures += [f"{case.name}: {text}" for text in differences]


def training_failures(case: Case, folder: Path) -> list[str]:
    """Returns the errors of a training step, whose loss is 1 plus the sum of the largest errors of the results."""
    weight = numpy_helper.from_array(np.ones((1, 1), np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["wx"])], "test",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1))], [], [weight])
    data = {"x": np.ones((1, 1), np.float32)}
    case.add_to(graph, data)
    terms = ["wx"]
    for value, (_, expected) in zip(list(graph.output), case.outputs):
        terms.append(f"{value.name}:largest")
        graph.node.extend([helper.make_node("Constant", [], [f"{value.name}:expected"], value=expected),
                           helper.make_node("Sub", [value.name, f"{value.name}:expected"], [f"{value.name}:error"]),
                           helper.make_node("Abs", [f"{value.name}:error"], [f"{value.name}:absolute"]),
                           helper.make_node("ReduceMax", [f"{value.name}:absolute"], [terms[-1]], keepdims=0)])
    graph.node.extend([helper.make_node("Sum", terms, ["sum"]), helper.make_node("ReduceMean", ["sum"], ["loss"], keepdims=0)])
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("loss", TensorProto.FLOAT, ()))
    folder.mkdir()
    opsets = [helper.make_opsetid(*entry) for entry in case.opset()]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "test.onnx")
    save_file(data, folder / "data.safetensors")
    flags = [word for name in data for word in ("--data", f"{name}=data.safetensors:{name}")]
    for command in ([MTC, "compile", "test.onnx", "--train", "w", "--loss", "output", "-o", "program"],
                    ["./program", *flags, "--steps", "1", "--metrics", "metrics.jsonl"]):  # fmt: skip
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        if result.returncode != 0:
            return [f"{case.name}: {command[0]} ends with {result.returncode}: {result.stderr[-600:]}"]
    loss = json.loads((folder / "metrics.jsonl").read_text())["loss"]
    return [] if abs(loss - 1) < 1e-3 else [f"{case.name}: results of a training step differ by {loss - 1}"]


def main():
    folder, prefixes = own_folder(), sys.argv[2:]
    by_opset = defaultdict(list)
    passed, refused, failures = 0, {}, []
    for case in read_cases(prefixes or ["test_"]):
        if not case.name.endswith(TRAINING):
            by_opset[case.opset()].append(case)
            continue
        found = training_failures(case, folder / case.name)
        passed += not found
        failures += found
    for number, cases in enumerate(by_opset.values()):
        for start in range(0, len(cases), PER_PROGRAM):
            batch = Batch(folder / f"{number}-{start}", cases[start:start + PER_PROGRAM])
            batch.run()
            passed += batch.passed
            refused |= batch.refused
            failures += batch.failures
    print(*failures, sep="\n")
    by_reason = defaultdict(list)
    for name, reason in sorted(refused.items()):
        by_reason[reason].append(name)
    for reason, names in sorted(by_reason.items(), key=lambda entry: -len(entry[1])):
        print(f"{len(names)} rejected: {reason}\n  {' '.join(names)}")
    print(f"{passed} tests passed, {len(failures)} failed, {len(refused)} rejected by the compiler")
    sys.exit(bool(failures) or not prefixes and passed < MINIMUM)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
