"""``mtc.export``: the export of a module that loses nothing of its training."""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

from mtc import _capture, _graph, _keras, _module, _verify, facts
from mtc._capture import Call
from mtc.errors import ExportError

LARGE = 1 << 30  # bytes of a file's weights from which on they are stored beside it


def export(
    module: nn.Module,
    example_inputs: Any,
    path: str | os.PathLike[str],
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    dynamic_batch: bool = True,
    dynamic_axes: Mapping[str, Mapping[int, str]] | None = None,
    train: bool = True,
    opset_version: int | None = None,
    verify: bool = True,
) -> facts.ModuleFacts:
    r"""Exports a module to an ONNX file from which mtc trains what PyTorch would train.

    The file has one initializer for each parameter, under the module's name and in the module's layout; tied parameters are
    one initializer, equal parameters are several. Batch norm and dropout keep their training form. What ONNX cannot express,
    such as ``requires_grad``, ``padding_idx`` and the names of tied parameters, is stored in the file's metadata
    (:mod:`mtc.facts`), from which the compiler reads it.

    The module is traced by ``torch.export``, or by TorchScript where ``torch.export`` cannot trace it. Afterwards the module
    has its former mode and values.

    Args:
        module: The module to export. Its parameters may be on any device.
        example_inputs: Arguments of ``module.forward``: a tensor, a sequence of positional arguments, or a mapping of keyword
            arguments.
        path: The ONNX file to write. Weights of more than 1 GiB are stored in ``path`` + ``.data``.

    Keyword Args:
        input_names: Names of the graph's inputs. Default: the names of ``forward``'s parameters.
        output_names: Names of the graph's outputs. Default: the keys of the mapping or data class that ``forward`` returns,
            ``output`` for a single tensor, ``output_0`` and so on for a sequence.
        dynamic_batch: Whether the first axis of the inputs is the symbolic dimension ``batch``. It is that of all tensors
            with as many rows as the first one. Default: ``True``.
        dynamic_axes: Further symbolic dimensions, as in ``{"input_ids": {1: "sequence"}}``.
        train: If ``True``, exports the training form: a module in evaluation mode is switched to training mode meanwhile, a
            module in training mode is exported as it is, so that submodules in evaluation mode stay so. If ``False``,
            exports the inference form. Default: ``True``.
        opset_version: The version of ONNX's operator set. Default: PyTorch's.
        verify: Whether to compare the file with the module: the bytes of parameters, and the outputs for ``example_inputs``
            with dropout off. Default: ``True``.

    Returns:
        The facts that were stored.

    Raises:
        ExportError: If the module cannot be exported, or only with a loss; the message names what would be lost.

    Example::

        >>> model = torchvision.models.resnet18(num_classes=10)
        >>> mtc.export(model, torch.randn(2, 3, 64, 64), "resnet18.onnx", input_names=["x"], output_names=["logits"])
    """
    if not isinstance(module, nn.Module):
        raise ExportError(f"module: expected a torch.nn.Module, got {type(module).__name__}")
    call = _capture.bind(module, example_inputs, dynamic_axes or {}, dynamic_batch)
    with _module.in_mode(module, train), _keras.traceable(module, "training" in call.kwargs):
        _module.check(module)
        trial = _forward(module, call)
        model, program = _exported(module, call, opset_version)
        _name_values(model.graph, call, input_names, output_names or [*trial.outputs])
        _graph.declare_ranks(model.graph, [*trial.outputs.values()], call.rows)
        found = _module.facts(module, {tensor.name for tensor in model.graph.initializer}, trial.statistics)
        facts.write(model, found)
        _verify.parameters(model, dict(module.named_parameters()))
        if verify:
            _verify.checked(model)
            with _module.state_kept(module):
                _verify.used(model, module, call)
            with _module.state_kept(module):
                _verify.outputs(model, module, call)
            if trial.custom_backward:
                with _module.state_kept(module):
                    _verify.gradients(program, module, call)
    _save(model, Path(path))
    return found


def _exported(
    module: nn.Module, call: Call, opset: int | None
) -> tuple[onnx.ModelProto, torch.export.ExportedProgram | None]:
    """Returns the graph with the module's tensors, from the first exporter that can trace the module.

    Where that is ``torch.export``, also returns the program that the graph was translated from.
    """
    program = None
    canonical = _module.canonical_names(module)
    tensors = dict(module.named_parameters()), dict(module.named_buffers())
    try:
        with _module.state_kept(module):
            model, program = _capture.with_dynamo(module, call, opset)
        canonical |= _capture.aliases(program, module)
    except Exception as error:
        if lost := _cause(error, ExportError):
            raise lost from None
        try:
            with _module.state_kept(module):
                model = _capture.with_torchscript(module, call, opset)
        except Exception as second:
            hint = " If the module needs a fixed batch size, pass dynamic_batch=False." if any(call.axes) else ""
            raise ExportError(
                f"{type(module).__name__} cannot be exported.\ntorch.export: {_first_lines(error)}\n"
                f"TorchScript: {_first_lines(second)}\n{hint}"
            ) from error
        canonical = {_capture.PREFIX + name: first for name, first in canonical.items()} | canonical
    _graph.normalize(model, canonical, *tensors)
    return model, program


