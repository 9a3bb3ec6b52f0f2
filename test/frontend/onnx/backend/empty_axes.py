# RUN: %python %s %t 1 24
"""Tests axes of extent 0 in ONNX's node tests: each axis of each input in turn, and all axes of one extent together.

A variant of a test compiles, with its gradient, or is rejected with messages that name its node. Results equal those of onnx's reference
evaluator, and gradients are computed without an error. Variants that the evaluator rejects must compile or be rejected too. The arguments
are the part of the tests to run, from 1, and the number of parts.
"""

import os
import re
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_backend import RANDOM, TESTS, TRAINING, TYPES, Batch, Case
from program import MTC, own_folder
from safetensors.numpy import save_file

MOST_ELEMENTS = 5_000
PER_PROGRAM = 40
MINIMUM = {"passed": 40, "refused by both": 20}
INTERNAL = re.compile(r"'\w+\.[\w.]+' op |current operation")


class Variant(Case):
    """A test with changed inputs. Floating-point inputs are sums of constants and a parameter of value 0."""

    def __init__(self, name: str, index: int, change: str, arrays: list[np.ndarray]):
        super().__init__(name, index)
        self.hasReference = False
        self.name = f"{name}, {change}"
        self.inputs = [(own, numpy_helper.from_array(array, own)) for (own, _), array in zip(self.inputs, arrays)]

    def is_constant(self, i: int) -> bool:
        return True

    def expect(self) -> bool:
        """Stores the results of the reference evaluator. Returns whether any of them has a type that a program writes."""
        feeds = {own: numpy_helper.to_array(given) for own, given in self.inputs}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results = ReferenceEvaluator(self.model).run(None, feeds)
                if any(node.op_type == "Attention" for node in self.model.graph.node):
                    results = list(map(np.nan_to_num, results))  # As in PyTorch, a row without keys gives 0.
                self.outputs = [(own, numpy_helper.from_array(np.asarray(result), own))
                                for (own, _), result in zip(self.outputs, results)]  # fmt: skip
                self.hasReference = all(value.data_type in TYPES for _, value in self.outputs)
            except Exception:
                pass
        return self.hasReference

    def differences(self, tensors: dict[str, np.ndarray]) -> list[str]:
        return super().differences(tensors) if self.hasReference else []

    def add_to(self, graph: onnx.GraphProto, data: dict):
        before = len(graph.node)
        super().add_to(graph, data)
        floats = {self.rename(own) for own, given in self.inputs if given.data_type == TensorProto.FLOAT}
        sums = []
        for node in graph.node[before:]:
            if node.op_type == "Constant" and node.output[0] in floats:
                own, node.output[0], node.name = node.output[0], f"{node.output[0]}:elements", ""
                sums.append(helper.make_node("Add", [node.output[0], "zero"], [own], name=f"{own}:sum"))
        nodes = [*graph.node[before:]]
        del graph.node[before:]
        graph.node.extend([*nodes[: len(self.inputs)], *sums, *nodes[len(self.inputs) :]])
        if not self.hasReference:  # The test's own outputs have other shapes.
            for value in graph.output[len(graph.output) - len(self.outputs) :]:
                value.type.tensor_type.ClearField("shape")


