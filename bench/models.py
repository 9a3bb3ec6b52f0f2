"""PyTorch models for the benchmarks, with random weights, and their export to ONNX.

    models.py NAME --graph FILE --out FOLDER --batch B --length L

FILE is the model with symbolic batch and sequence dimensions. `FOLDER/data/*.npy` contain one batch of each input and of the labels. With
`--onnxruntime`, `FOLDER/flat.onnx` is the model for onnxruntime-training: it is exported by TorchScript in training form and has
two-dimensional logits. Existing models are not exported again.
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
    """Returns token sequences of different lengths, padded on the right with 1, and one of four classes for each."""
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


def resnet18(**config) -> nn.Module:
    from torchvision.models import resnet18

    return resnet18(**config)


class SmallCnn(nn.Module):
    """Three convolutions with batch normalization, and a linear classifier."""

    def __init__(self, num_classes: int):
        super().__init__()
        layers = []
        for into, out in ((3, 16), (16, 32), (32, 64)):
            layers += [nn.Conv2d(into, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2)]
        self.features, self.head = nn.Sequential(*layers), nn.Linear(64 * 4 * 4, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x).flatten(1))


def images(random: np.random.Generator, config: dict, batch: int, _length: int) -> dict[str, np.ndarray]:
    pixels = random.standard_normal((batch, 3, 224, 224), np.float32)
    return {"x": pixels, "labels": random.integers(0, config["num_classes"], batch)}


def small_images(random: np.random.Generator, config: dict, batch: int, _length: int) -> dict[str, np.ndarray]:
    pixels = random.standard_normal((batch, 3, 32, 32), np.float32)
    return {"x": pixels, "labels": random.integers(0, config["num_classes"], batch)}


class Tagger(nn.Module):
    """An LSTM that classifies every step of a sequence of vectors."""

    def __init__(self, width: int, num_layers: int, num_classes: int):
        super().__init__()
        self.lstm = nn.LSTM(width, width, num_layers, batch_first=True)
        self.head = nn.Linear(width, num_classes)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(features)[0])


def sequences(random: np.random.Generator, config: dict, batch: int, length: int) -> dict[str, np.ndarray]:
    features = random.standard_normal((batch, length, config["width"]), np.float32)
    return {"features": features, "labels": random.integers(0, config["num_classes"], (batch, length))}


@dataclass(frozen=True)
class Model:
    make: Callable[..., nn.Module]
    config: dict
    data: Callable[..., dict[str, np.ndarray]]
    loss: str  # name in mtc; PyTorch uses cross_entropy over the last axis for all models

    def build(self) -> nn.Module:
        """Returns the model in training mode. Noise makes vectors distinct, because the exporter stores equal initializers once."""
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
        """Returns the logits as [samples, classes]."""
        if self.data in (images, small_images):
            return model(inputs["x"])
        if self.data is sequences:
            return model(inputs["features"]).flatten(0, -2)
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
    "gpt2-mini": Model(gpt2, dict(n_layer=4, n_embd=256, n_head=4, vocab_size=8000, n_positions=512, bos_token_id=0, eos_token_id=0), next_tokens, "causal-lm"),
    "xlmr-mini": Model(
        xlmr,
        dict(XLMR, vocab_size=8000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024),
        texts,
        "cross-entropy",
    ),
    "xlmr-base": Model(xlmr, dict(XLMR, vocab_size=250002), texts, "cross-entropy"),
    "xlmr-large": Model(
        xlmr,
        dict(XLMR, vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
             intermediate_size=4096),
        texts,
        "cross-entropy",
    ),
    "resnet50": Model(resnet50, dict(num_classes=1000), images, "cross-entropy"),
    "resnet18": Model(resnet18, dict(num_classes=10), small_images, "cross-entropy"),
    "small-cnn": Model(SmallCnn, dict(num_classes=10), small_images, "cross-entropy"),
    "lstm-512": Model(Tagger, dict(width=512, num_layers=2, num_classes=16), sequences, "cross-entropy"),
}


class Flat(nn.Module):
    """Wrapper that returns logits as [samples, classes]. The default mask is all ones, as TorchScript's export requires."""

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
    """Exports with TorchScript, which keeps the training form of batch normalization."""
    torch.onnx.export(
        model, (inputs["x"],), path, dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False, opset_version=17, input_names=["x"], output_names=["logits"],
        dynamic_axes={"x": {0: "batch"}},
    )  # fmt: skip


def export_sequences(model: nn.Module, inputs: dict[str, torch.Tensor], path: Path) -> None:
    """Exports with TorchScript, which keeps an LSTM as one node."""
    torch.onnx.export(
        model, (inputs["features"],), path, dynamo=False, opset_version=17, input_names=["features"],
        output_names=["logits"], dynamic_axes={"features": {0: "batch", 1: "sequence"}},
    )  # fmt: skip


def export_flat(model: nn.Module, inputs: dict[str, torch.Tensor], path: Path) -> None:
    ids = [inputs[name] for name in ("input_ids", "attention_mask") if name in inputs]
    torch.onnx.export(
        Flat(model), tuple(ids), path, dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False, opset_version=17, input_names=list(inputs), output_names=["logits"],
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=MODELS, help="model")
    parser.add_argument("--batch", type=int, required=True, help="batch size")
    parser.add_argument("--length", type=int, required=True, help="sequence length in tokens")
    parser.add_argument("--graph", type=Path, required=True, help="ONNX file to write")
    parser.add_argument("--out", type=Path, required=True, help="folder for the data")
    parser.add_argument("--onnxruntime", action="store_true", help="also export flat.onnx for onnxruntime-training")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)

    model = MODELS[options.name]
    data = model.batch(options.batch, options.length)
    (options.out / "data").mkdir(parents=True, exist_ok=True)
    for name, array in data.items():
        np.save(options.out / "data" / f"{name}.npy", array)
    # The exporter treats a dimension of size 1 as constant, but the file must accept any batch size.
    example = model.batch(max(options.batch, 2), max(options.length, 2))
    inputs = {name: torch.tensor(array) for name, array in example.items() if name != "labels"}
    export_graph = {"x": export_images, "features": export_sequences}.get(next(iter(inputs)), export)
    exports = [(options.graph, export_graph)] + [(options.out / "flat.onnx", export_flat)] * options.onnxruntime
    for path, write in exports:
        if not path.exists():
            part = path.with_suffix(".part")
            write(model.build(), inputs, part)
            part.rename(path)


if __name__ == "__main__":
    main()
