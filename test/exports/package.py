#!/usr/bin/env python3
"""Tests of mtc.export that need PyTorch: `PYTHON test/exports/package.py`, a Python with the packages of requirements.txt.

Every file is also compared with its module by mtc.export itself: parameters to the bit, outputs for the example inputs.
"""

import os
import sys
import tempfile
import warnings
from pathlib import Path

import onnx
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))
import mtc  # noqa: E402
from mtc import facts  # noqa: E402

FOLDER = Path(tempfile.mkdtemp())
PATH = FOLDER / "model.onnx"
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def nodes(kind: str) -> list[onnx.NodeProto]:
    return [node for node in onnx.load(PATH).graph.node if node.op_type == kind]


def attribute(node: onnx.NodeProto, name: str):
    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), None)


def refused(module: nn.Module, inputs, *words: str, **options) -> None:
    before = {name: value.clone() for name, value in module.state_dict().items()}
    PATH.unlink(missing_ok=True)
    try:
        mtc.export(module, inputs, PATH, **options)
    except mtc.ExportError as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, f"the message lacks {missing}: {error}"
    else:
        raise AssertionError(f"not refused; expected {words}")
    assert not PATH.exists() and [*PATH.parent.iterdir()] == [], "something was written"
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())


class Function(nn.Module):
    """A linear layer, and a function of its result."""

    def __init__(self, function, size=4):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.function = function

    def forward(self, x):
        return self.function(self, self.linear(x))


@test
def batch_norms_keep_their_form():
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, bias=False), nn.BatchNorm2d(4, momentum=0.3))
    module[3].eval()
    module[1].running_mean.normal_()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    found = mtc.export(module, torch.randn(3, 1, 8, 8), PATH)
    trained, frozen = nodes("BatchNormalization")
    assert attribute(trained, "training_mode") == 1 and not attribute(frozen, "training_mode")
    assert abs(attribute(trained, "momentum") - 0.9) < 1e-6
    assert list(trained.input[1:]) == ["1.weight", "1.bias", "1.running_mean", "1.running_var"], trained.input
    assert {buffer.name: buffer.value for buffer in found.buffers}["1.num_batches_tracked"] == (0,)
    assert module.training and not module[3].training, "the modes changed"
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items()), "the buffers changed"
    stored = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(PATH).graph.initializer}
    assert (stored["1.running_mean"] == before["1.running_mean"].numpy()).all(), "the file has moved statistics"
    module.eval()
    mtc.export(module, torch.randn(3, 1, 8, 8), PATH, train=False)
    assert not any(attribute(node, "training_mode") for node in nodes("BatchNormalization")) and not module.training
    mtc.export(module, torch.randn(3, 1, 8, 8), PATH)
    assert all(attribute(node, "training_mode") for node in nodes("BatchNormalization")) and not module.training
    plain = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, affine=False), nn.BatchNorm1d(4, track_running_stats=False))
    mtc.export(plain, torch.randn(3, 4), PATH)
    assert len(nodes("BatchNormalization")) == 1


@test
def dropout_is_kept():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.25, batch_first=True)

    def attend(module, x):
        heads = x.reshape(-1, 2, 2, 2)
        return F.scaled_dot_product_attention(heads, heads, heads, dropout_p=0.5 if module.training else 0.0)

    for module, x, count in ((layer, torch.randn(2, 3, 8), 4), (Function(attend, 8), torch.randn(2, 8), 1)):
        mtc.export(module, x, PATH)
        found = nodes("Dropout")
        constants = {node.output[0]: node for node in onnx.load(PATH).graph.node if node.op_type == "Constant"}
        assert len(found) == count, [node.name for node in found]
        for node in found:
            assert onnx.numpy_helper.to_array(attribute(constants[node.input[2]], "value")), f"{node.name} is off"
        mtc.export(module, x, PATH, train=False)
        assert not nodes("Dropout")


