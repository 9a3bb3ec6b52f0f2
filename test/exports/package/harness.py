"""Registers tests of mtc.export, and helps them to read the exported file."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent.parent / "python"))
import mtc  # noqa: E402

FOLDER = Path(tempfile.mkdtemp())
PATH = FOLDER / "model.onnx"
TESTS: dict[str, Callable[[], None]] = {}


def test(function: Callable[[], None]) -> Callable[[], None]:
    """Registers a test under its name."""
    assert function.__name__ not in TESTS
    TESTS[function.__name__] = function
    return function


def nodes(kind: str) -> list[onnx.NodeProto]:
    """Returns the nodes of an operator."""
    return [node for node in onnx.load(PATH).graph.node if node.op_type == kind]


def attribute(node: onnx.NodeProto, name: str) -> Any:
    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), None)


def metadata(key: str) -> list[str]:
    """Returns the values of a metadata entry of all nodes that have it."""
    return [entry.value for node in onnx.load(PATH).graph.node for entry in node.metadata_props if entry.key == key]


def refused(module: nn.Module, inputs: Any, *words: str, **options: Any) -> None:
    """Checks that the export of a module fails with a message that contains the words, and neither writes nor changes anything."""
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
    assert all(value.is_meta or torch.equal(before[name], value) for name, value in module.state_dict().items())


class Function(nn.Module):
    """A linear layer, and a function of its result."""

    def __init__(self, function: Callable[[nn.Module, torch.Tensor], Any], size: int = 4):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, self.linear(x))
