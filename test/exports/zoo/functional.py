"""Modules whose forward is a function of a few layers and parameters."""

import torch
from torch import Tensor, nn
from zoo.architecture import Example, classes


class Loss(nn.Module):
    """A module whose output is `function(self, ...)`, with submodules and parameters as attributes."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, nn.Parameter(part) if isinstance(part, Tensor) else part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def loss(function, inputs: dict[str, Tensor], lr: float = 0.1, dynamic: bool = True, **parts) -> Example:
    """An example whose module returns its loss."""
    module = Loss(function, **parts)
    names = ", ".join(inputs)
    # The inputs of the graph have the names of the parameters of forward.
    forward = eval(f"lambda self, {names}: self.function(self, {names})")
    module.__class__ = type("Loss", (Loss,), {"forward": forward})
    return Example(module, inputs, None, "output", lr, output="loss", dynamic=dynamic)


def classifier(function, x: Tensor, lr: float = 0.2, dynamic: bool = True, number: int = 5, **parts) -> Example:
    module = Loss(function, **parts)
    module.__class__ = type("Classifier", (Loss,), {"forward": lambda self, x: self.function(self, x)})
    return Example(module, {"x": x}, classes(number), lr=lr, dynamic=dynamic)


def mlp(*sizes: int, activation=nn.Tanh) -> nn.Sequential:
    layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), activation())]  # noqa: B905
    return nn.Sequential(*layers[:-1])


def randn(*shape: int) -> Tensor:
    return torch.randn(80, *shape)
