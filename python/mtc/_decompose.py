"""Decomposes the operators of a traced program that ONNX lacks, node by node.

PyTorch's exporter traces the whole program a second time to decompose it, which takes about as long as the first trace. This module traces
only the nodes that have a decomposition, once for each combination of operator and shapes, and copies the others. Regions without gradients,
such as the rotary embeddings of transformers, are inlined. Programs with other subgraphs, sizes that depend on data, or updates of tensors that share
memory are left to PyTorch.
"""

from __future__ import annotations

import copy
import functools
import operator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx
from torch._dispatch.python import enable_python_dispatcher
from torch.export import ExportedProgram, exported_program
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.onnx._internal.exporter import _decomp
from torch.utils import _pytree as pytree

aten = torch.ops.aten
REGION = torch.ops.higher_order.wrap_with_set_grad_enabled
ASSERTIONS = (
    aten.sym_constrain_range_for_size.default,
    aten._assert_async.default,
    aten._assert_async.msg,
    aten._assert_scalar.default,
    aten._assert_tensor_metadata.default,
)
# Operators that update running statistics although their schemas do not declare it.
UPDATING = ("instance_norm", "native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm")
# Composite operators whose results are new tensors.
NEW = (aten.batch_norm.default, aten.conv1d.default, aten.conv2d.default, aten.conv3d.default, aten.linear.default, aten.max_pool2d.default,
       aten.layer_norm.default, aten.group_norm.default, aten.matmul.default)  # fmt: skip


def decomposed(program: ExportedProgram, registry: Any) -> ExportedProgram | None:
    """Returns a program whose operators have a translation in a registry; None if it must be traced as a whole.

    As in PyTorch's exporter, the program contains no checks and no updates of buffers; it computes the same values otherwise.
    """
    try:
        result = _Decomposition(program, _tables(registry)).run()
    except _Unsupported:
        return None
    targets = {node.target for node in result.graph.nodes if isinstance(node.target, torch._ops.OpOverload)}
    return result if all(map(registry.get_decomps, targets)) else None


class _Unsupported(Exception):
    """The program must be traced as a whole."""


@dataclass(frozen=True)
class _Tables:
    """Decompositions of operators.

    Attributes:
        composite: The implementations of composite operators; NotImplemented for those that are kept.
        kept: The composite operators that are kept.
        other: The decompositions of other operators.
    """

    composite: dict[Any, Any]
    kept: frozenset[Any]
    other: dict[Any, Any]


@functools.lru_cache(maxsize=4)
def _tables(registry: Any) -> _Tables:
    table = _decomp.create_onnx_friendly_decomposition_table(set(_decomp.get_onnx_implemented_overloads(registry)))
    composite, other = exported_program._split_decomp_table_to_cia_and_python_decomp(dict(table))
    return _Tables(composite, frozenset(set(composite) - set(table)), other)


