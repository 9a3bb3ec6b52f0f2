"""Linear algebra that ONNX has no operators for, unrolled over the rows of a matrix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mtc._rules import rule, static
from mtc.errors import ExportError

LARGEST = 128  # maximum number of rows of a matrix whose elimination is unrolled
TERMS = 12  # terms of the Taylor series of the exponential of a matrix of norm at most 1
SQUARINGS = 8  # maximum number of squarings of a matrix exponential


def _rows(matrix: Tensor, what: str) -> int:
    """Returns the number of rows of a square matrix."""
    rows = static(matrix.shape[-1], f"{what}: the number of rows")
    if rows > LARGEST:
        raise ExportError(
            f"{what} of matrices with {rows} rows; expected at most {LARGEST}, since ONNX has no operator for it and the export "
            "unrolls it. Compute it outside the module and pass the result as an input."
        )
    return rows


@rule("linalg_cholesky", "cholesky")
def cholesky(matrix: Tensor, upper: bool = False) -> Tensor:
    """Computes the Cholesky factor by columns: column j is c / sqrt(c[j]), where c = a_j - L l_j."""
    rows = _rows(matrix, "cholesky")
    positions = torch.arange(rows, device=matrix.device)
    columns: list[Tensor] = []
    for j in range(rows):
        column = matrix[..., :, j]
        if columns:
            left = torch.stack(columns, -1)
            column = column - (left @ left[..., j, :].unsqueeze(-1)).squeeze(-1)
        column = column / torch.sqrt(column[..., j : j + 1])
        columns.append(torch.where(positions < j, torch.zeros_like(column), column))
    lower = torch.stack(columns, -1)
    return lower.mT if upper else lower


@rule("linalg_cholesky_ex")
def cholesky_ex(matrix: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return cholesky(matrix, upper), torch.zeros(matrix.shape[:-2], dtype=torch.int32)


@rule("linalg_solve_triangular")
def solve_triangular(
    matrix: Tensor, right: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solves a triangular system by substitution, row by row."""
    if not left:
        return solve_triangular(matrix.mT, right.mT, upper=not upper, unitriangular=unitriangular).mT
    rows = _rows(matrix, "solve_triangular")
    solved: dict[int, Tensor] = {}
    for i in reversed(range(rows)) if upper else range(rows):
        row = right[..., i, :]
        if solved:
            known = sorted(solved)
            factors = matrix[..., i, known[0] : known[-1] + 1].unsqueeze(-2)
            row = row - (factors @ torch.stack([solved[j] for j in known], -2)).squeeze(-2)
        solved[i] = row if unitriangular else row / matrix[..., i, i].unsqueeze(-1)
    return torch.stack([solved[i] for i in range(rows)], -2)


@rule("cholesky_solve")
def cholesky_solve(right: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    lower = factor.mT if upper else factor
    return solve_triangular(lower.mT, solve_triangular(lower, right, upper=False), upper=True)


@rule("cholesky_inverse")
def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(torch.eye(factor.shape[-1], dtype=factor.dtype).expand(factor.shape), factor, upper)


def _solve(matrix: Tensor, right: Tensor) -> Tensor:
    """Inverts a matrix by Gauss-Jordan elimination with partial pivoting. The choice of pivots has no gradient."""
    rows = _rows(matrix, "solve")
    shape = torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    joined = torch.cat([matrix.expand(*shape, *matrix.shape[-2:]), right.expand(*shape, *right.shape[-2:])], -1)
    positions = torch.arange(rows, device=matrix.device)
    for k in range(rows):
        pivot = joined[..., k:, k].abs().argmax(-1, keepdim=True) + k
        order = torch.where(positions == k, pivot, torch.where(positions == pivot, k, positions))
        joined = torch.gather(joined, -2, order.unsqueeze(-1).expand(joined.shape))
        row = joined[..., k : k + 1, :] / joined[..., k : k + 1, k : k + 1]
        eliminated = joined - joined[..., :, k : k + 1] * row
        joined = torch.where((positions == k).unsqueeze(-1), row, eliminated)
    return joined[..., rows:]


@rule("linalg_solve")
def solve(matrix: Tensor, right: Tensor, *, left: bool = True) -> Tensor:
    if not left:
        return solve(matrix.mT, right.mT).mT
    is_vector = right.ndim == 1 or (right.ndim == matrix.ndim - 1 and right.shape == matrix.shape[:-1])
    return _solve(matrix, right.unsqueeze(-1)).squeeze(-1) if is_vector else _solve(matrix, right)


@rule("linalg_inv", "inverse")
def inverse(matrix: Tensor) -> Tensor:
    return _solve(matrix, torch.eye(matrix.shape[-1], dtype=matrix.dtype))


@rule("linalg_inv_ex")
def inverse_ex(matrix: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return inverse(matrix), torch.zeros(matrix.shape[:-2], dtype=torch.int32)


@rule("linalg_slogdet", "slogdet")
def slogdet(matrix: Tensor) -> tuple[Tensor, Tensor]:
    determinant = torch.det(matrix)
    return torch.sign(determinant), torch.log(torch.abs(determinant))


@rule("logdet")
def logdet(matrix: Tensor) -> Tensor:
    return torch.log(torch.det(matrix))


@rule("matrix_exp", "linalg_matrix_exp")
def matrix_exp(matrix: Tensor) -> Tensor:
    """Scaling and squaring: (exp(A / 2^s))^(2^s), where s brings the norm of A to at most 1, by a Taylor series."""
    rows = _rows(matrix, "matrix_exp")
    identity = torch.eye(rows, dtype=matrix.dtype, device=matrix.device)
    norm = matrix.abs().sum(-2).amax(-1)[..., None, None]
    count = torch.log2(norm.clamp(min=1e-30)).ceil().clamp(0, SQUARINGS)
    scaled = matrix * torch.pow(0.5, count)
    result = identity + scaled / TERMS
    for term in range(TERMS - 1, 0, -1):  # Horner's scheme
        result = identity + scaled @ result / term
    for step in range(SQUARINGS):
        result = torch.where(count > step, result @ result, result)
    return result


def _refused(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ExportError(
            f"forward calls torch.linalg.{name}, which ONNX has no operator for. Compute it outside the module and pass the result "
            "as an input."
        )

    return refuse


for _name in ("svd", "eigh", "eig", "eigvals", "eigvalsh", "qr", "lstsq", "pinv", "lu_factor", "householder_product"):
    rule(f"linalg_{_name}")(_refused(_name))
