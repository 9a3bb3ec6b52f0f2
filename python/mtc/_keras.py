"""Support for Keras layers that PyTorch's exporters would decompose in training mode."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn


@contextlib.contextmanager
def traceable(module: nn.Module, has_mode: bool) -> Iterator[None]:
    """Redirects Keras batch norms to PyTorch's, so that the exported operator contains their moving averages.

    A Keras model runs in the mode that it has as a PyTorch module, unless an argument of the call specifies a mode. ``fit`` and ``predict``
    do the same. Without this, Keras would run it in inference mode. Modules without Keras layers, and batch norms with masks or
    renormalization, are not changed.
    """
    keras = sys.modules.get("keras")
    layers = _batch_norms(module, keras) if keras else []
    methods = [(layer, _call) for layer in layers]
    if keras and isinstance(module, keras.layers.Layer) and not has_mode:
        methods.append((module, _call_in_mode))
    layers = list({id(layer): layer for layer, _ in methods}.values())
    plain = [layer.__dict__.get("call") for layer in layers]  # Keras wraps the method of each layer.
    for layer, method in methods:
        layer.__dict__["call"] = functools.partial(method, layer, layer.call)
    try:
        yield
    finally:
        for layer, call in zip(layers, plain, strict=True):
            if call is None:
                del layer.__dict__["call"]
            else:
                layer.__dict__["call"] = call


def _batch_norms(module: nn.Module, keras: Any) -> list[Any]:
    """Returns the Keras batch norms. The layers of a Keras model are not submodules."""
    models = [submodule for submodule in module.modules() if isinstance(submodule, keras.layers.Layer)]
    layers = {id(layer): layer for model in models for layer in model._flatten_layers()}
    return [layer for layer in layers.values() if isinstance(layer, keras.layers.BatchNormalization)]


def _call_in_mode(model: Any, plain: Callable, *args: Any, **kwargs: Any) -> Any:
    """Calls a Keras model in its mode as a PyTorch module; ``plain`` is the original method."""
    model._get_call_context().set_value("training", model.training)  # for layers that are called without a mode
    if model._call_has_training_arg:
        kwargs["training"] = model.training
    return plain(*args, **kwargs)


def _call(layer: Any, plain: Callable, inputs: Tensor, training: bool | None = None, mask: Any = None) -> Tensor:
    """Calls a Keras batch norm, with PyTorch's operator in training; ``plain`` is the original method."""
    if not (training and layer.trainable) or mask is not None or layer.renorm or layer.synchronized:
        return plain(inputs, training=training, mask=mask)
    axis = layer.axis % inputs.ndim
    y = F.batch_norm(
        inputs.movedim(axis, 1),
        layer.moving_mean.value,
        layer.moving_variance.value,
        layer.gamma.value if layer.scale else None,
        layer.beta.value if layer.center else None,
        training=True,
        momentum=1 - layer.momentum,
        eps=layer.epsilon,
    )
    return y.movedim(1, axis)
