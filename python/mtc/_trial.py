"""Facts of a module that are observed in a forward pass."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mtc import _capture, _module, _stops, _weightless
from mtc._capture import Call
from mtc.errors import ExportError


@dataclass(frozen=True)
class Trial:
    """Facts that are observed in a forward pass in the mode of the export.

    Attributes:
        outputs: The names and shapes of the outputs.
        statistics: The names of tensors that batch norms update.
        updates: The names and shapes of other tensors that ``forward`` updates.
        stops: Whether ``forward`` stops a gradient.
        custom_backward: Whether a ``torch.autograd.Function`` ran.
    """

    outputs: dict[str, tuple[int, ...]]
    statistics: set[str]
    updates: dict[str, tuple[int, ...]]
    stops: bool
    custom_backward: bool

    def next_values(self) -> dict[str, str]:
        """Maps the updated tensors to the graph's outputs with their new values."""
        return {name: f"{name}.next" for name in self.updates}


def run(module: nn.Module, call: Call) -> Trial:
    """Runs the module once.

    Raises:
        ExportError: If the forward pass updates tensors in a way that ONNX cannot express.
    """
    with _weightless.running(module, call) as runnable:
        return _run(module, runnable)


def _run(module: nn.Module, call: Call) -> Trial:
    state = _module.state(module)
    versions = {name: tensor._version for name, tensor in _module.tensors_by_name(module).items()}
    before = {name: tensor.detach().clone() for name, tensor in state.items()}
    parameters = {name: parameter.detach().clone() for name, parameter in module.named_parameters() if name not in state}
    args, kwargs = call.cloned()
    with _module.state_kept(module), _stops.watched(module) as modes:
        with torch.enable_grad():
            outputs = _capture.flat_outputs(module(*args, **kwargs))
        after = before | _module.tensors_by_name(module)
        changed = {name for name, value in before.items() if _is_changed(after[name], value, state[name], versions[name])}
    if not outputs:
        raise ExportError("the module returns no tensor")
    mode = modes[-1]
    statistics = {name for name in changed if _stops.storage(state[name]) in mode.statistics}
    updates = {name: tuple(after[name].shape) for name in mode.updated if name not in statistics}
    for name in sorted(changed):
        owner = module.get_submodule(name.rpartition(".")[0])
        if after[name].shape != before[name].shape:
            raise ExportError(
                f"'{name}' of {type(owner).__name__}: forward changes its shape from {list(before[name].shape)} to "
                f"{list(after[name].shape)}, which a training program cannot. Give it its final shape, or pass train=False."
            )
        if name not in updates and name not in statistics and not isinstance(owner, nn.modules.batchnorm._BatchNorm):
            raise ExportError(
                f"'{name}' of {type(owner).__name__}: forward updates it, and the exported graph would not. Pass "
                "train=False, or replace the submodule by one whose forward leaves its tensors as they are."
            )
    for name, value in parameters.items():
        parameter = module.get_parameter(name)
        if _is_changed(parameter, value, parameter, versions[name]):
            raise ExportError(f"parameter '{name}': forward modifies it")
    shapes = {name: tuple(value.shape) for name, value in outputs.items()}
    return Trial(shapes, statistics, updates, mode.count > 0, mode.custom_backward)


def _is_changed(tensor: Tensor, before: Tensor, same: Tensor, version: int) -> bool:
    """Returns whether a tensor differs from its value before the forward pass. A tensor without elements differs if it is not the same one,
    or if it was written."""
    if tensor.shape != before.shape:
        return True
    if _weightless.is_absent(tensor):
        return tensor is not same or tensor._version != version
    return not torch.equal(tensor, before)
