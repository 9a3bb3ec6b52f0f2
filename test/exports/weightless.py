#!/usr/bin/env python3
"""Programs of files without weights, started with the folder of save_pretrained, are bit-identical to programs of files with weights.

Run `PYTHON test/exports/weightless.py [MODEL ...]`, where PYTHON is an interpreter with the packages of requirements.txt. The files without
weights are those of `python -m mtc.export`. Losses, gradients and trained weights are compared."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
MTC = os.environ.setdefault("MTC", str(ROOT / "build/release/bin/mtc"))
import mtc  # noqa: E402

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python")}
FOLDER = Path(tempfile.mkdtemp())
BATCH, LENGTH, TARGET, VOCABULARY = 4, 12, 6, 96
DECODER = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
           "num_key_value_heads": 2, "head_dim": 8, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
ENCODER = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
# By name: the task, the model type, and values of the configuration. Dropout is 0.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("causal-lm", "llama", DECODER | {"tie_word_embeddings": False}),
    "qwen3": ("causal-lm", "qwen3", DECODER | {"tie_word_embeddings": True}),
    "qwen3-moe": ("causal-lm", "qwen3_moe", DECODER | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}),
    "gemma2": ("causal-lm", "gemma2", DECODER | {"sliding_window": 4}),
    "gemma3": ("causal-lm", "gemma3_text", DECODER | {"sliding_window": 4}),
    "gpt2": ("causal-lm", "gpt2", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32, "bos_token_id": 1,
                                   "eos_token_id": 2, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}),
    "bert": ("sequence-classification", "bert", ENCODER | {"num_labels": 5, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}),
    "bert-mlm": ("masked-lm", "bert", ENCODER | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}),
    "bert-qa": ("question-answering", "bert", ENCODER | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}),
    "roberta-ner": ("token-classification", "roberta", ENCODER | {"num_labels": 3, "hidden_dropout_prob": 0.0, "classifier_dropout": 0.0,
                                                                  "attention_probs_dropout_prob": 0.0, "pad_token_id": 1}),
    "vit": ("image-classification", "vit", {"image_size": 16, "patch_size": 8, "num_labels": 5, "hidden_size": 32, "intermediate_size": 64,
                                            "num_hidden_layers": 2, "num_attention_heads": 4}),
    "resnet": ("image-classification", "resnet", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "num_labels": 5,
                                                  "layer_type": "basic", "image_size": 32}),
    "t5": ("seq2seq-lm", "t5", {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0,
                                "decoder_start_token_id": 0}),
    "bart": ("seq2seq-lm", "bart", {"vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
                                    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "dropout": 0.0,
                                    "max_position_embeddings": 32}),
}  # fmt: skip
AUTO = {
    "causal-lm": transformers.AutoModelForCausalLM,
    "masked-lm": transformers.AutoModelForMaskedLM,
    "seq2seq-lm": transformers.AutoModelForSeq2SeqLM,
    "sequence-classification": transformers.AutoModelForSequenceClassification,
    "token-classification": transformers.AutoModelForTokenClassification,
    "question-answering": transformers.AutoModelForQuestionAnswering,
    "image-classification": transformers.AutoModelForImageClassification,
}


def run(*words: Any) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def data_of(task: str, values: dict[str, Any]) -> tuple[dict[str, np.ndarray], str]:
    """Returns the inputs and labels of a task, and the loss."""
    random = np.random.default_rng(0)
    if task == "image-classification":
        images = random.standard_normal((2 * BATCH, 3, values["image_size"], values["image_size"]), np.float32)
        return {"pixel_values": images, "labels": random.integers(0, values["num_labels"], 2 * BATCH)}, "cross-entropy"
    mask = np.ones((2 * BATCH, LENGTH), np.int64)
    mask[::2, LENGTH - 3 :] = 0
    data = {"input_ids": random.integers(3, VOCABULARY, (2 * BATCH, LENGTH)), "attention_mask": mask}
    if task == "causal-lm":
        return data, "causal-lm"
    if task == "seq2seq-lm":
        return data | {"labels": random.integers(3, VOCABULARY, (2 * BATCH, TARGET))}, "output"
    if task == "question-answering":
        return data | {name: random.integers(0, LENGTH, 2 * BATCH) for name in ("start_positions", "end_positions")}, "output"
    shape = (2 * BATCH,) if task == "sequence-classification" else (2 * BATCH, LENGTH)
    return data | {"labels": random.integers(0, VOCABULARY if task == "masked-lm" else values["num_labels"], shape)}, "cross-entropy"


def files_of(folder: Path) -> dict[str, bytes]:
    """Returns what a run wrote: losses, gradients and trained weights."""
    losses = [json.loads(line).get("loss") for line in (folder / "metrics.jsonl").read_text().splitlines()]
    tensors = {name: (folder / f"{name}.safetensors").read_bytes() for name in ("gradients", "trained")}
    return tensors | {"losses": json.dumps(losses).encode()}


def check(name: str) -> None:
    task, kind, values = MODELS[name]
    folder = FOLDER / name
    config = transformers.AutoConfig.for_model(kind, **values)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    torch.manual_seed(0)
    choices = {"experts_implementation": "batched_mm"} if "experts" in str(values) else {}
    module = AUTO[task].from_config(config, **choices)
    saved = folder / "saved"
    module.save_pretrained(saved, max_shard_size="40KB")
    run(sys.executable, "-m", "mtc.export", "--hf", saved, "--task", task, "-o", folder / "without.onnx", "--quiet")

    data, loss = data_of(task, values)
    inputs = {key: torch.from_numpy(array[:BATCH]) for key, array in data.items() if key != "labels" or loss == "output"}
    dims = {"input_ids": "sequence", "attention_mask": "sequence", "labels": "target"}
    axes = {key: {1: dims[key]} for key in inputs if key in dims}
    mtc.export(module, inputs, folder / "with.onnx", dynamic_axes=axes, progress=False)

    sizes = {"batch": BATCH, "sequence": LENGTH, "target": TARGET}
    used = {"batch", *(dim for axis in axes.values() for dim in axis.values())}
    flags = [f"--dim={dim}={size}" for dim, size in sizes.items() if dim in used]
    for key, array in data.items():
        np.save(folder / f"{key}.npy", array)
    given = [f"--data={key}={folder / key}.npy" for key in data]
    found = []
    for form, initial in (("with", []), ("without", ["--weights", saved])):
        output = folder / form
        output.mkdir()
        run(MTC, "compile", folder / f"{form}.onnx", *flags, "--loss", loss, "--optimizer", "adamw", "-o", output / "train")
        run(output / "train", *given, *initial, "--gradients", output / "gradients.safetensors")
        run(output / "train", *given, *initial, "--steps", 3, "--metrics", output / "metrics.jsonl", "--export-weights",
            output / "trained.safetensors")  # fmt: skip
        found.append(files_of(output))
    assert found[0] == found[1], [key for key in found[0] if found[0][key] != found[1][key]]
    refused = subprocess.run([folder / "without/train", *given, "--steps", "1"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "--weights" in refused.stderr, refused
    print(f"{name}: equal", flush=True)


for chosen in sys.argv[1:] or MODELS:
    check(chosen)