@test
def names_ties_and_facts():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4, padding_idx=2)
            self.bag = nn.EmbeddingBag(5, 4, mode="mean", padding_idx=1)
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
            self.head = nn.Linear(4, 10)
            self.head.weight = self.embed.weight
            self.unused = nn.Linear(3, 3)
            self.second.load_state_dict(self.first.state_dict())
            self.first.requires_grad_(False)
            self.register_buffer("ids", torch.arange(4)[None], persistent=False)

        def forward(self, tokens, values):
            return {"scores": self.head(self.second(self.first(self.embed(tokens)))), "bags": self.bag(values)}

    module = Tied()
    found = mtc.export(module, {"tokens": torch.randint(0, 10, (3, 4)), "values": torch.randint(0, 5, (3, 6))}, PATH)
    assert found == facts.read(PATH)
    graph = onnx.load(PATH).graph
    assert [value.name for value in graph.input] == ["tokens", "values"]
    assert [value.name for value in graph.output] == ["scores", "bags"]
    assert [value.type.tensor_type.shape.dim[0].dim_param for value in graph.input] == ["batch", "batch"]
    names = [tensor.name for tensor in graph.initializer]
    assert [p.name for p in found.parameters] == [name for name, _ in module.named_parameters()]
    assert len(set(names)) == len(names) and set(dict(module.named_parameters())) <= set(names), names
    facts_of = {p.name: p for p in found.parameters}
    assert facts_of["embed.weight"].names == ("embed.weight", "head.weight")
    assert facts_of["embed.weight"].module == "torch.nn.Embedding" and facts_of["first.weight"].shape == (4, 4)
    assert not facts_of["first.bias"].requires_grad and facts_of["second.bias"].requires_grad
    assert found.padding_idx == {"embed.weight": 2, "bag.weight": 1} and found.mode == "train"
    assert [(b.name, b.persistent, b.value) for b in found.buffers] == [("ids", False, (0, 1, 2, 3))]
    assert not any("/" in entry.value for node in graph.node for entry in node.metadata_props if "stack" in entry.key)


@test
def losses_in_the_module():
    class Loss(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.linear = nn.Linear(4, 5)
            self.options = options

        def forward(self, x, target):
            return F.cross_entropy(self.linear(x), target, **self.options)

    weight = torch.tensor([1.0, 2.0, 0.5, 3.0, 1.0])
    x, target = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 4, 2])
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.3):
            for options in ({}, {"weight": weight}, {"weight": weight, "ignore_index": 2}):
                module = Loss(reduction=reduction, label_smoothing=smoothing, **options)
                mtc.export(module, (x, target), PATH)
                if "ignore_index" not in options:
                    mtc.export(module, (x, torch.rand(6, 5)), PATH)


    class Dense(nn.Module):
        """Classes on the second axis, positions on the third."""

        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(4, 5, 1)

        def forward(self, x, target):
            return F.cross_entropy(self.conv(x), target, weight=weight, label_smoothing=0.2, ignore_index=1)

    mtc.export(Dense(), (torch.randn(2, 4, 6), torch.randint(0, 5, (2, 6))), PATH)


