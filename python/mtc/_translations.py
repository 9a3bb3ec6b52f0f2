"""Translations of ATen operators to ONNX that replace PyTorch's own if these lose training behavior.

``torch.onnx.export`` calls a translation with ONNX values for tensors and Python values for everything else. Each docstring states
the defect of PyTorch's translation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from onnx.defs import OpSchema
from onnxscript import opset18 as op
from onnxscript.values import Op, Opset

from mtc import _graph, _packed
from mtc.errors import ExportError

aten = torch.ops.aten

NONE, MEAN, SUM = 0, 1, 2  # ATen's reduction codes
BAG_SUM, BAG_MEAN, BAG_MAX = 0, 1, 2  # ATen's mode codes of embedding_bag
INT64_MAX = 2**63 - 1
ELEMENTS = ("float", "double", "float16", "bfloat16", "bool", "int8", "int16", "int32", "int64", "uint8")


def table() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Returns the translations as ``custom_translation_table`` of ``torch.onnx.export``."""
    return {
        aten._native_batch_norm_legit_functional.default: batch_norm,
        aten._native_batch_norm_legit.no_stats: batch_norm_without_statistics,
        aten._cdist_forward.default: cdist,
        aten.cross_entropy_loss.default: cross_entropy,
        aten.embedding.default: embedding,
        aten.embedding_bag.padding_idx: embedding_bag,
        aten._embedding_bag.default: embedding_bag,
        aten._embedding_bag_forward_only.default: embedding_bag,
        torch.ops.mtc.padded_recurrent.default: _packed.translation,
        aten.split.Tensor: split,
        aten.split_with_sizes.default: split_with_sizes,
        torch.ops.mtc.stop.default: stop,
        torch.ops.mtc.update.default: update,
    }


def register_symbolic() -> None:
    """Registers the operators of the domain ``mtc`` for the TorchScript exporter."""
    opset = 9  # the exporter's first
    torch.onnx.register_custom_op_symbolic("mtc::stop", lambda g, x: g.op("mtc::Stop", x).setType(x.type()), opset)
    torch.onnx.register_custom_op_symbolic(
        "mtc::update",
        lambda g, x, buffer: g.op("mtc::Update", x, buffer_s=_text(buffer)).setType(x.type()),
        opset,
    )


def _text(value: Any) -> str:
    return value.node().s("value")


def _identity(name: str, attributes: Sequence[str]) -> Op:
    """Returns an operator of the domain ``mtc`` with one operand and one result of equal types."""
    schema = OpSchema(
        name,
        _graph.DOMAIN,
        1,
        inputs=[OpSchema.FormalParameter("x", "T")],
        outputs=[OpSchema.FormalParameter("y", "T")],
        type_constraints=[("T", [f"tensor({each})" for each in ELEMENTS], "")],
        attributes=[OpSchema.Attribute(each, OpSchema.AttrType.STRING, "") for each in attributes],
    )
    return Op(Opset(_graph.DOMAIN, 1), name, schema)


def stop(x):
    """The graph's normalization replaces it by an Identity with metadata."""
    return _identity("Stop", [])(x)


def update(x, buffer):
    """The graph's normalization replaces it by an Identity with metadata."""
    return _identity("Update", ["buffer"])(x, buffer=buffer)


def _smoothing(value: float, like):
    """Returns a label smoothing, which ``--label-smoothing`` of the program can set."""
    return _identity("Setting", ["flag"])(_scalar(value, like), flag="label-smoothing")


def batch_norm(x, weight, bias, mean, variance, training=False, momentum=0.1, eps=1e-5):
    """PyTorch's translation always writes ``training_mode=0``."""
    weight = _channels(x, 1.0) if weight is None else weight
    bias = _channels(x, 0.0) if bias is None else bias
    if not training:
        y = op.BatchNormalization(x, weight, bias, mean, variance, epsilon=eps, momentum=1 - momentum)
        return y, mean, variance, mean, variance
    y, new_mean, new_variance = op.BatchNormalization(
        x, weight, bias, mean, variance, epsilon=eps, momentum=1 - momentum, training_mode=1
    )
    return y, new_mean, new_variance, new_mean, new_variance


def batch_norm_without_statistics(x, weight, bias, training=True, momentum=0.1, eps=1e-5):
    """PyTorch's translation passes the batch's statistics as running statistics, which have no gradient."""
    axes = op.Constant(value_ints=[axis for axis in range(len(x.shape)) if axis != 1])
    mean = op.ReduceMean(x, axes, keepdims=1)
    centered = op.Sub(x, mean)
    variance = op.ReduceMean(op.Mul(centered, centered), axes, keepdims=1)
    y = op.Div(centered, op.Sqrt(op.Add(variance, op.CastLike(op.Constant(value_float=eps), x))))
    shape = op.Constant(value_ints=[1, -1] + [1] * (len(x.shape) - 2))
    if weight is not None:
        y = op.Mul(y, op.Reshape(weight, shape))
    if bias is not None:
        y = op.Add(y, op.Reshape(bias, shape))
    return y, op.Squeeze(mean, axes), op.Squeeze(variance, axes)


