"""Trains a classifier of texts on a folder with a subfolder of `.txt` files for each class: `text_classifier.py FOLDER`."""

import sys
from pathlib import Path

import mtc
import torch
from torch import nn
from torch.utils.data import DataLoader, random_split

LENGTH, BATCH = 256, 16  # bytes of a text, texts of a batch


class Classifier(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.embed, self.mix, self.head = nn.Embedding(256, 64), nn.Conv1d(64, 128, 5), nn.Linear(128, classes)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.head(self.mix(self.embed(text).transpose(1, 2)).relu().amax(2))


folder = Path(sys.argv[1])
classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
data = [(list(file.read_bytes()[:LENGTH].ljust(LENGTH)), label) for label, name in enumerate(classes) for file in (folder / name).glob("*.txt")]
train, test = random_split([(torch.tensor(text), label) for text, label in data], [0.8, 0.2], torch.Generator().manual_seed(0))
mtc.export(Classifier(len(classes)), torch.zeros(2, LENGTH, dtype=torch.long), "texts.onnx")
trainer = mtc.Trainer(mtc.compile("texts.onnx", dims={"batch": BATCH}, loss="cross-entropy", lr=2e-3))
history = trainer.fit(DataLoader(train, BATCH, shuffle=True), epochs=20, validation=DataLoader(test, BATCH),
                      save="texts", keep_best="accuracy", early_stop=5)  # fmt: skip
trainer.load("texts/best")
trainer.export_onnx("texts-trained.onnx")
print(f"{len(classes)} classes, accuracy {trainer.evaluate(DataLoader(test, BATCH)).accuracy:.3f} after step {history.best.step}")
