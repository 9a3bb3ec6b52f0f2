"""Keras layers on PyTorch whose training form PyTorch's exporters would take apart."""

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
    """Lets batch norms of Keras call PyTorch's, so that their moving averages are part of the exported operator.

    Lets a Keras model compute in the mode that it has as a PyTorch module, as ``fit`` and ``predict`` call it, unless the
    arguments have a mode: Keras computes in inference mode otherwise. Does nothing for modules without Keras layers. Batch
    norms with masks or renormalization stay as they are.
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
    """Returns the batch norms of Keras; layers of models are no submodules."""
    models = [submodule for submodule in module.modules() if isinstance(submodule, keras.layers.Layer)]
    layers = {id(layer): layer for model in models for layer in model._flatten_layers()}
    return [layer for layer in layers.values() if isinstance(layer, keras.layers.BatchNormalization)]


def _call_in_mode(model: Any, plain: Callable, *args: Any, **kwargs: Any) -> Any:
    """Computes a model of Keras in its mode as a PyTorch module; ``plain`` is its own method."""
    model._get_call_context().set_value("training", model.training)  # of layers that the method calls without a mode
    if model._call_has_training_arg:
        kwargs["training"] = model.training
    return plain(*args, **kwargs)


def _call(layer: Any, plain: Callable, inputs: Tensor, training: bool | None = None, mask: Any = None) -> Tensor:
    """Computes a batch norm of Keras, by PyTorch's in training; ``plain`` is the layer's own method."""
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
