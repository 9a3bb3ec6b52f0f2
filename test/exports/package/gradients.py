"""Tests of gradients that differ from those of the forward pass, and of state that forward passes update."""

import onnx
import torch
import torch.nn.functional as F
from harness import PATH, Function, metadata, nodes, refused, test
from torch import nn
from torch.utils.checkpoint import checkpoint

import mtc
from mtc import facts


@test
def custom_backward_passes():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            return ctx.factor * gradient, None

    x = torch.randn(2, 4)
    mtc.export(Function(lambda m, h: Doubled.apply(h, 2.0)), x, PATH)
    PATH.unlink()
    refused(Function(lambda m, h: Doubled.apply(h, 3.0)), x, "'linear.weight'", "torch.autograd.Function", "verify=False")


@test
def gradient_stops_are_kept():
    def no_grad(module, h):
        with torch.no_grad():
            scale = h.norm()
        return h / scale

    def in_place(module, h):
        y = h.exp().clone()
        with torch.no_grad():
            y.clamp_(min=1.0)
        return y * h

    def through_data(module, h):
        y = h * 2
        y.data.clamp_(min=0.1)
        return y * h.data

    def toggled(module, h):
        module.linear.requires_grad_(False)
        y = module.linear(h)
        module.linear.requires_grad_(True)
        return y + module.linear(h + 1)

    def disabled(module, h):
        torch.set_grad_enabled(False)
        y = module.linear(h)
        torch.set_grad_enabled(True)
        return h * y

    def modified_copy(module, h):
        y = h.detach().clone()
        y.mul_(module.linear.bias)
        y[0] = 0
        return y + h

    def checkpointed(module, h):
        return checkpoint(lambda x: x * x.detach(), h, use_reentrant=True) + checkpoint(lambda x: x * x.data, h, use_reentrant=False)

    def not_traced_by_torch_export(module, h):
        return h * h.detach() if h.sum() > -1e9 else h

    def fake_quantized(module, h):
        return torch.fake_quantize_per_tensor_affine(h, 0.1, 3, -4, 5)

    x = torch.randn(3, 4)
    for function in (
        lambda m, h: h + h.detach(), lambda m, h: h + (h.round() - h).detach(), lambda m, h: h.sign() - h.data + h, no_grad, in_place,
        through_data, toggled, disabled, modified_copy, checkpointed, not_traced_by_torch_export, fake_quantized,
        lambda m, h: F.gaussian_nll_loss(h, h + 1, h * h * 1e-6), lambda m, h: torch.where(h.detach() > 0, h * h.detach(), h),
    ):  # fmt: skip
        module = Function(function)
        found = mtc.export(module, x, PATH)
        marks = metadata("mtc.detached")
        assert found.stops == len(marks) > 0 and set(marks) == {"true"}, (function, found.stops, marks)
        assert all(p.requires_grad for p in module.parameters()) and not [*module.buffers()]
    # Values that no trained parameter determines, and integers, have no gradient to stop.
    for function in (lambda m, h: h * torch.ones_like(h.detach()), lambda m, h: h[:, h.detach().argmax(1) * 0]):
        mtc.export(Function(function), x, PATH)
        assert not metadata("mtc.detached"), function

    def modified_result(module, h):
        y = h.exp()  # saved for the backward pass
        with torch.no_grad():
            y.clamp_(min=1.0)
        return y

    refused(Function(modified_result), x, "backward pass of the module fails", "inplace operation")
    refused(Function(lambda m, h: h.detach().add_(m.linear.bias)), x, "in place", "returns a new tensor")
    refused(Function(lambda m, h: (h.detach().requires_grad_() * 2).sum() + h), x, "requires_grad_")


@test
def updates_of_forward_are_kept():
    class Stateful(nn.Module):
        def __init__(self, update):
            super().__init__()
            self.linear, self.copy = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(False)
            self.register_buffer("mean", torch.zeros(4))
            self.register_buffer("count", torch.zeros((), dtype=torch.long))
            self.update = update

        def forward(self, x):
            h = self.linear(x)
            with torch.no_grad():
                self.update(self, h)
            return self.copy(h - self.mean) / (self.count + 1)

    def in_place(module, h):
        module.mean.mul_(0.9).add_(h.mean(0), alpha=0.1)

    def assigned(module, h):
        module.mean = 0.9 * module.mean + 0.1 * h.mean(0)

    def indexed(module, h):
        module.mean[1:3] = h.mean(0)[1:3]

    def foreach(module, h):
        torch._foreach_mul_([module.mean], 0.9)
        torch._foreach_add_([module.mean], [h.mean(0)])

    def given_out(module, h):
        torch.mean(h, 0, out=module.mean)

    def counted(module, h):
        module.count += 1

    def followed(module, h):
        for own, other in zip(module.copy.parameters(), module.linear.parameters(), strict=True):
            own.data = own.data * 0.5 + other.data * 0.5

    weights = ["copy.weight", "copy.bias"]
    for update, names in ((in_place, ["mean"]), (assigned, ["mean"]), (indexed, ["mean"]), (foreach, ["mean"]),
                          (given_out, ["mean"]), (counted, ["count"]), (followed, weights)):  # fmt: skip
        module = Stateful(update)
        objects = {name: (id(value), value.clone()) for name, value in module.state_dict(keep_vars=True).items()}
        found = mtc.export(module, torch.randn(3, 4), PATH)
        updated = {buffer.name: buffer.update for buffer in found.buffers if buffer.update}
        assert updated == {name: f"{name}.next" for name in names}, (update, updated)
        assert found == facts.read(PATH) and not set(names) & {parameter.name for parameter in found.parameters}
        graph = onnx.load(PATH).graph
        assert [value.name for value in graph.output] == ["output", *updated.values()]
        assert set(names) <= {tensor.name for tensor in graph.initializer} and set(metadata("mtc.update")) == set(names)
        now = module.state_dict(keep_vars=True)
        assert all(id(now[name]) == key and torch.equal(now[name], value) for name, (key, value) in objects.items()), update

    normed = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4)), nn.utils.spectral_norm(nn.Linear(4, 4)))
    found = mtc.export(normed, torch.randn(3, 4), PATH)
    assert sorted(buffer.update is not None for buffer in found.buffers) == [True] * 4, found.buffers

    def as_number(module, h):
        module.mean[int(module.count)] = 1.0
        module.count.fill_(2)

    def clamped(module, h):
        module.linear.weight.clamp_(-0.1, 0.1)

    x = torch.randn(3, 4)
    refused(Stateful(as_number), x, "second forward pass", "mean, count")
    refused(Stateful(clamped), x, "parameter 'linear.weight'", "in place")


@test
def gradients_in_the_forward_pass():
    def residual(module, x):
        return torch.autograd.grad(torch.tanh(x).sum(), x, create_graph=True)[0] ** 2

    mtc.export(Function(residual), torch.randn(3, 4), PATH)
    assert nodes("Tanh")

    def jacobian(module, x):
        return torch.func.vmap(torch.func.jacrev(lambda row: torch.sin(module.linear(row))))(x).mean()

    mtc.export(Function(jacobian), torch.randn(3, 4), PATH, dynamic_batch=False)
