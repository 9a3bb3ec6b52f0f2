"""``mtc.plan`` and ``mtc.compile``: the compiler's commands as functions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtc import _tool
from mtc.errors import CompileError


@dataclass(frozen=True)
class Plan:
    """The memory plan of a training program.

    Attributes:
        peak_bytes: Peak memory of the program.
        floor_bytes: A lower bound of the peak with these flags.
        fits: Whether the peak is within the budget; ``True`` without a budget.
        categories: Bytes at the peak by kind, such as ``"parameters"`` and ``"activations"``.
        peak_at: Name of the model's node at the peak.
        details: The complete output of ``mtc plan --json``.
    """

    peak_bytes: int
    floor_bytes: int
    fits: bool
    categories: Mapping[str, int]
    peak_at: str
    details: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Library:
    """A compiled library, for :class:`mtc.Trainer`.

    Attributes:
        path: The shared library. Its initial weights are in the same folder.
        header: The C header of the library.
        plan: The memory plan of the library.
    """

    path: Path
    header: Path
    plan: Plan


def _plan(output: Mapping[str, Any]) -> Plan:
    return Plan(
        peak_bytes=output["peak_bytes"],
        floor_bytes=output["floor_bytes"],
        fits=output.get("fits", True),
        categories=output["categories"],
        peak_at=output.get("peak_at", ""),
        details=output,
    )


def _arguments(
    command: str, model: str | os.PathLike[str], dims: Mapping[str, int | Sequence[int]] | None, options: Mapping[str, Any]
) -> list[str]:
    path = os.fspath(model)
    # With weights of samples, each loss can train on a smaller last batch.
    return [command, path, *_tool.flags({"dim": dims or {}, "loss_weights": "auto", **options})]


def plan(model: str | os.PathLike[str], *, dims: Mapping[str, int | Sequence[int]] | None = None, **options: Any) -> Plan:
    """Plans the memory of training without compiling or reading weights.

    Args:
        model: The ONNX file.

    Keyword Args:
        dims: Sizes of symbolic dimensions, as in ``{"batch": 32}``. Lists such as ``{"batch": 8, "sequence": [64, 128]}`` are compiled
            to a shape for each size; a batch uses the smallest shape that holds it.
        **options: Flags of ``mtc plan`` with ``_`` in place of ``-``: ``loss="cross-entropy"``, ``memory="12GiB"``,
            ``grad_norm=True``, ``freeze=["encoder.*"]``. ``loss_weights`` is ``"auto"`` by default, so that batches of every loss
            may have fewer samples.

    Returns:
        The plan. A plan that exceeds the budget has ``fits=False``.

    Raises:
        CompileError: If the model or a flag is invalid. The message is that of the compiler.
    """
    output, messages = _tool.run(_arguments("plan", model, dims, options))
    if "peak_bytes" not in output:
        raise CompileError("\n".join(messages))
    return _plan(output)


def compile(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    dims: Mapping[str, int | Sequence[int]] | None = None,
    **options: Any,
) -> Library:
    """Compiles a model into a training library.

    Args:
        model: The ONNX file.
        output: The library, as ``folder/name`` for ``folder/libname.so``, ``folder/name.h`` and
            ``folder/name.weights.safetensors``. Default: the model's path without its extension.

    Keyword Args:
        dims: Sizes of symbolic dimensions, as in ``{"batch": 32}``. Lists such as ``{"batch": 8, "sequence": [64, 128]}`` are compiled
            to a shape for each size; a batch uses the smallest shape that holds it.
        **options: Flags of ``mtc compile`` with ``_`` in place of ``-``. See :func:`plan`.

    Returns:
        The library. The compiler's warnings are issued as Python warnings.

    Raises:
        CompileError: If the model cannot be compiled, or exceeds ``memory``. The message is that of the compiler.

    Example::

        >>> library = mtc.compile("digits.onnx", dims={"batch": 32}, lr=2e-3)
        >>> trainer = mtc.Trainer(library)
    """
    target = Path(output) if output is not None else Path(model).with_suffix("")
    target.parent.mkdir(parents=True, exist_ok=True)
    arguments = _arguments("compile", model, dims, {**options, "emit": "library"})
    result, messages = _tool.run([*arguments, "-o", os.fspath(target)])
    for message in messages:
        if message.startswith("mtc: warning: "):
            warnings.warn(message.removeprefix("mtc: warning: "), stacklevel=2)
    return Library(path=Path(result["library"]), header=Path(result["header"]), plan=_plan(result))


__all__: Sequence[str] = ["Library", "Plan", "compile", "plan"]
