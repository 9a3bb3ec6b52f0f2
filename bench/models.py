"""The PyTorch models that are compared, with random weights, and their export.

    models.py NAME --graph FILE --out FOLDER --batch B --length L

FILE is the model with symbolic dimensions, for any batch and length. FOLDER gets `data/*.npy` (one batch of each input
and of the labels); with `--onnxruntime` also `flat.onnx`, the form that onnxruntime's training takes: TorchScript's
export in training form, logits of two axes. Models that are there already are left as they are.
"""

import argparse
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn


def gpt2(**config) -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(**config, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False))


def next_tokens(random: np.random.Generator, config: dict, batch: int, length: int) -> dict[str, np.ndarray]:
    tokens = random.integers(0, config["vocab_size"], (batch, length + 1))
    return {"input_ids": tokens[:, :-1].copy(), "labels": tokens[:, 1:].copy()}


def xlmr(**config) -> nn.Module:
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    fixed = dict(type_vocab_size=1, layer_norm_eps=1e-5, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    return XLMRobertaForSequenceClassification(XLMRobertaConfig(**config, **fixed, num_labels=4))


def texts(random: np.random.Generator, config: dict, batch: int, length: int) -> dict[str, np.ndarray]:
    """Texts of different lengths, padded on the right with 1, and one of four classes for each."""
    mask = (np.arange(length) < random.integers(length // 2, length + 1, (batch, 1))).astype(np.int64)
    ids = random.integers(4, config["vocab_size"], (batch, length))
    return {
        "input_ids": np.where(mask == 1, ids, 1),
        "attention_mask": mask,
        "labels": random.integers(0, 4, batch),
    }


def resnet50(**config) -> nn.Module:
    from torchvision.models import resnet50

    return resnet50(**config)


def images(random: np.random.Generator, config: dict, batch: int, _length: int) -> dict[str, np.ndarray]:
    pixels = random.standard_normal((batch, 3, 224, 224), np.float32)
    return {"x": pixels, "labels": random.integers(0, config["num_classes"], batch)}


@dataclass(frozen=True)
class Model:
    make: Callable[..., nn.Module]
    config: dict
    data: Callable[..., dict[str, np.ndarray]]
    loss: str  # as mtc calls it; PyTorch's is cross_entropy over the last axis in all of them

    def build(self) -> nn.Module:
        """In train mode. Vectors are moved off 0 and 1, as trained ones are: equal ones would be merged in the file."""
        torch.manual_seed(0)
        model = self.make(**self.config).train()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.ndim == 1:
                    parameter.add_(0.05 * torch.randn_like(parameter))
        return model

    def batch(self, batch: int, length: int) -> dict[str, np.ndarray]:
        return self.data(np.random.default_rng(0), self.config, batch, length)

    def logits(self, model: nn.Module, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """[rows, classes]"""
        if self.data is images:
            return model(inputs["x"])
        return model(**inputs).logits.flatten(0, -2)


XLMR = dict(max_position_embeddings=514, bos_token_id=0, pad_token_id=1, eos_token_id=2)
MODELS = {
    "gpt2-tiny": Model(
        gpt2,
        dict(n_layer=2, n_embd=32, n_head=2, vocab_size=128, n_positions=64, bos_token_id=0, eos_token_id=0),
        next_tokens,
        "causal-lm",
    ),
    "gpt2-124m": Model(gpt2, dict(n_layer=12, n_embd=768, n_head=12, vocab_size=50257), next_tokens, "causal-lm"),
    "xlmr-base": Model(xlmr, dict(XLMR, vocab_size=250002), texts, "cross-entropy"),
    "xlmr-large": Model(
        xlmr,
        dict(XLMR, vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
             intermediate_size=4096),
        texts,
        "cross-entropy",
    ),
    "resnet50": Model(resnet50, dict(num_classes=1000), images, "cross-entropy"),
}


class Flat(nn.Module):
    """The logits as [rows, classes]; a mask that is not given is one of ones, which TorchScript's export needs."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        mask = torch.ones_like(ids) if mask is None else mask
        return self.model(input_ids=ids, attention_mask=mask).logits.flatten(0, -2)


def export(model: nn.Module, inputs: dict[str, torch.Tensor], path: Path) -> None:
    dims = {name: {0: "batch", 1: "sequence"} for name in inputs}
    torch.onnx.export(
        model, kwargs=inputs, f=path, dynamo=True, dynamic_shapes=dims, verbose=False, external_data=False,
        input_names=list(inputs), output_names=["logits"],
    )  # fmt: skip


def export_images(model: nn.Module, inputs: dict[str, torch.Tensor], path: Path) -> None:
    """By TorchScript, which keeps batch normalization in training."""
    torch.onnx.export(
        model, (inputs["x"],), path, dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False, opset_version=17, input_names=["x"], output_names=["logits"],
        dynamic_axes={"x": {0: "batch"}},
    )  # fmt: skip


def export_flat(model: nn.Module, inputs: dict[str, torch.Tensor], path: Path) -> None:
    ids = [inputs[name] for name in ("input_ids", "attention_mask") if name in inputs]
    torch.onnx.export(
        Flat(model), tuple(ids), path, dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False, opset_version=17, input_names=list(inputs), output_names=["logits"],
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=MODELS)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--onnxruntime", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)

    model = MODELS[options.name]
    data = model.batch(options.batch, options.length)
    (options.out / "data").mkdir(parents=True, exist_ok=True)
    for name, array in data.items():
        np.save(options.out / "data" / f"{name}.npy", array)
    # A dimension of 1 is taken as constant, and the graph is kept for any batch.
    example = model.batch(max(options.batch, 2), max(options.length, 2))
    inputs = {name: torch.tensor(array) for name, array in example.items() if name != "labels"}
    export_graph = export_images if "x" in inputs else export
    exports = [(options.graph, export_graph)] + [(options.out / "flat.onnx", export_flat)] * options.onnxruntime
    for path, write in exports:
        if not path.exists():
            part = path.with_suffix(".part")
            write(model.build(), inputs, part)
            part.rename(path)


if __name__ == "__main__":
    main()
