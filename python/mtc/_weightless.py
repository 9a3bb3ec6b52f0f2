"""Modules whose parameters have no memory: on the meta device, or made under ``FakeTensorMode``.

The export of such a module traces and runs it with fake tensors, which have shapes and types, but no elements. The file has no bytes of its
parameters. Buffers have values: ONNX stores them, and a ``state_dict`` lacks those that are not persistent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mtc.errors import ExportError

if TYPE_CHECKING:
    from mtc._capture import Call

LARGE = 1 << 20  # number of elements from which torch.empty allocates no memory in empty_weights
STATISTICS = {"running_mean": 0, "running_var": 1, "num_batches_tracked": 0}  # initial values of the buffers of PyTorch's norms
_register_parameter = nn.Module.register_parameter
_from_tensor = FakeTensorMode.from_tensor


def is_absent(tensor: Tensor) -> bool:
    """Returns whether a tensor has no elements in memory."""
    return tensor.is_meta or isinstance(tensor, FakeTensor)


def is_weightless(module: nn.Module) -> bool:
    """Returns whether a parameter of the module has no elements in memory."""
    return any(map(is_absent, module.parameters()))


def filled(inputs: Any) -> Any:
    """Returns example inputs with zeros in place of tensors without elements."""
    is_empty = lambda leaf: isinstance(leaf, Tensor) and is_absent(leaf)  # noqa: E731
    zeros = lambda leaf: torch.zeros(leaf.shape, dtype=leaf.dtype) if is_empty(leaf) else leaf  # noqa: E731
    return pytree.tree_map(zeros, inputs)


@contextlib.contextmanager
def empty_weights() -> Iterator[None]:
    """Creates modules whose parameters have no memory, and whose buffers have values.

    Within the context, parameters are on the meta device, which stores no elements, and buffers are on the CPU. :func:`mtc.export` writes such
    a module to a file without weights.

    Example::

        >>> with mtc.empty_weights():
        ...     model = LlamaForCausalLM(LlamaConfig())
        >>> mtc.export(model, {"input_ids": torch.ones(2, 16, dtype=torch.long)}, "llama.onnx")
    """

    def register(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        if parameter is not None and not is_absent(parameter):
            parameter = nn.Parameter(parameter.detach().to("meta"), parameter.requires_grad)
        _register_parameter(module, name, parameter)

    with mock.patch.object(nn.Module, "register_parameter", register), _LargeOnMeta():
        yield


class _LargeOnMeta(TorchFunctionMode):
    """Makes ``torch.empty`` return large tensors without memory: modules make parameters by it, before they register them."""

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.empty and kwargs.get("out") is None:
            with torch.device("meta"):
                result = func(*args, **kwargs | {"device": "meta"})
            if result.numel() >= LARGE:
                return result
        return func(*args, **kwargs)


@contextlib.contextmanager
def with_buffers(module: nn.Module) -> Iterator[None]:
    """Gives a module without weights the values of its buffers, and parameters on the meta device; restores both afterwards.

    Raises:
        ExportError: If the value of a buffer is unknown.
    """
    known = _computed_buffers(module)
    owners = [(owner, owner._parameters.copy(), owner._buffers.copy()) for owner in module.modules()]
    meta: dict[int, nn.Parameter] = {}
    try:
        for path, owner in module.named_modules():
            for name, parameter in owner._parameters.items():
                if isinstance(parameter, FakeTensor):
                    empty = lambda of: torch.empty_strided(of.shape, of.stride(), dtype=of.dtype, device="meta")  # noqa: E731
                    if id(parameter) not in meta:
                        meta[id(parameter)] = nn.Parameter(empty(parameter), parameter.requires_grad)
                    owner._parameters[name] = meta[id(parameter)]
            for name, buffer in owner._buffers.items():
                if buffer is not None and is_absent(buffer):
                    owner._buffers[name] = _value(owner, f"{path}.{name}" if path else name, buffer, known)
        yield
    finally:
        for owner, parameters, buffers in owners:
            owner._parameters.update(parameters)
            owner._buffers.update(buffers)


def _computed_buffers(module: nn.Module) -> dict[str, Tensor]:
    """Returns the buffers of a model of transformers, which are determined by its class and its configuration."""
    if not any(map(is_absent, module.buffers())) or not hasattr(module, "config") or not hasattr(type(module), "from_pretrained"):
        return {}
    with empty_weights(), torch.device("cpu"):
        return dict(type(module)(module.config).named_buffers())


def _value(owner: nn.Module, path: str, buffer: Tensor, known: dict[str, Tensor]) -> Tensor:
    """Returns the value of a buffer; a tensor on the meta device if a ``state_dict`` supplies it."""
    if path in known and (known[path].shape, known[path].dtype) == (buffer.shape, buffer.dtype):
        return known[path]
    name = path.rpartition(".")[2]
    if isinstance(owner, nn.modules.batchnorm._NormBase) and name in STATISTICS:
        return torch.full(buffer.shape, STATISTICS[name], dtype=buffer.dtype, device="cpu")
    if buffer.is_floating_point() and name not in owner._non_persistent_buffers_set:
        return torch.empty_strided(buffer.shape, buffer.stride(), dtype=buffer.dtype, device="meta")
    raise ExportError(
        f"buffer '{path}' of {type(owner).__name__}: is on the meta device, but the file must contain its value. Create the module in "
        "`with mtc.empty_weights():`, where only parameters are on the meta device."
    )


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Makes PyTorch trace tensors of the meta device as tensors of the CPU, so that they can be combined with other tensors."""

    def from_tensor(mode: FakeTensorMode, tensor: Tensor, **options: Any) -> Tensor:
        if not tensor.is_meta or isinstance(tensor, FakeTensor):
            return _from_tensor(mode, tensor, **options)
        fake = _from_tensor(mode, tensor, **options)
        fake.fake_device = torch.device("cpu")
        return fake

    with mock.patch.object(FakeTensorMode, "from_tensor", from_tensor):
        yield


@contextlib.contextmanager
def running(module: nn.Module, call: Call) -> Iterator[Call]:
    """Replaces the tensors of a module without weights by fake tensors. Yields the call with fake arguments.

    A module with weights is unchanged.
    """
    if not is_weightless(module):
        yield call
        return
    owners = [(owner, owner._parameters.copy(), owner._buffers.copy()) for owner in module.modules()]
    with tracing(), FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True) as mode, _values_unread(module):
        fake = lambda leaf: mode.from_tensor(leaf, static_shapes=True) if isinstance(leaf, Tensor) else leaf  # noqa: E731
        arguments, args, kwargs = pytree.tree_map(fake, (call.arguments, call.args, call.kwargs))
        try:
            for owner, parameters, buffers in owners:
                owner._parameters.update({name: fake(parameter) for name, parameter in parameters.items()})
                owner._buffers.update({name: fake(buffer) for name, buffer in buffers.items()})
            yield replace(call, arguments=arguments, args=args, kwargs=kwargs)
        finally:
            for owner, parameters, buffers in owners:
                owner._parameters.update(parameters)
                owner._buffers.update(buffers)


@contextlib.contextmanager
def _values_unread(module: nn.Module) -> Iterator[None]:
    try:
        yield
    except (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode) as error:
        raise ExportError(
            f"{type(module).__name__}: forward depends on the values of tensors, by int(), an if or the size of a result, but a module without "
            f"weights has none. Use torch.where, or export the module with weights. PyTorch: {str(error).partition(chr(10))[0]}"
        ) from error
