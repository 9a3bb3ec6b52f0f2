"""Trains a language model from a folder of save_pretrained to a folder that from_pretrained loads, without exporting its weights.
The script is run manually, because it needs torch and transformers:

    python test/exports/pretrained.py FOLDER [MODEL ...]

For each model, a folder of sharded bf16 weights is written, and the ONNX file is exported from its configuration alone. The program trains
three steps from the folder and writes another one, whose logits in transformers are those of the program."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, BertConfig, BertForMaskedLM, GPT2Config, LlamaConfig, Qwen2Config

import mtc

warnings.filterwarnings("ignore")
MTC = os.environ.get("MTC", "mtc")
BATCH, LENGTH, VOCABULARY = 2, 16, 512
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
CONFIGS = {
    "llama": LlamaConfig(**SIZES, num_key_value_heads=4, max_position_embeddings=64, use_cache=False),
    "llama-tied": LlamaConfig(**SIZES, num_key_value_heads=4, max_position_embeddings=64, tie_word_embeddings=True, use_cache=False),
    "qwen2": Qwen2Config(**SIZES, num_key_value_heads=4, max_position_embeddings=64, tie_word_embeddings=True, use_cache=False),
    "gpt2": GPT2Config(vocab_size=VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=64, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False),
    "bert": BertConfig(**SIZES, max_position_embeddings=64, hidden_dropout_prob=0, attention_probs_dropout_prob=0),
}  # fmt: skip


class Logits(torch.nn.Module):
    """Calls the model under its own names, without a prefix of this module."""

    def __new__(cls, model: torch.nn.Module) -> torch.nn.Module:
        forward = model.forward
        model.forward = lambda input_ids: forward(input_ids=input_ids).logits
        return model


def run(*command) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stderr


def model_of(config) -> torch.nn.Module:
    return BertForMaskedLM(config) if config.model_type == "bert" else AutoModelForCausalLM.from_config(config)


def check(name: str, folder: Path) -> None:
    config = CONFIGS[name]
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model_of(config).to(torch.bfloat16).save_pretrained(folder / "source", max_shard_size="100KB")
    tokens = torch.randint(2, VOCABULARY, (BATCH, LENGTH))
    loaded = AutoConfig.from_pretrained(folder / "source", attn_implementation="eager", use_cache=False, dtype=torch.float32)
    with mtc.empty_weights():
        empty = model_of(loaded)
    mtc.export(Logits(empty), {"input_ids": tokens}, folder / "model.onnx")
    np.save(folder / "ids.npy", tokens.numpy())
    np.save(folder / "labels.npy", tokens.numpy())
    flags = ["--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--labels", "labels", "--lr", "1e-3"]
    print(run(MTC, "compile", folder / "model.onnx", *flags, "--weights", folder / "source", "-o", folder / "train"), end="")
    data = ["--data", f"input_ids={folder}/ids.npy", "--data", f"labels={folder}/labels.npy"]
    for kind, more in (("bf16", ()), ("f32", ("--export-dtype", "f32"))):
        target = folder / kind
        print(run(folder / "train", *data, "--steps", 3, "--save", folder / "saved", "--overwrite", "--export-weights", target, "--max-shard-size", "100KB", *more), end="")  # fmt: skip
        given, found = (sorted(path.name for path in each.iterdir() if "model-" not in path.name) for each in (folder / "source", target))
        assert given == found, (given, found)
        loaded = type(model_of(config)).from_pretrained(target, dtype=torch.float32)
        _, report = type(loaded).from_pretrained(target, output_loading_info=True)
        assert not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")), report
        with torch.no_grad():
            expected = loaded.eval()(input_ids=tokens).logits.numpy()
        outputs = folder / f"{kind}.safetensors"
        started = ["--weights", target] if kind == "bf16" else ["--resume", folder / "saved"]
        run(folder / "train", *data[:2], *started, "--outputs", outputs, "--force")
        (logits,) = load_file(outputs).values()
        error = np.abs(logits.float().numpy() - expected).max()
        print(f"{name} {kind}: largest difference of logits {error:.1e}")
        assert error < 1e-3, error


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for chosen in sys.argv[2:] or CONFIGS:
        own = root / chosen
        own.mkdir(parents=True)
        check(chosen, own)
