"""Complex numbers as pairs of real tensors.

PyTorch's gradient of a real loss with respect to a complex tensor consists of the gradients with respect to its real and imaginary parts.
Therefore a program of pairs trains as the program of complex tensors does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from mtc._rules import name_of
from mtc.errors import ExportError

REAL = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}

# Operators that are applied to the real and to the imaginary part alike.
SEPARATE = set(
    """alias broadcast_to cat chunk clone concat contiguous cumsum detach diag diag_embed diagonal expand expand_as flatten
    fft_fftshift fft_ifftshift flip gather getitem index index_select lift_fresh lift_fresh_copy mT mean movedim narrow neg negative
    new_zeros pad permute repeat repeat_interleave reshape reshape_as roll select slice split split_with_sizes squeeze stack
    sum swapaxes swapdims t take_along_dim tile transpose tril triu unbind unflatten unfold unsqueeze unsqueeze_copy view
    view_as zeros_like constant_pad_nd zero_ broadcast_tensors squeeze_ unsqueeze_ transpose_ neg_""".split()
)
# Operators that are linear in each of two operands.
BILINEAR = {"mul", "multiply", "matmul", "mm", "bmm", "mv", "dot", "outer", "mul_"}


@dataclass(eq=False)
class Pair:
    """A complex tensor or number."""

    re: Any
    im: Any

    @property
    def shape(self) -> torch.Size:
        return self.re.shape


RULES: dict[str, Callable[..., Any]] = {}


def rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that computes the ATen operators ``names``, some of whose arguments are pairs."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def split(value: Any) -> Any:
    """Returns a complex tensor as a pair, and any other value unchanged."""
    if not isinstance(value, Tensor) or not value.is_complex():
        return value
    parts = torch.view_as_real(value)
    return Pair(parts.select(-1, 0), parts.select(-1, 1))


def joined(value: Any) -> Any:
    """Returns a pair as a real tensor whose last axis has the two parts, and any other value unchanged."""
    return torch.stack([value.re, value.im], -1) if isinstance(value, Pair) else value


def call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls an operator, some of whose arguments may be pairs.

    Raises:
        ExportError: If the operator of complex numbers has no rule.
    """
    leaves = pytree.tree_leaves((args, kwargs))
    name = name_of(target)
    if kwargs.get("dtype") in REAL and not name.startswith("to") and not any(isinstance(leaf, Pair) for leaf in leaves):
        value = target(*args, **kwargs | {"dtype": REAL[kwargs["dtype"]]})
        return Pair(value, torch.zeros_like(value))
    creates = name in ("complex", "polar", "view_as_complex", "stft") or name.startswith("fft_")
    if not creates and not any(isinstance(leaf, Pair | complex) or leaf in REAL for leaf in leaves if _is_hashable(leaf)):
        return target(*args, **kwargs)
    if name in RULES:
        return RULES[name](*args, **kwargs)
    if name in SEPARATE:
        return _separate(target, args, kwargs)
    if name in BILINEAR:
        return _bilinear(lambda a, b: target(a, b), *args)
    if name.startswith("sym_") or name in ("size", "numel", "dim"):
        return target(*pytree.tree_map(_re, args), **kwargs)
    raise ExportError(
        f"forward applies {name} to complex numbers, which ONNX has no operators for, and mtc.export has no rule for it. "
        "Compute it from the real and the imaginary part: torch.view_as_real(x).unbind(-1)."
    )


def _is_hashable(value: Any) -> bool:
    return isinstance(value, Pair | complex | torch.dtype)


def _re(value: Any) -> Any:
    return value.re if isinstance(value, Pair) else value


def _im(value: Any) -> Any:
    return value.im if isinstance(value, Pair) else value


def pair_of(value: Any) -> Pair:
    """Returns a number or tensor as a pair, whose imaginary part is 0 if the value is real."""
    if isinstance(value, Pair):
        return value
    if isinstance(value, complex):
        return Pair(value.real, value.imag)
    return Pair(value, torch.zeros_like(value) if isinstance(value, Tensor) else 0.0)


