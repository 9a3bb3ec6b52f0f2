"""Represents the gradient stops of a forward pass, and its updates of buffers, by operators that tracing keeps.

ONNX differentiates through every operator, so the graph must mark where PyTorch does not: at tensors without ``requires_grad``
that a trained tensor determines, however they were made (``detach``, ``.data``, ``no_grad``, ``requires_grad_(False)``). Tracing
loses ``requires_grad``. :class:`Stops` therefore inserts the operator ``mtc::stop`` where such a tensor is used, and ``mtc::update``
where a buffer gets a new value.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mtc import _module
from mtc.errors import ExportError

IN_PLACE = {f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")}
IN_PLACE |= {"__setitem__"}
NO_UPDATE = ("requires_grad_", "detach_", "retain_grad_", "share_memory_")
LIKE = ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like",
        "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor")  # fmt: skip
DATA, REQUIRES_GRAD = torch.Tensor.data, torch.Tensor.requires_grad


@torch.library.custom_op("mtc::stop", mutates_args=())
def stop(x: Tensor) -> Tensor:
    """Returns a copy of ``x``, through which no gradient flows."""
    return x.clone()


@torch.library.custom_op("mtc::update", mutates_args=())
def update(x: Tensor, buffer: str) -> Tensor:
    """Returns a copy of ``x``, which becomes the value of a buffer. Inference keeps the buffer's previous value."""
    return x.clone()


stop.register_fake(torch.empty_like)
update.register_fake(lambda x, buffer: torch.empty_like(x))
stop.register_autograd(lambda context, gradient: None)
update.register_autograd(lambda context, gradient: (gradient, None))


def passed_through(value: Tensor, source: Tensor) -> Tensor:
    """Returns ``value``, with the gradient of ``source``.

    ``source - stop(source)`` is 0 and has the derivative 1; elements of ``source`` that are not finite are replaced by the constant 0.
    """
    zero = source - stop(source)
    return stop(value) + torch.where(zero == zero, zero, 0.0)


def _fake_quantize(
    input: Tensor,  # noqa: A002
    scale: Tensor | float,
    zero_point: Tensor | int,
    quant_min: int,
    quant_max: int,
) -> Tensor:
    """Computes ``torch.fake_quantize_per_tensor_affine``: the gradient is passed through where the input is in range."""
    with _without_gradients():
        inverse = 1 / scale
        codes = torch.round(input * inverse) + zero_point
        value = (codes.clamp(quant_min, quant_max) - zero_point) * scale
        inside = (codes >= quant_min) & (codes <= quant_max)
    return passed_through(value, torch.where(inside, input, 0.0))


