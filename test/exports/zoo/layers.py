"""Layers and losses of models of images and tables. They are exported by `mtc.export` only."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from zoo.architecture import Example, architecture, classes, images
from zoo.functional import classifier, loss, mlp, randn


@architecture
def spatial_transformer() -> Example:
    def forward(m, x):
        grid = F.affine_grid(m.locate(x.flatten(1)).unflatten(1, (2, 3)) + torch.eye(2, 3), x.shape, align_corners=False)
        return m.head(F.silu(m.conv(F.grid_sample(x, grid, align_corners=False))).mean((2, 3)))

    locate = nn.Linear(100, 6)
    nn.init.normal_(locate.weight, std=0.01)
    return classifier(forward, images(10, 1), locate=locate, conv=nn.Conv2d(1, 6, 3), head=nn.Linear(6, 5))


@architecture
def volumes() -> Example:
    module = nn.Sequential(nn.Conv3d(1, 6, 3, padding=1, bias=False), nn.BatchNorm3d(6), nn.ReLU(), nn.MaxPool3d(2),
                           nn.Conv3d(6, 8, 3, bias=False), nn.InstanceNorm3d(8, affine=True), nn.ReLU(), nn.Flatten(),
                           nn.Linear(64, 5))  # fmt: skip
    return Example(module, {"x": randn(1, 8, 8, 8)}, classes())


@architecture
def dice_segmentation() -> Example:
    def forward(m, x, labels):
        a = F.mish(m.first(x))
        b = F.interpolate(F.mish(m.second(F.avg_pool2d(a, 2))), scale_factor=2, mode="bilinear", align_corners=False)
        p, t = m.head(torch.cat([a, b], 1)).softmax(1), F.one_hot(labels, 3).permute(0, 3, 1, 2)
        return 1 - ((2 * (p * t).sum((2, 3)) + 1) / ((p + t).sum((2, 3)) + 1)).mean()

    inputs = {"x": images(8, 2), "labels": torch.randint(0, 3, (80, 8, 8))}
    return loss(forward, inputs, lr=10.0, first=nn.Conv2d(2, 6, 3, padding=1), second=nn.Conv2d(6, 6, 3, padding=1),
                head=nn.Conv2d(12, 3, 1))  # fmt: skip


@architecture
def super_resolution() -> Example:
    def forward(m, x, target):
        h = m.second(F.leaky_relu(m.first(x), 0.2))
        up = F.pixel_shuffle(h, 2) + F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return torch.sqrt((up - target) ** 2 + 1e-6).mean()

    inputs = {"x": images(6), "target": images(12)}
    return loss(forward, inputs, lr=0.3, first=nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"),
                second=nn.Conv2d(8, 12, 3, padding=1, padding_mode="circular"))  # fmt: skip


@architecture
def convolutional_lstm() -> Example:
    def forward(m, x, target):
        hidden = cell = torch.zeros_like(x[:, 0]).expand(-1, 4, -1, -1)
        for step in range(3):
            i, f, o, g = m.gates(torch.cat([x[:, step], hidden], 1)).chunk(4, 1)
            cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
            hidden = torch.sigmoid(o) * torch.tanh(cell)
        return F.binary_cross_entropy(torch.sigmoid(m.head(hidden)), target)

    inputs = {"x": randn(3, 1, 6, 6), "target": torch.rand(80, 1, 6, 6)}
    return loss(forward, inputs, lr=0.5, gates=nn.Conv2d(5, 16, 3, padding=1), head=nn.Conv2d(4, 1, 1))


@architecture
def capsules() -> Example:
    def squash(v):
        size = v.norm(dim=-1, keepdim=True)
        return size / (1 + size**2) * v

    def forward(m, x, labels):
        votes = torch.einsum("ijdk,bik->bijd", m.route, squash(m.primary(x).unflatten(1, (6, 4))))
        logits = torch.zeros_like(votes[..., 0])
        for _ in range(2):
            v = squash((logits.softmax(2).unsqueeze(-1) * votes).sum(1))
            logits = logits + (votes * v.unsqueeze(1)).sum(-1)
        size, own = v.norm(dim=-1), F.one_hot(labels, 5)
        return (own * F.relu(0.9 - size) ** 2 + 0.5 * (1 - own) * F.relu(size - 0.1) ** 2).sum(1).mean()

    return loss(forward, {"x": randn(10), "labels": classes()}, lr=0.5, primary=nn.Linear(10, 24), route=0.5 * torch.randn(6, 5, 4, 4))


@architecture
def bags_of_maxima() -> Example:
    def forward(m, ids, labels):
        return F.cross_entropy(m.head(torch.cat([bag(ids) for bag in m.bags], 1)), labels)

    bags = nn.ModuleList([nn.EmbeddingBag(20, 6, mode=mode, padding_idx=0) for mode in ("max", "sum", "mean")])
    return loss(forward, {"ids": torch.randint(0, 20, (80, 4)), "labels": classes()}, lr=0.3, bags=bags, head=nn.Linear(18, 5))


@architecture
def sparsemax_attention() -> Example:
    def sparsemax(z):
        ordered = z.sort(-1, descending=True).values
        total = ordered.cumsum(-1)
        count = (1 + torch.arange(1, z.shape[-1] + 1) * ordered > total).sum(-1, keepdim=True)
        return F.relu(z - (total.gather(-1, count - 1) - 1) / count)

    return classifier(lambda m, x: m.head(x * sparsemax(m.attend(x))), randn(8), attend=nn.Linear(8, 8), head=nn.Linear(8, 5))


@architecture
def spline_network() -> Example:
    """A Kolmogorov-Arnold network of piecewise linear functions."""

    def forward(m, x):
        hats = F.relu(1 - (x.unsqueeze(-1) - torch.linspace(-2, 2, 7)).abs() / (4 / 6))
        return m.head(F.silu(x)) + torch.einsum("big,oig->bo", hats, m.curves)

    return classifier(forward, randn(6), head=nn.Linear(6, 5), curves=0.1 * torch.randn(5, 6, 7))


@architecture
def mixture_of_experts() -> Example:
    def forward(m, x, labels):
        gate = m.gate(x).softmax(1)
        weight, chosen = gate.topk(2, 1)
        h = torch.einsum("bi,beij->bej", x, m.experts[chosen])
        balance = 4 * (F.one_hot(chosen[:, 0], 4).float().mean(0) * gate.mean(0)).sum()
        return F.cross_entropy(m.head((weight.unsqueeze(-1) * h.relu()).sum(1)), labels) + 0.01 * balance

    return loss(forward, {"x": randn(6), "labels": classes()}, lr=0.3, gate=nn.Linear(6, 4), experts=0.5 * torch.randn(4, 6, 8),
                head=nn.Linear(8, 5))  # fmt: skip


@architecture
def uncertainty_weights() -> Example:
    def forward(m, x, labels, values):
        h = m.body(x)
        parts = torch.stack([F.cross_entropy(m.classes(h), labels), F.huber_loss(m.value(h).squeeze(1), values)])
        return (torch.exp(-m.weights) * parts + m.weights).sum()

    inputs = {"x": randn(8), "labels": classes(), "values": randn()}
    return loss(forward, inputs, body=mlp(8, 12, 12), classes=nn.Linear(12, 5), value=nn.Linear(12, 1), weights=torch.zeros(2))


@architecture
def quantile_forecast() -> Example:
    def forward(m, x, target):
        error, q = target.unsqueeze(-1) - m.head(m.lstm(x)[0][:, -3:]), torch.tensor([0.1, 0.5, 0.9])
        return torch.maximum(q * error, (q - 1) * error).mean()

    return loss(forward, {"x": randn(8, 4), "target": randn(3)}, lr=0.3, lstm=nn.LSTM(4, 10, batch_first=True), head=nn.Linear(10, 3))


@architecture
def survival_hazard() -> Example:
    """Cox's partial likelihood of samples that are sorted by time."""

    def forward(m, x, event):
        risk = m.net(x).squeeze(1)
        return -((risk - torch.logcumsumexp(risk, 0)) * event).sum() / (event.sum() + 1e-3)

    return loss(forward, {"x": randn(5), "event": (torch.rand(80) < 0.7).float()}, net=mlp(5, 12, 1), dynamic=False)


@architecture
def ordinary_differential_equation() -> Example:
    def forward(m, x):
        for _ in range(4):
            a = m.field(x)
            b = m.field(x + 0.1 * a)
            x = x + 0.2 * b
        return m.head(x)

    return classifier(forward, randn(4), field=mlp(4, 12, 4), head=nn.Linear(4, 5), lr=0.5)


@architecture
def weibull_mixture() -> Example:
    def forward(m, x, time):
        scale, shape = F.softplus(m.net(x)).chunk(2, 1)
        ratio = (time.unsqueeze(1) / (scale + 0.1)).clamp(min=1e-4)
        log_density = math.log(2) + torch.log(shape + 0.1) + shape * ratio.log() - ratio ** (shape + 0.1)
        return -torch.logsumexp(log_density, 1).mean()

    return loss(forward, {"x": randn(4), "time": torch.rand(80) + 0.1}, lr=0.05, net=mlp(4, 12, 6))
