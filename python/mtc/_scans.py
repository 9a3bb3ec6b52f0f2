"""Cumulative operators, and other operators whose translations to ONNX are missing or incomplete."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mtc._rules import name_of, rule, static

SMALL = 25  # maximum number of rows for which PyTorch's cdist subtracts rows instead of multiplying matrices


def _scanned(x: Tensor, dim: int, combine: Callable[[Tensor, Tensor], Tensor], neutral: float) -> Tensor:
    """Computes an inclusive scan in log2(n) steps (Hillis and Steele, 1986)."""
    size = static(x.shape[dim], "the size of a cumulative operator's axis") if x.ndim else 1
    step = 1
    while step < size:
        earlier = x.narrow(dim, 0, size - step)
        filler = torch.full_like(x.narrow(dim, 0, step), neutral)
        x = combine(x, torch.cat([filler, earlier], dim))
        step *= 2
    return x


@rule("cumprod")
def cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    x = x.to(dtype) if dtype else x if x.is_floating_point() else x.to(torch.int64)
    return _scanned(x, dim, torch.mul, 1)


@rule("logcumsumexp")
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """A finite number takes the place of minus infinity, because the difference of two infinities is NaN."""
    return _scanned(x, dim, torch.logaddexp, -1e30 if x.dtype != torch.float16 else -6e4)


def _cumulative_extremum(x: Tensor, dim: int, is_later: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Returns the extremum of all elements up to each element, and the index of the last of equal extrema, as PyTorch does."""
    size = static(x.shape[dim], "the size of a cumulative operator's axis")
    shape = [1] * x.ndim
    shape[dim] = size
    indices = torch.arange(size, device=x.device).reshape(shape).expand(x.shape)
    values, step = x, 1
    while step < size:
        keep, earlier = values.narrow(dim, 0, step), values.narrow(dim, 0, size - step)
        later = values.narrow(dim, step, size - step)
        chosen = is_later(later, earlier)
        kept = indices.narrow(dim, 0, step)
        moved = torch.where(chosen, indices.narrow(dim, step, size - step), indices.narrow(dim, 0, size - step))
        values = torch.cat([keep, torch.where(chosen, later, earlier)], dim)
        indices = torch.cat([kept, moved], dim)
        step *= 2
    return values, indices


@rule("cummax")
def cummax(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _cumulative_extremum(x, dim, torch.ge)


@rule("cummin")
def cummin(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _cumulative_extremum(x, dim, torch.le)


@rule("fill_diagonal_")
def fill_diagonal_(x: Tensor, value: float, wrap: bool = False) -> Tensor:
    """PyTorch's decomposition writes to the memory of a strided view."""
    if wrap or x.ndim != 2:
        return NotImplemented
    on_diagonal = torch.arange(x.shape[0])[:, None] == torch.arange(x.shape[1])
    return x.copy_(torch.where(on_diagonal, torch.full_like(x, value), x))


def _writes_to_diagonal(node: torch.fx.Node) -> bool:
    return name_of(node.args[0].target) == "diagonal"


@rule("diagonal", when=lambda node: any(_writes_to_diagonal(user) and user.target in _WRITES for user in node.users))
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns the diagonal, and records its matrix for later writes to the diagonal."""
    result = torch.diagonal(x, offset, dim1, dim2)
    result.diagonal_of = x, offset, dim1, dim2
    return result


@rule("fill_", "copy_", when=_writes_to_diagonal)
def write(x: Tensor, value: float | Tensor, non_blocking: bool = False) -> Tensor:
    """Writes to a diagonal as a selection, since PyTorch's decomposition is not functional."""
    if not hasattr(x, "diagonal_of"):
        return NotImplemented
    matrix, offset, dim1, dim2 = x.diagonal_of
    values = torch.broadcast_to(torch.as_tensor(value, dtype=x.dtype), x.shape)
    written = torch.diag_embed(values, offset, dim1, dim2)
    if written.shape != matrix.shape:
        return NotImplemented
    mask = torch.diag_embed(torch.ones_like(values, dtype=torch.bool), offset, dim1, dim2)
    matrix.copy_(torch.where(mask, written, matrix))
    return x


_WRITES = (torch.ops.aten.fill_.Scalar, torch.ops.aten.fill_.Tensor, torch.ops.aten.copy_.default)


def _is_small(node: torch.fx.Node) -> bool:
    return _subtracts(*(argument.meta["val"] for argument in node.args[:2]), *node.args[2:3])


def _subtracts(a: Tensor, b: Tensor, p: float = 2.0) -> bool:
    return p != 2.0 or all(isinstance(x.shape[-2], int) and x.shape[-2] <= SMALL for x in (a, b))


@rule("cdist", when=_is_small)
def cdist(a: Tensor, b: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """Returns norms of differences. The gradient of the norm of two equal points is 0, as in PyTorch."""
    if not _subtracts(a, b, p):
        return NotImplemented
    return torch.linalg.vector_norm(a.unsqueeze(-2) - b.unsqueeze(-3), p, dim=-1)
