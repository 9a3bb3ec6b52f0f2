#!/usr/bin/env python3
"""`mtc.Trainer.fit` on a DataLoader of PyTorch has the losses of a loop in PyTorch. Run `PYTHON test/exports/fit.py`, where PYTHON is an
interpreter with the packages of requirements.txt.

Then trains the classifiers of examples/ on small folders of texts and images.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import datasets
import numpy as np
import pandas
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertForTokenClassification

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("MTC", str(ROOT / "build/release/bin/mtc"))
import mtc  # noqa: E402

folder = Path(tempfile.mkdtemp())
BATCH, EPOCHS = 16, 3


class Augmented(Dataset):
    """Images with a random flip and random noise, so that each epoch has other samples."""

    def __init__(self, count: int) -> None:
        generator = torch.Generator().manual_seed(1)
        self.images = torch.rand(count, 3, 12, 12, generator=generator)
        self.labels = torch.randint(0, 5, (count,), generator=generator)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        image = self.images[index] + 0.05 * torch.randn(3, 12, 12)
        return {"x": image.flip(2) if torch.rand(()) < 0.5 else image, "labels": self.labels[index]}


def loader(workers: int = 0) -> DataLoader:
    torch.manual_seed(7)
    return DataLoader(Augmented(90), BATCH, shuffle=True, num_workers=workers)


class Network(nn.Module):
    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), norm, nn.GELU(), nn.Flatten(), nn.Linear(800, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def losses_of(step: Callable[[dict[str, torch.Tensor]], torch.Tensor], model: nn.Module, data: DataLoader, epochs: int) -> list[float]:
    """Returns the losses of a loop in PyTorch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    found = []
    for _ in range(epochs):
        for batch in data:
            loss = step(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    return found


def check(name: str, losses: np.ndarray, expected: list[float]) -> None:
    difference = float(np.abs(losses / expected - 1).max())
    print(f"{name}: {len(expected)} steps, losses {difference:.1e} apart")
    assert difference < 1e-5, (losses, expected)


# A last batch of 10: by ignored labels, and in a shape of its own, which batch normalization needs.
OPTIMIZER = {"loss": "cross-entropy", "optimizer": "adamw", "lr": 1e-3, "weight_decay": 0.01}
assert {len(batch["labels"]) for batch in loader()} == {16, 10}
for name, norm, sizes in ("norm", nn.BatchNorm2d(8), [BATCH, 10]), ("network", nn.Identity(), BATCH):
    torch.manual_seed(0)
    model = Network(norm)
    mtc.export(model, torch.zeros(2, 3, 12, 12), folder / f"{name}.onnx")
    trainer = mtc.Trainer(mtc.compile(folder / f"{name}.onnx", dims={"batch": sizes}, **OPTIMIZER))
    expected = losses_of(lambda batch: nn.functional.cross_entropy(model(batch["x"]), batch["labels"]), model, loader(), EPOCHS)
    check(f"{name}, shuffled and augmented", trainer.fit(loader(), epochs=EPOCHS).losses, expected)
weights = trainer.state_dict()
assert all(np.allclose(weights[name], value.detach().numpy(), atol=1e-5) for name, value in model.state_dict().items())
with torch.no_grad():
    outputs = trainer.predict(DataLoader(Augmented(90).images, 7))["output"]
    assert np.allclose(outputs, model(Augmented(90).images).numpy(), atol=1e-5)
assert len(trainer.fit(loader(workers=2), epochs=1).steps) == 6


class Accuracy(nn.Module):
    """A metric in the form of the package torchmetrics."""

    def reset(self) -> None:
        self.hits, self.count = torch.tensor(0), 0

    def update(self, outputs: torch.Tensor, labels: torch.Tensor) -> None:
        self.hits += (outputs.argmax(1) == labels).sum()
        self.count += len(labels)

    def compute(self) -> torch.Tensor:
        return self.hits / self.count


# A data set of Hugging Face with a column that the model does not have.
plain = Augmented(90)
table = datasets.Dataset.from_dict({"x": plain.images.numpy(), "labels": plain.labels.numpy(), "text": ["a"] * 90}).with_format("numpy")
found = trainer.evaluate(table, metrics={"own": Accuracy()})
assert found.samples == 90 and abs(found.metrics["own"] - found.accuracy) < 1e-6, found
one, other = (mtc.Trainer(folder / "libnetwork.so") for _ in range(2))
losses = one.fit(table, epochs=2).losses
labels = pandas.Series(plain.labels.numpy(), index=range(89, -1, -1))  # Samples are numbered by position.
assert np.array_equal(losses, other.fit({"x": plain.images, "labels": labels}, epochs=2).losses)

# BERT on texts of different lengths, each batch padded to its longest text, as by DataCollatorWithPadding.
sizes = {"vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
torch.manual_seed(0)
bert = BertForTokenClassification(BertConfig(num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0, **sizes))
example = {name: torch.ones(2, 40, dtype=torch.long) for name in ("input_ids", "attention_mask")}
mtc.export(bert, example, folder / "bert.onnx", dynamic_axes={name: {1: "sequence"} for name in example})
texts = sorted((torch.randint(1, 200, (int(torch.randint(3, 41, ())),)) for _ in range(44)), key=len)
pad = nn.utils.rnn.pad_sequence


def collate(samples: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    masks, labels = [torch.ones_like(text) for text in samples], [text % 3 for text in samples]
    return {"input_ids": pad(samples, True), "attention_mask": pad(masks, True), "labels": pad(labels, True, -100)}


data = DataLoader(texts, 8, collate_fn=collate)
lengths = {batch["input_ids"].shape[1] for batch in data}
assert min(lengths) < 16 and max(lengths) == 40, lengths
expected = losses_of(lambda batch: bert(**batch).loss, bert, data, 2)
for name, sizes in ("one length", 40), ("several lengths", [16, 28, 40]):
    library = mtc.compile(folder / "bert.onnx", folder / "bert", dims={"batch": 8, "sequence": sizes}, **OPTIMIZER)
    check(f"BERT in {name}", mtc.Trainer(library).fit(data, epochs=2).losses, expected)

# The examples.
random = np.random.default_rng(0)
for label, name in enumerate(("even", "odd")):
    (folder / "texts" / name).mkdir(parents=True)
    (folder / "images" / name).mkdir(parents=True)
    for i in range(40):
        (folder / "texts" / name / f"{i}.txt").write_text(" ".join(str(2 * n + label) + "." for n in random.integers(0, 500, 20)))
        pixels = random.integers(0, 100, (80, 72, 3), dtype=np.uint8)
        pixels[:, :, label] += 120
        Image.fromarray(pixels).save(folder / "images" / name / f"{i}.png")
for example, least in ("text_classifier", 0.9), ("image_classifier", 0.9):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, ROOT / f"examples/{example}.py", folder / (example.split("_")[0] + "s")]
    (folder / example).mkdir()
    done = subprocess.run(command, cwd=folder / example, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    accuracy = float(re.search(r"accuracy (\S+)", done.stdout)[1])
    print(f"{example}: {done.stdout.strip()}")
    assert accuracy >= least, done.stdout
