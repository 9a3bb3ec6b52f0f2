"""Faster replacements of steps of PyTorch's ONNX exporter, with the same results.

The replaced steps are internals of PyTorch. The import of this module fails if the installed version of PyTorch lacks one of them; exports
then take longer.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch.onnx._internal.exporter import _fx_passes, _registration
from torch.onnx._internal.fx.passes import type_promotion

from mtc import _decompose, _translations

_infer_signature = _registration.OnnxDecompMeta.__post_init__
_from_torchlib = _registration.ONNXRegistry.from_torchlib.__func__
_decompose_whole = _fx_passes.decompose_with_registry
_Promotion = type_promotion._TypePromotionInterpreter


@contextlib.contextmanager
def faster() -> Iterator[None]:
    """Makes ``torch.onnx.export`` use the steps of this module, and the translations of :mod:`mtc._translations`."""
    with (
        mock.patch.object(_registration.ONNXRegistry, "from_torchlib", staticmethod(lambda opset_version: _registry(opset_version))),
        mock.patch.object(_fx_passes, "decompose_with_registry", _decomposed),
        mock.patch.object(_Promotion, "run_node", _promoted),
    ):
        yield


class _Registry(_registration.ONNXRegistry):
    """A registry that infers the signature of a translation when it is used. Most of the 1000 translations are never used."""

    def get_decomps(self, target: Any) -> list[Any]:
        found = []
        for meta in super().get_decomps(target):
            with contextlib.suppress(Exception):  # PyTorch leaves out translations whose signature cannot be inferred.
                _infer_signature(meta)
                found.append(meta)
        return found


@functools.lru_cache(maxsize=4)
def _registry(opset_version: int) -> _Registry:
    """Returns the registry, which PyTorch builds for each export."""
    with mock.patch.object(_registration.OnnxDecompMeta, "__post_init__", lambda self: None):
        registry = _from_torchlib(_Registry, opset_version)
    for operator, translation in _translations.table().items():
        registry.register_op(operator, translation)
    return registry


def _decomposed(program: torch.export.ExportedProgram, registry: Any) -> torch.export.ExportedProgram:
    try:
        found = _decompose.decomposed(program, registry)
    except (AttributeError, TypeError):  # Another version of PyTorch has other internals.
        found = None
    return found or _decompose_whole(program, registry)


def _promoted(interpreter: Any, node: torch.fx.Node) -> Any:
    """Promotes types of a node's operands. PyTorch then runs each node, although only promoted ones have a new value."""
    with interpreter._set_current_node(node):
        if rule := type_promotion.get_type_promotion_rule(node, interpreter.type_promotion_table):
            interpreter._maybe_promote_node(node, rule)
    is_known = node.op == "call_function" and node.meta.get("val") is not None
    return node.meta["val"] if is_known else torch.fx.Interpreter.run_node(interpreter, node)
