"""Modules whose parameters have no memory."""

import math
from collections.abc import Callable

import onnx
import torch
from harness import FOLDER, PATH, mtc, refused, test
from torch import nn
from torch._subclasses import FakeTensorMode

from mtc import facts

LOCATION = PATH.with_name(PATH.name + ".data")
X = torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


class Net(nn.Module):
    """A network with tied, frozen and unused parameters, running statistics and a computed buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.first.bias.requires_grad_(False)
        self.unused = nn.Parameter(torch.zeros(3))
        self.register_buffer("scales", torch.arange(4.0), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(x))).mean((2, 3)) * self.scales
        return self.second(self.first(x).detach() + x)


class Persistent(Net):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scales", torch.arange(4.0))


def on_meta(kind: type[nn.Module]) -> nn.Module:
    with torch.device("meta"):
        return kind()


def fake(kind: type[nn.Module]) -> nn.Module:
    with FakeTensorMode():
        return kind()


def empty(kind: Callable[[], nn.Module]) -> nn.Module:
    with mtc.empty_weights():
        return kind()


def exported(module: nn.Module, inputs: torch.Tensor = X) -> tuple[onnx.ModelProto, dict[str, onnx.TensorProto]]:
    """Returns the exported graph, and its initializers by name."""
    mtc.export(module, inputs, PATH)
    model = onnx.load(PATH, load_external_data=False)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    del model.graph.initializer[:]
    return model, tensors


@test
def weightless_files_equal_files_with_weights() -> None:
    for kind, ways in ((Net, (empty,)), (Persistent, (empty, on_meta, fake))):
        module = kind()
        graph, tensors = exported(module)
        parameters = {name for name, _ in module.named_parameters()}
        for way in ways:
            created = way(kind)
            other, found = exported(created)
            assert other == graph and list(found) == list(tensors), (kind, way)
            absent = {name for name, tensor in found.items() if tensor.data_location == onnx.TensorProto.EXTERNAL}
            assert absent == parameters | (set() if way is empty else {"scales"}), (kind, way, absent)
            for name, tensor in found.items():
                assert (tensor.dims, tensor.data_type) == (tensors[name].dims, tensors[name].data_type), name
                assert name in absent or tensor.raw_data == tensors[name].raw_data, name
            assert all(p.is_meta or way is fake for p in created.parameters()), "the module was changed"
            assert not LOCATION.exists()
            PATH.unlink()


@test
def weightless_modules_have_evaluation_modes() -> None:
    class Depth(nn.Module):
        """Scales random samples by 0 in training, and pools by another function in evaluation."""

        def __init__(self, pools: bool) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 2)
            self.pools = pools

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.first(x).relu()
            if self.training:
                h = h * (torch.rand(h.shape[0], 1, 1, 1) < 0.5) / 0.5
            h = h.amax((1, 2)) if self.pools and not self.training else h.mean((1, 2))
            return self.second(h)

    for pools in (False, True):
        graph, _ = exported(Depth(pools))
        other, _ = exported(empty(lambda pools=pools: Depth(pools)))
        # Shapes that depend on random numbers are not inferred: the output is replaced in place of an inner value.
        assert facts.read(other).inference == ({"output": "output.eval"} if pools else facts.read(graph).inference)
        assert pools or other == graph


@test
def weightless_inputs_may_have_no_memory() -> None:
    assert exported(on_meta(Persistent), X.to("meta"))[0] == exported(on_meta(Persistent))[0]


@test
def weightless_data_completes_the_file() -> None:
    module = Net()
    mtc.export(empty(Net), X, PATH)
    values = {name: tensor.detach().numpy().tobytes() for name, tensor in module.named_parameters()}
    with open(LOCATION, "wb") as file:
        for tensor in onnx.load(PATH, load_external_data=False).graph.initializer:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            assert not entries or int(entries["length"]) == 4 * math.prod(tensor.dims) and int(entries["offset"]) % 4096 == 0
            if entries:
                file.seek(int(entries["offset"]))
                file.write(values[tensor.name])
    completed = onnx.load(PATH)
    onnx.checker.check_model(PATH, full_check=True)
    PATH.unlink()
    LOCATION.unlink()
    mtc.export(module, X, PATH)
    assert {t.name: t.raw_data for t in completed.graph.initializer} == {t.name: t.raw_data for t in onnx.load(PATH).graph.initializer}


@test
def weightless_refusals() -> None:
    PATH.unlink(missing_ok=True)
    for module in (on_meta(Net), fake(Net)):
        try:
            mtc.export(module, X, PATH)
        except mtc.ExportError as error:
            assert "buffer 'scales' of Net" in str(error) and "mtc.empty_weights()" in str(error), error
        else:
            raise AssertionError("a buffer without a value was exported")
    LOCATION.write_bytes(b"data")
    try:
        mtc.export(empty(Net), X, PATH)
    except mtc.ExportError as error:
        assert LOCATION.name in str(error) and "would be read as the weights" in str(error), error
    else:
        raise AssertionError("a file without weights was written beside data")
    LOCATION.unlink()
    assert [*FOLDER.iterdir()] == []


@test
def weightless_modules_depend_on_no_values() -> None:
    class Branch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.scale if self.scale > 0 else x

    refused(empty(Branch), X, "Branch: forward depends on the values of tensors", "export the module with weights")


@test
def empty_weights_allocate_no_memory() -> None:
    class Large(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(1 << 40, 8)
            self.head = nn.Linear(8, 1 << 40, bias=False)
            self.head.weight = self.embedding.weight
            self.experts = nn.Parameter(torch.empty(1 << 20, 1 << 20))
            self.register_buffer("mask", torch.empty(4, 4).fill_(-math.inf).triu(1))

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.embedding(ids).sum(-1) @ self.mask

    module = empty(Large)
    assert all(p.is_meta for p in module.parameters()) and not module.mask.is_meta
    assert module.head.weight is module.embedding.weight
    _, tensors = exported(module, torch.zeros(2, 4, dtype=torch.int64))
    assert PATH.stat().st_size < 20000 and tensors["mask"].raw_data == module.mask.numpy().tobytes()
