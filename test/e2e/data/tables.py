# RUN: %python %s %t
"""Digits as CSV, Parquet and images, and text, are converted by `python -m mtc.data` and trained from the command line: bit-identical to programs that
read the same values from their own files."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet
from models import EXAMPLES, GPT2
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from program import MTC, Program, own_folder, read_metrics, run
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

PACKAGE = Path(__file__).resolve().parent.parent.parent.parent / "python"
folder = own_folder()


def convert(*words) -> list[str]:
    """Converts data, and returns the flags that the report prints."""
    command = [sys.executable, "-m", "mtc.data", *map(str, words)]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.partition("Flags of the program:\n")[2].splitlines()
    return [word.strip("'") for line in lines for word in line.split()]


x, labels = np.load(EXAMPLES / "digits/train_x.npy"), np.load(EXAMPLES / "digits/train_labels.npy")
names = [f"p{i}" for i in range(64)]
pixels = np.round(x * 16).astype(int)
with (folder / "digits.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow([*names, "digit"])
    writer.writerows([*row, f"digit {label}"] for row, label in zip(pixels, labels, strict=True))
pa.parquet.write_table(pa.table({"x": x.tolist(), "digit": labels}), folder / "digits.parquet")
run([MTC, "compile", EXAMPLES / "digits/digits.onnx", "--dim", "batch=32", "--loss", "cross-entropy", "-o", folder / "digits"], folder)
plain = Program(folder / "digits", {"x": x, "labels": labels})
expected = plain.exported("plain", "--epochs", 2)
for words, scale in (
    (("digits.csv", "--column", "x=p*", "--label", "digit", "-o", "csv"), ("--scale", "x=1/16")),
    (("digits.parquet", "--label", "digit", "-o", "parquet"), ()),
):
    converted = Program(folder / "digits", {})
    converted.data_flags = convert(*words)
    assert converted.exported("converted", "--epochs", 2, *scale) == expected, words
# A folder without a file for an input is an error, and so is an input that has two files.
assert converted.data_flags == ["--data", "parquet/train"]
(folder / "empty").mkdir()
for flags, expected in (
    (["--data", "empty"], "--data empty: the folder has no file of an input; expected x.npy, or x=empty for a folder of shards or images"),
    (["--data", "none"], "--data none: expected NAME=FILE, or a folder with a file for each input"),
    (["--data", "parquet/train", "--data", "labels=parquet/train/labels.npy"], "'labels' is given twice"),
):
    converted.data_flags = flags
    message = converted.run("--steps", 1, code=1).stderr
    assert expected in message, message
# The order of a folder of images is that of its classes.
for i, (image, label) in enumerate(zip(pixels, labels, strict=True)):
    (folder / f"images/{label}").mkdir(parents=True, exist_ok=True)
    Image.fromarray(image.reshape(8, 8).astype(np.uint8)).save(folder / f"images/{label}/{i:04}.png")
convert("images", "--grayscale", "-o", "pictures")
found, order = np.load(folder / "pictures/train/image.npy"), np.argsort(labels, kind="stable")
assert np.array_equal(found, pixels[order].reshape(-1, 1, 8, 8)) and np.array_equal(np.load(folder / "pictures/train/labels.npy"), labels[order])

# Photographs of digits as JPEG are trained from the command line alone.
for i, (image, label) in enumerate(zip(pixels, labels, strict=True)):
    (folder / f"photos/{label}").mkdir(parents=True, exist_ok=True)
    large = np.kron(image.reshape(8, 8) * 15, np.ones((3, 3)))
    Image.fromarray(large.astype(np.uint8)).save(folder / f"photos/{label}/{i:04}.jpg", quality=90)
classifier = helper.make_graph(
    [helper.make_node("Flatten", ["image"], ["flat"]), helper.make_node("Gemm", ["flat", "weight", "bias"], ["y"])],
    "photos",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 20, 20])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10])],
    [numpy_helper.from_array(np.zeros((400, 10), np.float32), "weight"), numpy_helper.from_array(np.zeros(10, np.float32), "bias")],
)
onnx.save(helper.make_model(classifier, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "photos.onnx")
run([MTC, "compile", "photos.onnx", "--dim", "batch=32", "--loss", "cross-entropy", "--lr", 0.003, "-o", folder / "photo-program"], folder)
photos = Program(folder / "photo-program", {})
photos.data_flags = convert("photos", "--grayscale", "--validation", 0.2, "-o", "photo-data")
photos.run("--epochs", 10, "--scale", "image=1/255", "--augment", "image=crop", "--metrics", "photos.jsonl")
accuracies = [line["validation_accuracy"] for line in read_metrics(folder / "photos.jsonl") if "validation_accuracy" in line]
assert accuracies[-1] > 0.9, accuracies

# The flags name the validation data, too.
converted.data_flags = convert("digits.csv", "--column", "x=p*", "--normalize", "p*", "--label", "digit", "--validation", 0.2, "-o", "csv")
converted.run("--epochs", 12, "--metrics", "metrics.jsonl", "--save", "saved")
accuracies = [line["validation_accuracy"] for line in read_metrics(folder / "metrics.jsonl") if "validation_accuracy" in line]
assert len(accuracies) == 12 and accuracies[-1] > 0.9, accuracies

# Evaluations name the classes of the table, also without its folder. Labels with other classes are refused.
shutil.copy(folder / "csv/validation/labels.npy", folder / "labels.npy")
converted.data_flags = ["--data", "x=csv/validation/x.npy", "--data", "labels=labels.npy"]
assert "\ndigit 7  " in converted.run("--resume", "saved", "--evaluate").stdout
(folder / "other.csv").write_text((folder / "digits.csv").read_text().replace("digit 0", "zero"))
converted.data_flags = convert("other.csv", "--column", "x=p*", "--label", "digit", "-o", "other")
message = converted.run("--resume", "saved", "--evaluate", code=1).stderr
assert "--data labels=other/train/labels.npy: has the classes digit 1, " in message and "expected those of the training data, digit 0, " in message, message

# A text becomes the tokens of the example.
vocabulary = {chr(i): i for i in range(128)}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
tokenizer.save(str(folder / "tokenizer.json"))
tokens = np.fromfile(EXAMPLES / "gpt2/train.bin", np.uint16, offset=1024)
(folder / "corpus.txt").write_bytes(tokens.astype(np.uint8).tobytes())
flags = convert("corpus.txt", "--tokenizer", "tokenizer.json", "-o", "corpus")
assert (folder / "corpus/train/input_ids-0000.bin").read_bytes()[1024:] == tokens.tobytes()
run([MTC, "compile", GPT2.model, *GPT2.flags, "-o", folder / "gpt2"], folder)
text, example = Program(folder / "gpt2", {}), Program(folder / "gpt2", {})
text.data_flags, example.data_flags = flags, ["--data", f"input_ids={EXAMPLES / 'gpt2/train.bin'}"]
assert text.exported("text", "--steps", 3) == example.exported("example", "--steps", 3)

# The lines of the text as a column of a Parquet file.
lines = (folder / "corpus.txt").read_text().splitlines(keepends=True)
pa.parquet.write_table(pa.table({"text": lines}), folder / "lines.parquet")
words = ("lines.parquet", "--text", "text", "--stream", "--tokenizer", "tokenizer.json", "--validation", 0.1, "-o", "lines")
text.data_flags = convert(*words)
text.run("--steps", 60, "--metrics", "text.jsonl", "--validate-every", 20)
losses = [line["validation_loss"] for line in read_metrics(folder / "text.jsonl") if "validation_loss" in line]
assert losses[-1] < losses[0] < np.log(128), losses
