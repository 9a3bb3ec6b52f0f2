"""Transformers for text from the package transformers."""

import torch
import transformers as hf
from zoo.architecture import Example, architecture, classes, next_tokens, tokens

SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=64)
STILL = dict(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
SPECIAL = dict(bos_token_id=0, eos_token_id=1, pad_token_id=2)
DECODER = SMALL | SPECIAL | dict(max_position_embeddings=32, attention_dropout=0, use_cache=False)


def classifier(module, lr=0.1) -> Example:
    return Example(module, {"input_ids": tokens()}, classes(), lr=lr, keywords=True)


def masked(module, lr=0.1) -> Example:
    return Example(module, {"input_ids": tokens()}, classes(64, 80, 12), lr=lr, keywords=True)


def causal(module, lr=0.1, mask=False) -> Example:
    """With `mask`, there is an attention mask as tokenizers return it. Without a mask, transformers searches for packed sequences, which
    TorchScript cannot export."""
    ids = tokens()
    inputs = {"input_ids": ids} | ({"attention_mask": torch.ones_like(ids)} if mask else {})
    return Example(module, inputs, next_tokens(ids), "causal-lm", lr, keywords=True)


@architecture
def bert() -> Example:
    return classifier(hf.BertForSequenceClassification(hf.BertConfig(**SMALL, **STILL, num_labels=5)))


@architecture
def bert_mlm() -> Example:
    return masked(hf.BertForMaskedLM(hf.BertConfig(**SMALL, **STILL)))


@architecture
def roberta() -> Example:
    config = hf.RobertaConfig(**SMALL, **STILL, max_position_embeddings=32, num_labels=5)
    return classifier(hf.RobertaForSequenceClassification(config))


@architecture
def distilbert() -> Example:
    config = hf.DistilBertConfig(vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=48, dropout=0,
                                 attention_dropout=0, seq_classif_dropout=0, num_labels=5)  # fmt: skip
    return classifier(hf.DistilBertForSequenceClassification(config))


@architecture
def albert() -> Example:
    config = hf.AlbertConfig(**SMALL | dict(num_hidden_layers=6), embedding_size=16, classifier_dropout_prob=0, num_labels=5)
    return classifier(hf.AlbertForSequenceClassification(config))


@architecture
def electra() -> Example:
    config = hf.ElectraConfig(**SMALL, **STILL, embedding_size=16, num_labels=5)
    return classifier(hf.ElectraForSequenceClassification(config))


@architecture
def deberta_v2() -> Example:
    config = hf.DebertaV2Config(**SMALL, **STILL, pooler_dropout=0, relative_attention=True, position_buckets=8,
                                pos_att_type=["p2c", "c2p"], max_relative_positions=16, norm_rel_ebd="layer_norm",
                                share_att_key=True, pooler_hidden_size=32, num_labels=5)  # fmt: skip
    return classifier(hf.DebertaV2ForSequenceClassification(config))


@architecture
def modernbert() -> Example:
    config = hf.ModernBertConfig(**SMALL, bos_token_id=0, cls_token_id=0, eos_token_id=1, sep_token_id=1, pad_token_id=2, num_labels=5,
                                 embedding_dropout=0, mlp_dropout=0, attention_dropout=0)  # fmt: skip
    return classifier(hf.ModernBertForSequenceClassification(config))


@architecture
def gpt2() -> Example:
    config = hf.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=32, resid_pdrop=0, embd_pdrop=0,
                           attn_pdrop=0, use_cache=False, bos_token_id=0, eos_token_id=1)  # fmt: skip
    return causal(hf.GPT2LMHeadModel(config), mask=True)


@architecture
def gpt_neox() -> Example:
    return causal(hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**DECODER, hidden_dropout=0)))


@architecture
def opt() -> Example:
    config = hf.OPTConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, ffn_dim=48, num_attention_heads=4,
                          max_position_embeddings=32, word_embed_proj_dim=32, dropout=0, attention_dropout=0, use_cache=False,
                          bos_token_id=0, eos_token_id=1, pad_token_id=2)  # fmt: skip
    return causal(hf.OPTForCausalLM(config))


@architecture
def bloom() -> Example:
    config = hf.BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0, attention_dropout=0,
                            use_cache=False, bos_token_id=0, eos_token_id=1)  # fmt: skip
    return causal(hf.BloomForCausalLM(config))


@architecture
def llama() -> Example:
    return causal(hf.LlamaForCausalLM(hf.LlamaConfig(**DECODER, num_key_value_heads=2)))


@architecture
def llama_tied() -> Example:
    return causal(hf.LlamaForCausalLM(hf.LlamaConfig(**DECODER, num_key_value_heads=2, tie_word_embeddings=True)), mask=True)


@architecture
def mistral() -> Example:
    return causal(hf.MistralForCausalLM(hf.MistralConfig(**DECODER, num_key_value_heads=2, sliding_window=6)))


@architecture
def qwen3() -> Example:
    return causal(hf.Qwen3ForCausalLM(hf.Qwen3Config(**DECODER, num_key_value_heads=2, head_dim=8)))


@architecture
def gemma3() -> Example:
    config = hf.Gemma3TextConfig(**DECODER, num_key_value_heads=2, head_dim=8, sliding_window=6)
    return causal(hf.Gemma3ForCausalLM(config))


@architecture
def phi3() -> Example:
    config = hf.Phi3Config(**DECODER, num_key_value_heads=2, resid_pdrop=0, embd_pdrop=0)
    return causal(hf.Phi3ForCausalLM(config))


@architecture
def falcon() -> Example:
    config = hf.FalconConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, hidden_dropout=0,
                             attention_dropout=0, use_cache=False, bos_token_id=0, eos_token_id=1)  # fmt: skip
    return causal(hf.FalconForCausalLM(config))


@architecture
def mixtral() -> Example:
    config = hf.MixtralConfig(**DECODER, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2,
                              experts_implementation="batched_mm")  # fmt: skip
    return causal(hf.MixtralForCausalLM(config))


@architecture
def mamba2() -> Example:
    config = hf.Mamba2Config(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_heads=8, head_dim=8, state_size=8,
                             n_groups=1, expand=2, chunk_size=4, use_cache=False, bos_token_id=0, eos_token_id=1,
                             pad_token_id=2)  # fmt: skip
    return causal(hf.Mamba2ForCausalLM(config))


def translation(module) -> Example:
    source, target = tokens(), tokens()
    return Example(module, {"input_ids": source, "decoder_input_ids": target}, next_tokens(target), "causal-lm", keywords=True)


@architecture
def t5() -> Example:
    config = hf.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, dropout_rate=0,
                         use_cache=False, decoder_start_token_id=0)  # fmt: skip
    return translation(hf.T5ForConditionalGeneration(config))


SEQUENCES = dict(vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                 decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=32, dropout=0,
                 attention_dropout=0, activation_dropout=0, use_cache=False, decoder_start_token_id=0) | SPECIAL  # fmt: skip


@architecture
def bart() -> Example:
    return translation(hf.BartForConditionalGeneration(hf.BartConfig(**SEQUENCES, forced_eos_token_id=1)))


@architecture
def pegasus() -> Example:
    return translation(hf.PegasusForConditionalGeneration(hf.PegasusConfig(**SEQUENCES)))
