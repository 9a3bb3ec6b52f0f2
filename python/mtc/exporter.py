"""``mtc.export``: lossless export of modules for training."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

from mtc import _capture, _evaluation, _file, _gradients, _graph, _keras, _module, _stops, _trace, _trial, _verify, _weightless, facts
from mtc._capture import Call
from mtc._progress import Progress
from mtc.errors import ExportError, ExportWarning


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
    progress: bool | None = None,
) -> facts.ModuleFacts:
    r"""Exports a module to an ONNX file that mtc trains as PyTorch trains the module.

    The file has one initializer for each parameter, with the module's name and layout. Tied parameters share one initializer;
    equal parameters do not. Batch norm and dropout keep their training form. The file's metadata (:mod:`mtc.facts`) contains
    facts that ONNX cannot express, such as ``requires_grad``, ``padding_idx``, the names of tied parameters, and the values that the
    module computes differently in evaluation mode.

    The module is traced by ``torch.export``, or by TorchScript if ``torch.export`` fails. Complex numbers become pairs of real
    numbers, and packed sequences become padded ones with lengths. The mode and the values of the module
    do not change.

    Args:
        module: The module to export. Its parameters may be on any device.
        example_inputs: Arguments of ``module.forward``: a tensor, a sequence of positional arguments, or a mapping of keyword
            arguments.
        path: The ONNX file to write. Weights of more than 1 GiB are stored in ``path + ".data"``. A parameter without memory, on the
            meta device or made under ``FakeTensorMode``, has no bytes in either file; see :func:`mtc.empty_weights`.

    Keyword Args:
        input_names: Names of the graph's inputs. Default: the names of ``forward``'s parameters.
        output_names: Names of the graph's outputs. Default: the keys of the mapping or data class that ``forward`` returns,
            ``output`` for a single tensor, ``output_0`` and so on for a sequence.
        dynamic_batch: Whether the first axis of the inputs is the symbolic dimension ``batch``. Applies to all tensors whose
            first axis has the size of the first tensor's. Default: ``True``.
        dynamic_axes: Additional symbolic dimensions, as in ``{"input_ids": {1: "sequence"}}``.
        train: If ``True``, exports the training form: a module in evaluation mode is temporarily switched to training mode. A
            module in training mode is not switched, so that its submodules in evaluation mode keep their mode. If ``False``,
            exports the inference form. Default: ``True``.
        opset_version: The version of ONNX's operator set. Default: PyTorch's.
        verify: Whether to run ONNX's checker, to find parameters that the graph does not use, and to compare outputs for
            ``example_inputs`` (with dropout disabled) and custom gradients with the module's. The bytes of parameters are always
            compared. Default: ``True``.
        progress: Whether to show the current step on the standard error. Default: if it is a terminal. The duration of each step is
            logged to ``logging.getLogger("mtc")`` with level INFO.

    Returns:
        The stored facts.

    Raises:
        ExportError: If the module cannot be exported without loss; the message names what would be lost.

    Example::

        >>> model = torchvision.models.resnet18(num_classes=10)
        >>> mtc.export(model, torch.randn(2, 3, 64, 64), "resnet18.onnx", input_names=["x"], output_names=["logits"])
    """
    if not isinstance(module, nn.Module):
        raise ExportError(f"module: expected a torch.nn.Module, got {type(module).__name__}")
    steps = Progress(progress)
    with steps.step("bind the example inputs", "Pass a tensor, a sequence of arguments or a mapping of keyword arguments."):
        if _weightless.is_weightless(module):
            _file.check_absent_data(Path(path))
            example_inputs = _weightless.filled(example_inputs)
        call = _capture.bind(module, example_inputs, dynamic_axes or {}, dynamic_batch)
    with _weightless.with_buffers(module), _module.in_mode(module, train), _keras.traceable(module, "training" in call.kwargs):
        _module.check(module)
        with steps.step("run the module", "Call it with the example inputs, to see where it fails."):
            trial = _trial.run(module, call)
        with steps.step("trace the module", "Move what fails out of the module, and pass its result as an input."):
            model, capture = _exported(module, call, opset_version, trial)
            _name_values(model.graph, call, input_names, [*(output_names or trial.outputs), *trial.next_values().values()])
            _graph.declare_ranks(model.graph, [*trial.outputs.values(), *trial.updates.values()], call.rows)
            found = _module.facts(module, model, trial.statistics, trial.next_values())
            facts.write(model, found)
            _verify.parameters(model, dict(module.named_parameters()))
        if verify:
            with steps.step("verify the exported graph", "Pass verify=False to write the file without verification."):
                _verified(model, capture, module, call, trial)
        if module.training:
            with steps.step("trace the evaluation mode", "Pass train=False to export the evaluation mode alone."):
                names = dict(zip(trial.outputs, _graph.names(model.graph.output), strict=False))
                again = partial(_in_evaluation, module, call, opset_version)
                inference = _evaluation.record(model, module, call, names, again, verify)
                found = _module.facts(module, model, trial.statistics, trial.next_values())
                found = replace(found, inference=inference)
                facts.write(model, found)
    with steps.step(f"write '{path}'", "Pass the path of a file in an existing folder with enough space."):
        _file.save(model, Path(path))
    return found


def _verified(
    model: onnx.ModelProto, capture: _capture.Capture | None, module: nn.Module, call: Call, trial: _trial.Trial
) -> None:
    """Raises ExportError if the graph is invalid or differs from the module. Values are not compared if parameters have none."""
    _verify.checked(model)
    _verify.sizes(model)
    with _weightless.running(module, call) as runnable, _module.state_kept(module):
        _verify.used(model, module, runnable)
    if _weightless.is_weightless(module):
        return
    with _module.state_kept(module):
        _verify.outputs(model, module, call, trial.next_values())
    if capture is None and call.rows:
        with _module.state_kept(module):  # TorchScript stores values that forward converts to Python as constants.
            _verify.outputs(model, module, call.rolled(), trial.next_values())
    if trial.custom_backward or (capture and capture.is_rewritten):
        with _module.state_kept(module):
            _verify.gradients(capture, module, call)
    elif capture and trial.stops and not _verify.is_random(model):
        with _module.state_kept(module):
            _gradients.checked(capture.decomposed, module, call)


def _in_evaluation(module: nn.Module, call: Call, opset: int | None) -> tuple[onnx.ModelProto, Any]:
    """Returns the graph of a module in evaluation mode, which updates no tensors."""
    trial = replace(_trial.run(module, call), updates={})
    model, capture = _exported(module, call, opset, trial)
    _graph.remove_updates(model.graph)
    return model, capture


def _exported(
    module: nn.Module, call: Call, opset: int | None, trial: _trial.Trial
) -> tuple[onnx.ModelProto, _capture.Capture | None]:
    """Returns the graph with the module's tensors, from the first exporter that can trace the module.

    The graph's last outputs are the new values of the tensors that ``forward`` updates.

    If this is ``torch.export``, also returns the traced program.
    """
    capture = None
    canonical = _module.canonical_names(module)
    tensors = dict(module.named_parameters()), dict(module.named_buffers())
    is_weightless = _weightless.is_weightless(module)
    is_watched = trial.stops or trial.updates
    traced = lambda: _stops.watched(module, tuple(trial.updates)) if is_watched else contextlib.nullcontext()  # noqa: E731
    try:
        with _module.state_kept(module), traced():
            capture = _capture.with_dynamo(module, call, opset)
        model = capture.model
    except Exception as error:
        if lost := _trace.cause(error, ExportError):
            raise lost from None
        if is_weightless:
            raise _failure(module, call, opset, error, None) from error
        try:
            with _module.state_kept(module), traced():
                model = _capture.with_torchscript(module, call, opset)
        except Exception as second:
            raise _failure(module, call, opset, error, second) from error
        if _depends_on_data(error):
            warnings.warn(
                f"forward branches on values of tensors: {_first_lines(error)} The exported graph takes the branches of the example "
                "inputs for all data. Use torch.where or torch.cond if other data take others.",
                ExportWarning,
                stacklevel=4,
            )
    canonical = {prefix + name: first for prefix in _capture.PREFIXES for name, first in canonical.items()}
    _graph.normalize(model, canonical, *tensors, trial.updates)
    return model, capture


def _failure(module: nn.Module, call: Call, opset: int | None, error: Exception, second: Exception | None) -> ExportError:
    """Returns the error for a module that no exporter can trace. To find out whether the sizes are the cause, it exports the module with
    fixed sizes."""
    if any(call.axes):
        try:
            with _module.state_kept(module):
                _capture.with_dynamo(module, replace(call, axes=tuple({} for _ in call.axes), rows=None), opset)
        except Exception:
            pass
        else:
            return ExportError(
                f"{type(module).__name__} cannot be exported with dynamic axes: {_first_lines(error)} With fixed sizes it can: "
                "pass dynamic_batch=False and no dynamic_axes, and example inputs of the batch size to train with."
            )
    traced = f"{type(module).__name__} cannot be exported.\ntorch.export: {_first_lines(error)}\n"
    if second is None:
        return ExportError(f"{traced}Export the module with weights, which TorchScript can trace too. {_remedy(error)}")
    return ExportError(f"{traced}TorchScript: {_first_lines(second)}\n{_remedy(error)}")


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


def _remedy(error: Exception) -> str:
    """Returns a suggestion to the user for a failure of tracing."""
    text = " ".join(map(str, _chain(error)))
    if _depends_on_data(error):
        return (
            "The sizes of a tensor depend on data. Select by torch.where or by multiplication with a mask, in place of an index of "
            "selected elements. If this is the loss, export the module without labels and pass --loss to mtc compile."
        )
    if found := re.search(r"No ONNX function found for <OpOverload\(op='([^']+)'", text):
        return (
            f"ONNX has no operator for {found[1]}. Compute it from other operators, or outside the module, and pass the result as "
            "an input."
        )
    return "Move the part of forward that PyTorch's exporters cannot trace out of the module, and pass its result as an input."


def _depends_on_data(error: Exception) -> bool:
    text = " ".join(f"{type(cause).__name__} {cause}" for cause in _chain(error))
    return any(word in text for word in ("data-dependent", "DynamicOutputShape", "GuardOnDataDependent", "nonzero"))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _first_lines(error: BaseException) -> str:
    """Returns at most three lines of the innermost cause of an error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(line.strip() for line in str(error).strip().splitlines()[:3]) or type(error).__name__