@test
def splits_and_bags():
    def pieces(module, x):
        a, b, c = x.split([1, 2, 5], 1)
        d, e = x.split(5, 1)
        return a * b.sum(1, keepdim=True) + c.mean() + d[:, :3] * e

    mtc.export(Function(pieces, 8), torch.randn(3, 8), PATH)
    assert not nodes("SplitToSequence")

    class Bags(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.bag = nn.EmbeddingBag(7, 3, **options)

        def forward(self, values, offsets, weights):
            return self.bag(values, offsets, weights)

    values, offsets = torch.tensor([1, 0, 3, 6, 1, 2]), torch.tensor([0, 2, 2, 5])  # with include_last_offset, the last index is in no bag
    weights = torch.rand(6)
    for options in ({"mode": "sum"}, {"mode": "sum", "padding_idx": 1}, {"mode": "sum", "include_last_offset": True}):
        mtc.export(Bags(**options), (values, offsets, weights), PATH, dynamic_batch=False)
        assert not nodes("Loop")
    for options in ({"mode": "mean"}, {"mode": "mean", "padding_idx": 0}):
        mtc.export(Bags(**options), (values, offsets, None), PATH, dynamic_batch=False)
    refused(Bags(mode="max"), (values, offsets, None), "mode='max'", "offsets", dynamic_batch=False)


@test
def what_torch_export_cannot_trace_is_traced_by_torchscript():
    def branch(module, x):
        return x * 2 if x.sum() > 0 else x * 3

    module = Function(branch)
    with torch.no_grad():
        module.linear.bias.fill_(0.0)
        module.linear.weight.copy_(torch.eye(4))
    for train in (True, False):
        mtc.export(nn.Sequential(nn.Linear(4, 4, bias=False), module, nn.LayerNorm(4), nn.LayerNorm(4)), torch.ones(2, 4), PATH, train=train)
        assert onnx.load(PATH).graph.initializer[0].name == "0.weight"
        assert {"2.weight", "3.weight", "2.bias", "3.bias"} <= {tensor.name for tensor in onnx.load(PATH).graph.initializer}


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


def evaluated(x: torch.Tensor) -> list[torch.Tensor]:
    """The outputs of the exported graph in inference form, computed by ONNX's reference."""
    model = onnx.load(PATH)
    graph, inference = model.graph, facts.read(model).inference
    for node in graph.node:
        if node.op_type == "Dropout":
            del node.input[1:]
        if node.op_type == "BatchNormalization":
            del node.attribute[[a.name for a in node.attribute].index("training_mode")]
            del node.output[1:]
        node.output[:] = [f"{name}.training" if name in inference else name for name in node.output]
    graph.node.extend(onnx.helper.make_node("Identity", [other], [name]) for name, other in inference.items())
    known, pending = {"", *(v.name for v in (*graph.input, *graph.initializer))}, [*graph.node]
    del graph.node[:]
    while pending:
        ready = [node for node in pending if known.issuperset(node.input)]
        assert ready, "a value depends on its own replacement"
        pending = [node for node in pending if not known.issuperset(node.input)]
        graph.node.extend(ready)
        known.update(name for node in ready for name in node.output)
    feeds = {graph.input[0].name: x.numpy()}
    return [torch.from_numpy(value) for value in onnx.reference.ReferenceEvaluator(model).run(None, feeds)]


def kept_rows(module: nn.Module, h: torch.Tensor) -> torch.Tensor:
    """Drops random rows in training, as PatchDropout does, and averages the others."""
    if module.training:
        rows = torch.argsort(torch.rand(h.shape[:2]), dim=1)[:, :2]
        h = torch.gather(h, 1, rows[:, :, None].expand(-1, -1, h.shape[2]))
    return torch.relu(h).mean(1)


def stochastic_depth(module: nn.Module, h: torch.Tensor) -> torch.Tensor:
    """A chain of residual blocks, whose multiplications with a mask follow multiplications with a constant."""
    for gain in (0.5, 0.7, 0.9):
        branch = torch.sin(h) * gain
        h = h + (branch * h.new_empty((h.shape[0], 1, 1)).bernoulli_(0.8) / 0.8 if module.training else branch)
    return h


@test
def evaluation_mode_is_recorded():
    x = torch.randn(4, 3, 4)
    for name, function, listed in (
        ("dropout", lambda m, h: F.dropout(h, 0.5, m.training), 0),
        ("constant", lambda m, h: h * F.dropout(torch.ones(3, 4), 0.5, m.training), 0),
        ("attention", lambda m, h: F.scaled_dot_product_attention(h, h, h, dropout_p=0.5 if m.training else 0.0), 0),
        ("channels", lambda m, h: F.dropout1d(h, 0.5, m.training), 1),
        ("alpha", lambda m, h: F.alpha_dropout(h, 0.5, m.training), 1),
        ("feature alpha", lambda m, h: F.feature_alpha_dropout(h, 0.5, m.training), 1),
        ("rrelu", lambda m, h: F.rrelu(h, 0.1, 0.4, m.training), 1),
        ("unscaled", lambda m, h: h * h.new_empty((4, 1, 1)).bernoulli_(0.8) if m.training else h, 1),
        ("depth", stochastic_depth, 3),
        ("noise", lambda m, h: torch.relu(h + 0.1 * torch.randn_like(h) if m.training else h), 1),
        ("twice", lambda m, h: F.dropout1d(torch.relu(F.dropout1d(h, 0.5, m.training)), 0.5, m.training), 2),
        ("gumbel", lambda m, h: F.gumbel_softmax(h) if m.training else F.softmax(h, -1), 1),
        ("scale", lambda m, h: torch.relu(h * (0.5 if m.training else 0.7)), 1),
        ("rows", kept_rows, 1),
        ("probabilities", lambda m, h: h if m.training else F.softmax(h, -1), 1),
        ("blend", lambda m, h: torch.where(torch.rand_like(h) < 0.3, h, h.tanh()) if m.training else 0.3 * h + 0.7 * h.tanh(), 1),
    ):
        module = Function(function)
        found = mtc.export(module, x, PATH, dynamic_batch=name not in ("unscaled",))
        assert found == facts.read(PATH) and found.inference is not None, name
        assert len(found.inference) == listed, (name, found.inference)
        expected = module.eval()(x)
        (actual,) = evaluated(x)
        assert actual.shape == expected.shape and (actual - expected).abs().max() < 1e-5, name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mtc.export(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(3), nn.Dropout(0.5)), x, PATH)
        assert found.inference == {}, found.inference
        assert mtc.export(Function(lambda m, h: F.dropout1d(h, 0.5, m.training)), x, PATH, train=False).inference is None
    for words, function in (
        ("calls dropout with training=True in evaluation mode", lambda m, h: F.dropout(h, 0.5, True)),
        ("the outputs 'output' have other shapes in evaluation mode", lambda m, h: h if m.training else h[:, :2]),
        ("which cannot be exported", lambda m, h: h if m.training else h * torch.linalg.eigvalsh(h @ h.mT).sum()),
    ):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            mtc.export(Function(function), x, PATH)
        assert any(words in str(warning.message) for warning in shown), (words, [str(w.message) for w in shown])