def cdist(x1, x2, p, compute_mode=None):
    """PyTorch has no translation. Returns norms of differences. The gradient of the norm of two equal points is 0."""
    difference = op.Sub(op.Unsqueeze(x1, op.Constant(value_ints=[-2])), op.Unsqueeze(x2, op.Constant(value_ints=[-3])))
    last = op.Constant(value_ints=[-1])
    if p == 2:
        return op.ReduceL2(difference, last, keepdims=0)
    magnitude = op.Abs(difference)
    if p == 0:
        return op.ReduceSum(op.CastLike(op.Greater(magnitude, _scalar(0.0, x1)), x1), last, keepdims=0)
    if p == 1:
        return op.ReduceSum(magnitude, last, keepdims=0)
    if p == float("inf"):
        return op.ReduceMax(magnitude, last, keepdims=0)
    return op.Pow(op.ReduceSum(op.Pow(magnitude, _scalar(p, x1)), last, keepdims=0), _scalar(1 / p, x1))


def cross_entropy(x, target, weight=None, reduction=MEAN, ignore_index=-100, label_smoothing=0.0):
    """PyTorch's translation drops ``label_smoothing`` and interprets target probabilities as class indices.

    The formulas are those of ``torch.nn.CrossEntropyLoss``.
    """
    batched = len(x.shape) > 1
    if not batched:
        x, target = op.Unsqueeze(x, [0]), op.Unsqueeze(target, [0])
    classes = x.shape[1 if batched else 0]
    rank = len(x.shape) if batched else 2
    if target.dtype.is_floating_point():
        loss = _cross_entropy_of_probabilities(x, target, weight, reduction, label_smoothing, classes, rank)
    elif label_smoothing == 0.0:
        name = {NONE: "none", MEAN: "mean", SUM: "sum"}[reduction]
        loss, _ = op.SoftmaxCrossEntropyLoss(x, target, weight, reduction=name, ignore_index=ignore_index)
    else:
        loss = _smoothed_cross_entropy(x, target, weight, reduction, ignore_index, label_smoothing, classes, rank)
    return op.Squeeze(loss, [0]) if not batched and reduction == NONE else loss


def _cross_entropy_of_probabilities(x, target, weight, reduction, smoothing, classes, rank):
    """-sum over classes of w_c t_c log softmax(x)_c, with t smoothed; the mean is over all positions."""
    if smoothing:
        classes = _static(classes, "cross_entropy with label_smoothing: the number of classes")
        share = _smoothing(smoothing, x)
        target = op.Add(op.Mul(target, op.Sub(_scalar(1.0, x), share)), op.Div(share, _scalar(float(classes), x)))
    losses = op.Mul(op.LogSoftmax(x, axis=1), target)
    if weight is not None:
        losses = op.Mul(losses, _per_class(weight, rank))
    losses = op.Neg(op.ReduceSum(losses, op.Constant(value_ints=[1]), keepdims=0))
    return _reduced(losses, reduction)


def _smoothed_cross_entropy(x, target, weight, reduction, ignore_index, smoothing, classes, rank):
    """(1 - s) w_y nll + s / C sum over classes of w_c nll_c; the mean divides by the sum of w_y of counted targets."""
    classes = _static(classes, "cross_entropy with label_smoothing: the number of classes")
    nll, _ = op.SoftmaxCrossEntropyLoss(x, target, weight, reduction="none", ignore_index=ignore_index)
    uniform = op.LogSoftmax(x, axis=1)
    if weight is not None:
        uniform = op.Mul(uniform, _per_class(weight, rank))
    uniform = op.Neg(op.ReduceSum(uniform, op.Constant(value_ints=[1]), keepdims=0))
    ignored = op.Equal(target, op.CastLike(op.Constant(value_int=ignore_index), target))
    uniform = op.Where(ignored, _scalar(0.0, x), uniform)
    share = _smoothing(smoothing, x)
    rest = op.Sub(_scalar(1.0, x), share)
    losses = op.Add(op.Mul(nll, rest), op.Mul(uniform, op.Div(share, _scalar(float(classes), x))))
    if reduction != MEAN:
        return _reduced(losses, reduction)
    counted = op.CastLike(op.Not(ignored), x)
    if weight is not None:
        first = op.CastLike(op.Constant(value_int=0), target)
        counted = op.Mul(counted, op.Gather(weight, op.Where(ignored, first, target)))
    return op.Div(op.ReduceSum(losses, keepdims=0), op.ReduceSum(counted, keepdims=0))


def _reduced(losses, reduction):
    if reduction == MEAN:
        return op.ReduceMean(losses, keepdims=0)
    return op.ReduceSum(losses, keepdims=0) if reduction == SUM else losses


