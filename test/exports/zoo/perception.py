"""Transformers for images and sound from the package transformers."""

import torch
import transformers as hf
from zoo.architecture import Example, architecture, classes, images, next_tokens, tokens

SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
STILL = dict(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
PATCHES = dict(image_size=32, patch_size=8, num_labels=5)


def classifier(module, side=32, lr=0.1) -> Example:
    return Example(module, {"pixel_values": images(side)}, classes(), lr=lr, keywords=True)


@architecture
def vit() -> Example:
    return classifier(hf.ViTForImageClassification(hf.ViTConfig(**SMALL, **STILL, **PATCHES)))


@architecture
def deit() -> Example:
    return classifier(hf.DeiTForImageClassification(hf.DeiTConfig(**SMALL, **STILL, **PATCHES)))


@architecture
def beit() -> Example:
    config = hf.BeitConfig(**SMALL, **STILL, **PATCHES, drop_path_rate=0, use_relative_position_bias=True)
    return classifier(hf.BeitForImageClassification(config))


@architecture
def dinov2() -> Example:
    config = hf.Dinov2Config(**SMALL, **STILL, **PATCHES, drop_path_rate=0, mlp_ratio=2)
    return classifier(hf.Dinov2ForImageClassification(config))


@architecture
def swin() -> Example:
    config = hf.SwinConfig(image_size=32, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4,
                           drop_path_rate=0, num_labels=5, **STILL)  # fmt: skip
    return classifier(hf.SwinForImageClassification(config))


@architecture
def segformer() -> Example:
    config = hf.SegformerConfig(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32],
                                patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[2, 4], mlp_ratios=[2, 2],
                                drop_path_rate=0, classifier_dropout_prob=0, num_labels=5, **STILL)  # fmt: skip
    return classifier(hf.SegformerForImageClassification(config))


TEXT = dict(SMALL, vocab_size=64, max_position_embeddings=16, attention_dropout=0, bos_token_id=0, eos_token_id=63, pad_token_id=2)
VISION = dict(SMALL, image_size=32, patch_size=8, attention_dropout=0)


@architecture
def clip() -> Example:
    module = hf.CLIPModel(hf.CLIPConfig(text_config=dict(TEXT), vision_config=dict(VISION), projection_dim=16))
    ids = tokens(63, 8)
    ids[:, -1] = 63
    pairs = torch.arange(8).repeat(10)
    inputs = {"input_ids": ids, "pixel_values": images()}
    return Example(module, inputs, pairs, output="logits_per_image", keywords=True, lr=0.05)


@architecture
def siglip() -> Example:
    text, vision = hf.SiglipTextConfig(**TEXT), hf.SiglipVisionConfig(**VISION)
    module = hf.SiglipModel(hf.SiglipConfig(text_config=text.to_dict(), vision_config=vision.to_dict()))
    pairs = torch.arange(8).repeat(10)
    inputs = {"input_ids": tokens(63, 16), "pixel_values": images()}
    return Example(module, inputs, pairs, output="logits_per_image", keywords=True, lr=0.05)


@architecture
def whisper() -> Example:
    config = hf.WhisperConfig(vocab_size=64, num_mel_bins=8, d_model=32, encoder_layers=2, decoder_layers=2,
                              encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
                              max_source_positions=20, max_target_positions=16, dropout=0, attention_dropout=0,
                              activation_dropout=0, use_cache=False, bos_token_id=0, eos_token_id=1, pad_token_id=2,
                              decoder_start_token_id=0, suppress_tokens=None, begin_suppress_tokens=None)  # fmt: skip
    target = tokens()
    inputs = {"input_features": torch.randn(80, 8, 40), "decoder_input_ids": target}
    return Example(hf.WhisperForConditionalGeneration(config), inputs, next_tokens(target), "causal-lm", keywords=True)


SOUND = dict(SMALL, conv_dim=[16, 16], conv_stride=[5, 2], conv_kernel=[10, 3], num_feat_extract_layers=2,
             num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, hidden_dropout=0, attention_dropout=0,
             activation_dropout=0, feat_proj_dropout=0, final_dropout=0, layerdrop=0, apply_spec_augment=False,
             mask_time_prob=0, classifier_proj_size=16, num_labels=5)  # fmt: skip


@architecture
def wav2vec2() -> Example:
    module = hf.Wav2Vec2ForSequenceClassification(hf.Wav2Vec2Config(**SOUND))
    return Example(module, {"input_values": torch.randn(80, 160)}, classes(), keywords=True)


@architecture
def hubert() -> Example:
    module = hf.HubertForSequenceClassification(hf.HubertConfig(**SOUND))
    return Example(module, {"input_values": torch.randn(80, 160)}, classes(), keywords=True)
