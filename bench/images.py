#!/usr/bin/env python3
"""Compares how many images of a folder a program and torchvision's DataLoader read in a second.

    bench/images.py --python VENV/bin/python3                       # 600 JPEG files of 500 x 375 pixels
    bench/images.py --python VENV/bin/python3 --folder photos       # an own folder, as of torchvision's ImageFolder

Both read a shuffled epoch: RandomResizedCrop(224), RandomHorizontalFlip, Normalize, batches of 32. The program trains a model that takes almost
no time (the mean of each channel and a linear layer) with --read-threads 2, the DataLoader has two workers and its batches are not used. Both run
alternately, in several rounds; the table shows the medians. The last line has the wait of a model whose step takes longer than its images.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

SIDE, BATCH, CLASSES, THREADS = 224, 32, 10, 2
MEAN, STD = "0.485,0.456,0.406", "0.229,0.224,0.225"
LOADER = """
import sys, time
import torch
from torchvision import datasets, transforms
folder, side, batch, workers, epochs = sys.argv[1], *map(int, sys.argv[2:6])
transform = transforms.Compose([transforms.RandomResizedCrop(side), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                                transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
data = datasets.ImageFolder(folder, transform)
loader = torch.utils.data.DataLoader(data, batch, shuffle=True, drop_last=True, num_workers=workers, persistent_workers=True)
for _ in range(epochs):
    start, count = time.perf_counter(), 0
    for images, labels in loader:
        count += len(images)
    print(count / (time.perf_counter() - start))
"""


def write_photos(folder: Path, count: int) -> None:
    """Writes JPEG files with the detail of photographs: smooth colors and some noise."""
    random = np.random.default_rng(0)
    for i in range(count):
        coarse = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize((500, 375), Image.Resampling.BICUBIC)
        fine = Image.fromarray(random.integers(0, 256, (94, 125, 3), dtype=np.uint8)).resize((500, 375), Image.Resampling.BICUBIC)
        pixels = 0.75 * np.asarray(coarse, np.float32) + 0.25 * np.asarray(fine, np.float32) + random.normal(0, 4, (375, 500, 1))
        path = folder / str(i % CLASSES) / f"{i:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(path, quality=90)


def write_model(path: Path, waves: int) -> None:
    """Writes a linear classifier of the mean of each channel, after some hyperbolic tangents."""
    nodes = [helper.make_node("Tanh", [f"x{i}" if i else "x"], [f"x{i + 1}"]) for i in range(waves)]
    nodes += [
        helper.make_node("GlobalAveragePool", [f"x{waves}" if waves else "x"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weight"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "reading",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(np.zeros((3, CLASSES), np.float32), "weight")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def compiled(mtc: str, folder: Path, waves: int) -> Path:
    model, program = folder / f"waves-{waves}.onnx", folder / f"waves-{waves}"
    write_model(model, waves)
    subprocess.run([mtc, "compile", model, "--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--threads", str(THREADS), "-o", program], check=True)
    return program


def command(program: Path, photos: Path, epochs: int, *more) -> list[str]:
    words = [program, "--data", f"x={photos}", "--scale", "x=1/255", "--mean", f"x={MEAN}", "--std", f"x={STD}",
             "--augment", "x=resized-crop,flip", "--read-threads", THREADS, "--last-batch", "drop", "--epochs", epochs, "--quiet", *more]  # fmt: skip
    return list(map(str, words))


def program_rates(program: Path, photos: Path, images: int, epochs: int) -> list[float]:
    """Returns images per second of each epoch, without the first one."""
    metrics = program.with_suffix(".jsonl")
    subprocess.run(command(program, photos, epochs, "--metrics", metrics), check=True)
    seconds = [json.loads(line)["step_seconds"] for line in metrics.read_text().splitlines()]
    steps = images // BATCH
    return [steps * BATCH / sum(seconds[e * steps : (e + 1) * steps]) for e in range(1, epochs)]


def waits(program: Path, photos: Path) -> tuple[float, float]:
    """Returns the medians of the wait for a batch and of the time from batch to batch in ms, as --profile records them."""
    trace = program.with_suffix(".json")
    subprocess.run(command(program, photos, 3, "--profile", trace), check=True)
    loads = [event for event in json.loads(trace.read_text()) if event["name"] == "load"]
    starts = [event["ts"] for event in loads]
    steps = [(end - begin) / 1e3 for begin, end in zip(starts[1:], starts[2:], strict=False)]
    return statistics.median(event["dur"] / 1e3 for event in loads[1:]), statistics.median(steps)


def loader_rates(python: str, photos: Path, epochs: int) -> list[float]:
    """Returns images per second of each epoch, without the first one, in which the workers start."""
    words = [python, "-c", LOADER, photos, SIDE, BATCH, THREADS, epochs]
    done = subprocess.run(list(map(str, words)), check=True, stdout=subprocess.PIPE, text=True)
    return [float(line) for line in done.stdout.splitlines()][1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", default="build/release/bin/mtc", help="compiler (default: %(default)s)")
    parser.add_argument("--python", default=sys.executable, help="Python with torchvision (default: this one)")
    parser.add_argument("--folder", type=Path, help="folder of images (default: one that is written)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3, help="epochs of each round, the first of which is not counted (default: 3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photos = options.folder or folder / "photos"
        if not options.folder:
            write_photos(photos, 600)
        images = sum(1 for path in photos.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
        program = compiled(options.mtc, folder, 0)
        own, loader = [], []
        for _ in range(options.rounds):
            own += program_rates(program, photos, images, options.epochs)
            loader += loader_rates(options.python, photos, options.epochs)
        print(f"{'reader':<24}images/s  fastest  slowest")
        for label, rates in (("mtc", own), ("torchvision DataLoader", loader)):
            print(f"{label:<24}{statistics.median(rates):8.0f} {max(rates):8.0f} {min(rates):8.0f}")
        print(f"ratio {statistics.median(own) / statistics.median(loader):.2f}")
        wait, step = waits(compiled(options.mtc, folder, 48), photos)
        print(f"a model of longer steps waits {wait:.1f} ms in a step of {step:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