@test
def outputs_of_training_alone_are_kept():
    class Auxiliary(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head, self.auxiliary = nn.Linear(4, 4), nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x):
            h = F.dropout1d(self.body(x), 0.5, self.training)
            return {"logits": self.head(h), "auxiliary": self.auxiliary(h)} if self.training else self.head(h)

    module, x = Auxiliary(), torch.randn(4, 3, 4)
    found = mtc.export(module, x, PATH)
    assert len(found.inference) == 1, found.inference
    assert (evaluated(x)[0] - module.eval()(x)).abs().max() < 1e-5


@test
def models_of_keras_have_their_mode():
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    layers = keras.layers
    plain = keras.Sequential([layers.Input((5,)), layers.Dense(4), layers.BatchNormalization(), layers.Dropout(0.5)])

    class Own(keras.Model):
        """A model whose `call` has no argument `training`."""

        def __init__(self):
            super().__init__()
            self.dense, self.norm, self.dropout = layers.Dense(4), layers.BatchNormalization(), layers.Dropout(0.5)

        def call(self, x):
            return self.dropout(self.norm(self.dense(x)))

    x = torch.randn(4, 5)
    for model in (plain, Own()):
        expected = model(x)
        mtc.export(model, x, PATH)
        norm, drop = nodes("BatchNormalization"), nodes("Dropout")
        assert len(norm) == 1 and attribute(norm[0], "training_mode") == 1, norm
        assert len(drop) == 1, drop
        mtc.export(model, x, PATH, train=False)
        assert not nodes("Dropout") and not any(attribute(node, "training_mode") for node in nodes("BatchNormalization"))
        assert torch.equal(model(x), expected), "the export changed the model"
    mtc.export(plain, {"inputs": x, "training": False}, PATH, dynamic_batch=False)
    assert not nodes("Dropout")

    class Head(nn.Module):
        """Calls a Keras model without a mode, which means inference."""

        def __init__(self):
            super().__init__()
            self.body, self.head = plain, nn.Linear(4, 2)

        def forward(self, x):
            return self.head(self.body(x))

    mtc.export(Head(), x, PATH)
    assert not nodes("Dropout")


