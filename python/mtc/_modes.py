"""Detects modules whose evaluation mode differs from the inference form of the graph of their training mode."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mtc import _module, _weightless
from mtc._capture import Call

RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)
# Functions whose graph nodes have an inference form, with the arguments that only training uses.
MODAL: dict[Any, tuple[str, ...]] = {
    F.dropout: ("training", "inplace"),
    F.batch_norm: ("training",),
    F.multi_head_attention_forward: ("training", "dropout_p"),
}


def differ(module: nn.Module, call: Call) -> bool:
    """Returns whether forward passes in evaluation mode and in training mode call different functions.

    Dropout and batch norm do not count: ONNX's Dropout and BatchNormalization have an inference form. Warns if dropout is on in
    evaluation mode.
    """
    training = _recorded(module, call)
    with _module.in_mode(module, False):
        evaluation = _recorded(module, call)
    if evaluation.drops:
        warnings.warn(
            f"{type(module).__name__} calls dropout with training=True in evaluation mode; mtc computes --evaluate, --outputs and "
            "--export without dropout.",
            stacklevel=4,
        )
    return training.calls != evaluation.calls


def _recorded(module: nn.Module, call: Call) -> _Recorder:
    # If gradients were disabled, attention would call other, fused functions in evaluation mode.
    with torch.enable_grad(), torch.random.fork_rng(devices=[]), _weightless.running(module, call) as runnable:
        args, kwargs = runnable.cloned()
        with _module.state_kept(module), _Recorder(module) as recorder:
            module(*args, **kwargs)
    return recorder


class _Recorder(TorchFunctionMode):
    """Records the calls of functions of PyTorch, except for those that count the batches of batch norms.

    Attributes:
        calls: The called functions and their arguments; tensors are recorded as shapes and types.
        drops: Whether dropout was on.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        norms = [each for each in module.modules() if isinstance(each, nn.modules.batchnorm._NormBase)]
        self._counters = {id(norm.num_batches_tracked) for norm in norms}
        self.calls: list[Any] = []
        self.drops = False

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is F.dropout:
            given = inspect.signature(func).bind(*args, **kwargs).arguments
            self.drops |= given.get("training", True) and given.get("p", 0.5) > 0
        if not (func is Tensor.add_ and id(args[0]) in self._counters):
            self.calls.append((func, *_described(*_without_mode(func, args, kwargs))))
        return func(*args, **kwargs)


def _without_mode(func: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Removes the arguments that only training uses."""
    if func in MODAL:
        arguments = dict(inspect.signature(func).bind(*args, **kwargs).arguments)
        return (), {name: value for name, value in arguments.items() if name not in MODAL[func]}
    if func is F.scaled_dot_product_attention:
        return args[:4] + args[5:], {name: value for name, value in kwargs.items() if name != "dropout_p"}
    if func in RECURRENT:
        position = next(index for index, value in enumerate(args) if type(value) is bool) + 2
        return args[:position] + args[position + 2 :], kwargs
    return args, kwargs


def _described(*arguments: Any) -> list[Any]:
    leaves, structure = pytree.tree_flatten(arguments)
    return [structure, *((tuple(leaf.shape), leaf.dtype) if isinstance(leaf, Tensor) else repr(leaf) for leaf in leaves)]
