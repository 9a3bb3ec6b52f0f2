"""Traces modules with ``torch.export``, and translates programs to ONNX."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from mtc import _rewrite, _stops, _substitutes, _translations
from mtc.errors import ExportError

if TYPE_CHECKING:
    from mtc._capture import Call


def traced(module: nn.Module, call: Call) -> torch.export.ExportedProgram:
    """Returns the program of ``forward``, before the decomposition of operators and with gradients like the module's.

    Raises:
        ExportError: If a substitute does not support the arguments with which ``forward`` calls a function.
        Exception: If no method of tracing succeeds.
    """
    failure: Exception | None = None
    for way in (_without_dynamo, _with_dynamo, _below_autograd):
        try:
            with _substitutes.substituted(), _loops_of_dynamic_length(call), _transforms_kept():
                return way(module, call)
        except Exception as error:
            if lost := cause(error, ExportError):
                raise lost from None
            failure = failure or error
    assert failure
    raise failure


def _without_dynamo(module: nn.Module, call: Call) -> torch.export.ExportedProgram:
    """Runs ``forward``."""
    return _exported(module, call.args, call.kwargs, call.shapes() if any(call.axes) else None, False)


def _with_dynamo(module: nn.Module, call: Call) -> torch.export.ExportedProgram:
    """Traces by analysis of the bytecode of ``forward``."""
    return _exported(module, call.args, call.kwargs, call.shapes() if any(call.axes) else None, True)


def _below_autograd(module: nn.Module, call: Call) -> torch.export.ExportedProgram:
    """Traces below autograd, so that ``torch.autograd.grad`` and ``torch.func`` within ``forward`` become operators."""
    from torch.fx.experimental.proxy_tensor import make_fx

    from mtc._capture import Flattened

    flattened = Flattened(module, call)
    parameters, buffers = dict(flattened.named_parameters()), dict(flattened.named_buffers())

    def forward(parameters: Any, buffers: Any, tensors: Any) -> Any:
        return torch.func.functional_call(flattened, (parameters, buffers), tensors)

    tensors = pytree.tree_map(lambda tensor: tensor.detach().clone(), tuple(call.tensors()))
    graph = make_fx(forward, tracing_mode="symbolic", _allow_non_fake_inputs=True)(parameters, buffers, tensors)
    return _exported(_Traced(flattened, graph), tensors, {}, {"tensors": call.axes} if any(call.axes) else None, False)


class _Traced(nn.Module):
    """A graph with the parameters and buffers of a module as additional inputs."""

    def __init__(self, flattened: nn.Module, graph: torch.fx.GraphModule) -> None:
        super().__init__()
        self.module = flattened.module
        self.graph = [graph]  # a list, so that the graph is no submodule

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.graph[0](dict(self.named_parameters()), dict(self.named_buffers()), tensors)


def rewritten(program: torch.export.ExportedProgram, call: Call) -> torch.export.ExportedProgram:
    """Returns a program without complex numbers and operators that ONNX lacks; see :mod:`mtc._rewrite`.

    If the program is changed, its inputs are the tensors of the call in their order, and its tensor names begin with ``module.``.
    """
    if not _rewrite.is_needed(program):
        return program
    leaves = pytree.tree_leaves(program.example_inputs)
    tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
    shapes = {"tensors": call.axes} if any(call.axes) else None
    return _exported(_rewrite.Rewritten(program, leaves), tensors, {}, shapes, False)


def unite(program: torch.export.ExportedProgram) -> None:
    """Makes a program use each tensor under its first name, since the decomposition refuses tied tensors that forward updates.

    A constant can be such a second name: PyTorch lifts tensors of modules that it does not find as attributes, such as those of Keras, as
    constants.
    """
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    first: dict[tuple, torch.fx.Node] = {}
    specs = program.graph_signature.input_specs
    for spec in [*specs]:
        tensor = program.state_dict.get(spec.target, program.constants.get(spec.target))
        if not isinstance(tensor, torch.Tensor) or not tensor.numel():
            continue
        node = placeholders[spec.arg.name]
        memory = _stops.storage(tensor) if tensor.is_meta else tensor.data_ptr()
        key = memory, tensor.shape, tensor.stride(), tensor.dtype
        if first.setdefault(key, node) is not node:
            node.replace_all_uses_with(first[key])
            program.graph.erase_node(node)
            specs.remove(spec)
    program.graph_module.recompile()


def translated(program: torch.export.ExportedProgram, call: Call, opset: int | None) -> Any:
    """Returns PyTorch's ``ONNXProgram``, without its optimizations for inference."""
    try:
        from mtc import _steps

        steps, translations = _steps.faster(), None
    except (ImportError, AttributeError):
        steps, translations = contextlib.nullcontext(), _translations.table()
    with steps:
        result = torch.onnx.export(
            program,
            dynamo=True,
            optimize=False,
            verbose=False,
            dynamic_shapes=call.axes if any(call.axes) else None,
            custom_translation_table=translations,
            opset_version=opset,
        )
    if result is None:
        raise ExportError("PyTorch's exporter returned no model")
    return result


def _exported(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any, strict: bool
) -> torch.export.ExportedProgram:
    dynamic = pytree.tree_map(lambda name: torch.export.Dim.DYNAMIC if isinstance(name, str) else name, shapes)
    try:
        return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic, strict=strict)
    except torch._dynamo.exc.UserError as error:
        try:
            refined = torch.export.dynamic_shapes.refine_dynamic_shapes_from_suggested_fixes(error.msg, dynamic)
        except Exception:
            raise error from None
        return torch.export.export(module, args, kwargs, dynamic_shapes=refined, strict=strict)


@contextlib.contextmanager
def _transforms_kept() -> Iterator[None]:
    """Restores the stack of ``torch.func``, because a trace that fails within a transform does not pop its levels."""
    depth = torch._C._functorch.get_dynamic_layer_stack_depth()
    try:
        yield
    finally:
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)


def _loops_of_dynamic_length(call: Call) -> contextlib.AbstractContextManager[None]:
    """Lets PyTorch trace recurrent layers with a dynamic number of steps as loops, if its version supports this."""
    from torch.onnx._internal.exporter import _capture_strategies

    patch = getattr(_capture_strategies, "patch_dynamic_shape_rnn_decompositions", None)
    return patch(any(call.axes)) if patch else contextlib.nullcontext()


def cause(error: BaseException | None, kind: type[ExportError]) -> ExportError | None:
    """Returns the first error of a type in the chain of an error and its causes."""
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__
    return None
