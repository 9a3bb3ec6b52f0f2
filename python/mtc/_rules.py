"""Rules that compute ATen operators by operators that ONNX has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from mtc.errors import ExportError

RULES: dict[str, Callable[..., Any]] = {}


CONDITIONS: dict[str, Callable[[torch.fx.Node], bool]] = {}


def rule(*targets: str, when: Callable[[torch.fx.Node], bool] | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that replaces the ATen operators named ``targets``. The function has the operators' arguments.

    The function returns NotImplemented for arguments that need no replacement. A program is rewritten only if ``when`` holds for one of its
    nodes.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(targets, function))
        CONDITIONS.update(dict.fromkeys(targets, when) if when else {})
        return function

    return register


def needs_rule(node: torch.fx.Node) -> bool:
    """Returns whether a node's operator must be replaced."""
    name = name_of(node.target)
    return node.op == "call_function" and name in RULES and (name not in CONDITIONS or CONDITIONS[name](node))


def static(size: Any, what: str) -> int:
    """Returns a size that must not be symbolic."""
    if not isinstance(size, int):
        raise ExportError(f"{what} is dynamic; expected a constant. Pass dynamic_batch=False, or omit it in dynamic_axes.")
    return size


def name_of(target: Any) -> str:
    """Returns the name of an operator of a program, without its overload."""
    return getattr(target, "_opname", getattr(target, "__name__", str(target)))