def _fake_quantize_per_channel(
    input: Tensor,  # noqa: A002
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> Tensor:
    """Computes ``torch.fake_quantize_per_channel_affine``."""
    shape = [-1 if index == axis % input.ndim else 1 for index in range(input.ndim)]
    with _without_gradients():
        scale, zero_point = scale.reshape(shape), zero_point.reshape(shape)
    return _fake_quantize(input, scale, zero_point, quant_min, quant_max)


FAKE_QUANTIZE = {
    "fake_quantize_per_tensor_affine": _fake_quantize,
    "fake_quantize_per_channel_affine": _fake_quantize_per_channel,
}


class Stops(TorchFunctionMode):
    """Inserts ``mtc::stop`` and ``mtc::update`` into a forward pass of a module. The mode must be entered within the module's ``forward``.

    Attributes:
        count: The number of inserted stops.
        updated: The names of buffers and frozen parameters that get new values, in order; without statistics of batch norms.
        custom_backward: Whether a ``torch.autograd.Function`` with a custom backward pass ran.
        statistics: The storages of the running statistics of batch norms in training mode.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.count = 0
        self.updated: dict[str, None] = {}
        self.custom_backward = False
        self.statistics: set[int] = set()
        self._module = module
        self._derived: dict[int, Any] = {}  # storages that trained tensors determine; the value keeps the storage alive
        self._tracked: dict[int, list[weakref.ref[Tensor]]] = {}  # tensors with a gradient by storage
        self._state: dict[int, tuple[str, Tensor]] = {}
        self._trained: dict[int, str] = {}

    def __enter__(self) -> Stops:
        for name, parameter in self._module.named_parameters():
            if parameter.requires_grad:
                self._trained.setdefault(storage(parameter), name)
                self._derive(parameter)
        counters = _batch_counters(self._module)
        for name, tensor in _module.state(self._module).items():
            if name not in counters:
                self._state.setdefault(storage(tensor), (name, tensor))
        super().__enter__()
        return self

    def outputs(self, result: Any) -> Any:
        """Returns the result of ``forward`` with stops at tensors that have no gradient in PyTorch."""
        return pytree.tree_map(self._stopped, result)

    def assigned(self, owner: nn.Module, name: str, value: Any) -> Any:
        """Returns the value to assign to an attribute of a submodule: a marked one for a buffer."""
        if not isinstance(value, Tensor) or name not in owner.__dict__.get("_buffers", ()):
            return value
        path = next(path for path, module in self._module.named_modules() if module is owner)
        buffer = f"{path}.{name}" if path else name
        if buffer in _batch_counters(self._module):
            return value
        self.updated[buffer] = None
        marked = self._recorded(update(value, buffer), [value])
        self._state[storage(marked)] = buffer, marked
        return marked

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", str(func)).partition(".")[0]
        if func == DATA.__get__:
            func, name = torch.Tensor.detach, "detach"
        elif func == DATA.__set__:
            func, name = _replace, "copy_"
        elif func == REQUIRES_GRAD.__set__:
            name = "requires_grad_"
        elif name == "__get__" or func in (torch.ops.mtc.stop.default, torch.ops.mtc.update.default, stop, update):
            return func(*args, **kwargs)
        inputs = _tensors((args, kwargs))
        if func is torch.batch_norm and args[5]:
            self.statistics |= {storage(tensor) for tensor in args[3:5] if tensor is not None}
        if not torch.is_grad_enabled() and any(x.requires_grad for x in inputs) and _in_autograd_function():
            self.custom_backward = True
            return self._recorded(func(*args, **kwargs), inputs)
        if name in LIKE:
            return func(*args, **kwargs)
        if name == "requires_grad_":
            if self._is_stopped(args[0]) and storage(args[0]) not in self._trained:
                raise ExportError(
                    "forward starts a new gradient at a computed tensor (requires_grad_), which ONNX cannot express. Remove the call, "
                    "or compute the tensor outside the module and pass it as an input."
                )
            return func(*args, **kwargs)
        if name in FAKE_QUANTIZE:
            self.count += 1
            return self._recorded(FAKE_QUANTIZE[name](*args, **kwargs), inputs)
        if name in ("numpy", "__array__") and any(storage(x) in self._derived for x in inputs):
            raise ExportError(
                f"forward converts a tensor that a trained parameter determines to a NumPy array ({name}), which the graph would contain "
                "as a constant. Use operations of PyTorch."
            )
        targets = _targets(name, args, kwargs)
        if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
            kept = {id(target) for target in targets}
            for target in targets:
                if self._is_stopped(target) and not self._with_gradient(target):
                    target.copy_(self._stopped(target))
            args, kwargs = pytree.tree_map(lambda x: x if id(x) in kept else self._stopped(x), (args, kwargs))
        before = [(x, x.clone()) for target in targets for x in self._bypassed(target)]
        result = func(*args, **kwargs)
        for x, value in before:
            if any(target.requires_grad and target is not x for target in targets):
                raise ExportError(
                    f"forward modifies a tensor in place through detach() ({name}), which then has another gradient than its source. "
                    "Use the operation that returns a new tensor."
                )
            with _without_gradients():
                x.copy_(passed_through(x, value))
            self.count += 1
        for target in targets:
            self._updated(target)
        return self._recorded(result, [*inputs, *targets], targets)

    def _recorded(self, result: Any, inputs: list[Tensor], targets: list[Tensor] = []) -> Any:  # noqa: B006
        if any(x.requires_grad or storage(x) in self._derived for x in inputs):
            written = {storage(target) for target in targets}
            # Functions with several results, such as broadcast_tensors, return views of single operands.
            others = {storage(x) for x in inputs if not x.requires_grad} - set(self._derived) - written
            for tensor in (*_tensors(result), *targets):
                if storage(tensor) not in others:
                    self._derive(tensor)
        return result

    def _derive(self, tensor: Tensor) -> None:
        """Records that this tensor depends on a trained tensor. Integers have no gradient anyway."""
        if not _is_differentiable(tensor):
            return
        key = storage(tensor)
        self._derived.setdefault(key, _keep(tensor))
        if tensor.requires_grad:
            self._tracked.setdefault(key, []).append(weakref.ref(tensor))

    def _is_stopped(self, x: Any) -> bool:
        return isinstance(x, Tensor) and not x.requires_grad and _is_differentiable(x) and storage(x) in self._derived

    def _stopped(self, x: Any) -> Any:
        if not self._is_stopped(x):
            return x
        self.count += 1
        return stop(x)

    def _with_gradient(self, target: Tensor) -> list[Tensor]:
        """Returns the tensors with a gradient that share the target's memory, of which none is a view of another."""
        found: dict[int, Tensor] = {}
        for reference in self._tracked.get(storage(target), ()):
            tensor = reference()
            if tensor is not None and tensor.requires_grad:
                tensor = tensor if tensor._base is None else tensor._base
                found[id(tensor)] = tensor
        return [*found.values()]

    def _bypassed(self, target: Tensor) -> list[Tensor]:
        """Returns the tensors that an update changes without a record in PyTorch's autograd graph.

        Raises:
            ExportError: If this is a trained parameter.
        """
        if torch.is_grad_enabled() and target.requires_grad or not _is_differentiable(target):
            return []
        if name := self._trained.get(storage(target)):
            raise ExportError(
                f"parameter '{name}': forward modifies it in place, which a training step cannot express. Compute the modified value "
                "in forward without storing it, for example by torch.nn.utils.parametrize."
            )
        return [target] if target.requires_grad else self._with_gradient(target)

    def _updated(self, target: Tensor) -> None:
        if found := self._state.get(storage(target)):
            name, tensor = found
            self.updated[name] = None
            with _without_gradients():
                tensor.copy_(update(tensor, name))


@contextlib.contextmanager
def watched(module: nn.Module, updated: tuple[str, ...] | None = None) -> Iterator[list[Stops]]:
    """Makes each call of the module's ``forward`` insert stops and updates. Yields the list of the calls' modes.

    Args:
        module: The module.
        updated: Names of buffers and frozen parameters whose new values ``forward`` returns in addition: its result becomes a pair.
            Default: the result is unchanged.
    """
    modes: list[Stops] = []
    forward, own = module.forward, module.__dict__.get("forward")
    assign = nn.Module.__setattr__

    @functools.wraps(forward)
    def call(*args: Any, **kwargs: Any) -> Any:
        if modes and modes[-1] in torch.overrides._get_current_function_mode_stack():
            return forward(*args, **kwargs)
        mode = Stops(module)
        modes.append(mode)
        with _inside_functions(), _assigned(mode, assign), mode:
            result = forward(*args, **kwargs)
        result = mode.outputs(result)
        if updated is None:
            return result
        return result, [mode.outputs(_tensor(module, name)).clone() for name in updated]

    object.__setattr__(module, "forward", call)
    try:
        yield modes
    finally:
        object.__delattr__(module, "forward")
        if own is not None:
            object.__setattr__(module, "forward", own)


@contextlib.contextmanager
def reentrant_checkpoints_inlined() -> Iterator[None]:
    """Runs functions of ``torch.utils.checkpoint`` with ``use_reentrant=True`` without recomputing them in the backward pass."""

    def run(function: Any, preserve: bool, *args: Any) -> Any:
        # The result of a reentrant checkpoint has no gradient unless an argument has one.
        with contextlib.nullcontext() if any(x.requires_grad for x in _tensors(args)) else torch.no_grad():
            return function(*args)

    with mock.patch.object(torch.utils.checkpoint.CheckpointFunction, "apply", run):
        yield


@contextlib.contextmanager
def _inside_functions() -> Iterator[None]:
    """Makes modes intercept the operations inside of Python functions of PyTorch, and inside of checkpointed functions."""
    no = lambda *_: False  # noqa: E731
    with reentrant_checkpoints_inlined(), contextlib.ExitStack() as stack:
        for name in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"):
            stack.enter_context(mock.patch.object(F, name, no))
        yield


@contextlib.contextmanager
def _assigned(mode: Stops, assign: Any) -> Iterator[None]:
    def setattr_(owner: nn.Module, name: str, value: Any) -> None:
        assign(owner, name, mode.assigned(owner, name, value))

    with mock.patch.object(nn.Module, "__setattr__", setattr_):
        yield


def _replace(target: Tensor, value: Tensor) -> None:
    """Assigns ``target.data = value``."""
    if target.shape != value.shape or target.dtype != value.dtype:
        raise ExportError(
            f"forward assigns a tensor of shape {list(value.shape)} to .data of shape {list(target.shape)}; expected equal shapes and types"
        )
    with _without_gradients():
        target.copy_(value)


def _targets(name: str, args: tuple, kwargs: dict[str, Any]) -> list[Tensor]:
    """Returns the tensors that a function modifies."""
    found = _tensors(kwargs.get("out"))
    if name in IN_PLACE or (name.endswith("_") and not name.endswith("__") and name not in NO_UPDATE):
        first = args[0] if args else kwargs.get("input")
        found += _tensors(first if isinstance(first, Tensor | list | tuple) else None)
    return found


def _batch_counters(module: nn.Module) -> set[str]:
    """Returns the names of the counters of batch norms, which the compiler counts by itself."""
    norms = [path for path, owner in module.named_modules() if isinstance(owner, nn.modules.batchnorm._NormBase)]
    return {f"{path}.num_batches_tracked" if path else "num_batches_tracked" for path in norms}


def _tensor(module: nn.Module, name: str) -> Tensor:
    owner, _, attribute = name.rpartition(".")
    return getattr(module.get_submodule(owner), attribute)


def _without_gradients() -> contextlib.AbstractContextManager[Any]:
    """Disables gradients, if they are enabled; tracing records each change."""
    return torch.no_grad() if torch.is_grad_enabled() else contextlib.nullcontext()


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, Tensor)]


def _is_differentiable(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _keep(tensor: Tensor) -> Any:
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return tensor


def storage(tensor: Tensor) -> int:
    """Returns an identifier of the tensor's memory, which views share."""
    kept = _keep(tensor)
    return id(kept) if kept is tensor else kept._cdata


def _in_autograd_function() -> bool:
    """Returns whether the caller runs inside ``forward`` of a ``torch.autograd.Function``."""
    frame = sys._getframe()
    while frame is not None:
        if any(isinstance(value, torch.autograd.function.FunctionCtx) for value in frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False
