"""Export of freshly initialized PyTorch modules, shared by the scripts that generate the examples."""

from pathlib import Path

import torch
from torch import nn


def separate(model: nn.Module, seed: int) -> None:
    """Adds a little noise to vectors and constant parameters.

    The exporter stores equal initializers of up to 1024 elements once. In a fresh model all norm scales are ones and many biases are zeros,
    so they would be tied in training.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim <= 1 or bool((parameter == parameter.flatten()[0]).all()):
                parameter.add_(0.02 * torch.randn(parameter.shape, generator=generator))


def export(model: nn.Module, inputs: dict[str, torch.Tensor], dims: dict, output: str, path: Path) -> None:
    """Exports a model to `path`. `dims` maps inputs and axes to the names of symbolic dimensions."""
    program = torch.onnx.export(
        model, kwargs=inputs, dynamo=True, dynamic_shapes=dims, verbose=False,
        input_names=list(inputs), output_names=[output],
    )  # fmt: skip
    for node in program.model.graph.all_nodes():  # stack traces contain file names of this machine
        node.metadata_props.pop("pkg.torch.onnx.stack_trace", None)
    program.save(path)
