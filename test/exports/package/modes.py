"""Tests of training and evaluation mode."""

import os
import warnings

import onnx
import torch
import torch.nn.functional as F
from harness import PATH, Function, attribute, nodes, test
from torch import nn

import mtc
from mtc import facts


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
def batch_norms_that_are_called_twice_update_twice():
    norm = nn.BatchNorm1d(4)
    mtc.export(nn.Sequential(nn.Linear(4, 4), norm, nn.ReLU(), norm), torch.randn(5, 4), PATH)
    first, second = nodes("BatchNormalization")
    assert list(first.input[3:]) == ["1.running_mean", "1.running_var"] and second.input[3:] == first.output[1:], second.input


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


def evaluated(x: torch.Tensor) -> list[torch.Tensor]:
    """Returns the outputs of the exported graph in inference form, computed by ONNX's reference evaluator."""
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
        found = mtc.export(module, x, PATH, input_names=["values"], dynamic_batch=name not in ("unscaled",))
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