class Variants(Batch):
    """Variants of one opset, whose floating-point results are added to the loss."""

    def write(self) -> dict:
        data = {"x": np.ones((1, 1), np.float32)}
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["wx"])], "variants",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1))], [],
            [numpy_helper.from_array(np.ones((1, 1), np.float32), "w"), numpy_helper.from_array(np.float32(0), "zero")])  # fmt: skip
        terms = ["wx"]
        for case in self.cases:
            case.add_to(graph, data)
            for own, given in case.outputs:
                if given.data_type == TensorProto.FLOAT:
                    terms.append(f"{case.rename(own)}:total")
                    graph.node.append(helper.make_node("ReduceSum", [case.rename(own)], [terms[-1]], keepdims=0,
                                                       name=terms[-1]))  # fmt: skip
        graph.node.append(helper.make_node("Sum", terms, ["terms"]))
        graph.node.append(helper.make_node("ReduceSum", ["terms"], ["loss"], keepdims=0))
        graph.output.append(helper.make_tensor_value_info("loss", TensorProto.FLOAT, ()))
        opsets = [helper.make_opsetid(*entry) for entry in self.cases[0].opset()]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), self.folder / "tests.onnx")
        save_file(data, self.folder / "data.safetensors")
        return data

    def command(self, *words) -> subprocess.CompletedProcess:
        if words[0] == MTC:
            words = (*words, "--train", "zero", "--train", "w", "--tune", "off", "--force")
        result = super().command(*words)
        if words[0] == MTC and INTERNAL.search(result.stderr):
            self.failures.append(f"a message about an internal operation: {result.stderr[-600:]}")
        if words[0] == "./program" and result.returncode == 0:
            trained = super().command(*[word for word in words if word not in ("--outputs", "outputs.safetensors")],
                                      "--gradients", "gradients.safetensors", "--force")  # fmt: skip
            if trained.returncode != 0:
                self.failures.append(f"{self.folder}: --gradients: exit code {trained.returncode}: {trained.stderr[-300:]}")
        return result


def changes(arrays: list[np.ndarray]) -> dict[tuple, str]:
    """Returns shapes of the inputs with axes of extent 0, and a description of the change."""
    found = {}

    def add(what: str, is_emptied):
        shapes = tuple(tuple(0 if is_emptied(k, axis, extent) else extent for axis, extent in enumerate(array.shape))
                       for k, array in enumerate(arrays))  # fmt: skip
        if any(0 in shape for shape in shapes):
            found.setdefault(shapes, what)

    for extent in sorted({extent for array in arrays for extent in array.shape if extent}):
        add(f"each extent {extent} is 0", lambda k, axis, other, extent=extent: other == extent)
    for k, array in enumerate(arrays):
        for axis in range(array.ndim):
            add(f"axis {axis} of input {k} is 0", lambda other, own, _, k=k, axis=axis: (other, own) == (k, axis))
    return found


def read_variants(part: int, parts: int) -> list[Variant]:
    variants = []
    names = sorted(folder.name for folder in TESTS.iterdir() if not folder.name.startswith(RANDOM))
    for name in [name for name in names if not name.endswith(TRAINING)][part - 1 :: parts]:
        case = Case(name, 0)
        values = [*case.model.graph.input, *case.model.graph.output]
        arrays = [numpy_helper.to_array(given) for _, given in case.inputs]
        if all(value.type.HasField("tensor_type") for value in values) and sum(a.size for a in arrays) <= MOST_ELEMENTS:
            for shapes, what in changes(arrays).items():
                resized = [np.resize(array, shape) if 0 not in shape else np.zeros(shape, array.dtype)
                           for array, shape in zip(arrays, shapes)]  # fmt: skip
                variants.append(Variant(name, len(variants), what, resized))
    return variants


def main():
    folder, part, parts = own_folder(), int(sys.argv[2]), int(sys.argv[3])
    counts, failures, by_opset = Counter(), [], defaultdict(list)
    for variant in read_variants(part, parts):
        by_opset[variant.opset(), variant.expect()].append(variant)
    for number, ((_, isValid), variants) in enumerate(by_opset.items()):
        for start in range(0, len(variants), PER_PROGRAM):
            batch = Variants(folder / f"{number}-{start}", variants[start : start + PER_PROGRAM])
            batch.run()
            counts["passed" if isValid else "compiled, without a reference"] += batch.passed
            counts["refused by mtc" if isValid else "refused by both"] += len(batch.refused)
            failures += batch.failures
            if isValid:
                print(*(f"refused: {name}: {reason}" for name, reason in batch.refused.items()), sep="\n")
    print(dict(counts), *failures, sep="\n")
    assert all(counts[key] >= least for key, least in MINIMUM.items()), counts
    sys.exit(bool(failures))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
