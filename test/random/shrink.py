"""Reduces a failing case as long as it fails in the same way.

Each reduction proposes smaller cases. The search continues with the first one that has the same kind of failure, until there is none or
time is up. Reductions may propose invalid cases: those that onnx's checker or the reference rejects are skipped.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import onnx
import reference
from case import Case
from comparison import RuleError, expect
from onnx import helper, numpy_helper
from program import Failure
from tape import Rejected, Tape


class Draft:
    """A model whose parts can be changed."""

    def __init__(self, case: Case):
        graph = case.model.graph
        self.case, self.nodes = case, list(graph.node)
        self.initializers = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        self.data, self.output, self.loss = dict(case.data), case.output, case.loss
        self.outputs = [o.name for o in graph.output if o.name != case.output]
        self.element = graph.output[0].type.tensor_type.elem_type
        self.float_type = helper.tensor_dtype_to_np_dtype(self.element)

    def finish(self) -> Case | None:
        """Returns the case without unused nodes, inputs and initializers, or None if it is invalid."""
        made = {name for node in self.nodes for name in node.output}
        outputs = [self.output, *(name for name in self.outputs if name in made)]
        needed, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= set(node.input) - {""}
        data = {name: a for name, a in self.data.items() if name in needed or name == "labels" and self.loss != "output"}
        inputs = {i.name: i for i in self.case.model.graph.input if i.name in data}
        for name, value in inputs.items():
            value = onnx.ValueInfoProto.FromString(value.SerializeToString())
            shape = (self.case.dims.get("batch") and "batch" or self.case.batch, *data[name].shape[1:])
            inputs[name] = helper.make_tensor_value_info(name, value.type.tensor_type.elem_type, shape)
        initializers = [numpy_helper.from_array(a, name) for name, a in self.initializers.items() if name in needed]
        old = {o.name: o.type.tensor_type.elem_type for o in self.case.model.graph.output}
        infos = [helper.make_tensor_value_info(name, old.get(name, self.element), None) for name in outputs]
        graph = helper.make_graph(nodes, "random", list(inputs.values()), infos, initializers)
        model = helper.make_model(graph, opset_imports=self.case.model.opset_import, ir_version=self.case.model.ir_version)
        case = replace(self.case, model=model, data=data, output=self.output, loss=self.loss)
        case.frozen = [name for name in case.frozen if name in needed]
        case.dims = case.dims if inputs else {}
        try:
            inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
            del model.graph.output[:]
            model.graph.output.extend(inferred.graph.output)
            loss = model.graph.output[0].type.tensor_type
            if self.loss == "output" and not loss.HasField("shape"):  # Shapes after operators of other domains are not inferred.
                loss.shape.SetInParent()
            onnx.checker.check_model(model, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            return None
        return case if case.trained() else None


def values_of(case: Case) -> dict[str, np.ndarray]:
    """Returns every value of the first step."""
    tape = Tape()
    inputs = {i.name: tape.constant(case.rows(0)[i.name]) for i in case.model.graph.input}
    with np.errstate(all="ignore"):
        return {name: value.data for name, value in reference.run(case, tape, inputs).items()}


def simpler_options(case: Case) -> Iterator[Case]:
    if case.skipped:
        yield replace(case, skipped=[])
        for name in case.skipped if len(case.skipped) > 1 else []:
            yield replace(case, skipped=[name])
    if case.frozen:
        yield replace(case, frozen=[])
    if case.optimizer != "sgd":
        yield replace(case, optimizer="sgd", numbers={"lr": case.numbers["lr"]})
    for name in case.numbers.keys() - {"lr"}:
        yield replace(case, numbers={n: v for n, v in case.numbers.items() if n != name})


def earlier_loss(case: Case) -> Iterator[Case]:
    """Replaces the loss by the sum of an earlier value, with weights and without."""
    values = values_of(case)
    for node in case.model.graph.node:
        for name in node.output:
            if name not in values or values[name].dtype.kind != "f" or node.op_type == "Constant" or name == case.output:
                continue
            for weighted in (True, False):
                draft = Draft(case)
                value = name
                if weighted:
                    weights = np.random.default_rng(0).uniform(0.5, 1.5, values[name].shape).astype(draft.float_type)
                    constant = numpy_helper.from_array(weights, "weights")
                    draft.nodes += [helper.make_node("Constant", [], ["weights"], value=constant),
                                    helper.make_node("Mul", [name, "weights"], ["weighted"])]  # fmt: skip
                    value = "weighted"
                draft.nodes.append(helper.make_node("ReduceSum", [value], ["sum"], keepdims=0))
                draft.output, draft.loss = "sum", "output"
                if any(n in ("sum", "weighted") for node in case.model.graph.node for n in node.output):
                    continue
                yield draft.finish()


def cut_values(case: Case) -> Iterator[Case]:
    """Replaces a value or input by a parameter, or by a constant if it is not a float."""
    values = values_of(case)
    graph = case.model.graph
    names = [name for node in reversed(graph.node) if node.op_type != "Constant" for name in node.output]
    for name in names + [i.name for i in graph.input]:
        if name in values and name != case.output:
            draft = Draft(case)
            array = values[name]
            draft.initializers[name] = array.astype(draft.float_type) if array.dtype.kind == "f" else array
            draft.nodes = [node for node in draft.nodes if name not in node.output]
            draft.data.pop(name, None)
            yield draft.finish()


def bypassed_nodes(case: Case) -> Iterator[Case]:
    """Replaces a node by one of its operands of the same shape."""
    values = values_of(case)
    for at, node in enumerate(case.model.graph.node):
        for operand in node.input:
            if operand not in values or node.output[0] not in values:
                continue
            one, other = values[operand], values[node.output[0]]
            if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
                continue
            draft = Draft(case)
            for i in range(at + 1, len(draft.nodes)):
                copy = onnx.NodeProto.FromString(draft.nodes[i].SerializeToString())
                copy.input[:] = [operand if name == node.output[0] else name for name in copy.input]
                draft.nodes[i] = copy
            draft.output = operand if draft.output == node.output[0] else draft.output
            yield draft.finish()


def fewer_outputs(case: Case) -> Iterator[Case]:
    for name in [o.name for o in case.model.graph.output if o.name != case.output]:
        draft = Draft(case)
        draft.outputs.remove(name)
        yield draft.finish()


def fewer_parameters(case: Case) -> Iterator[Case]:
    """Replaces a parameter by a constant."""
    for name, array in case.trained().items():
        draft = Draft(case)
        del draft.initializers[name]
        draft.nodes.insert(0, helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array, name)))
        yield draft.finish()


def smaller_extents(case: Case) -> Iterator[Case]:
    """Reduces one extent in all axes and integer constants."""
    graph = case.model.graph
    arrays = [numpy_helper.to_array(i) for i in graph.initializer]
    extents = {n for a in [*arrays, *case.data.values()] for n in a.shape if n > 1}
    for extent in sorted(extents, reverse=True):
        for smaller in sorted({1, 2, 3, extent // 2, extent - 1}):
            if smaller < extent:
                yield resized(case, extent, smaller)


def resized(case: Case, extent: int, smaller: int) -> Case | None:
    def cut(array: np.ndarray, first: int = 0) -> np.ndarray:
        if array.dtype.kind == "i" and array.ndim <= 1:
            return np.where(array == extent, smaller, array).astype(array.dtype)
        places = tuple(slice(smaller) if n == extent and i >= first else slice(None) for i, n in enumerate(array.shape))
        array = array[places]
        return np.minimum(array, smaller - 1) if array.dtype.kind == "i" else np.ascontiguousarray(array)

    draft = Draft(case)
    draft.initializers = {name: cut(array) for name, array in draft.initializers.items()}
    if case.batch == extent:
        draft.data = {name: a[: len(a) // extent * smaller] for name, a in draft.data.items()}
        draft.case = replace(case, batch=smaller, dims={"batch": smaller} if case.dims else {})
    draft.data = {name: cut(array, 1) for name, array in draft.data.items()}
    for i, node in enumerate(draft.nodes):
        if node.op_type == "Constant":
            array = cut(numpy_helper.to_array(node.attribute[0].t))
            draft.nodes[i] = helper.make_node("Constant", [], list(node.output), value=numpy_helper.from_array(array))
    return draft.finish()


REDUCTIONS = [simpler_options, fewer_outputs, earlier_loss, cut_values, bypassed_nodes, fewer_parameters, smaller_extents]


def same_kind(case: Case, kind: str, check: Callable) -> bool:
    """Returns whether the case is valid and fails in this way."""
    try:
        expectation = expect(case) if not kind.startswith("compile") else None
        return any(failure.kind == kind for failure in check(case, expectation))
    except (Rejected, RuleError, ValueError, IndexError, KeyError, TypeError, AssertionError):
        return False


def size(case: Case) -> tuple:
    graph = case.model.graph
    elements = sum(numpy_helper.to_array(i).size for i in graph.initializer) + sum(a.size for a in case.data.values())
    return len(graph.node), len(graph.output), len(case.trained()), elements


def shrink(case: Case, failure: Failure, check: Callable, seconds: float) -> Case:
    """Returns the reduced case. `check(case, expectation)` returns the failures of a case."""
    end = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for reduction in REDUCTIONS:
            for smaller in candidates(reduction, case):
                if time.monotonic() > end:
                    return case
                if smaller is not None and same_kind(smaller, failure.kind, check):
                    case, progress = smaller, True
                    break
            if progress:
                break
    return case


def candidates(reduction, case: Case) -> Iterator[Case]:
    try:
        for smaller in reduction(case):
            if smaller is not None and (reduction is simpler_options or size(smaller) < size(case)):
                yield smaller
    except (Rejected, ValueError, IndexError, KeyError, TypeError):
        return
