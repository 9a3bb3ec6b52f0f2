"""Tests of names and facts of modules, and of modules that cannot be exported."""

import warnings

import onnx
import torch
from harness import FOLDER, PATH, Function, refused, test
from torch import nn

import mtc
from mtc import facts


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

    class Variadic(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, *inputs):
            y = self.linear(inputs[0]) * inputs[1]
            return y if y.sum() > -1e9 else -y

    mtc.export(Variadic(), (torch.randn(2, 4), torch.randn(2, 4)), PATH)


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
