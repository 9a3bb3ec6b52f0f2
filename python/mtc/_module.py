"""Facts of a module that an ONNX graph cannot represent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import onnx
import torch
from torch import Tensor, nn

from mtc import _graph, _pretrained
from mtc.errors import ExportError
from mtc.facts import Buffer, ModuleFacts, Parameter, PretrainedTensor

_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def canonical_names(module: nn.Module) -> dict[str, str]:
    """Maps each name of a parameter or buffer to the first name of the same tensor.

    Tied parameters, and buffers that submodules share, have several names.
    """
    first: dict[int, str] = {}
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {name: first.setdefault(id(tensor), name) for name, tensor in named}


def tensors_by_name(module: nn.Module) -> dict[str, Tensor]:
    """Maps canonical names to parameters and buffers."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def all_names(module: nn.Module) -> dict[str, list[str]]:
    """Maps canonical names to all names of the tensor."""
    names: dict[str, list[str]] = {}
    for alias, name in canonical_names(module).items():
        names.setdefault(name, []).append(alias)
    return names


def parameters(
    module: nn.Module, updated: set[str], pretrained: Mapping[str, tuple[PretrainedTensor, ...]]
) -> tuple[Parameter, ...]:
    """Returns the facts of the module's parameters in order, without those that forward passes update.

    Complex parameters have the shape and type of their pairs of real numbers.
    """
    names = all_names(module)
    return tuple(
        Parameter(
            name=name,
            names=tuple(names[name]),
            shape=tuple(_graph.real(parameter.detach()).shape),
            dtype=_dtype(_graph.real(parameter.detach())),
            requires_grad=parameter.requires_grad,
            module=_class_name(module.get_submodule(name.rpartition(".")[0])),
            pretrained=() if parameter.is_complex() else pretrained.get(name, ()),
        )
        for name, parameter in module.named_parameters()
        if _is_trainable(parameter) and name not in updated
    )


def _is_trainable(parameter: Tensor) -> bool:
    return parameter.is_floating_point() or parameter.is_complex()


def buffers(
    module: nn.Module,
    in_graph: set[str],
    updated: set[str],
    updates: Mapping[str, str],
    pretrained: Mapping[str, tuple[PretrainedTensor, ...]],
) -> tuple[Buffer, ...]:
    """Returns the facts of the module's buffers, with values unless the buffer is an initializer of the graph.

    These facts include integer parameters, and parameters that forward passes update, such as running statistics of Keras and averages of
    weights.
    """
    persistent = set(module.state_dict().keys())
    named = [(name, p) for name, p in module.named_parameters() if name in updated or not _is_trainable(p)]
    return tuple(
        Buffer(
            name=name,
            shape=tuple(buffer.shape),
            dtype=_dtype(buffer),
            persistent=name in persistent,
            value=None if name in in_graph or buffer.is_complex() else tuple(buffer.detach().flatten().tolist()),
            update=updates.get(name),
            pretrained=pretrained.get(name, ()),
        )
        for name, buffer in (*named, *module.named_buffers())
    )


def padding_rows(module: nn.Module) -> dict[str, int]:
    """Maps the weights of embeddings with a ``padding_idx`` to that row.

    Raises:
        ExportError: If two embeddings share a weight and differ in ``padding_idx``.
    """
    canonical = canonical_names(module)
    rows: dict[str, int | None] = {}
    for path, submodule in module.named_modules(remove_duplicate=False):
        if not isinstance(submodule, nn.Embedding | nn.EmbeddingBag):
            continue
        name = canonical.get(f"{path}.weight" if path else "weight")
        if name is None:
            continue  # A parametrization computes the weight.
        if rows.setdefault(name, submodule.padding_idx) != submodule.padding_idx:
            raise ExportError(
                f"parameter '{name}': two embeddings share it with padding_idx={rows[name]} and "
                f"padding_idx={submodule.padding_idx}; expected one padding_idx. Give both the same."
            )
    return {name: row for name, row in rows.items() if row is not None}


