"""Models of metric and generative learning. They are exported by `mtc.export` only."""

import torch
import torch.nn.functional as F
from torch import nn
from zoo.architecture import Example, architecture, classes
from zoo.functional import loss, mlp, randn


@architecture
def contrastive() -> Example:
    """SimCLR, in which each sample is a class."""

    def forward(m, a, b):
        z = F.normalize(torch.cat([m.encoder(a), m.encoder(b)]))
        scores = (z @ z.T / 0.5).fill_diagonal_(-1e9)
        n = a.shape[0]
        return F.cross_entropy(scores, torch.cat([torch.arange(n) + n, torch.arange(n)]))

    return loss(forward, {"a": randn(10), "b": randn(10)}, lr=0.3, encoder=mlp(10, 16, 6, activation=nn.ReLU))


@architecture
def barlow_twins() -> Example:
    def forward(m, a, b):
        a, b = ((z - z.mean(0)) / z.std(0) for z in (m.encoder(a), m.encoder(b)))
        correlation = a.T @ b / a.shape[0]
        on = torch.diagonal(correlation)
        return ((on - 1) ** 2).sum() + 0.01 * ((correlation**2).sum() - (on**2).sum())

    return loss(forward, {"a": randn(10), "b": randn(10)}, lr=0.01, encoder=mlp(10, 16, 6))


@architecture
def triplets() -> Example:
    def forward(m, anchor, positive, negative):
        return F.triplet_margin_loss(*(F.normalize(m.encoder(x)) for x in (anchor, positive, negative)), margin=1.0)

    return loss(forward, {"anchor": randn(10), "positive": randn(10), "negative": randn(10)}, lr=0.02, encoder=mlp(10, 16, 6))


@architecture
def angular_margin() -> Example:
    """ArcFace."""

    def forward(m, x, labels):
        cosine = F.linear(F.normalize(m.encoder(x)), F.normalize(m.centers)).clamp(-1 + 1e-6, 1 - 1e-6)
        own = F.one_hot(labels, 5).bool()
        return F.cross_entropy(8 * torch.where(own, torch.cos(torch.acos(cosine) + 0.3), cosine), labels)

    return loss(forward, {"x": randn(10), "labels": classes()}, encoder=mlp(10, 16, 8), centers=torch.randn(5, 8))


@architecture
def variational_autoencoder() -> Example:
    def forward(m, x, noise):
        mean, log_variance = m.encoder(x).chunk(2, 1)
        decoded = m.decoder(mean + noise * torch.exp(0.5 * log_variance))
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        return F.binary_cross_entropy_with_logits(decoded, x, reduction="none").sum(1).mean() + divergence

    return loss(forward, {"x": torch.rand(80, 12), "noise": randn(3)}, lr=0.02, encoder=mlp(12, 16, 6), decoder=mlp(3, 16, 12))


@architecture
def denoising_diffusion() -> Example:
    def forward(m, x, noise, step):
        kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, 20), 0)[step].unsqueeze(1)
        noisy = kept.sqrt() * x + (1 - kept).sqrt() * noise
        return F.mse_loss(m.net(torch.cat([noisy, m.time(step)], 1)), noise)

    inputs = {"x": randn(6), "noise": randn(6), "step": torch.randint(0, 20, (80,))}
    return loss(forward, inputs, time=nn.Embedding(20, 4), net=mlp(10, 24, 6))


@architecture
def mixture_density() -> Example:
    def forward(m, x, y):
        logits, mean, log_scale = m.net(x).chunk(3, 1)
        score = torch.distributions.Normal(mean, log_scale.exp()).log_prob(y.unsqueeze(1))
        return -torch.logsumexp(logits.log_softmax(1) + score, 1).mean()

    return loss(forward, {"x": randn(4), "y": randn()}, lr=0.05, net=mlp(4, 16, 9))


@architecture
def optimal_transport() -> Example:
    def forward(m, x, y):
        cost = torch.cdist(m.map(x), y) ** 2
        f, g = torch.zeros_like(cost[:, :, 0]), torch.zeros_like(cost[:, 0])
        for _ in range(3):
            f = -torch.logsumexp(g.unsqueeze(1) - cost, 2)
            g = -torch.logsumexp(f.unsqueeze(2) - cost, 1)
        return (torch.exp(f.unsqueeze(2) + g.unsqueeze(1) - cost) * cost).sum((1, 2)).mean()

    return loss(forward, {"x": randn(5, 3), "y": randn(5, 3)}, lr=0.01, map=nn.Linear(3, 3))


@architecture
def energy_score_matching() -> Example:
    """Sliced score matching: a gradient of a gradient in the direction of noise."""

    def forward(m, x, v):
        x = x.clone().requires_grad_(True)
        score = torch.autograd.grad(m.energy(x).sum(), x, create_graph=True)[0]
        curvature = torch.autograd.grad((score * v).sum(), x, create_graph=True)[0]
        return ((curvature * v).sum(1) + 0.5 * (score**2).sum(1)).mean()

    return loss(forward, {"x": randn(4), "v": randn(4)}, lr=0.05, energy=mlp(4, 16, 1))
