"""Fourier transforms of complex numbers, which are pairs of real tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mtc._complex import RULES, Pair, joined, pair_of, rule, split

NONE, BY_ROOT, BY_SIZE = 0, 1, 2  # ATen's normalizations of Fourier transforms


def _resized(x: Any, dim: int, size: int) -> Any:
    """Returns the tensor with an axis trimmed or padded with zeros to a size."""
    if isinstance(x, Pair):
        return Pair(_resized(x.re, dim, size), _resized(x.im, dim, size))
    if x.shape[dim] >= size:
        return x.narrow(dim, 0, size) if x.shape[dim] > size else x
    padding = [0, 0] * (x.ndim - 1 - dim % x.ndim) + [0, size - x.shape[dim]]
    return torch.nn.functional.pad(x, padding)


def _normalization(norm: str | None, inverse: bool) -> int:
    if norm == "ortho":
        return BY_ROOT
    return BY_SIZE if (norm == "forward") != inverse else NONE


def _transform(x: Any, dims: list[int], normalization: int, forward: bool) -> Pair:
    """Returns the transform of complex numbers along several axes, computed one axis at a time."""
    z = pair_of(x)
    for dim in dims:
        z = split(torch._fft_c2c(torch.view_as_complex(joined(z)), [dim], normalization, forward))
    return z


def _sizes(x: Any, sizes: list[int] | None, dim: list[int] | None) -> tuple[list[int], list[int]]:
    """Returns the axes of a transform of several axes, and their sizes."""
    rank = len(x.shape)
    if dim is None:
        dim = list(range(rank)) if sizes is None else list(range(rank - len(sizes), rank))
    dim = [axis % rank for axis in ([dim] if isinstance(dim, int) else dim)]
    return dim, [x.shape[axis] if sizes is None or sizes[i] == -1 else sizes[i] for i, axis in enumerate(dim)]


def _fft(x: Any, sizes: list[int] | None, dim: list[int] | None, norm: str | None, inverse: bool) -> Pair:
    dims, sizes = _sizes(x, sizes, dim)
    for axis, size in zip(dims, sizes, strict=True):
        x = _resized(x, axis, size)
    return _transform(x, dims, _normalization(norm, inverse), not inverse)


def _rfft(x: Tensor, sizes: list[int] | None, dim: list[int] | None, norm: str | None) -> Pair:
    dims, sizes = _sizes(x, sizes, dim)
    for axis, size in zip(dims, sizes, strict=True):
        x = _resized(x, axis, size)
    normalization = _normalization(norm, False)
    return _transform(split(torch._fft_r2c(x, [dims[-1]], normalization, True)), dims[:-1], normalization, True)


def _irfft(x: Any, sizes: list[int] | None, dim: list[int] | None, norm: str | None) -> Tensor:
    dims, found = _sizes(x, sizes, dim)
    last = 2 * (x.shape[dims[-1]] - 1) if sizes is None or sizes[-1] == -1 else sizes[-1]
    for axis, size in zip(dims, [*found[:-1], last // 2 + 1], strict=True):
        x = _resized(x, axis, size)
    normalization = _normalization(norm, True)
    z = _transform(x, dims[:-1], normalization, False)
    return torch._fft_c2r(torch.view_as_complex(joined(z)), [dims[-1]], normalization, last)


def _one(function: Callable[..., Any], *more: Any) -> Callable[..., Any]:
    """Returns a transform of one axis."""
    return lambda x, n=None, dim=-1, norm=None: function(x, None if n is None else [n], [dim], norm, *more)


def _several(function: Callable[..., Any], default: Any, *more: Any) -> Callable[..., Any]:
    """Returns a transform of several axes."""
    return lambda x, s=None, dim=default, norm=None: function(x, s, dim, norm, *more)


for _name, _function, _more in (
    ("fft", _fft, (False,)),
    ("ifft", _fft, (True,)),
    ("rfft", _rfft, ()),
    ("irfft", _irfft, ()),
):
    RULES[f"fft_{_name}"] = _one(_function, *_more)
    RULES[f"fft_{_name}2"] = _several(_function, (-2, -1), *_more)
    RULES[f"fft_{_name}n"] = _several(_function, None, *_more)


@rule("stft")
def _stft(
    x, n_fft, hop_length=None, win_length=None, window=None, *args, center=None, pad_mode=None, normalized=False, onesided=None,
    return_complex=None, align_to_window=None,
):  # fmt: skip
    """Computes the short-time Fourier transform: the signal is cut into frames, which are multiplied by the window and transformed."""
    if args and isinstance(args[0], bool) and center is None and pad_mode is None:  # overloads with positional arguments
        rest = list(args)
        if len(rest) > 1 and isinstance(rest[1], str):
            center, pad_mode, *rest = rest
        normalized, onesided, return_complex = (*rest, *(normalized, onesided, return_complex)[len(rest) :])[:3]
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    if center:
        half = n_fft // 2
        x = torch.nn.functional.pad(x[None] if x.ndim == 1 else x[:, None], (half, half), mode=pad_mode or "reflect").squeeze(-2)
    frames = x.unfold(-1, n_fft, hop)
    if window is not None or width < n_fft:
        left = (n_fft - width) // 2
        window = torch.ones(width, dtype=x.dtype) if window is None else window
        frames = frames * torch.nn.functional.pad(window, (left, n_fft - width - left))
    normalization = BY_ROOT if normalized else NONE
    one_sided = onesided is not False
    z = split(torch._fft_r2c(frames, [frames.ndim - 1], normalization, one_sided))
    z = Pair(z.re.transpose(-1, -2), z.im.transpose(-1, -2))
    return z if return_complex else joined(z)