@dataclass(frozen=True)
class Trial:
    """What a forward pass in the mode of the export shows.

    Attributes:
        outputs: The names and shapes of the outputs.
        statistics: The names of tensors that batch norms update.
        custom_backward: Whether a ``torch.autograd.Function`` ran.
    """

    outputs: dict[str, tuple[int, ...]]
    statistics: set[str]
    custom_backward: bool


def _forward(module: nn.Module, call: Call) -> Trial:
    """Runs the module once.

    Raises:
        ExportError: If the forward pass stops gradients or updates tensors in a way that ONNX cannot express.
    """
    state = _module.state(module)
    before = {name: tensor.detach().clone() for name, tensor in state.items()}
    args, kwargs = call.cloned()
    with _module.state_kept(module):
        with torch.enable_grad(), _Watch() as watch:
            outputs = _capture.flat_outputs(module(*args, **kwargs))
        changed = {name for name, tensor in state.items() if not torch.equal(tensor, before[name])}
    if not outputs:
        raise ExportError("the module returns no tensor")
    statistics = {name for name in changed if state[name].data_ptr() in watch.statistics}
    for name in sorted(changed - statistics):
        owner = module.get_submodule(name.rpartition(".")[0])
        if not isinstance(owner, nn.modules.batchnorm._BatchNorm):
            raise ExportError(
                f"'{name}' of {type(owner).__name__}: forward updates it, and the exported graph would not. Pass "
                "train=False, or replace the submodule by one whose forward leaves its tensors as they are."
            )
    shapes = {name: tuple(value.shape) for name, value in outputs.items()}
    return Trial(shapes, statistics, watch.custom_backward)


class _Watch(TorchFunctionMode):
    """Raises ExportError where a forward pass computes with tensors that need gradients, without recording them.

    Attributes:
        custom_backward: Whether a ``torch.autograd.Function`` with a backward pass of its own ran.
        statistics: The addresses of the running statistics of batch norms in training mode.
    """

    def __init__(self) -> None:
        super().__init__()
        self.custom_backward = False
        self.statistics: set[int] = set()

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is F.batch_norm:
            given = inspect.signature(func).bind(*args, **(kwargs or {})).arguments
            if given.get("training"):
                running = given.get("running_mean"), given.get("running_var")
                self.statistics |= {tensor.data_ptr() for tensor in running if tensor is not None}
        stops = not torch.is_grad_enabled() or func in (torch.Tensor.detach, torch.detach)
        if not stops or not isinstance(result, torch.Tensor) or not result.is_floating_point():
            return result
        name = getattr(func, "__name__", str(func))
        inputs = [x for x in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        if not any(tensor.requires_grad for tensor in inputs):
            return result
        if name.endswith("_") and not name.endswith("__") and not inputs[0].requires_grad:
            return result  # An update of state, which the caller compares.
        if _in_autograd_function():
            self.custom_backward = True
            return result
        raise ExportError(
            f"forward stops a gradient: {name} of a trained tensor, "
            f"{'by detach()' if torch.is_grad_enabled() else 'within torch.no_grad()'}. ONNX cannot express it, and training the file "
            "would propagate gradients through it. Compute the tensor outside the module and pass it as an input, or set "
            "requires_grad=False of the parameters."
        )


def _in_autograd_function() -> bool:
    """Whether the caller runs within ``forward`` of a ``torch.autograd.Function``."""
    frame = sys._getframe()
    while frame is not None:
        if any(isinstance(value, torch.autograd.function.FunctionCtx) for value in frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False


def _name_values(
    graph: onnx.GraphProto, call: Call, input_names: Sequence[str] | None, output_names: Sequence[str]
) -> None:
    for what, values, wanted in (
        ("input_names", graph.input, input_names or call.names()),
        ("output_names", graph.output, output_names),
    ):
        if len(values) != len(wanted):
            raise ExportError(
                f"{what}: expected {len(values)} names, got {len(wanted)}; the graph has: {', '.join(_graph.names(values))}"
            )
        if len(set(wanted)) != len(wanted):
            raise ExportError(f"{what}: the names must differ, got: {', '.join(wanted)}")
        _graph.rename_values(graph, dict(zip(_graph.names(values), wanted, strict=True)))


def _save(model: onnx.ModelProto, path: Path) -> None:
    """Writes the file, and weights of more than 1 GiB beside it; a file appears complete or not at all."""
    large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > LARGE
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        data = path.name + ".data"
        if large:
            onnx.save_model(model, temporary, save_as_external_data=True, location=data, size_threshold=1024)
            os.replace(temporary.with_name(data), path.with_name(data))
        else:
            onnx.save_model(model, temporary)
        os.replace(temporary, path)


def _cause(error: BaseException | None, kind: type[ExportError]) -> ExportError | None:
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__
    return None


def _first_lines(error: BaseException) -> str:
    """Returns the innermost reason of an error, at most three lines."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(line.strip() for line in str(error).strip().splitlines()[:3]) or type(error).__name__