def facts(
    module: nn.Module, model: onnx.ModelProto, statistics: set[str], updates: Mapping[str, str]
) -> ModuleFacts:
    """Returns the facts of a module in its current mode.

    Args:
        module: The module.
        model: Its exported graph.
        statistics: The names of tensors that batch norms update.
        updates: Maps other tensors that forward passes update to the graph's outputs with their new values.
    """
    in_graph = {tensor.name for tensor in model.graph.initializer}
    updated = statistics | set(updates)
    pretrained = _pretrained.tensors(module, all_names(module))
    return ModuleFacts(
        parameters=parameters(module, updated, pretrained),
        buffers=buffers(module, in_graph, updated, updates, pretrained),
        padding_idx=padding_rows(module),
        stops=_graph.stops(model.graph),
        mode="train" if module.training else "eval",
    )


def check(module: nn.Module) -> None:
    """Raises ExportError if a submodule's training behavior cannot be exported; the message names the first such module."""
    for path, submodule in module.named_modules():
        where = f"module '{path}' ({_class_name(submodule)})"
        if isinstance(submodule, torch.jit.ScriptModule):
            raise ExportError(f"{where}: a ScriptModule cannot be exported. Export the original torch.nn.Module.")
        if isinstance(submodule, nn.modules.batchnorm._BatchNorm) and submodule.training:
            if submodule.track_running_stats and submodule.momentum is None:
                raise ExportError(
                    f"{where}: momentum=None averages over all batches, which ONNX cannot express. Set momentum to a number."
                )
        if isinstance(submodule, nn.Embedding | nn.EmbeddingBag) and submodule.max_norm is not None:
            raise ExportError(
                f"{where}: max_norm={submodule.max_norm} renormalizes the weight in each forward pass, which ONNX cannot "
                "express. Set max_norm=None."
            )
        if isinstance(submodule, nn.Embedding | nn.EmbeddingBag) and submodule.scale_grad_by_freq:
            raise ExportError(
                f"{where}: scale_grad_by_freq=True: ONNX has no lookup that scales gradients by frequency. Create the "
                "module with scale_grad_by_freq=False."
            )
    for name, parameter in module.named_parameters():
        if isinstance(parameter, nn.parameter.UninitializedParameter):
            raise ExportError(f"parameter '{name}': not initialized. Run the lazy module once before the export.")
        if not _is_trainable(parameter):
            continue
        if parameter.dtype not in (*_FLOATS, torch.complex64, torch.complex128):
            raise ExportError(f"parameter '{name}': element type {_dtype(parameter)} cannot be trained; use float32")


@contextmanager
def in_mode(module: nn.Module, train: bool) -> Iterator[None]:
    """Switches the module to training or evaluation mode, and restores all modes afterwards.

    If the module is already in training mode, submodules keep their modes, such as frozen batch norms.
    """
    modes = [(submodule, submodule.training) for submodule in module.modules()]
    if not (train and module.training):
        module.train(train)
    try:
        yield
    finally:
        for submodule, training in modes:
            submodule.training = training


def state(module: nn.Module) -> dict[str, Tensor]:
    """Returns the tensors that a forward pass may update: buffers and frozen parameters."""
    frozen = {name: parameter for name, parameter in module.named_parameters() if not parameter.requires_grad}
    return {**frozen, **dict(module.named_buffers())}


@contextmanager
def state_kept(module: nn.Module) -> Iterator[None]:
    """Restores buffers and frozen parameters afterwards, since forward passes in training mode may change or replace them."""
    saved = [(tensor, tensor.detach().clone()) for tensor in state(module).values()]
    owned = [(owner, dict(owner._buffers)) for owner in module.modules()]
    try:
        yield
    finally:
        for owner, buffers in owned:
            owner._buffers.update(buffers)
        with torch.no_grad():
            for tensor, value in saved:
                tensor.copy_(value)


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _class_name(module: nn.Module) -> str:
    """Returns the public name of the class: ``torch.nn.Linear`` for ``torch.nn.modules.linear.Linear``."""
    kind = type(module)
    package = "torch.nn" if kind.__module__.startswith("torch.nn.modules.") else kind.__module__
    return f"{package}.{kind.__qualname__}"
