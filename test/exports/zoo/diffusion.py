"""Diffusion models from the package diffusers."""

import diffusers
import torch
from zoo.architecture import Example, architecture

BLOCKS = dict(block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8)


def noise(channels=1, side=8) -> torch.Tensor:
    return torch.randn(80, channels, side, side)


@architecture
def unet2d() -> Example:
    module = diffusers.UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, attention_head_dim=8, **BLOCKS,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    inputs = {"sample": noise(), "timestep": torch.randint(0, 1000, (80,))}
    return Example(module, inputs, noise(), "mse", output="sample_out", keywords=True)


@architecture
def unet2d_condition() -> Example:
    module = diffusers.UNet2DConditionModel(
        sample_size=8, in_channels=1, out_channels=1, attention_head_dim=8, cross_attention_dim=16, **BLOCKS,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )  # fmt: skip
    inputs = {"sample": noise(), "timestep": torch.randint(0, 1000, (80,)), "encoder_hidden_states": torch.randn(80, 4, 16)}
    return Example(module, inputs, noise(), "mse", output="sample_out", keywords=True)


@architecture
def autoencoder() -> Example:
    module = diffusers.AutoencoderKL(
        in_channels=1, out_channels=1, latent_channels=2, **BLOCKS,
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
    )  # fmt: skip
    return Example(module, {"sample": noise()}, noise(), "mse", 0.01, output="reconstruction", keywords=True)


@architecture
def dit() -> Example:
    module = diffusers.DiTTransformer2DModel(
        num_attention_heads=4, attention_head_dim=8, in_channels=2, out_channels=2, num_layers=2, norm_num_groups=8,
        sample_size=8, patch_size=2, num_embeds_ada_norm=100, dropout=0.0,
    )  # fmt: skip
    for block in module.transformer_blocks:
        block.norm1.emb.class_embedder.dropout_prob = 0.0
    inputs = {"hidden_states": noise(2), "timestep": torch.randint(0, 100, (80,)), "class_labels": torch.randint(0, 9, (80,))}
    return Example(module, inputs, noise(2), "mse", output="noise", keywords=True)
