"""What the examples' makers share: exporting a freshly initialised PyTorch module as users do."""

from pathlib import Path

import torch
from torch import nn


def separate(model: nn.Module, seed: int) -> None:
    """Moves vectors and constant parameters off their initial 0 and 1 by a little noise.

    The exporter merges equal initializers of up to 1024 elements. In a fresh model all norms' scales are ones and
    many biases zeros, so they would become one initializer, and training the file would train them tied.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim <= 1 or bool((parameter == parameter.flatten()[0]).all()):
                parameter.add_(0.02 * torch.randn(parameter.shape, generator=generator))


def export(model: nn.Module, inputs: dict[str, torch.Tensor], dims: dict, output: str, path: Path) -> None:
    """Writes `path`. `dims` names the symbolic dimensions: input -> axis -> name."""
    program = torch.onnx.export(
        model, kwargs=inputs, dynamo=True, dynamic_shapes=dims, verbose=False,
        input_names=list(inputs), output_names=[output],
    )  # fmt: skip
    for node in program.model.graph.all_nodes():  # names files of the machine that exports
        node.metadata_props.pop("pkg.torch.onnx.stack_trace", None)
    program.save(path)
