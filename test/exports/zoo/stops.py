"""Modules that stop gradients, and modules whose forward updates buffers or frozen parameters."""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import nn
from zoo.architecture import Example, architecture

WIDTH = 12


def perceptron() -> nn.Sequential:
    return nn.Sequential(nn.Linear(WIDTH, 16), nn.ReLU(), nn.Linear(16, 8))


def rows() -> torch.Tensor:
    return torch.randn(80, WIDTH)


@architecture
def self_distillation() -> Example:
    """The targets of two views are the detached projections of each other (SimSiam)."""

    class SimSiam(nn.Module):
        def __init__(self):
            super().__init__()
            self.project, self.predict = perceptron(), nn.Linear(8, 8)

        def forward(self, x, y):
            a, b = self.project(x), self.project(y)
            return -(F.cosine_similarity(self.predict(a), b.detach()) + F.cosine_similarity(self.predict(b), a.detach())).mean()

    return Example(SimSiam(), {"x": rows(), "y": rows()}, None, "output", 0.2, output="loss")


@architecture
def vector_quantization() -> Example:
    """The codebook is a moving average of the codes' inputs; the encoder has a straight-through gradient (VQ-VAE)."""

    class Quantized(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode, self.decode = nn.Linear(WIDTH, 6), nn.Linear(6, WIDTH)
            self.register_buffer("codes", torch.randn(10, 6))
            self.register_buffer("counts", torch.ones(10))
            self.register_buffer("sums", self.codes.clone())

        def forward(self, x):
            z = self.encode(x)
            nearest = (self.codes.pow(2).sum(1) - 2 * z @ self.codes.T).argmin(1)
            chosen = F.one_hot(nearest, 10).float()
            with torch.no_grad():
                self.counts.mul_(0.9).add_(chosen.sum(0), alpha=0.1)
                self.sums.mul_(0.9).add_(chosen.T @ z, alpha=0.1)
                self.codes.copy_(self.sums / self.counts[:, None])
            q = chosen @ self.codes
            return F.mse_loss(self.decode(z + (q - z).detach()), x) + 0.25 * F.mse_loss(z, q.detach())

    return Example(Quantized(), {"x": rows()}, None, "output", 0.1, output="loss")


@architecture
def spectral_norm() -> Example:
    """Each forward pass of a layer computes a step of the power iteration, and one layer is called twice."""

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            norm = nn.utils.parametrizations.spectral_norm
            self.layers = nn.Sequential(norm(nn.Linear(WIDTH, 16)), nn.LeakyReLU(0.2), norm(nn.Linear(16, 1)))

        def forward(self, real, fake):
            return F.relu(1 - self.layers(real)).mean() + F.relu(1 + self.layers(fake)).mean()

    return Example(Critic(), {"real": rows(), "fake": rows()}, None, "output", 0.1, output="loss")


@architecture
def momentum_encoder() -> Example:
    """A frozen copy of the encoder follows its weights, and its results fill a queue at a counter (MoCo)."""

    class Contrast(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = perceptron()
            self.follow = copy.deepcopy(self.encode).requires_grad_(False)
            self.register_buffer("queue", F.normalize(torch.randn(8, 16), dim=0))
            self.register_buffer("position", torch.zeros((), dtype=torch.long))

        def forward(self, x, y):
            with torch.no_grad():
                for own, other in zip(self.follow.parameters(), self.encode.parameters(), strict=True):
                    own.data = own.data * 0.9 + other.data * 0.1
                keys = F.normalize(self.follow(y), dim=1)
            queries = F.normalize(self.encode(x), dim=1)
            logits = torch.cat([(queries * keys).sum(1, keepdim=True), queries @ self.queue.clone()], 1) / 0.2
            with torch.no_grad():
                self.queue.index_copy_(1, (self.position + torch.arange(8)) % 16, keys.T)
                self.position.copy_((self.position + 8) % 16)
            return -logits.log_softmax(1)[:, 0].mean()

    return Example(Contrast(), {"x": rows(), "y": rows()}, None, "output", 0.2, output="loss", dynamic=False)


@architecture
def fake_quantization() -> Example:
    """Weights are quantized per channel and activations per tensor, with straight-through gradients in range."""

    class Quantized(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(WIDTH, 16), nn.Linear(16, WIDTH)

        def weight(self, layer):
            scale = layer.weight.detach().abs().amax(1) / 100
            return torch.fake_quantize_per_channel_affine(layer.weight, scale, torch.zeros(len(scale), dtype=torch.int32), 0, -96, 96)

        def forward(self, x):
            h = torch.fake_quantize_per_tensor_affine(F.linear(x, self.weight(self.first), self.first.bias), 0.02, 3, -64, 64)
            return F.mse_loss(F.linear(h, self.weight(self.second), self.second.bias), x)

    return Example(Quantized(), {"x": rows()}, None, "output", 0.2, output="loss")