def _per_class(weight, rank):
    return op.Reshape(weight, op.Constant(value_ints=[1, -1] + [1] * (rank - 2)))


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """PyTorch's translation drops ``scale_grad_by_freq``. ``padding_idx`` is stored in the module facts."""
    if scale_grad_by_freq:
        raise ExportError(
            "embedding with scale_grad_by_freq=True: ONNX has no lookup that scales gradients by frequency. Pass "
            "scale_grad_by_freq=False."
        )
    return op.Gather(weight, indices)


def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=BAG_SUM,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=-1,
):
    """PyTorch's translation is a loop over the bags; this one is one lookup and one scatter.

    The bag of an index is the number of offsets up to its position, minus one. Embeddings are summed per bag; empty bags are
    zero.
    """
    if scale_grad_by_freq:
        raise ExportError(
            "embedding_bag with scale_grad_by_freq=True: ONNX has no lookup that scales gradients by frequency. Pass "
            "scale_grad_by_freq=False."
        )
    if mode == BAG_MAX:
        raise ExportError(
            "embedding_bag with mode='max' and offsets cannot be exported. Pass bags of one size as a matrix of indices, or use "
            "mode='sum' or mode='mean'."
        )
    flat = op.Reshape(indices, op.Constant(value_ints=[-1]))
    rows = op.Gather(weight, flat)
    one, zero, column = op.Constant(value_int=1), op.Constant(value_int=0), op.Constant(value_ints=[1])
    positions = op.Unsqueeze(op.Range(zero, op.Size(flat), one), column)
    counted = None  # mask of the indices that count; None if all count
    if padding_idx is not None and padding_idx >= 0:
        counted = op.Not(op.Equal(flat, op.CastLike(op.Constant(value_int=padding_idx), flat)))
        counted = op.Unsqueeze(counted, column)
    if include_last_offset:
        last = op.Cast(op.Slice(offsets, op.Constant(value_ints=[-1]), op.Constant(value_ints=[INT64_MAX])), to=7)
        offsets = op.Slice(offsets, op.Constant(value_ints=[0]), op.Constant(value_ints=[-1]))
        within = op.Less(positions, last)
        counted = within if counted is None else op.And(counted, within)
    started = op.LessOrEqual(op.Unsqueeze(op.Cast(offsets, to=7), [0]), positions)
    bags = op.Sub(op.ReduceSum(op.Cast(started, to=7), column, keepdims=1), one)
    if counted is None:
        counts = op.CastLike(op.Expand(op.Constant(value_float=1.0), op.Shape(bags)), weight)
    else:
        counts = op.CastLike(counted, weight)
        rows = op.Mul(rows, counts)
    if per_sample_weights is not None:
        rows = op.Mul(rows, op.Unsqueeze(op.Reshape(per_sample_weights, op.Constant(value_ints=[-1])), [1]))
    number = op.Shape(offsets)
    width = op.Shape(weight, start=1, end=2)
    empty = op.CastLike(op.Expand(op.Constant(value_float=0.0), op.Concat(number, width, axis=0)), weight)
    sums = op.ScatterND(empty, bags, rows, reduction="add")
    if mode == BAG_MEAN:
        none = op.CastLike(op.Expand(op.Constant(value_float=0.0), op.Concat(number, op.Constant(value_ints=[1]), axis=0)), weight)
        sizes = op.ScatterND(none, bags, counts, reduction="add")
        sums = op.Div(sums, op.Max(sizes, _scalar(1.0, weight)))
    return sums, op.Squeeze(bags, column), op.Identity(number), op.Identity(number)  # Callers only use the first result.


def split(x, split_size, dim=0):
    """PyTorch's translation writes a sequence of tensors."""
    size = _static(x.shape[dim], f"split: the size of dimension {dim}")
    return split_with_sizes(x, [min(split_size, size - start) for start in range(0, size, split_size)], dim)


def split_with_sizes(x, split_sizes: Sequence[int], dim=0):
    """PyTorch's translation writes a sequence of tensors."""
    count = len(split_sizes)
    if count == 1:
        return [op.Identity(x)]
    if len(set(split_sizes)) == 1:
        return op.Split(x, axis=dim, num_outputs=count)
    parts, start, axis = [], 0, op.Constant(value_ints=[dim])
    for size in split_sizes:
        bounds = op.Constant(value_ints=[start]), op.Constant(value_ints=[start + size])
        parts.append(op.Slice(x, *bounds, axis))
        start += size
    return parts


def _channels(x, value: float):
    """Returns a vector with one ``value`` per channel of ``x``."""
    return op.CastLike(op.Expand(op.Constant(value_float=value), op.Shape(x, start=1, end=2)), x)


def _scalar(value: float, like):
    return op.CastLike(op.Constant(value_float=value), like)


def _static(size: Any, what: str) -> int:
    if not isinstance(size, int):
        raise ExportError(f"{what} is dynamic; expected a constant. Pass dynamic_batch=False.")
    return size
