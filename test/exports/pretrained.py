"""Trains a model from a folder of save_pretrained to a folder that from_pretrained loads, without exporting its weights. The folders of some
models have other names and layouts than the module: ViT, and mixtures of experts.
The script is run manually, because it needs torch and transformers:

    python test/exports/pretrained.py FOLDER [MODEL ...]

For each model, a folder of sharded bf16 weights is written, and the ONNX file is exported from its configuration alone. The program trains
three steps from the folder and writes another one, whose logits in transformers are those of the program. A program of a file with weights
writes a folder of the same names."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    LlamaConfig,
    MixtralConfig,
    Qwen2Config,
    Qwen3MoeConfig,
    ViTConfig,
    ViTForImageClassification,
)

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
    "vit": ViTConfig(**{k: v for k, v in SIZES.items() if k != "vocab_size"}, image_size=16, patch_size=8, num_labels=5),
    "mixtral": MixtralConfig(**SIZES, num_key_value_heads=4, num_local_experts=4, max_position_embeddings=64, use_cache=False),
    "qwen3-moe": Qwen3MoeConfig(**SIZES, num_key_value_heads=4, head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32,
                                max_position_embeddings=64, use_cache=False),
}  # fmt: skip
OTHERS = {"bert": BertForMaskedLM, "vit": ViTForImageClassification}  # models that are no causal ones


class Logits(torch.nn.Module):
    """Calls the model under its own names, without a prefix of this module."""

    def __new__(cls, model: torch.nn.Module) -> torch.nn.Module:
        forward = model.forward
        if model.config.model_type == "vit":
            model.forward = lambda pixel_values: forward(pixel_values=pixel_values).logits
        else:
            model.forward = lambda input_ids: forward(input_ids=input_ids).logits
        return model


def run(*command) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stderr


def model_of(config) -> torch.nn.Module:
    if config.model_type in OTHERS:
        return OTHERS[config.model_type](config)
    experts = {"experts_implementation": "batched_mm"} if "experts" in str(config) else {}
    return AutoModelForCausalLM.from_config(config, **experts)


def data_of(config) -> tuple[str, torch.Tensor, torch.Tensor]:
    """Returns the name and the values of the input, and the labels."""
    if config.model_type == "vit":
        return "pixel_values", torch.randn(BATCH, 3, config.image_size, config.image_size), torch.randint(0, config.num_labels, (BATCH,))
    tokens = torch.randint(2, VOCABULARY, (BATCH, LENGTH))
    return "input_ids", tokens, tokens


def names_of(folder: Path) -> set[str]:
    return {name for file in folder.glob("*.safetensors") for name in load_file(file)}


def loaded_from(config, folder: Path) -> torch.nn.Module:
    loaded, report = type(model_of(config)).from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    assert not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")), report
    return loaded.eval()


def check(name: str, folder: Path) -> None:
    config = CONFIGS[name]
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = model_of(config).to(torch.bfloat16)
    model.save_pretrained(folder / "source", max_shard_size="100KB")
    key, inputs, labels = data_of(config)
    loaded = AutoConfig.from_pretrained(folder / "source", attn_implementation="eager", use_cache=False, dtype=torch.float32)
    with mtc.empty_weights():
        empty = model_of(loaded)
    mtc.export(Logits(empty), {key: inputs}, folder / "model.onnx")
    np.save(folder / "inputs.npy", inputs.numpy())
    np.save(folder / "labels.npy", labels.numpy())
    flags = ["--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--labels", "labels", "--lr", "1e-3"]
    print(run(MTC, "compile", folder / "model.onnx", *flags, "--weights", folder / "source", "-o", folder / "train"), end="")
    data = ["--data", f"{key}={folder}/inputs.npy", "--data", f"labels={folder}/labels.npy"]
    for kind, more in (("bf16", ()), ("f32", ("--export-dtype", "f32"))):
        target = folder / kind
        print(run(folder / "train", *data, "--steps", 3, "--save", folder / "saved", "--overwrite", "--export-weights", target, "--max-shard-size", "100KB", *more), end="")  # fmt: skip
        given, found = (sorted(path.name for path in each.iterdir() if "model-" not in path.name) for each in (folder / "source", target))
        assert given == found and names_of(target) == names_of(folder / "source"), (given, found)
        with torch.no_grad():
            expected = loaded_from(config, target)(**{key: inputs}).logits.numpy()
        outputs = folder / f"{kind}.safetensors"
        started = ["--weights", target] if kind == "bf16" else ["--resume", folder / "saved"]
        run(folder / "train", *data[:2], *started, "--outputs", outputs, "--force")
        (logits,) = load_file(outputs).values()
        error = np.abs(logits.float().numpy() - expected).max()
        print(f"{name} {kind}: largest difference of logits {error:.1e}")
        assert error < 1e-3, error
    mtc.export(Logits(model.float()), {key: inputs}, folder / "full.onnx")
    run(MTC, "compile", folder / "full.onnx", *flags, "-o", folder / "full")
    run(folder / "full", *data, "--steps", 3, "--export-weights", folder / "written")
    shutil.copy(folder / "source/config.json", folder / "written")
    assert names_of(folder / "written") == names_of(folder / "source")
    written, other = (loaded_from(config, folder / each).state_dict() for each in ("written", "f32"))
    error = max((value - other[key]).abs().max() for key, value in written.items())
    assert error < 3e-3, error  # gradients near 0 have steps of the learning rate in a random direction


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for chosen in sys.argv[2:] or CONFIGS:
        own = root / chosen
        own.mkdir(parents=True)
        check(chosen, own)
