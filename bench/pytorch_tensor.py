"""Tensor parallelism of transformers' GPT-2 by PyTorch's DTensor.

Fused matrices of queries, keys and values become one matrix each, since a plan of `parallelize_module` divides a matrix in consecutive
blocks. Heads, hidden features and classes are divided; the logits stay divided for the loss.
"""

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Joined(nn.Module):
    """Several linear layers, whose results are concatenated."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, count: int):
        super().__init__()
        columns, biases = weight.chunk(count, dim=1), bias.chunk(count)
        self.layers = nn.ModuleList(linear(*each) for each in zip(columns, biases))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([layer(x) for layer in self.layers], dim=-1)


def linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    """Returns a linear layer with the parameters of a Conv1D, whose weight is transposed."""
    layer = nn.Linear(*weight.shape)
    with torch.no_grad():
        layer.weight.copy_(weight.T)
        layer.bias.copy_(bias)
    return layer


def divide(model: nn.Module, mesh: DeviceMesh) -> nn.Module:
    """Divides a GPT2LMHeadModel among the ranks of a mesh. Its logits are a DTensor that is divided along the classes."""
    count = mesh.size()
    for block in model.transformer.h:
        attention, mlp = block.attn, block.mlp
        attention.c_attn = Joined(attention.c_attn.weight, attention.c_attn.bias, 3)
        for module, name in (attention, "c_proj"), (mlp, "c_fc"), (mlp, "c_proj"):
            old = getattr(module, name)
            setattr(module, name, linear(old.weight, old.bias))
        plan = {f"attn.c_attn.layers.{i}": ColwiseParallel() for i in range(3)}
        plan |= {"attn.c_proj": RowwiseParallel(), "mlp.c_fc": ColwiseParallel(), "mlp.c_proj": RowwiseParallel()}
        parallelize_module(block, mesh, plan)
        for name in "num_heads", "split_size", "embed_dim":
            setattr(attention, name, getattr(attention, name) // count)
    parallelize_module(
        model,
        mesh,
        {
            "transformer.wte": RowwiseParallel(input_layouts=Replicate(), output_layouts=Replicate()),
            "lm_head": ColwiseParallel(input_layouts=Replicate(), output_layouts=Shard(-1), use_local_output=False),
        },
    )
    model.lm_head.weight = model.transformer.wte.weight  # Both are divided along the classes.
    return model


def groups(model: nn.Module) -> list[dict]:
    """Returns the parameters in groups of one kind of tensor, which an optimizer can update at once."""
    divided = [each for each in model.parameters() if isinstance(each, DTensor)]
    whole = [each for each in model.parameters() if not isinstance(each, DTensor)]
    return [{"params": divided}, {"params": whole}]
