"""Replacements of PyTorch's functions whose shapes or results depend on data. They are active while a module is traced."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.adaptive import _ASMoutput
from torch.overrides import TorchFunctionMode

from mtc import _packed
from mtc._rules import static
from mtc.errors import ExportError

IMPOSSIBLE = -1e30  # represents the logarithm of 0; unlike infinities, its differences are finite


@contextlib.contextmanager
def substituted() -> Iterator[None]:
    """Replaces the functions."""
    original = nn.AdaptiveLogSoftmaxWithLoss.forward
    nn.AdaptiveLogSoftmaxWithLoss.forward = adaptive_log_softmax
    try:
        with _packed.padded(), _Functions():
            yield
    finally:
        nn.AdaptiveLogSoftmaxWithLoss.forward = original


class _Functions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if func in (F.ctc_loss, torch.ctc_loss):
            return ctc_loss(*args, **kwargs)
        if func is F.cross_entropy or func is torch._C._nn.cross_entropy_loss:
            result = cross_entropy(*args, **kwargs) if func is F.cross_entropy else _cross_entropy_loss(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if func is F.embedding_bag:
            result = embedding_bag(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return func(*args, **kwargs)


def adaptive_log_softmax(self: nn.AdaptiveLogSoftmaxWithLoss, input: Tensor, target: Tensor) -> Any:
    """PyTorch selects the samples of each cluster. This function computes the log probabilities of all classes and selects the target's."""
    log_probabilities = self.log_prob(input if input.ndim > 1 else input[None])
    output = log_probabilities.gather(1, target.reshape(-1, 1)).squeeze(1)
    return _ASMoutput(output if input.ndim > 1 else output[0], -output.mean())


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Computes ``mode="max"`` for bags of equal size by a lookup and a maximum. The result of a bag that has only padding is 0."""
    if mode != "max" or input.ndim != 2:
        return NotImplemented
    rows = F.embedding(input, weight)
    if padding_idx is None:
        return rows.amax(1)
    counts = (input != padding_idx % weight.shape[0]).unsqueeze(-1)
    return torch.where(counts.any(1), torch.where(counts, rows, IMPOSSIBLE).amax(1), torch.zeros((), dtype=weight.dtype))


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: Any = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Computes an ``ignore_index`` that depends on a dynamic size, which ONNX's loss cannot have as an attribute, by a mask. The loss of
    question answering in transformers has the length of the sequence as its ``ignore_index``."""
    if not isinstance(ignore_index, torch.SymInt) or weight is not None or target.is_floating_point():
        return NotImplemented
    counted = target != ignore_index
    losses = F.cross_entropy(input, torch.where(counted, target, 0), reduction="none", label_smoothing=label_smoothing)
    losses = torch.where(counted, losses, 0.0)
    if reduction == "none":
        return losses
    return losses.sum() / counted.sum() if reduction == "mean" else losses.sum()


def _cross_entropy_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: Any, label_smoothing: float
) -> Any:
    kind = ("none", "mean", "sum")[reduction]
    return cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=kind, label_smoothing=label_smoothing)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: Any = "mean",
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Computes the forward algorithm of Graves et al. (2006) on logarithms, unrolled over the steps.

    The states of a sample are its labels with a blank before, between and after them.
    """
    reduction = {0: "none", 1: "mean", 2: "sum"}.get(reduction, reduction)
    batched = log_probs.ndim == 3
    if not batched:
        log_probs, targets = log_probs.unsqueeze(1), targets.reshape(1, -1)
    if targets.ndim != 2:
        raise ExportError(
            "ctc_loss with concatenated targets: the shapes would depend on target_lengths. Pass padded targets of shape "
            "[batch, labels]."
        )
    steps, width = static(log_probs.shape[0], "ctc_loss: the number of steps"), static(targets.shape[1], "ctc_loss: the number of labels")
    samples = log_probs.shape[1]
    input_lengths, target_lengths = (_lengths(value, log_probs.device) for value in (input_lengths, target_lengths))
    labels = torch.full((samples, width + 1, 2), blank, dtype=torch.int64)
    labels[:, :width, 1] = torch.where(torch.arange(width) < target_lengths[:, None], targets, blank)
    labels = labels.flatten(1)[:, : 2 * width + 1]
    states = torch.arange(2 * width + 1)
    # A state may be reached from the one before the previous one if both are labels that differ.
    skips = (states[2:] % 2 == 1) & (labels[:, 2:] != labels[:, :-2])
    impossible = log_probs.new_full((), IMPOSSIBLE)
    scores = log_probs.gather(2, labels.expand(steps, *labels.shape))
    alpha = torch.where(states < 2, scores[0], impossible)
    for step in range(1, steps):
        before = F.pad(alpha[:, :-1], (1, 0), value=IMPOSSIBLE)
        skipped = F.pad(torch.where(skips, alpha[:, :-2], impossible), (2, 0), value=IMPOSSIBLE)
        reached = torch.logsumexp(torch.stack([alpha, before, skipped]), 0) + scores[step]
        alpha = torch.where(step < input_lengths[:, None], reached.clamp(min=IMPOSSIBLE), alpha)
    last = 2 * target_lengths[:, None]
    ends = torch.where(states == last, alpha, impossible), torch.where(states == last - 1, alpha, impossible)
    losses = -torch.logsumexp(torch.cat(ends, 1), 1)
    is_infinite = losses > -0.5 * IMPOSSIBLE
    losses = torch.where(is_infinite, torch.zeros_like(losses) if zero_infinity else torch.full_like(losses, torch.inf), losses)
    if reduction == "mean":
        return (losses / target_lengths.clamp(min=1)).mean()
    losses = losses if batched else losses[0]
    return losses.sum() if reduction == "sum" else losses


def _lengths(value: Any, device: torch.device) -> Tensor:
    return torch.as_tensor(value, dtype=torch.int64, device=device).reshape(-1)
