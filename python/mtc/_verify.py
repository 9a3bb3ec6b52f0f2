"""Checks of an exported model against its module."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mtc import _graph
from mtc._capture import PREFIXES, Call, Capture, flat_outputs
from mtc.errors import ExportError

HEAVY = 4096  # size in bytes from which an initializer is not copied
TOLERANCE = 1e-3  # relative to the largest magnitude in an output
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
DATA_SIZED = ("NonZero", "Unique", "Compress", "NonMaxSuppression")
DROPOUTS = (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout,
            torch.dropout, torch.dropout_, torch.alpha_dropout, torch.feature_dropout)  # fmt: skip
CUSTOM = "the module has a torch.autograd.Function with a custom backward pass, which ONNX cannot express"
WRITES_OTHERS = "mtc.export replaces operators that ONNX lacks"
WRITE_FORWARD = "Write its forward pass with differentiable operations, or pass verify=False if both have the same gradient."
RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)


def parameters(model: onnx.ModelProto, expected: Mapping[str, Tensor]) -> None:
    """Raises ExportError unless each parameter is an initializer with equal shape, type and bytes."""
    found = {tensor.name: tensor for tensor in model.graph.initializer}
    for name, parameter in expected.items():
        if name not in found:
            raise ExportError(f"parameter '{name}': missing in the exported graph")
        if not _graph.has_bytes(found[name], parameter):
            raise ExportError(f"parameter '{name}': the value in the exported graph differs from the module")


def checked(model: onnx.ModelProto) -> None:
    """Raises ExportError if ONNX's checker rejects the graph."""
    try:
        onnx.checker.check_model(without_weights(model), full_check=True)
    except Exception as error:
        raise ExportError(f"the exporter wrote an invalid graph: {error}") from None


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model with its larger initializers as inputs, whose values are not copied."""
    light = onnx.ModelProto(ir_version=model.ir_version, producer_name=model.producer_name)
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    light.graph.name = model.graph.name
    for field in ("node", "input", "output", "value_info"):
        getattr(light.graph, field).extend(getattr(model.graph, field))
    for tensor in model.graph.initializer:
        if _is_heavy(tensor):
            light.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        else:
            light.graph.initializer.append(tensor)
    return light


def _weights(model: onnx.ModelProto, parameters: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Returns the values of the initializers that :func:`without_weights` makes inputs; those of ``parameters`` are not copied."""
    values = {name: _graph.real(tensor.detach()).cpu().contiguous().numpy() for name, tensor in parameters.items()}
    for tensor in filter(_is_heavy, model.graph.initializer):
        if tensor.name not in values:
            kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
            values[tensor.name] = np.frombuffer(tensor.raw_data, kind).reshape(tuple(tensor.dims))
    return {tensor.name: values[tensor.name] for tensor in filter(_is_heavy, model.graph.initializer)}


def _is_heavy(tensor: onnx.TensorProto) -> bool:
    is_bfloat16 = tensor.data_type == onnx.TensorProto.BFLOAT16  # NumPy has no such type.
    return _graph.is_absent(tensor) or not is_bfloat16 and _graph.size(tensor) >= HEAVY


def sizes(model: onnx.ModelProto) -> None:
    """Raises ExportError if the size of a tensor depends on the data of an input, so that no program can be compiled."""
    sources = {name: name for name in _graph.names(model.graph.input)}  # values, and an input that each depends on
    for node in model.graph.node:
        found = next((sources[name] for name in node.input if name in sources), None)
        if found is None or node.op_type in ("Shape", "Size"):
            continue
        if node.op_type in DATA_SIZED:
            raise ExportError(
                f"node '{node.name}' ({node.op_type}): the size of its result depends on the values of input '{found}'. Select by "
                "torch.where or by multiplication with a mask, in place of an index of selected elements. If this is the loss, "
                f"export the module without labels and pass --loss to mtc compile. If '{found}' is the same in all steps, pass "
                f"verify=False, and --bind {found}=FILE.npy to mtc compile."
            )
        sources |= dict.fromkeys(node.output, found)


def used(model: onnx.ModelProto, module: nn.Module, call: Call) -> None:
    """Raises ExportError if a parameter has a gradient in the module but is unused in the graph."""
    nodes = {name for node in _graph.all_nodes(model.graph) for name in node.input}
    lost = [name for name, parameter in module.named_parameters() if name not in nodes and parameter.requires_grad]
    if not lost:
        return
    args, kwargs = call.cloned()
    with torch.enable_grad():
        outputs = [y for y in flat_outputs(module(*args, **kwargs)).values() if y.requires_grad]
        tensors = [module.get_parameter(name) for name in lost]
        gradients = torch.autograd.grad([y.sum() for y in outputs], tensors, allow_unused=True) if outputs else []
    for name, gradient in zip(lost, gradients, strict=False):
        if gradient is not None:
            raise ExportError(
                f"parameter '{name}': replaced by a constant in the export, which would not be trained. "
                "The module's forward probably converts it to a Python value or a NumPy array; use it as a tensor."
            )


