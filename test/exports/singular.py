"""Functions of PyTorch at points where their formula has no derivative, or none that is finite. functions.py tests them.

Operands of a case whose names have capital letters are not parameters, but targets or masks. The loss is the sum of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, nan, pi

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Case:
    """A function and operands at which its gradient is compared."""

    name: str
    function: Callable[..., torch.Tensor]
    operands: dict[str, list]
    point: str = ""
    differs: dict[str, str] = field(default_factory=dict)  # exporter: why the gradient is not PyTorch's

    def __post_init__(self):
        self.point = self.point or ", ".join(f"{key} = {_text(value)}" for key, value in self.operands.items())


def _text(value) -> str:
    return ", ".join(f"{each:g}" if not isinstance(each, list) else str(each) for each in value)


CASES: list[Case] = []


def case(name: str, function, point: str = "", differs: dict[str, str] | None = None, **operands: list) -> None:
    CASES.append(Case(name, function, operands, point, differs or {}))


# The reason why a gradient differs from PyTorch's, by exporter.
EPSILON = {
    "default": "The exporter's optimizer drops the addition of a small constant, which changes the values too. `optimize=False` keeps it."
}
DISTANCE = {
    "dynamo=False": "The exporter writes another formula, whose values differ too: without the constant 1e-6 or without absolute values."
}
THRESHOLD = {"dynamo=False": "The exporter drops the threshold."}
OVERFLOW = "The exporter writes a formula that overflows, as do its values."
SAME_NODE = {"dynamo=False": "The exporter writes another function of PyTorch as the same node: clamp by numbers, amax, amin."}
UNIFORM = "The exporter adds the smallest number to masked scores, so that rows without other elements attend uniformly. PyTorch's are 0. Pass the mask as an input."
ALL_MAXIMA = "The exporter writes the maximum over all elements, which divides the gradient equally."
SINGULAR = "PyTorch's gradient of the determinant of a singular matrix is 0. mtc's is the adjugate matrix, the derivative."


ZERO_ROW = [[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]
EQUAL_ROW = [[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]]
FAR = [-200.0, -100.0, -20.0, 0.0, 20.0, 100.0, 200.0]

# Losses
case(
    "binary_cross_entropy",
    lambda p, T: F.binary_cross_entropy(p, T, reduction="sum"),
    p=[0.0, 0.0, 1.0, 1.0, 0.5],
    T=[0.0, 1.0, 0.0, 1.0, 1.0],
)
case("binary_cross_entropy(sigmoid)", lambda x, T: F.binary_cross_entropy(x.sigmoid(), T, reduction="sum"),
     x=[20.0, 20.0, 200.0, -200.0, -40.0, -20.0, 0.0], T=[0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])  # fmt: skip
case("binary_cross_entropy(sigmoid), mean", lambda x, T: F.binary_cross_entropy(x.sigmoid(), T),
     x=[20.0, 20.0, 200.0, -200.0, -20.0, 0.0], T=[0.0, 1.0, 0.0, 1.0, 0.0, 1.0])  # fmt: skip
case("binary_cross_entropy(sigmoid), weight", lambda x, T, W: F.binary_cross_entropy(x.sigmoid(), T, W),
     x=[20.0, 20.0, 200.0, -20.0], T=[0.0, 1.0, 0.0, 1.0], W=[1.0, 2.0, 0.5, 0.0])  # fmt: skip
case(
    "binary_cross_entropy(softmax)",
    lambda x, T: F.binary_cross_entropy(x.softmax(-1), T),
    x=[[200.0, 0.0], [0.0, 1.0]],
    T=[[1.0, 0.0], [0.0, 1.0]],
)
case(
    "binary_cross_entropy(clamp)",
    lambda x, T: F.binary_cross_entropy(x.clamp(0, 1), T, reduction="sum"),
    x=[-1.0, 0.0, 0.5, 1.0, 2.0],
    T=[0.0, 1.0, 1.0, 1.0, 0.0],
)
case(
    "bce by hand",
    lambda x, T: -(T * torch.log(x.sigmoid() + 1e-8) + (1 - T) * torch.log(1 - x.sigmoid() + 1e-8)),
    x=[20.0, -200.0, 0.0],
    T=[1.0, 0.0, 1.0],
)
case(
    "binary_cross_entropy_with_logits",
    lambda x, T: F.binary_cross_entropy_with_logits(x, T, reduction="sum"),
    x=FAR,
    T=[0.0, 1.0, 1.0, 0.5, 0.0, 1.0, 0.0],
)
case("binary_cross_entropy_with_logits, pos_weight", lambda x, T: F.binary_cross_entropy_with_logits(x, T, pos_weight=torch.tensor([3.0]), reduction="sum"),
     x=FAR, T=[0.0, 1.0, 1.0, 0.5, 0.0, 1.0, 0.0])  # fmt: skip
case("kl_div", lambda x, T: F.kl_div(x, T, reduction="sum"), x=[-inf, -1.0, -2.0], T=[0.0, 0.0, 0.5])
case(
    "kl_div of targets that are trained", lambda x, t: F.kl_div(x, t, reduction="sum"), x=[-1.0, -1.0, -2.0], t=[0.0, 1.0, 0.5]
)
case("kl_div, log_target", lambda x, T: F.kl_div(x, T, log_target=True, reduction="sum"), x=[-1.0, -2.0], T=[-200.0, 0.0])
case("kl_div(log_softmax, softmax)", lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
     x=[[200.0, 0.0, 0.0], [0.0, 1.0, 2.0]], y=[[0.0, 200.0, 0.0], [200.0, 0.0, 1.0]])  # fmt: skip
case("cross_entropy", lambda x: F.cross_entropy(x, torch.tensor([0, 1])), x=[[200.0, 0.0], [200.0, 0.0]])
case(
    "cross_entropy of probabilities",
    lambda x, T: F.cross_entropy(x, T),
    x=[[200.0, 0.0], [200.0, 0.0]],
    T=[[1.0, 0.0], [0.5, 0.5]],
)
case("nll_loss(log_softmax)", lambda x: F.nll_loss(x.log_softmax(-1), torch.tensor([0, 1])), x=[[200.0, 0.0], [200.0, 0.0]])
case("poisson_nll_loss", lambda x, T: F.poisson_nll_loss(x, T, reduction="sum"), x=[-200.0, 0.0, 1.0], T=[0.0, 1.0, 3.0])
case(
    "poisson_nll_loss, log_input=False",
    lambda x, T: F.poisson_nll_loss(x, T, log_input=False, reduction="sum"),
    x=[0.0, 0.0, 1.0],
    T=[0.0, 1.0, 3.0],
    differs=EPSILON,
)
case(
    "poisson_nll_loss, full",
    lambda x, T: F.poisson_nll_loss(x, T, full=True, reduction="sum"),
    x=[0.0, 0.0, 1.0],
    T=[0.0, 1.0, 3.0],
)
case(
    "poisson_nll_loss, full, of targets that are trained",
    lambda x, t: F.poisson_nll_loss(x, t, full=True, reduction="sum"),
    x=[0.0, 0.0, 1.0],
    t=[0.0, 1.0, 3.0],
)
case(
    "gaussian_nll_loss",
    lambda x, T, v: F.gaussian_nll_loss(x, T, v, reduction="sum"),
    x=[1.0, 1.0, 0.0, 2.0],
    T=[1.0, 0.5, 0.0, 1.0],
    v=[0.0, 1e-8, 1e-6, 2.0],
)
case(
    "gaussian_nll_loss, full",
    lambda x, T, v: F.gaussian_nll_loss(x, T, v, full=True, eps=0.5),
    x=[1.0, 1.0, 2.0],
    T=[1.0, 0.5, 1.0],
    v=[0.0, 0.5, 2.0],
)
case(
    "gaussian_nll_loss(softplus)",
    lambda x, T, v: F.gaussian_nll_loss(x, T, F.softplus(v), reduction="sum"),
    x=[1.0, 1.0],
    T=[1.0, 0.999],
    v=[-20.0, 0.0],
)
case("smooth_l1_loss", lambda x, T: F.smooth_l1_loss(x, T, reduction="sum"), x=[-1.0, 0.0, 1.0, 2.0], T=[0.0, 0.0, 0.0, 0.0])
case(
    "smooth_l1_loss, beta=0",
    lambda x, T: F.smooth_l1_loss(x, T, beta=0.0, reduction="sum"),
    x=[-1.0, 0.0, 1.0],
    T=[0.0, 0.0, 0.0],
)
case(
    "smooth_l1_loss, beta=0.5",
    lambda x, T: F.smooth_l1_loss(x, T, beta=0.5, reduction="sum"),
    x=[-0.5, 0.0, 0.5, 2.0],
    T=[0.0, 0.0, 0.0, 0.0],
)
case("huber_loss", lambda x, T: F.huber_loss(x, T, delta=0.5, reduction="sum"), x=[-0.5, 0.0, 0.5, 2.0], T=[0.0, 0.0, 0.0, 0.0])
case("l1_loss", lambda x, T: F.l1_loss(x, T, reduction="sum"), x=[-1.0, 0.0, 1.0], T=[0.0, 0.0, 0.0])
case("mse_loss", lambda x, T: F.mse_loss(x, T), x=[0.0, 1.0], T=[0.0, 0.0])
case(
    "soft_margin_loss",
    lambda x, T: F.soft_margin_loss(x, T, reduction="sum"),
    x=[-200.0, -20.0, 0.0, 20.0, 200.0],
    T=[1.0, -1.0, 1.0, 1.0, -1.0],
)
case(
    "hinge_embedding_loss",
    lambda x, T: F.hinge_embedding_loss(x, T, reduction="sum"),
    x=[1.0, 1.0, 0.0, 2.0],
    T=[1.0, -1.0, -1.0, -1.0],
)
case(
    "margin_ranking_loss",
    lambda x, y, T: F.margin_ranking_loss(x, y, T, margin=1.0, reduction="sum"),
    x=[1.0, 0.0, 0.0],
    y=[0.0, 0.0, 1.0],
    T=[1.0, -1.0, -1.0],
)
case("multi_margin_loss", lambda x: F.multi_margin_loss(x, torch.tensor([0, 1])), x=[[1.0, 0.0, 0.5], [1.0, 1.0, 1.0]])
case("multilabel_margin_loss", lambda x: F.multilabel_margin_loss(x, torch.tensor([[0, 2, -1]])), x=[[1.0, 0.0, 0.5]])
case(
    "multilabel_soft_margin_loss",
    lambda x, T: F.multilabel_soft_margin_loss(x, T),
    x=[[200.0, -200.0], [20.0, 0.0]],
    T=[[0.0, 1.0], [1.0, 0.0]],
)
case(
    "triplet_margin_loss",
    lambda x, y, z: F.triplet_margin_loss(x, y, z),
    x=[[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]],
    y=[[1.0, 2.0], [1.0, 1.0], [0.0, 1.0]],
    z=[[1.0, 2.0], [1.0, 1.0], [2.0, 0.0]],
)
case(
    "triplet_margin_with_distance_loss",
    lambda x, y, z: F.triplet_margin_with_distance_loss(x, y, z),
    x=[[1.0, 2.0], [0.0, 0.0]],
    y=[[1.0, 2.0], [1.0, 1.0]],
    z=[[1.0, 2.0], [1.0, 1.0]],
    differs=DISTANCE,
)
case(
    "cosine_embedding_loss",
    lambda x, y, T: F.cosine_embedding_loss(x, y, T),
    x=[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]],
    y=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
    T=[1.0, -1.0, -1.0],
    differs=EPSILON,
)
case(
    "ctc_loss",
    lambda x: F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 1]]), torch.tensor([2]), torch.tensor([2]), zero_infinity=True),
    x=[[[0.0, 1.0]], [[1.0, 0.0]]],
)

# Logarithms and entropies
case("log_sigmoid", F.logsigmoid, x=FAR)
case("log(sigmoid)", lambda x: x.sigmoid().log(), "x = -20, 0, 20", x=[-20.0, 0.0, 20.0])
case("softplus", F.softplus, x=FAR)
case("softplus, beta, threshold", lambda x: F.softplus(x, 2.0, 10.0), x=[-100.0, 0.0, 5.0, 5.5, 100.0], differs=THRESHOLD)
case("logaddexp", torch.logaddexp, x=[-inf, 0.0, 200.0, -inf, 0.0], y=[-inf, 0.0, 0.0, 0.0, -inf])
case(
    "logaddexp2",
    torch.logaddexp2,
    x=[1.0, 200.0, -inf],
    y=[1.0, 0.0, 0.5],
    differs=dict.fromkeys(["default", "mtc.export"], OVERFLOW),
)
case("logsumexp", lambda x: torch.logsumexp(x, -1), x=[[0.0, 0.0, -inf], [200.0, 0.0, 0.0]])
case("logsumexp of -inf", lambda x: torch.logsumexp(x, -1), x=[[-inf, -inf, -inf]])
case("xlogy", torch.xlogy, x=[0.0, 0.0, 1.0, 2.0], y=[0.0, 1.0, 1.0, 3.0])
case("xlogy of targets", lambda X, y: torch.xlogy(X, y), X=[0.0, 0.0, 2.0], y=[0.0, 1.0, 3.0])
case("special.xlog1py", torch.special.xlog1py, x=[0.0, 0.0, 1.0], y=[-1.0, 0.0, 1.0])
case("special.entr", torch.special.entr, x=[0.0, 0.5, 1.0])
case("special.entr(softmax)", lambda x: torch.special.entr(x.softmax(-1)), x=[[200.0, 0.0, 0.0], [0.0, 1.0, 2.0]])
case("-p log p by hand", lambda x: -(x.softmax(-1) * x.log_softmax(-1)), x=[[200.0, 0.0, 0.0], [0.0, 1.0, 2.0]])
case(
    "distributions.Categorical.entropy",
    lambda x: torch.distributions.Categorical(logits=x, validate_args=False).entropy(),
    x=[[200.0, 0.0, 0.0], [0.0, 1.0, 2.0]],
)
case("log1p", torch.log1p, x=[-1.0, 0.0, 1e-8])
case("log", torch.log, x=[0.0, 1.0])
case("expm1", torch.expm1, x=[-100.0, 0.0, 1e-8])
case("logit", torch.logit, x=[0.0, 0.5, 1.0])
case("logit, eps", lambda x: torch.logit(x, 0.25), x=[0.0, 0.25, 0.5, 0.75, 1.0])
case("sinc", torch.sinc, x=[0.0, 0.25, 0.5, 1.0])
case("erfinv", torch.erfinv, x=[-1.0, 0.0, 1.0])
case("logcumsumexp", lambda x: torch.logcumsumexp(x, -1), x=[[0.0, 200.0, -200.0]], differs={"default": OVERFLOW})
case("lgamma", torch.lgamma, x=[0.5, 1.0, 2.0])
case(
    "softmax of masked elements",
    lambda x, M: x.masked_fill(M > 0, -inf).softmax(-1).square(),
    x=[[0.0, 1.0, 2.0]],
    M=[[0.0, 1.0, 0.0]],
)
case(
    "softmax of rows that are masked",
    lambda x, M: x.masked_fill(M > 0, -inf).softmax(-1).nan_to_num(0.0).square(),
    x=[[0.0, 1.0], [1.0, 2.0]],
    M=[[1.0, 1.0], [0.0, 1.0]],
)
case("log_softmax", lambda x: x.log_softmax(-1).square(), x=[[200.0, 0.0, -200.0]])
case("softmin", lambda x: F.softmin(x, -1).square(), x=[[200.0, 0.0, -200.0]])
MASK = [[1.0, 1.0], [0.0, 0.0]]
case("scaled_dot_product_attention of masked rows", lambda q, k, v, M: F.scaled_dot_product_attention(q, k, v, M > 0),
     q=[[[[1.0, 0.0], [0.0, 1.0]]]], k=[[[[1.0, 2.0], [3.0, 4.0]]]], v=[[[[1.0, 2.0], [3.0, 5.0]]]], M=MASK)  # fmt: skip
case("scaled_dot_product_attention of rows that a constant masks", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.tensor([[True, True], [False, False]])),
     q=[[[[1.0, 0.0], [0.0, 1.0]]]], k=[[[[1.0, 2.0], [3.0, 4.0]]]], v=[[[[1.0, 2.0], [3.0, 5.0]]]], differs=dict.fromkeys(["default", "mtc.export"], UNIFORM))  # fmt: skip

# Norms, distances and deviations
case("norm", lambda x: torch.norm(x, dim=-1), x=ZERO_ROW)
case("norm of all", lambda x: torch.norm(x), x=[0.0, 0.0])
case("linalg.norm", lambda x: torch.linalg.norm(x, dim=-1), x=ZERO_ROW)
for p in (0, 0.5, 1, 2, 3, inf, -inf):
    case(
        f"linalg.vector_norm, ord={p}",
        lambda x, p=p: torch.linalg.vector_norm(x, p, dim=-1),
        x=ZERO_ROW if p != 0.5 else [[1.0, 4.0, 4.0]],
    )
case("linalg.vector_norm, ord=inf of equal elements", lambda x: torch.linalg.vector_norm(x, inf, dim=-1), x=[[2.0, -2.0, 1.0]])
case("linalg.matrix_norm", lambda x: torch.linalg.matrix_norm(x), x=[[0.0, 0.0], [0.0, 0.0]])
case("Tensor.norm, p=1", lambda x: x.norm(1, -1), x=ZERO_ROW)
case("sqrt of a sum of squares", lambda x: x.square().sum(-1).sqrt(), x=[[3.0, 0.0, 4.0]])
case("sqrt of a sum of squares and eps", lambda x: (x.square().sum(-1) + 1e-12).sqrt(), x=ZERO_ROW)
case("normalize", lambda x: F.normalize(x, dim=-1), x=ZERO_ROW)
case("normalize, p=1", lambda x: F.normalize(x, p=1, dim=-1), x=ZERO_ROW)
case("normalize, p=inf", lambda x: F.normalize(x, p=inf, dim=-1), x=[[0.0, 0.0], [2.0, 2.0]])
case("cosine_similarity", lambda x, y: F.cosine_similarity(x, y, dim=-1), x=ZERO_ROW, y=[[1.0, 2.0, 3.0], [3.0, 0.0, 4.0]])
case(
    "cosine_similarity of small rows",
    lambda x, y: F.cosine_similarity(x, y, dim=-1, eps=0.5),
    x=[[0.25, 0.0], [0.5, 0.0]],
    y=[[1.0, 2.0], [3.0, 0.0]],
)
case("pairwise_distance", F.pairwise_distance, x=[[1.0, 2.0], [0.0, 0.0]], y=[[1.0, 2.0], [3.0, 4.0]], differs=DISTANCE)
case(
    "pairwise_distance, p=1",
    lambda x, y: F.pairwise_distance(x, y, 1.0),
    x=[[1.0, 2.0], [0.0, 0.0]],
    y=[[1.0, 2.0], [3.0, 4.0]],
    differs=DISTANCE,
)
case("dist", torch.dist, x=[1.0, 2.0], y=[1.0, 2.0])
case("cdist", torch.cdist, x=[[1.0, 2.0], [0.0, 0.0]], y=[[1.0, 2.0], [3.0, 4.0]])
case("cdist to itself", lambda x: torch.cdist(x, x), x=[[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])
case(
    "cdist, p=1", lambda x, y: torch.cdist(x, y, 1.0), x=[[1.0, 2.0], [0.0, 0.0]], y=[[1.0, 2.0], [3.0, 4.0]], differs=DISTANCE
)
case(
    "cdist without matrix multiplications",
    lambda x, y: torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"),
    x=[[1.0, 2.0], [0.0, 0.0]],
    y=[[1.0, 2.0], [3.0, 4.0]],
)
case("std", lambda x: x.std(-1), x=EQUAL_ROW)
case("std, correction=0", lambda x: x.std(-1, correction=0), x=EQUAL_ROW)
case("std of all", lambda x: x.std(), x=[2.0, 2.0])
case("var", lambda x: x.var(-1), x=EQUAL_ROW)
case("std_mean", lambda x: sum(torch.std_mean(x, -1)), x=EQUAL_ROW)
case("var_mean", lambda x: sum(torch.var_mean(x, -1)), x=EQUAL_ROW)
case("renorm", lambda x: torch.renorm(x, 2, 0, 5.0), x=[[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
case("hypot", torch.hypot, x=[0.0, 3.0], y=[0.0, 4.0])
case("layer_norm of equal elements", lambda x: F.layer_norm(x, (3,)).square(), x=EQUAL_ROW)
case("rms_norm of zeros", lambda x: F.rms_norm(x, (3,), eps=1e-6), x=ZERO_ROW)
case("weight norm", lambda g, x: torch._weight_norm(x, g, 0), g=[[2.0]], x=[[3.0, 4.0]])

# Bounds
BOUNDS = [-2.0, -1.0, 0.0, 1.0, 2.0]
case("clamp", lambda x: x.clamp(-1, 1), x=BOUNDS)
case("clamp, floats", lambda x: torch.clamp(x, -1.0, 1.0), x=BOUNDS)
case("clamp, min=", lambda x: x.clamp(min=0), x=BOUNDS)
case("clamp, max=", lambda x: x.clamp(max=0.0), x=BOUNDS)
case("clamp_min", lambda x: torch.clamp_min(x, 0), x=BOUNDS)
case("clamp_max", lambda x: torch.clamp_max(x, 1.0), x=BOUNDS)
case("clip", lambda x: torch.clip(x, 0.0, 1.0), x=BOUNDS)
case("clamp by tensors", lambda x, L, H: torch.clamp(x, L, H), x=BOUNDS, L=[-1.0] * 5, H=[1.0] * 5)
case("clamp by trained tensors", lambda x, l, h: torch.clamp(x, l, h), x=BOUNDS, l=[-1.0] * 5, h=[1.0] * 5)
case("clamp by a tensor, min=", lambda x, L: torch.clamp(x, min=L), x=BOUNDS, L=[0.0])
case("clamp by a scalar tensor", lambda x: torch.clamp(x, torch.tensor(-1.0), torch.tensor(1.0)), x=BOUNDS, differs=SAME_NODE)
case("clamp by equal numbers", lambda x: x.clamp(1.0, 1.0), x=BOUNDS)
case("clamp in place", lambda x: (x * 1.0).clamp_(-1, 1), x=BOUNDS)
case("maximum", torch.maximum, x=BOUNDS, y=[0.0] * 5)
case("maximum of a constant", lambda x: torch.maximum(x, torch.tensor(0.0)), x=BOUNDS)
case("minimum of a constant", lambda x: torch.minimum(x, torch.tensor(1.0)), x=BOUNDS)
case("max(x, y)", lambda x, y: torch.max(x, y), x=BOUNDS, y=[0.0] * 5)
case("fmax", torch.fmax, x=BOUNDS, y=[0.0] * 5)
case("fmin", torch.fmin, x=BOUNDS, y=[0.0] * 5)
case("hardtanh", F.hardtanh, x=BOUNDS)
case("hardtanh, bounds", lambda x: F.hardtanh(x, -2.0, 1.0), x=BOUNDS)
case("relu", F.relu, x=[-1.0, 0.0, 1.0])
case("relu6", F.relu6, x=[-1.0, 0.0, 3.0, 6.0, 7.0])
case("leaky_relu", F.leaky_relu, x=[-1.0, 0.0, 1.0])
case("leaky_relu, negative slope", lambda x: F.leaky_relu(x, -0.5), x=[-1.0, 0.0, 1.0])
case("prelu", lambda x, w: F.prelu(x, w), x=[[-1.0, 0.0, 1.0]], w=[0.25])
case("rrelu in evaluation", lambda x: F.rrelu(x), x=[-1.0, 0.0, 1.0])
case("elu", lambda x: F.elu(x, 2.0), x=[-200.0, 0.0, 200.0])
case("celu", lambda x: F.celu(x, 2.0), x=[-200.0, 0.0, 200.0])
case("selu", F.selu, x=[-200.0, 0.0, 200.0])
case("gelu", F.gelu, x=FAR)
case("gelu, tanh", lambda x: F.gelu(x, approximate="tanh"), x=FAR)
case("silu", F.silu, x=FAR)
case("mish", F.mish, x=FAR)
case("sigmoid", torch.sigmoid, x=FAR)
case("tanh", torch.tanh, x=FAR)
case("tanhshrink", F.tanhshrink, x=FAR)
case("softsign", F.softsign, x=[-1.0, 0.0, 1.0])
case("threshold", lambda x: F.threshold(x, 0.5, 20.0), x=[0.0, 0.5, 0.75])
case("hardshrink", lambda x: F.hardshrink(x, 0.5), x=[-1.0, -0.5, 0.0, 0.5, 1.0])
case("softshrink", lambda x: F.softshrink(x, 0.5), x=[-1.0, -0.5, 0.0, 0.5, 1.0])
case("hardsigmoid", F.hardsigmoid, x=[-4.0, -3.0, 0.0, 3.0, 4.0])
case("hardswish", F.hardswish, x=[-4.0, -3.0, 0.0, 3.0, 4.0])
case("glu", lambda x: F.glu(x, -1), x=[[200.0, -200.0]])
case("abs", torch.abs, x=[-1.0, 0.0, 1.0])
case("sign", lambda x: x.sign() * x, x=[-1.0, 0.0, 1.0])
case("floor, ceil, round, trunc", lambda x: x.floor() + x.ceil() + x.round() + x.trunc(), x=[-1.0, 0.0, 0.5])
case("frac", torch.frac, x=[-1.5, 0.0, 1.0])
case("fmod", lambda x, y: torch.fmod(x, y), x=[-3.0, 0.0, 4.0], y=[2.0, 2.0, -2.0])
case("remainder", lambda x, y: torch.remainder(x, y), x=[-3.0, 0.0, 4.0], y=[2.0, 2.0, -2.0])
case("nan_to_num", lambda x: torch.nan_to_num(x, nan=0.0, posinf=1.0, neginf=-1.0), x=[nan, inf, -inf, 1.0])
case("copysign", lambda x, Y: torch.copysign(x, Y), x=[-1.0, 0.0, 1.0], Y=[1.0, 1.0, -1.0])

# Ties
case("amax", lambda x: x.amax(-1), x=[[2.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
case("amin", lambda x: x.amin(-1), x=[[2.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
case("aminmax", lambda x: sum(torch.aminmax(x, dim=-1)), x=[[2.0, 1.0, 2.0]])
case("max of all", lambda x: x.max(), x=[2.0, 1.0, 2.0])
case("min of all", lambda x: x.min(), x=[1.0, 1.0, 2.0])
case("max along an axis", lambda x: x.max(-1).values, x=[[2.0, 1.0, 2.0], [1.0, 2.0, 3.0]], differs=SAME_NODE)
case("min along an axis", lambda x: x.min(-1).values, x=[[2.0, 1.0, 1.0], [1.0, 2.0, 3.0]], differs=SAME_NODE)
case("max_pool1d", lambda x: F.max_pool1d(x, 2), x=[[[1.0, 1.0, 2.0, 3.0]]])
case(
    "adaptive_max_pool1d",
    lambda x: F.adaptive_max_pool1d(x, 1),
    x=[[[1.0, 2.0, 2.0]]],
    differs=dict.fromkeys(["default", "mtc.export"], ALL_MAXIMA),
)
case("topk", lambda x: x.topk(1).values, x=[[1.0, 2.0, 3.0]])
case("sort", lambda x, W: x.sort(-1).values * W, x=[[3.0, 1.0, 2.0]], W=[[1.0, 2.0, 3.0]])
case("median", lambda x: x.median(-1).values, x=[[3.0, 1.0, 2.0]])
case("cummax", lambda x: x.cummax(-1).values, x=[[1.0, 3.0, 3.0, 2.0]])

# Roots, powers and multiplications
case("sqrt", torch.sqrt, x=[0.0, 4.0])
case("rsqrt", torch.rsqrt, x=[0.0, 4.0])
case("x ** 0.5", lambda x: x**0.5, x=[0.0, 4.0])
case("x ** 0", lambda x: x**0, x=[0.0, 2.0])
case("x ** 1", lambda x: x**1.0, x=[0.0, 2.0])
case("x ** 2", lambda x: x**2, x=[0.0, 2.0])
case("x ** 1.5", lambda x: x**1.5, x=[0.0, 4.0])
case("x ** 3", lambda x: x**3, x=[0.0, -2.0])
case("x ** -1", lambda x: x**-1, x=[0.0, 2.0])
case("pow of tensors", torch.pow, x=[0.0, 0.0, 0.0, 2.0, -2.0], y=[0.0, 1.0, 2.0, 0.0, 2.0])
case("number ** y", lambda y: 0.0**y + 2.0**y, y=[0.0, 1.0, 2.0])
case("reciprocal", torch.reciprocal, x=[0.0, 2.0])
case("square", torch.square, x=[0.0, 2.0])
case("exp", torch.exp, x=[-200.0, 0.0])
case("prod", lambda x: x.prod(-1), x=[[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]])
case("prod of all", lambda x: x.prod(), x=[0.0, 2.0, 3.0])
case("cumprod", lambda x: x.cumprod(-1), x=[[0.0, 2.0, 3.0], [2.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
case("atan2", torch.atan2, x=[0.0, 0.0, 1.0, 0.0], y=[0.0, 1.0, 0.0, -1.0])
case("asin", torch.asin, x=[-1.0, 0.0, 1.0])
case("acos", torch.acos, x=[-1.0, 0.0, 1.0])
case("acosh", torch.acosh, x=[1.0, 2.0])
case("atanh", torch.atanh, x=[-1.0, 0.0, 1.0])
case("asinh", torch.asinh, x=[-1e4, 0.0, 1e4])
case(
    "det of a singular matrix",
    lambda x: torch.det(x),
    x=[[1.0, 2.0], [2.0, 4.0]],
    differs=dict.fromkeys(["default", "dynamo=False", "mtc.export"], SINGULAR),
)

# Branches that are not taken
case("where(x > 0, log(x), 0)", lambda x: torch.where(x > 0, x.log(), torch.zeros_like(x)), x=[0.0, -1.0, 1.0])
case("where(x == 0, 1, sin(x) / x)", lambda x: torch.where(x == 0, torch.ones_like(x), x.sin() / x), x=[0.0, 1.0])
case("where(x > 0, sqrt(x), 0)", lambda x: torch.where(x > 0, x.sqrt(), 0.0), x=[0.0, -1.0, 4.0])
case("where of a safe operand", lambda x: torch.where(x > 0, torch.where(x > 0, x, 1.0).sqrt(), 0.0), x=[0.0, -1.0, 4.0])
case("where(y == 0, 0, x / y)", lambda x, y: torch.where(y == 0, 0.0, x / y), x=[1.0, 0.0, 1.0], y=[0.0, 0.0, 2.0])
case("masked_fill(x / y)", lambda x, Y: (x / Y).masked_fill(Y == 0, 0.0), x=[1.0, 0.0, 1.0], Y=[0.0, 0.0, 2.0])
case("where(x < 10, exp(x), x)", lambda x: torch.where(x < 10, x.exp(), x), x=[200.0, 0.0])
case("nan_to_num(x / y)", lambda x, Y: torch.nan_to_num(x / Y), x=[0.0, 1.0], Y=[0.0, 2.0])
case(
    "min(r a, clamp(r) a)",
    lambda r, A: torch.min(r * A, r.clamp(0.8, 1.2) * A),
    r=[0.8, 1.2, 1.0, 0.5],
    A=[1.0, 1.0, -1.0, 1.0],
)
case(
    "clamp of a variance, by hand",
    lambda x, v: torch.log(v.clamp(min=1e-6)) + x**2 / v.clamp(min=1e-6),
    x=[1.0, 1.0],
    v=[0.0, 2.0],
)
case("clamp(log(x), min=-100)", lambda x: x.log().clamp(min=-100), x=[0.0, 1.0])
case("clamp(sqrt(x), min=1e-3)", lambda x: x.sqrt().clamp(min=1e-3), x=[0.0, 4.0])
case("sqrt(clamp(x, min=0))", lambda x: x.clamp(min=0).sqrt(), x=[-1.0, 0.0, 4.0])
case("sqrt(relu(x))", lambda x: x.relu().sqrt(), x=[-1.0, 0.0, 4.0])
case("log(relu(x) + eps)", lambda x: (x.relu() + 1e-6).log(), x=[-1.0, 0.0, 4.0])
case("relu(log(x))", lambda x: x.log().relu(), x=[0.0, 1.0, 4.0])
case("acos(clamp)", lambda x: x.clamp(-1, 1).acos(), x=[-1.0, 0.0, 1.0, 2.0])
case("0 * log(x)", lambda x: 0.0 * x.log(), x=[0.0, 1.0])
