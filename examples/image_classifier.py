"""Trains a classifier of images on a folder with a subfolder of images for each class: `image_classifier.py FOLDER`."""

import sys

import mtc
import torch
from torch.utils.data import DataLoader, random_split
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18
from torchvision.transforms import v2

SIZE, BATCH = 64, 16
to_tensor = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.25] * 3)]
augmented = ImageFolder(sys.argv[1], v2.Compose([v2.RandomResizedCrop(SIZE, (0.5, 1)), v2.RandomHorizontalFlip(), *to_tensor]))
plain = ImageFolder(sys.argv[1], v2.Compose([v2.Resize(SIZE), v2.CenterCrop(SIZE), *to_tensor]))
train, test = (random_split(data, [0.8, 0.2], torch.Generator().manual_seed(0))[i] for i, data in enumerate((augmented, plain)))
# The statistics of batch normalization need whole batches.
loader = DataLoader(train, BATCH, shuffle=True, drop_last=True, num_workers=2)
mtc.export(resnet18(num_classes=len(plain.classes)), torch.zeros(2, 3, SIZE, SIZE), "images.onnx")
trainer = mtc.Trainer(mtc.compile("images.onnx", dims={"batch": BATCH}, loss="cross-entropy", lr=1e-3))
history = trainer.fit(loader, epochs=10, validation=DataLoader(test, BATCH), save="images", keep_best="accuracy", early_stop=3)
trainer.load("images/best")
trainer.export_onnx("images-trained.onnx")
print(f"{len(plain.classes)} classes, accuracy {trainer.evaluate(DataLoader(test, BATCH)).accuracy:.3f} after step {history.best.step}")