class _Decomposition:
    def __init__(self, program: ExportedProgram, tables: _Tables) -> None:
        self.program = program
        self.tables = tables
        self.graph = fx.Graph()
        self.values: dict[fx.Node, Any] = {}  # by node of the program, after updates so far
        self.aliases: dict[fx.Node, fx.Node] = {}  # results of updates in place, by node: the updated tensor's node
        self.sizes: dict[str, fx.Node] = {}  # nodes of symbolic sizes by expression
        self.traced: dict[Any, fx.GraphModule] = {}
        self.shared = self._shared()

    def _shared(self) -> set[fx.Node]:
        """Returns the placeholders of tensors that share memory."""
        placeholders = {node.name: node for node in self.program.graph.find_nodes(op="placeholder")}
        users: dict[int, list[fx.Node]] = {}
        for spec in self.program.graph_signature.input_specs:
            tensor = self.program.state_dict.get(spec.target, self.program.constants.get(spec.target))
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                memory = storage._cdata if tensor.is_meta else storage.data_ptr()
                users.setdefault(memory, []).append(placeholders[spec.arg.name])
        return {node for nodes in users.values() for node in nodes if len(nodes) > 1}

    def run(self) -> ExportedProgram:
        nodes = [*self.program.graph.nodes]
        self._check(nodes)
        with ExitStack() as stack:
            if mode := torch._guards.detect_fake_mode([node.meta.get("val") for node in nodes]):
                stack.enter_context(mode)
            stack.enter_context(exported_program._override_composite_implicit_decomp(self.tables.composite))
            stack.enter_context(enable_python_dispatcher())
            stack.enter_context(torch.no_grad())
            for node in nodes:
                if node.op != "get_attr" and node.target not in ASSERTIONS:
                    self.values[node] = self._value(node)
        self.graph.eliminate_dead_code()
        return self._program()

    def _check(self, nodes: list[fx.Node], is_region: bool = False) -> None:
        """Raises _Unsupported for programs that this module does not decompose."""
        for node in nodes:
            if node.target is REGION:
                self._check([*self._body(node).nodes], is_region=True)
                continue
            if node.op == "get_attr" and all(user.target is REGION for user in node.users):
                continue
            if node.op not in ("placeholder", "call_function", "output"):
                raise _Unsupported
            if is_region and isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
                raise _Unsupported
            if node.op == "call_function" and not isinstance(node.target, torch._ops.OpOverload) and not _is_python(node.target):
                raise _Unsupported
            if node.op == "call_function" and node.target.__name__.partition(".")[0] in UPDATING:
                raise _Unsupported
            for value in pytree.tree_leaves(node.meta.get("val")):
                if isinstance(value, Tensor | torch.SymInt | torch.SymFloat | torch.SymBool) and free_unbacked_symbols(value):
                    raise _Unsupported

    def _body(self, node: fx.Node) -> fx.Graph:
        """Returns the graph of a region without gradients."""
        return getattr(node.graph.owning_module, node.args[1].target).graph

    def _region(self, node: fx.Node) -> Any:
        """Returns the results of a region without gradients. Operators of the module ``_stops`` mark where gradients stop."""
        arguments = iter(node.args[2:])
        for inner in self._body(node).nodes:
            if inner.op == "placeholder":
                self.values[inner] = self._current(next(arguments))
            elif inner.op == "output":
                return fx.map_arg(inner.args[0], self._current)
            elif inner.op != "get_attr" and inner.target not in ASSERTIONS:
                self.values[inner] = self._value(inner)
        raise _Unsupported

    def _value(self, node: fx.Node) -> Any:
        """Returns the node, or the nodes, that compute a node of the program."""
        if node.target is REGION:
            return self._region(node)
        if node.target is operator.getitem and isinstance(source := self._current(node.args[0]), tuple | list):
            return source[node.args[1]]
        if not isinstance(node.target, torch._ops.OpOverload):
            return self._copied(node)
        if node.target is aten.batch_norm.default and (len(node.args) < 8 or node.args[5]):
            return self._batch_norm(node)
        if node.target._schema.is_mutable:
            return self._updated(node)
        return self._computed(node.target, node)

    def _current(self, value: Any) -> Any:
        """Returns the value of an argument, with its updates."""
        return self.values[self.aliases.get(value, value)] if isinstance(value, fx.Node) else value

    def _copied(self, node: fx.Node) -> fx.Node:
        copied = self.graph.node_copy(node, self._current)
        if node.op == "placeholder":  # The graph renames what has the name of a Python function, such as "input".
            copied.name, copied.target = node.name, node.target
        if node.target is aten.sym_size.int:
            return self.sizes.setdefault(str(node.meta["val"]), copied)
        return copied

    def _computed(self, target: Any, node: fx.Node) -> Any:
        """Returns the result of a functional operator with a node's arguments."""
        is_composite = target._can_decompose() and target not in self.tables.kept and target is not aten.sym_size.int
        if is_composite or target in self.tables.other:
            return self._inlined(target, *fx.map_arg((node.args, node.kwargs), self._current), node)
        if target is node.target:
            return self._copied(node)
        return self._created(target, *fx.map_arg((node.args, node.kwargs), self._current), node)

    def _created(self, target: Any, args: tuple, kwargs: dict, source: fx.Node, value: Any = None) -> fx.Node:
        created = self.graph.call_function(target, args, kwargs)
        created.meta = {**source.meta, "val": source.meta["val"] if value is None else value}
        return created

    def _inlined(self, target: Any, args: tuple, kwargs: dict, source: fx.Node) -> Any:
        """Returns the result of an operator's decomposition."""
        leaves, structure = pytree.tree_flatten((args, kwargs))
        given = [leaf for leaf in leaves if isinstance(leaf, fx.Node)]
        values = [node.meta["val"] for node in given]
        key = target, structure, tuple(map(_described, leaves))
        if key not in self.traced:

            def function(*values: Any) -> Any:
                remaining = iter(values)
                filled = [next(remaining) if isinstance(leaf, fx.Node) else leaf for leaf in leaves]
                args, kwargs = pytree.tree_unflatten(filled, structure)
                return target(*args, **kwargs)

            self.traced[key] = make_fx(function, decomposition_table=self.tables.other)(*values)
        inner = self.traced[key]
        found: dict[fx.Node, Any] = {}
        placeholders = iter(given)
        for node in inner.graph.nodes:
            if node.op == "placeholder":
                found[node] = next(placeholders)
            elif node.op == "output":
                return fx.map_arg(node.args[0], found.__getitem__)
            elif node.op != "call_function":
                raise _Unsupported
            elif node.target is aten.sym_size.int and (known := self._size(node)):
                found[node] = known
            elif node.target not in ASSERTIONS:
                if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
                    raise _Unsupported
                found[node] = self.graph.node_copy(node, found.__getitem__)
                found[node].meta = {**source.meta, "val": node.meta["val"]}
                if node.target is aten.sym_size.int:
                    self.sizes[str(node.meta["val"])] = found[node]
        raise _Unsupported

    def _size(self, node: fx.Node) -> fx.Node | None:
        """Returns a node of a symbolic size: an existing one, or the size of an input of the program."""
        expression = str(node.meta["val"])
        for source in self.program.graph.find_nodes(op="placeholder") if expression not in self.sizes else ():
            shape = source.meta["val"].shape if isinstance(source.meta.get("val"), Tensor) else ()
            axis = next((axis for axis, size in enumerate(shape) if str(size) == expression), None)
            if axis is not None:
                self.sizes[expression] = self.graph.call_function(aten.sym_size.int, (self.values[source], axis))
                self.sizes[expression].meta = dict(node.meta)
                break
        return self.sizes.get(expression)

    def _batch_norm(self, node: fx.Node) -> fx.Node:
        """Returns the result of a batch norm in training mode, whose running statistics are results too."""
        if len(node.args) < 8:
            raise _Unsupported
        x, weight, bias, mean, variance, _, momentum, eps, *_ = fx.map_arg(node.args, self._current)
        if mean is None or variance is None:
            raise _Unsupported
        values = (node.meta["val"], *(2 * [mean.meta["val"], variance.meta["val"]]))
        target, args = aten._native_batch_norm_legit_functional.default, (x, weight, bias, mean, variance, True, momentum, eps)
        result = self._created(target, args, {}, node, values)
        parts = [self._created(operator.getitem, (result, index), {}, node, value) for index, value in enumerate(values)]
        self._update(node.args[3], parts[3])
        self._update(node.args[4], parts[4])
        return parts[0]

    def _updated(self, node: fx.Node) -> Any:
        """Returns the result of an operator that updates its first argument in place."""
        target = self.aliases.get(node.args[0], node.args[0])
        functional = _functional(node.target)
        if functional is None or not isinstance(target, fx.Node):
            raise _Unsupported
        value = self._computed(functional, node)
        if not isinstance(value, fx.Node) or not _is_like(value.meta["val"], target.meta["val"]):
            raise _Unsupported  # The functional operator promotes types, or broadcasts.
        self._update(target, value)
        self.aliases[node] = target
        return value

    def _update(self, target: fx.Node, value: fx.Node) -> None:
        """Makes later uses of a tensor use another value. No other tensor may share its memory."""
        target = self.aliases.get(target, target)
        if target in self.shared if target.op == "placeholder" else not _owns_memory(target):
            raise _Unsupported
        names = {target, *(node for node, other in self.aliases.items() if other is target)}
        if any(_shares_memory(user) for name in names for user in name.users if user in self.values):
            raise _Unsupported
        self.values[target] = value

    def _program(self) -> ExportedProgram:
        program = copy.copy(self.program)
        module = fx.GraphModule(self.program.graph_module, self.graph)
        module.meta = dict(self.program.graph_module.meta)
        program._graph_module = module
        signature = copy.deepcopy(self.program.graph_signature)
        (results,) = (node.args[0] for node in self.graph.nodes if node.op == "output")
        for spec, value in zip(signature.output_specs, results, strict=True):
            if isinstance(value, fx.Node):
                spec.arg.name = value.name
        program._graph_signature = signature
        return program


