"""More families of transformers, timm and torchvision. They are exported by `mtc.export` only."""

import timm
import torchvision.models as tv
import transformers as hf
from torch import nn
from zoo.architecture import Example, architecture, classes, images
from zoo.language import DECODER, SMALL, SPECIAL, STILL, causal, classifier, masked

VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16, patch_size=4,
              num_labels=5)  # fmt: skip
GROUPED = DECODER | dict(num_key_value_heads=2)


def vision(module: nn.Module, side: int = 16, lr: float = 0.05) -> Example:
    return Example(module, {"pixel_values": images(side)}, classes(), lr=lr, keywords=True)


def plain(module: nn.Module, side: int = 32, lr: float = 0.02) -> Example:
    return Example(module, {"x": images(side)}, classes(), lr=lr)


# ------------------------------------------------------------------------------------------------ encoders of text


@architecture
def mpnet() -> Example:
    return classifier(hf.MPNetForSequenceClassification(hf.MPNetConfig(**SMALL, **STILL, max_position_embeddings=32, num_labels=5)))


@architecture
def convbert() -> Example:
    config = hf.ConvBertConfig(**SMALL, **STILL, embedding_size=32, head_ratio=2, num_labels=5, max_position_embeddings=32)
    return classifier(hf.ConvBertForSequenceClassification(config))


@architecture
def fnet() -> Example:
    """Mixes tokens by Fourier transforms."""
    config = {key: value for key, value in SMALL.items() if key != "num_attention_heads"}
    return classifier(hf.FNetForSequenceClassification(hf.FNetConfig(**config, hidden_dropout_prob=0, max_position_embeddings=32, num_labels=5)))


@architecture
def squeezebert() -> Example:
    return classifier(hf.SqueezeBertForSequenceClassification(hf.SqueezeBertConfig(**SMALL, **STILL, embedding_size=32, num_labels=5)))


@architecture
def rembert() -> Example:
    config = hf.RemBertConfig(**SMALL, **STILL, input_embedding_size=16, output_embedding_size=16, classifier_dropout_prob=0, num_labels=5)
    return classifier(hf.RemBertForSequenceClassification(config))


@architecture
def ernie() -> Example:
    return masked(hf.ErnieForMaskedLM(hf.ErnieConfig(**SMALL, **STILL)))


@architecture
def xlm_roberta() -> Example:
    return masked(hf.XLMRobertaForMaskedLM(hf.XLMRobertaConfig(**SMALL, **STILL, max_position_embeddings=32)))


@architecture
def roformer() -> Example:
    config = hf.RoFormerConfig(**SMALL, **STILL, embedding_size=32, max_position_embeddings=32, num_labels=5)
    return classifier(hf.RoFormerForSequenceClassification(config))


# ------------------------------------------------------------------------------------------------ decoders


@architecture
def recurrent_gemma() -> Example:
    config = hf.RecurrentGemmaConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=1,
                                     intermediate_size=48, lru_width=32, attention_window_size=8, use_cache=False, attention_dropout=0,
                                     **SPECIAL)  # fmt: skip
    return causal(hf.RecurrentGemmaForCausalLM(config))


@architecture
def gemma2() -> Example:
    return causal(hf.Gemma2ForCausalLM(hf.Gemma2Config(**GROUPED, head_dim=8, sliding_window=8)), mask=True)


@architecture
def qwen2() -> Example:
    return causal(hf.Qwen2ForCausalLM(hf.Qwen2Config(**GROUPED)), mask=True)


@architecture
def olmo2() -> Example:
    return causal(hf.Olmo2ForCausalLM(hf.Olmo2Config(**GROUPED)), mask=True)


@architecture
def stablelm() -> Example:
    return causal(hf.StableLmForCausalLM(hf.StableLmConfig(**GROUPED)), mask=True)


@architecture
def starcoder2() -> Example:
    return causal(hf.Starcoder2ForCausalLM(hf.Starcoder2Config(**GROUPED, residual_dropout=0, embedding_dropout=0)), mask=True)


@architecture
def cohere() -> Example:
    return causal(hf.CohereForCausalLM(hf.CohereConfig(**GROUPED, logit_scale=1.0)), mask=True)


@architecture
def granite() -> Example:
    return causal(hf.GraniteForCausalLM(hf.GraniteConfig(**GROUPED)), mask=True)


@architecture
def phi() -> Example:
    return causal(hf.PhiForCausalLM(hf.PhiConfig(**DECODER, resid_pdrop=0, embd_pdrop=0)), mask=True)


@architecture
def gptj() -> Example:
    config = hf.GPTJConfig(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, resid_pdrop=0, embd_pdrop=0,
                           attn_pdrop=0, use_cache=False, **SPECIAL)  # fmt: skip
    return causal(hf.GPTJForCausalLM(config), mask=True)


@architecture
def gpt_neo() -> Example:
    config = hf.GPTNeoConfig(vocab_size=64, hidden_size=32, num_layers=2, num_heads=4, intermediate_size=48, max_position_embeddings=32,
                             attention_types=[[["global", "local"], 1]], window_size=4, resid_dropout=0, embed_dropout=0,
                             attention_dropout=0, use_cache=False, **SPECIAL)  # fmt: skip
    return causal(hf.GPTNeoForCausalLM(config), mask=True)


@architecture
def mamba() -> Example:
    config = hf.MambaConfig(vocab_size=64, hidden_size=16, state_size=4, num_hidden_layers=2, use_cache=False, **SPECIAL)
    return causal(hf.MambaForCausalLM(config))


# ------------------------------------------------------------------------------------------------ images


@architecture
def mobilevit() -> Example:
    config = hf.MobileViTConfig(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], num_attention_heads=2,
                                image_size=64, num_labels=5, classifier_dropout_prob=0, hidden_dropout_prob=0)  # fmt: skip
    return vision(hf.MobileViTForImageClassification(config), 64, lr=0.02)


@architecture
def poolformer() -> Example:
    config = hf.PoolFormerConfig(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], drop_path_rate=0.0, num_labels=5)
    return vision(hf.PoolFormerForImageClassification(config), 64)


@architecture
def vit_mae_encoder() -> Example:
    return vision(hf.ViTMSNForImageClassification(hf.ViTMSNConfig(**VISION, **STILL)))


@architecture
def resnet_hf() -> Example:
    config = hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=5)
    return vision(hf.ResNetForImageClassification(config), 32, lr=0.01)


@architecture
def squeezenet() -> Example:
    return plain(tv.SqueezeNet("1_1", num_classes=5, dropout=0.0), 48, lr=0.01)


@architecture
def shufflenet() -> Example:
    return plain(tv.ShuffleNetV2([1, 1, 1], [8, 16, 24, 32, 32], num_classes=5))


@architecture
def timm_xcit() -> Example:
    return plain(timm.models.xcit.Xcit(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4, num_classes=5, eta=1.0))


@architecture
def timm_resmlp() -> Example:
    from functools import partial

    block = timm.models.mlp_mixer.ResBlock
    return plain(timm.models.mlp_mixer.MlpMixer(5, img_size=32, patch_size=8, num_blocks=2, embed_dim=32, mlp_ratio=2,
                                                block_layer=block, norm_layer=partial(timm.models.mlp_mixer.Affine)))  # fmt: skip