def metadata(key: str) -> list[str]:
    return [entry.value for node in onnx.load(PATH).graph.node for entry in node.metadata_props if entry.key == key]


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
def losses_of_information_are_refused():
    x = torch.randn(2, 4)
    refused(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, momentum=None)), x, "module '1'", "momentum=None")
    refused(nn.Embedding(4, 4, max_norm=1.0), torch.tensor([1, 2]), "max_norm=1.0")
    refused(nn.Embedding(4, 4, scale_grad_by_freq=True), torch.tensor([1, 2]), "scale_grad_by_freq=True")
    refused(nn.Sequential(nn.InstanceNorm1d(3, track_running_stats=True)), torch.randn(2, 3, 4), "'0.running_mean'", "train=False")
    refused(Function(lambda m, h: torch.from_numpy(h.detach().numpy())), x, "NumPy array", "numpy")
    refused(nn.Linear(4, 4), torch.randn(1, 4), "batch size is 1", "dynamic_batch=False")
    refused(nn.Linear(4, 4), (), "example_inputs")
    refused(nn.Linear(4, 4), {"y": x}, "example_inputs", "Linear")
    refused(nn.Linear(4, 4), x, "output_names", "expected 1 names, got 2", output_names=["a", "b"])
    refused(nn.Linear(4, 4), x, "'y'", "input", dynamic_axes={"y": {1: "n"}})
    shared = nn.Embedding(4, 4, padding_idx=0), nn.Embedding(4, 4, padding_idx=1)
    shared[1].weight = shared[0].weight
    both = nn.ModuleList(shared)
    both.forward = lambda ids: both[0](ids) + both[1](ids)
    refused(both, torch.tensor([1, 2]), "padding_idx=0", "padding_idx=1")
    mtc.export(nn.Linear(4, 4), torch.randn(1, 4), PATH, dynamic_batch=False)


@test
def scatters_with_equal_indices():
    """onnxruntime loses updates of ScatterND with several threads; the verification uses one."""

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


class Packed(nn.Module):
    def __init__(self, layer, total_length=None):
        super().__init__()
        self.layer, self.total_length = layer, total_length

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, state = self.layer(packed)
        if self.total_length is None:
            return state
        padded, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=self.total_length, padding_value=0.5)
        return padded, state


@test
def packed_sequences():
    x, lengths = torch.randn(4, 7, 3), torch.tensor([7, 2, 5, 3])
    for layer in (nn.LSTM(3, 5, 2, bidirectional=True), nn.GRU(3, 5, bidirectional=True), nn.RNN(3, 5, 2), nn.LSTM(3, 5, bias=False)):
        for total in (None, 7):
            mtc.export(Packed(layer, total), (x, lengths), PATH)
            found = [node for kind in ("LSTM", "GRU", "RNN") for node in nodes(kind)]
            assert len(found) == layer.num_layers and all(node.input[4] for node in found)

    class Whole(Packed):
        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mtc.export(Whole(nn.GRU(3, 5)), (x, lengths), PATH)
    assert [w for w in caught if w.category is mtc.ExportWarning and "total_length=7" in str(w.message)], caught

    class Reads(Packed):
        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return self.layer(packed)[0].data.mean()

    refused(Reads(nn.GRU(3, 5)), (x, lengths), "mean", "PackedSequence", "pad_packed_sequence")


