"""Calls of PyTorch's two exporters that avoid folding, merging and dropping of tensors."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import onnx
import onnx_ir
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from mtc import _trace, _translations, _weightless
from mtc.errors import ExportError, ExportWarning

PREFIX = "module."  # prefix of the tensor names of a wrapped module
PREFIXES = ("", PREFIX, 2 * PREFIX)  # prefix of the tensor names of programs, which may be wrapped twice


@dataclass(frozen=True)
class Call:
    """Example arguments of a module, and their dynamic axes.

    Attributes:
        arguments: The arguments by name, as ``inspect.signature(forward).bind`` returns them.
        args: The positional arguments.
        kwargs: The keyword arguments.
        axes: The names of the dynamic axes of each tensor, in the order of :meth:`tensors`.
        rows: The size of the dynamic batch; None if it is fixed.
    """

    arguments: dict[str, Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    axes: tuple[dict[int, str], ...]
    rows: int | None = None

    def tensors(self) -> list[Tensor]:
        """Returns the tensors among the arguments, in the order of the graph's inputs."""
        return [leaf for leaf in pytree.tree_leaves(self.arguments) if isinstance(leaf, Tensor)]

    def names(self) -> list[str]:
        """Returns a name for each tensor: the argument's, with its position if the argument holds several."""
        named = []
        for name, value in self.arguments.items():
            found = [path for path, leaf in _leaves(value, ()) if isinstance(leaf, Tensor)]
            named += ["_".join((name, *path)) for path in found]
        return named

    def shapes(self) -> Any:
        """Returns the dynamic axes in the structure of the arguments."""
        axes = iter(self.axes)
        return pytree.tree_map(lambda leaf: dict(next(axes)) if isinstance(leaf, Tensor) else None, self.arguments)

    def rolled(self) -> Call:
        """Returns the call with the samples of the dynamic batch in another order."""
        pairs = zip(self.tensors(), self.axes, strict=True)
        rolled = {id(tensor): tensor.roll(1, 0) for tensor, axes in pairs if axes.get(0) == "batch"}
        parts = self.arguments, self.args, self.kwargs
        arguments, args, kwargs = pytree.tree_map(lambda leaf: rolled.get(id(leaf), leaf), parts)
        return replace(self, arguments=arguments, args=args, kwargs=kwargs)

    def cloned(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns copies of the arguments, since a forward pass may modify them in place."""
        copy = lambda leaf: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf  # noqa: E731
        return pytree.tree_map(copy, self.args), pytree.tree_map(copy, self.kwargs)


def bind(module: nn.Module, example_inputs: Any, axes: Mapping[str, Mapping[int, str]], batch: bool) -> Call:
    """Binds example inputs to the parameters of a module's ``forward``.

    Args:
        module: The module.
        example_inputs: A tensor, a sequence of positional arguments, or a mapping of keyword arguments.
        axes: Names of additional dynamic axes by argument.
        batch: Whether the batch axis is dynamic: the first axis of each tensor that has the size of the first tensor's.

    Raises:
        ExportError: If the arguments do not match ``forward``, or ``axes`` contains an unknown name.
    """
    if isinstance(example_inputs, Mapping):
        args, kwargs = (), dict(example_inputs)
    else:
        args = (example_inputs,) if isinstance(example_inputs, Tensor) else tuple(example_inputs)
        kwargs = {}
    try:
        arguments = dict(inspect.signature(module.forward).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise ExportError(f"example_inputs do not match forward of {type(module).__name__}: {error}") from None
    call = Call(arguments, args, kwargs, ())
    tensors = call.tensors()
    if not tensors:
        raise ExportError("example_inputs: expected at least one tensor, got none")
    names = call.names()
    if unknown := [name for name in axes if name not in names]:
        raise ExportError(f"dynamic_axes: no input is named '{unknown[0]}'; the inputs are: {', '.join(names)}")
    rows = next((tensor.shape[0] for tensor in tensors if tensor.ndim), None)
    if batch and rows == 0:
        raise ExportError("example_inputs: the batch is empty; expected at least 2 samples.")
    if batch and rows == 1:
        raise ExportError(
            "example_inputs: the batch size is 1, which PyTorch's exporter treats as a constant. Pass an example batch of "
            "at least 2 samples, or dynamic_batch=False."
        )
    dynamic = [
        ({0: "batch"} if batch and tensor.ndim and tensor.shape[0] == rows else {}) | dict(axes.get(name, {}))
        for name, tensor in zip(names, tensors, strict=True)
    ]
    return Call(arguments, args, kwargs, tuple(dynamic), rows if batch else None)


@dataclass(frozen=True)
class Capture:
    """What ``torch.export`` traced.

    Attributes:
        model: The model.
        program: The program that was translated.
        decomposed: The program after the decomposition of operators, whose nodes are those of the model.
        is_rewritten: Whether operators of the module were replaced by others.
    """

    model: onnx.ModelProto
    program: torch.export.ExportedProgram
    decomposed: torch.export.ExportedProgram
    is_rewritten: bool


def with_dynamo(module: nn.Module, call: Call, opset: int | None) -> Capture:
    """Exports with ``torch.export``, which keeps names, ties and constants.

    Raises:
        Exception: If PyTorch cannot trace or translate the module.
    """
    with _quietly(), _weightless.tracing(), torch.fx.experimental._config.patch(backed_size_oblivious=True):
        traced = _trace.traced(module, call)
        program = _trace.rewritten(traced, call)
        _trace.unite(program)
        exported = _trace.translated(program, call, opset)
        _rename_results(exported.model.graph)
        _drop_weights(exported.model.graph, program)
        return Capture(exported.model_proto, program, exported.exported_program, program is not traced)


def _rename_results(graph: Any) -> None:
    """Renames node results whose name is that of an initializer: ``torch.export`` names the result of a mean ``mean``, for example."""
    taken = set(graph.initializers)
    for node in graph:
        for value in node.outputs:
            if value.name in taken:
                value.name = f"{value.name}.result"


def _drop_weights(graph: Any, program: torch.export.ExportedProgram) -> None:
    """Removes the values of parameters to avoid copies: :func:`mtc._graph.normalize` inserts the module's values later."""
    absent = (name for name, tensor in program.state_dict.items() if tensor.is_meta)
    for name in dict.fromkeys((*program.graph_signature.parameters, *absent)):
        if (value := graph.initializers.get(name)) is not None and value.const_value is not None:
            kind = onnx.TensorProto(name=name, dims=value.const_value.shape.numpy(), data_type=value.const_value.dtype)
            value.const_value = onnx_ir.serde.TensorProtoTensor(kind)


def with_torchscript(module: nn.Module, call: Call, opset: int | None) -> onnx.ModelProto:
    """Exports with TorchScript tracing, without constant folding and in the module's mode.

    Initializers have the names of the module's tensors, with :data:`PREFIX`.

    Raises:
        Exception: If PyTorch cannot trace or translate the module.
    """
    names = call.names()
    file = io.BytesIO()
    mode = torch.onnx.TrainingMode.TRAINING if module.training else torch.onnx.TrainingMode.PRESERVE
    axes = {name: dict(dynamic) for name, dynamic in zip(names, call.axes, strict=True) if dynamic}
    wrapper = Flattened(module, call)
    wrapper.training = module.training
    _translations.register_symbolic()
    with _quietly(), _without_output(), _distinct_parameters(module):
        torch.onnx.export(
            wrapper,
            tuple(tensor.detach().clone() for tensor in call.tensors()),
            file,
            dynamo=False,
            training=mode,
            do_constant_folding=False,
            keep_initializers_as_inputs=False,
            input_names=names,
            dynamic_axes=axes or None,
            opset_version=opset,
        )
    return onnx.load_from_string(file.getvalue())


class Flattened(nn.Module):
    """Wrapper with flat tuples of tensors as arguments and results, as required by tracing."""

    def __init__(self, module: nn.Module, call: Call):
        super().__init__()
        self.module = module
        self.structure = pytree.tree_structure((call.args, call.kwargs))
        self.leaves = pytree.tree_leaves((call.args, call.kwargs))
        by_identity = {id(tensor): index for index, tensor in enumerate(call.tensors())}
        self.positions = [by_identity.get(id(leaf)) for leaf in self.leaves]

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        leaves = [
            leaf if position is None else tensors[position]
            for leaf, position in zip(self.leaves, self.positions, strict=True)
        ]
        args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        return tuple(flat_outputs(self.module(*args, **kwargs)).values())


def flat_outputs(result: Any) -> dict[str, Tensor]:
    """Returns the tensors of a module's result by name, which is a key, a field name or a position."""
    found = [(path, leaf) for path, leaf in _leaves(result, ()) if isinstance(leaf, Tensor)]
    if len(found) == 1 and not found[0][0]:
        return {"output": found[0][1]}
    named: dict[str, Tensor] = {}
    for path, leaf in found:
        name = "_".join(path)
        named[f"output_{name}" if name[:1].isdigit() else name] = leaf
    return named


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the leaves of nested containers with their paths, in PyTorch's order."""
    if isinstance(value, Mapping):
        children = list(value.items())
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        children = list(zip(value._fields, value, strict=True))
    elif isinstance(value, Tensor):
        children = []
    else:
        leaves = pytree.tree_leaves(value, is_leaf=lambda child: child is not value)
        children = [] if len(leaves) == 1 and leaves[0] is value else list(enumerate(leaves))
    if not children:
        yield path, value
        return
    for key, child in children:
        yield from _leaves(child, (*path, str(key)))


@contextlib.contextmanager
def _distinct_parameters(module: nn.Module) -> Iterator[None]:
    """Temporarily sets all parameters to random values, since the exporter merges equal initializers in evaluation mode."""
    saved = [(parameter, parameter.detach().clone()) for parameter in module.parameters()]
    try:
        with torch.no_grad():
            if not module.training:
                for parameter, _ in saved:
                    if parameter.is_floating_point():
                        parameter.uniform_(0.25, 0.75)
        yield
    finally:
        with torch.no_grad():
            for parameter, value in saved:
                parameter.copy_(value)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppresses warnings about inference, and output about failed attempts, of the exporters. Keeps an ExportWarning."""
    disabled = logging.root.manager.disable
    logging.disable(logging.ERROR)
    kept: dict[str, None] = {}
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ExportWarning)
            yield
            kept = dict.fromkeys(str(warning.message) for warning in caught if warning.category is ExportWarning)
    finally:
        logging.disable(disabled)
    for message in kept:
        warnings.warn(message, ExportWarning, stacklevel=3)


@contextlib.contextmanager
def _without_output() -> Iterator[None]:
    """Discards what C++ code writes to the standard output, such as the graph of a failed TorchScript export."""
    sys.stdout.flush()
    saved, sink = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(sink)