def _separate(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args and isinstance(args[0], list | tuple):  # cat, stack: also of real tensors
        args = ([pair_of(value) for value in args[0]], *args[1:])
    real = target(*pytree.tree_map(_re, args), **pytree.tree_map(_re, kwargs))
    imaginary = target(*pytree.tree_map(_im, args), **pytree.tree_map(_im, kwargs))
    if isinstance(real, list | tuple):
        return [Pair(*parts) for parts in zip(real, imaginary, strict=True)]
    return Pair(real, imaginary)


def _bilinear(multiply: Callable[[Any, Any], Any], a: Any, b: Any) -> Pair:
    """(a + ib)(c + id) = (ac - bd) + i(ad + bc)"""
    if not isinstance(a, Pair | complex):
        b = pair_of(b)
        return Pair(multiply(a, b.re), multiply(a, b.im))
    a = pair_of(a)
    if not isinstance(b, Pair | complex):
        return Pair(multiply(a.re, b), multiply(a.im, b))
    b = pair_of(b)
    return Pair(multiply(a.re, b.re) - multiply(a.im, b.im), multiply(a.re, b.im) + multiply(a.im, b.re))


def _product(a: Any, b: Any) -> Pair:
    return _bilinear(lambda x, y: x * y, a, b)


# ------------------------------------------------------------------------------------------------ parts


@rule("view_as_complex")
def _view_as_complex(x):
    return Pair(x.select(-1, 0), x.select(-1, 1))


@rule("view_as_real", "view_as_real_copy")
def _view_as_real(z):
    return joined(z)


@rule("complex")
def _complex_of(re, im):
    return Pair(*torch.broadcast_tensors(re, im))


@rule("polar")
def _polar(radius, angle):
    return Pair(radius * torch.cos(angle), radius * torch.sin(angle))


@rule("real")
def _real(z):
    return z.re


@rule("imag")
def _imag(z):
    return z.im


@rule("conj", "conj_physical", "_conj", "_conj_physical")
def _conj(z):
    return Pair(z.re, -z.im)


@rule("resolve_conj", "resolve_neg")
def _same(z):
    return z


@rule("mH", "adjoint")
def _adjoint(z):
    return Pair(z.re.mT, -z.im.mT)


@rule("abs", "absolute")
def _abs(z):
    """Returns the root of the sum of squares. Its gradient at 0 is 0, as in PyTorch."""
    return torch.linalg.vector_norm(joined(z), dim=-1)


@rule("angle")
def _angle(z):
    return torch.atan2(z.im, z.re)


@rule("linalg_vector_norm", "norm")
def _norm(z, *args, **kwargs):
    return torch.linalg.vector_norm(_abs(z), *args, **kwargs)


@rule("to", "_to_copy", "type_as")
def _to(z, *args, **kwargs):
    dtype = next((a for a in (*args, kwargs.get("dtype")) if isinstance(a, torch.dtype)), None)
    if isinstance(z, Tensor):
        return pair_of(z.to(REAL.get(dtype, z.dtype)))
    if dtype is None or dtype in REAL:
        kind = REAL.get(dtype, z.re.dtype)
        return Pair(z.re.to(kind), z.im.to(kind))
    return z.re.to(dtype)  # PyTorch discards the imaginary part.


@rule("ones_like", "full_like")
def _like(z, value=1.0, **kwargs):
    value = pair_of(value) if isinstance(value, complex) else Pair(value, 0.0)
    return Pair(torch.full_like(z.re, value.re), torch.full_like(z.re, value.im))


# ------------------------------------------------------------------------------------------------ arithmetic


@rule("add", "add_")
def _add(a, b, *, alpha=1):
    if isinstance(b, Pair | complex):
        b = pair_of(b)
        a = a if isinstance(a, Pair) else pair_of(a)
        return Pair(a.re + alpha * b.re, a.im + alpha * b.im)
    return Pair(a.re + alpha * b, a.im.expand(torch.broadcast_shapes(a.im.shape, b.shape)) if isinstance(b, Tensor) else a.im)


@rule("sub", "subtract", "sub_")
def _sub(a, b, *, alpha=1):
    return _add(a, b, alpha=-alpha)


@rule("rsub")
def _rsub(a, b, alpha=1):
    a = pair_of(a)
    return _add(Pair(-alpha * a.re, -alpha * a.im), b)


@rule("div", "true_divide", "divide", "div_")
def _div(a, b):
    if not isinstance(b, Pair | complex):
        return Pair(a.re / b, a.im / b)
    return _product(a, _reciprocal(pair_of(b)))


@rule("reciprocal")
def _reciprocal(z):
    square = z.re * z.re + z.im * z.im
    return Pair(z.re / square, -z.im / square)


@rule("square")
def _square(z):
    return _product(z, z)


@rule("pow")
def _pow(z, exponent):
    if isinstance(z, Pair) and isinstance(exponent, int) and 0 < exponent <= 16:
        result = z
        for _ in range(exponent - 1):
            result = _product(result, z)
        return result
    logarithm = _log(z) if isinstance(z, Pair | complex) else torch.log(torch.as_tensor(z))
    return _exp(_product(logarithm, exponent))


@rule("exp")
def _exp(z):
    return _polar(torch.exp(z.re), z.im)


@rule("log")
def _log(z):
    return Pair(torch.log(_abs(z)), _angle(z))


@rule("sqrt")
def _sqrt(z):
    return _exp(_product(_log(z), 0.5))


@rule("cos")
def _cos(z):
    return Pair(torch.cos(z.re) * torch.cosh(z.im), -torch.sin(z.re) * torch.sinh(z.im))


@rule("sin")
def _sin(z):
    return Pair(torch.sin(z.re) * torch.cosh(z.im), torch.cos(z.re) * torch.sinh(z.im))


@rule("einsum")
def _einsum(equation, operands, **kwargs):
    if len(operands) == 1:
        return Pair(*(torch.einsum(equation, part) for part in (operands[0].re, operands[0].im)))
    if len(operands) == 2:
        return _bilinear(lambda a, b: torch.einsum(equation, a, b), *operands)
    raise ExportError(
        f"forward applies einsum to {len(operands)} operands with complex numbers; expected at most 2. Write it as several einsums."
    )


@rule("linear")
def _linear(x, weight, bias=None):
    y = _bilinear(torch.nn.functional.linear, x, weight)
    return y if bias is None else _add(y, bias)


@rule("addmm", "baddbmm")
def _addmm(bias, a, b):
    return _add(_bilinear(torch.matmul, a, b), bias)


@rule("where")
def _where(condition, a, b):
    a, b = pair_of(a), pair_of(b)
    return Pair(torch.where(condition, a.re, b.re), torch.where(condition, a.im, b.im))


@rule("masked_fill")
def _masked_fill(z, mask, value):
    value = pair_of(value)
    return Pair(z.re.masked_fill(mask, value.re), z.im.masked_fill(mask, value.im))


@rule("prod")
def _prod(z, dim, keepdim=False):
    parts = [Pair(re, im) for re, im in zip(z.re.unbind(dim), z.im.unbind(dim), strict=True)]
    result = parts[0]
    for part in parts[1:]:
        result = _product(result, part)
    return Pair(result.re.unsqueeze(dim), result.im.unsqueeze(dim)) if keepdim else result


@rule("copy_")
def _copy_(z, value, non_blocking=False):
    if not isinstance(z, Pair):
        return z.copy_(_re(value))
    value = pair_of(value)
    z.re.copy_(value.re)
    z.im.copy_(value.im)
    return z


@rule("index_put", "index_put_")
def _index_put(z, indices, values, accumulate=False):
    if not isinstance(z, Pair):
        return z.index_put(indices, _re(values), accumulate)
    values = pair_of(values)
    return Pair(z.re.index_put(indices, values.re, accumulate), z.im.index_put(indices, values.im, accumulate))


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda z, *args, **kwargs: _copy_(z, function(z, *args, **kwargs))


for _name in ("add_", "sub_", "div_", "index_put_"):
    RULES[_name] = _in_place(RULES[_name])
RULES["mul_"] = _in_place(_product)
