"""Adds the computations of the module's evaluation mode to an exported graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import torch
from torch import nn

from mtc import _capture, _graph, _modes, _module, _verify, _weightless
from mtc._capture import Call
from mtc._inference import Addition, Merger

Type = tuple[tuple[int, ...], np.dtype]  # shape and element type


def record(
    model: onnx.ModelProto,
    module: nn.Module,
    call: Call,
    names: Mapping[str, str],
    export: Callable[[], tuple[onnx.ModelProto, Any]],
    verify: bool,
) -> dict[str, str] | None:
    """Adds the values of the evaluation mode that differ from those of the training mode to a graph of the training mode.

    Args:
        model: The graph, changed in place.
        module: The module, in training mode.
        call: The example arguments.
        names: The graph's outputs by their names in the module's result.
        export: Exports the module in its current mode.
        verify: Whether to compare the graph of the evaluation mode with the module.

    Returns:
        The replacements by the values that they replace, as in :attr:`ModuleFacts.inference`. None, after a warning, if the module
        cannot be exported in evaluation mode.
    """
    if not _modes.differ(module, call):
        return {}
    try:
        with _module.in_mode(module, False):
            evaluation, _ = export()
            inputs = zip(_graph.names(evaluation.graph.input), _graph.names(model.graph.input), strict=True)
            _graph.rename_values(evaluation.graph, dict(inputs))
            outputs = _output_names(module, call, names)
            _graph.rename_values(evaluation.graph, dict(zip(_graph.names(evaluation.graph.output), outputs, strict=True)))
            if verify and not _weightless.is_weightless(module):
                _verify.outputs(evaluation, module, call)
    except Exception as error:  # The module may fail in evaluation mode alone.
        warnings.warn(
            f"{type(module).__name__} computes other functions in evaluation mode, which cannot be exported ({error}). mtc computes "
            "--evaluate, --outputs and --export from the training mode, without dropout. Use the file for training only, or export "
            "the evaluation mode of the trained module with train=False.",
            stacklevel=3,
        )
        return None
    tensors = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
    merger = Merger(model.graph, evaluation.graph, tensors)
    for replacements, is_near in ((merger.near_differences(), True), (merger.whole_outputs(), False)):
        addition = merger.added(replacements) if replacements is not None else None
        if addition is None:
            continue
        if not (differing := _other_types(model, addition, call, is_near)):
            break
        if not is_near:
            shown = ", ".join(repr(name) for name in sorted(differing))
            warnings.warn(
                f"the outputs {shown} have other shapes in evaluation mode; mtc computes them from the training mode.",
                stacklevel=3,
            )
            addition = merger.added({name: other for name, other in replacements.items() if name not in differing})
            break
    model.graph.node.extend(addition.nodes)
    model.graph.initializer.extend(addition.initializers)
    if verify:
        _verify.checked(model)
    return addition.values


def _output_names(module: nn.Module, call: Call, names: Mapping[str, str]) -> list[str]:
    """Returns the names of the outputs in evaluation mode. A single tensor is the first output of the training mode."""
    with torch.no_grad(), _weightless.running(module, call) as runnable, _module.state_kept(module):
        args, kwargs = runnable.cloned()
        found = [*_capture.flat_outputs(module(*args, **kwargs))]
    if len(found) == 1 and found[0] not in names:
        return [next(iter(names.values()))]
    return [names.get(name, name) for name in found]


def _other_types(model: onnx.ModelProto, addition: Addition, call: Call, floats: bool) -> set[str]:
    """Returns the replaced values that have another shape or element type than their replacement.

    If ``floats``, includes integers and booleans: they may be positions and shapes, which must be known at compile time.
    """
    trial = onnx.ModelProto()
    trial.CopyFrom(model)
    trial.graph.node.extend(addition.nodes)
    trial.graph.initializer.extend(addition.initializers)
    wanted = [*addition.values, *addition.values.values()]
    del trial.graph.output[:]
    for index, name in enumerate(wanted):
        trial.graph.node.append(onnx.helper.make_node("Identity", [name], [f"mtc.shape_{index}"]))
        trial.graph.output.append(onnx.ValueInfoProto(name=f"mtc.shape_{index}"))
    types = _types(trial, call) if wanted else []
    if types is None:
        return set()
    half = len(addition.values)
    pairs = zip(wanted, types[:half], types[half:], strict=False)
    return {name for name, ours, theirs in pairs if _may_differ(ours, theirs, floats)}


def _may_differ(ours: Type | None, theirs: Type | None, floats: bool) -> bool:
    if ours is None or theirs is None:
        return floats
    return ours != theirs or (floats and ours[1].kind in "biu")


def _types(model: onnx.ModelProto, call: Call) -> list[Type | None] | None:
    """Returns the shapes and element types of the graph's outputs; None if no evaluator can run the graph.

    Those of a graph without weights are inferred. The type of a value is None if it cannot be inferred.
    """
    if not any(map(_graph.is_absent, model.graph.initializer)):
        results = _verify.run(model, call)
        return None if results is None else [(value.shape, value.dtype) for value in results]
    for value, tensor in zip(model.graph.input, call.tensors(), strict=True):
        for dim, size in zip(value.type.tensor_type.shape.dim, tensor.shape, strict=True):
            dim.dim_value = size
    inferred = onnx.shape_inference.infer_shapes(_verify.without_weights(model), data_prop=True)
    return [_declared(value.type.tensor_type) for value in inferred.graph.output]


def _declared(kind: onnx.TypeProto.Tensor) -> Type | None:
    if not kind.HasField("shape") or any(not dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    return tuple(dim.dim_value for dim in kind.shape.dim), np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
