"""Rewrites a traced program by :mod:`mtc._rules`, with pairs of real tensors in place of complex ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from mtc import _complex, _fourier, _linalg, _recurrent, _scans  # noqa: F401  (their rules register themselves)
from mtc._rules import RULES, name_of, needs_rule
from mtc.errors import ExportError


def is_needed(program: torch.export.ExportedProgram) -> bool:
    """Returns whether a program has operators with rules, or complex numbers."""
    nodes = [
        node
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
    ]
    values = [value for node in nodes for value in pytree.tree_leaves(node.meta.get("val"))]
    return any(map(needs_rule, nodes)) or any(
        isinstance(value, Tensor) and value.is_complex() for value in values
    )


class Rewritten(nn.Module):
    """A program whose operators are replaced by their rules. Its tensors have the program's names with ``module.`` before them.

    Args:
        program: The program.
        leaves: Its arguments, whose tensors become the arguments of this module.
    """

    def __init__(self, program: torch.export.ExportedProgram, leaves: list[Any]) -> None:
        super().__init__()
        self.module = program.module()
        self.leaves = [None if isinstance(leaf, Tensor) else [leaf] for leaf in leaves]

    def forward(self, *tensors: Tensor) -> Any:
        given = iter(tensors)
        leaves = [next(given) if leaf is None else leaf[0] for leaf in self.leaves]
        result = _Interpreter(self.module).run(*leaves, enable_io_processing=False)
        return self.module.graph.process_outputs(result)


class _Interpreter(torch.fx.Interpreter):
    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        return _complex.split(super().placeholder(target, args, kwargs))

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        return _complex.split(super().get_attr(target, args, kwargs))

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        rule = RULES.get(name_of(target))
        if rule and not any(isinstance(value, _complex.Pair) for value in args):
            result = rule(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return _complex.call(target, args, kwargs)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        result = super().output(target, args, kwargs)
        if any(isinstance(leaf, _complex.Pair) for leaf in pytree.tree_leaves(result)):
            raise ExportError("forward returns complex numbers, which ONNX lacks. Return torch.view_as_real of them.")
        return result