def outputs(model: onnx.ModelProto, module: nn.Module, call: Call, updates: Mapping[str, str] = MappingProxyType({})) -> None:
    """Raises ExportError if the graph's outputs differ from the module's, with dropout off in both.

    ``updates`` maps the tensors that ``forward`` updates to the graph's outputs with their new values. With updates, a second
    forward pass is compared too. Graphs with other random operators are not compared. Uses onnxruntime if it is installed, or
    else onnx's reference evaluator.
    """
    if any(node.op_type in RANDOM for node in _graph.all_nodes(model.graph)):
        return
    values = _compared(model, module, call, updates)
    if not updates or values is None:
        return
    second = onnx.ModelProto()
    second.CopyFrom(model)
    names = _graph.names(model.graph.output)
    for tensor in second.graph.initializer:
        if tensor.name in updates:
            value = torch.from_numpy(np.array(values[names.index(updates[tensor.name])]))
            tensor.CopyFrom(_graph.initializer(tensor.name, value))
    try:
        _compared(second, module, call, updates)
    except ExportError as error:
        raise ExportError(
            f"the second forward pass differs: {str(error).partition(';')[0]}. A branch or Python value of forward depends on a buffer "
            f"that the first pass changed, one of: {', '.join(updates)}. Use tensor operations (torch.where, tensors as indices), or, if "
            "only the first pass differs, run the module once before the export."
        ) from None


def _compared(
    model: onnx.ModelProto, module: nn.Module, call: Call, updates: Mapping[str, str]
) -> list[np.ndarray] | None:
    """Returns the graph's outputs; None if no evaluator can run the graph."""
    args, kwargs = call.cloned()
    with torch.enable_grad(), WithoutDropout():
        expected = [value.detach().cpu() for value in flat_outputs(module(*args, **kwargs)).values()]
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    expected += [state[name].detach().cpu() for name in updates]
    names = _graph.names(model.graph.output)
    if len(names) != len(expected):
        raise ExportError(f"the module returns {len(expected)} tensors, the exported graph {len(names)}")
    tensors = zip(_graph.names(model.graph.input), _feeds(model, call), strict=True)
    trained = {name: p for name, p in module.named_parameters() if p.requires_grad and p.dtype != torch.bfloat16}
    actual = _run(_without_dropout(without_weights(model)), dict(tensors) | _weights(model, trained))
    if actual is None:
        return None
    for name, value, reference in zip(names, actual, expected, strict=True):
        wanted = reference.float().numpy() if reference.is_floating_point() else reference.numpy()
        if value.shape != wanted.shape:
            raise ExportError(
                f"output '{name}': the exported graph returns shape {list(value.shape)}, the module {list(wanted.shape)}. "
                "If the sizes depend on data, as those of pad_packed_sequence without total_length, fix them."
            )
        if not wanted.size or wanted.dtype == np.bool_:
            continue
        difference, scale = _difference(value, wanted)
        if not difference <= TOLERANCE * scale:
            raise ExportError(
                f"output '{name}': the exported graph differs from the module by {difference:.2g}, where the largest "
                f"element is {scale:.2g}; the exporter lost a part of the computation. Pass verify=False to "
                "write the file anyway."
            )
    return actual


def _difference(value: np.ndarray, wanted: np.ndarray) -> tuple[float, float]:
    """Returns the largest difference of two arrays, and the largest magnitude in the second array, which is at least 1e-6."""
    if wanted.dtype.kind != "f" or value.dtype != wanted.dtype:
        value, wanted = value.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        difference, magnitude = np.abs(value - wanted), np.abs(wanted)
    if not (np.isfinite(magnitude.max()) and np.isfinite(difference.max())):
        same = (value == wanted) | (np.isnan(value) & np.isnan(wanted))
        difference = np.where(same, 0, difference)
        magnitude = magnitude[np.isfinite(magnitude)]
    return float(difference.max()), max(float(magnitude.max(initial=0)), 1e-6)