def _is_python(target: Any) -> bool:
    """Returns whether a node is a Python function of sizes."""
    return target is operator.getitem or getattr(target, "__module__", "") in ("_operator", "math", "torch")


def _functional(target: Any) -> Any:
    """Returns the functional variant of an operator that only updates its first argument."""
    schema = target._schema
    written = [argument.name for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write]
    packet = getattr(aten, target._opname.removesuffix("_"), None) if target.namespace == "aten" and target._opname.endswith("_") else None
    if packet is None or written != [schema.arguments[0].name] or target._overloadname not in packet.overloads():
        return None
    functional = getattr(packet, target._overloadname)
    return functional if [a.name for a in functional._schema.arguments] == [a.name for a in schema.arguments] else None


def _owns_memory(node: fx.Node) -> bool:
    """Returns whether the result of a node is a new tensor."""
    if not isinstance(node.target, torch._ops.OpOverload) or not isinstance(node.meta["val"], Tensor):
        return False
    return not _shares_memory(node)


def _shares_memory(node: fx.Node) -> bool:
    """Returns whether the result of a node may be another view of an operand."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return node.op == "call_function"
    if node.target._schema.is_mutable:  # The result is the updated operand.
        return False
    is_composite = node.target._can_decompose() and node.target not in NEW
    return is_composite or any(value.alias_info is not None for value in node.target._schema.returns)


def _described(leaf: Any) -> tuple:
    """Returns the properties of an argument on which a decomposition may depend."""
    value = leaf.meta["val"] if isinstance(leaf, fx.Node) else leaf
    if isinstance(value, Tensor):
        stride = str(value.stride()) if value.layout == torch.strided else None
        return value.dtype, str(value.shape), stride, value.device, value.requires_grad
    return isinstance(leaf, fx.Node), type(value), str(value)


def _is_like(value: Any, other: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == other.dtype and str(value.shape) == str(other.shape)