@test
def layers_without_an_operator():
    x = torch.randn(3, 6, 4)
    mtc.export(nn.LSTM(4, 8, 2, proj_size=3, batch_first=True, bidirectional=True), x, PATH)
    mtc.export(nn.LSTM(4, 8, proj_size=3, bias=False), x, PATH, dynamic_batch=False)
    softmax = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
    mtc.export(softmax, (torch.randn(6, 8), torch.tensor([0, 4, 5, 9, 10, 19])), PATH)

    class Loss(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.linear, self.options = nn.Linear(4, 5), options

        def forward(self, x, target, steps, sizes):
            return F.ctc_loss(self.linear(x).log_softmax(2).transpose(0, 1), target, steps, sizes, **self.options)

    target = torch.tensor([[1, 1, 2], [3, 4, 0], [2, 0, 0]])
    for options in ({}, {"reduction": "sum"}, {"reduction": "none", "blank": 4}, {"zero_infinity": True}):
        steps = torch.tensor([6, 4, 5]) if "zero_infinity" not in options else torch.tensor([3, 4, 5])
        mtc.export(Loss(**options), (x, target, steps, torch.tensor([3, 2, 1])), PATH)

    bag = nn.EmbeddingBag(5, 3, mode="max", padding_idx=1)
    mtc.export(bag, torch.tensor([[0, 1, 2], [1, 1, 1], [3, 3, 4]]), PATH)


@test
def convolutions_without_bias_have_none():
    """PyTorch's translation of Conv3d adds zeros of shape [channels, 2]."""
    for kind, shape in ((nn.Conv1d, (8,)), (nn.Conv2d, (6, 6)), (nn.Conv3d, (4, 6, 6))):
        for padding in (1, "same"):
            mtc.export(kind(3, 4, 3, padding=padding, bias=False), torch.randn(2, 3, *shape), PATH)
            assert [len(node.input) for node in nodes("Conv")] == [2], nodes("Conv")


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


@test
def gradients_in_the_forward_pass():
    def residual(module, x):
        return torch.autograd.grad(torch.tanh(x).sum(), x, create_graph=True)[0] ** 2

    mtc.export(Function(residual), torch.randn(3, 4), PATH)
    assert nodes("Tanh")

    def jacobian(module, x):
        return torch.func.vmap(torch.func.jacrev(lambda row: torch.sin(module.linear(row))))(x).mean()

    mtc.export(Function(jacobian), torch.randn(3, 4), PATH, dynamic_batch=False)


@test
def all_failures_are_export_errors():
    def fails(_, x):
        raise KeyError("missing")

    refused(Function(fails), torch.randn(2, 4), "run the module", "KeyError", "example inputs")
    refused(Function(lambda _, x: torch.fft.fft(x)), torch.randn(2, 4), "complex", "view_as_real")
    refused(nn.Linear(4, 4), torch.randn(0, 4), "batch is empty")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mtc.export(Function(lambda _, x: x if x.sum().item() > 0 else -x), torch.randn(2, 4), PATH)
    assert [w for w in caught if w.category is mtc.ExportWarning and "torch.where" in str(w.message)], caught
    refused(Function(lambda _, x: x[(x > 0).nonzero()[:, 0]]), torch.randn(2, 4), "depends on the values of input 'x'", "torch.where", "--bind")
    try:
        mtc.export(nn.Linear(4, 4), torch.randn(2, 4), FOLDER / "absent/model.onnx")
    except mtc.ExportError as error:
        assert "absent" in str(error) and "folder" in str(error), error
    else:
        raise AssertionError("the folder does not exist")


def main() -> None:
    torch.manual_seed(0)
    for function in TESTS:
        PATH.unlink(missing_ok=True)
        function()
        print(f"{function.__name__}: passed", flush=True)
    print(f"{len(TESTS)} passed")


if __name__ == "__main__":
    main()