def gradients(capture: Capture | None, module: nn.Module, call: Call) -> None:
    """Raises ExportError if gradients of the traced program, which only contains forward passes, differ from the module's.

    They differ if the backward pass of a ``torch.autograd.Function`` is not the gradient of its forward pass.
    """
    if capture is None:
        raise ExportError(f"{CUSTOM}, and torch.export cannot trace the module. {WRITE_FORWARD}")
    program = capture.program
    if any(node.target is torch.ops.mtc.padded_recurrent.default for node in program.graph.nodes):
        return  # Only ONNX runtimes can run it.
    traced = program.module()
    copies = dict(traced.named_parameters(remove_duplicate=False))
    pairs = {
        name: (parameter, copies[prefix + name])
        for prefix in PREFIXES
        for name, parameter in module.named_parameters()
        if parameter.requires_grad and prefix + name in copies
    }
    cloned, flat = call.cloned(), tuple(tensor.detach().clone() for tensor in call.tensors())
    is_flat = pytree.tree_structure((flat, {})) == program.call_spec.in_spec
    results = []
    for function, (args, kwargs), side in ((module, cloned, 0), (traced, (flat, {}) if is_flat else call.cloned(), 1)):
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            values = [_graph.real(y) for y in flat_outputs(function(*args, **kwargs)).values() if y.requires_grad]
            total = sum((y.double() * torch.linspace(0.5, 1.5, y.numel()).reshape(y.shape)).sum() for y in values)
            tensors = [pair[side] for pair in pairs.values()]
            results.append(torch.autograd.grad(total, tensors, allow_unused=True) if values and tensors else [])
    for name, expected, actual in zip(pairs, *results, strict=True):
        wanted = torch.zeros(()) if expected is None else _graph.real(expected)
        found = torch.zeros_like(wanted) if actual is None else _graph.real(actual)
        if not is_close(found, wanted):
            reason = WRITES_OTHERS if capture.is_rewritten else CUSTOM
            raise ExportError(
                f"parameter '{name}': {reason}, and its gradient differs from the gradient of its forward pass. {WRITE_FORWARD}"
            )


def is_random(model: onnx.ModelProto) -> bool:
    """Returns whether the graph draws random numbers."""
    return any(node.op_type in ("Dropout", *RANDOM) for node in _graph.all_nodes(model.graph))


def is_close(found: Tensor, wanted: Tensor) -> bool:
    """Returns whether gradients are equal up to rounding. Elements that are infinite in both, or NaN in both, are equal."""
    found, wanted = found.double(), wanted.double()
    same = (found == wanted) | (found.isnan() & wanted.isnan())
    difference = torch.where(same, 0.0, (found - wanted).abs())
    scale = torch.where(wanted.isfinite(), wanted.abs(), 0.0)
    return bool(difference.max() <= TOLERANCE * scale.max() + 1e-6) if wanted.numel() else True


def run(model: onnx.ModelProto, call: Call) -> list[np.ndarray] | None:
    """Returns the outputs of a graph for the example inputs. If no evaluator can run the graph, warns and returns None."""
    return _run(model, dict(zip(_graph.names(model.graph.input), _feeds(model, call), strict=True)))


def _feeds(model: onnx.ModelProto, call: Call) -> list[np.ndarray]:
    values = [tensor.detach().cpu() for tensor in call.tensors()]
    if len(values) != len(model.graph.input):
        raise ExportError(
            f"the module has {len(values)} tensors as inputs, the exported graph {len(model.graph.input)}: "
            f"{', '.join(_graph.names(model.graph.input))}. Omit arguments that forward does not use."
        )
    return [(value.float() if value.dtype == torch.bfloat16 else value).numpy() for value in values]


def _run(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray] | None:
    """Returns the outputs. If no evaluator can run the graph, warns and returns None."""
    failure: Exception | None = None
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        # With several threads, ScatterND and ScatterElements with reduction="add" lose updates of equal indices.
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except ImportError:
        pass
    except Exception as error:
        failure = error
    try:
        return onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    except Exception as error:
        warnings.warn(
            f"the exported file was not verified, because no evaluator could run it: {failure or error}",
            stacklevel=2,
        )
        return None


def _without_dropout(model: onnx.ModelProto) -> onnx.ModelProto:
    """Disables dropout in a copy of a model, which is changed in place."""
    for node in _graph.all_nodes(model.graph):
        if node.op_type == "Dropout":
            del node.input[1:]
    return model


class WithoutDropout(TorchFunctionMode):
    """Disables dropout: dropout calls return their input, attention and recurrent layers use probability 0."""

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in DROPOUTS:
            return args[0] if args else kwargs["input"]
        if func is F.scaled_dot_product_attention:
            args = (*args[:4], 0.0, *args[5:]) if len(args) > 4 else args
            kwargs = {key: 0.0 if key == "dropout_p" else value for key, value in kwargs.items()}
        elif func is F.multi_head_attention_forward:
            bound = inspect.signature(func).bind(*args, **kwargs)
            bound.arguments["dropout_p"] = 0.0
            args, kwargs = bound.args, bound.kwargs
        elif func in RECURRENT:
            position = next(index for index, value in enumerate(args) if type(value) is bool) + 2
            args = (*args[:position], 0.0, *args[position + 1 :])
        return func(*args, **kwargs)
