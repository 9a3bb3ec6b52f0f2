"""Tests of functions that ONNX lacks."""

import onnx
import torch
from harness import PATH, Function, nodes, refused, test
from torch import nn

import mtc


@test
def scatters_with_equal_indices():
    """onnxruntime loses updates of ScatterND if it has several threads, so the verification uses one."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(64, 64)

        def forward(self, x, source, target):
            x = self.linear(x)
            return torch.zeros_like(x).index_add(0, target, x[source])

    edges = torch.randint(0, 5000, (2, 40000))
    mtc.export(Layer(), (torch.randn(5000, 64), edges[0], edges[1]), PATH, dynamic_batch=False)


@test
def complex_numbers():
    class Spectral(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 3, 5, dtype=torch.complex64))
            self.register_buffer("turn", torch.polar(torch.ones(5), torch.arange(5.0)))

        def forward(self, x):
            f = torch.fft.rfft(x, norm="ortho")
            y = torch.zeros_like(f)
            y[..., :5] = torch.einsum("bim,iom->bom", f[..., :5], self.weight) * self.turn
            y = y + 2j * f.conj() / (1 + f.abs())
            z = torch.fft.fft2(x, s=(4, 6)).exp() * 1e-3
            return torch.fft.irfft(y, n=x.shape[-1], norm="ortho") + z.angle().mean() + (z.real**2 + z.imag).mean()

    found = mtc.export(Spectral(), torch.randn(4, 3, 16), PATH)
    assert [(p.name, p.shape, p.dtype) for p in found.parameters] == [("weight", (3, 3, 5, 2), "float32")], found.parameters
    assert nodes("DFT") and "turn" in [tensor.name for tensor in onnx.load(PATH).graph.initializer]

    window = torch.hann_window(16)
    stft = lambda _, x: torch.stft(x, 16, 4, window=window, return_complex=True).abs()  # noqa: E731
    mtc.export(Function(stft, 64), torch.randn(2, 64), PATH)
    refused(Function(lambda _, x: torch.fft.fft(x).tan().abs(), 4), torch.randn(2, 4), "tan", "view_as_real")


@test
def linear_algebra_and_scans():
    def covariance(x):
        return x.mT @ x + torch.eye(x.shape[-1])

    functions = {
        "cumprod": lambda _, x: x.cumprod(1) + torch.logcumsumexp(x, 1) + x.cummax(1).values,
        "cholesky": lambda _, x: torch.cholesky_solve(x.mT, torch.linalg.cholesky(covariance(x))),
        "solve": lambda _, x: torch.linalg.solve(covariance(x), x.mT) + torch.linalg.inv(covariance(x)) @ x.mT,
        "slogdet": lambda _, x: torch.linalg.slogdet(covariance(x))[1] + torch.logdet(covariance(x)),
        "matrix_exp": lambda _, x: torch.matrix_exp(covariance(x)),
        "cdist": lambda _, x: torch.cdist(x, x) + torch.cdist(x, x, p=1.0),
        "diagonal": lambda _, x: covariance(x).fill_diagonal_(0.5),
    }
    for function in functions.values():
        mtc.export(Function(function), torch.randn(3, 4), PATH, dynamic_batch=False)
    assert "matrix_exp" in functions
    refused(Function(lambda _, x: torch.linalg.svd(x)[1]), torch.randn(4, 4), "svd", "input", dynamic_batch=False)
