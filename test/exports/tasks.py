#!/usr/bin/env python3
"""Runs the tasks of docs/guide/tasks.md on small files: `PYTHON test/exports/tasks.py [TASK]`, where PYTHON is an interpreter with the packages of
requirements.txt and TASK is a part of a heading.

The blocks of a task run in their order in one folder. Each task has at most 30 lines, learns, and exports its model.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import pyarrow
import pyarrow.parquet
import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/guide/tasks.md"
LINES = 30
SEED = "import torch; torch.manual_seed(0)\n"  # The weights of a new model are random.
random = np.random.default_rng(0)
ONES = "zero one two three four five six seven eight nine ten eleven twelve".split()


def save_tokenizer(folder: Path, words: list[str]) -> None:
    """Saves a tokenizer of whole words."""
    special = ["[PAD]", "[UNK]", "<|endoftext|>"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(special + words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(special)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", eos_token="<|endoftext|>").save_pretrained(folder)


def write_table(path: Path, names: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def write_texts(folder: Path) -> None:
    """Writes reviews of 3 to 30 words, whose sentiment is that of one word, and an untrained BERT."""
    neutral = [f"word{i}" for i in range(60)]
    moods = {"positive": ["good", "great", "lovely"], "negative": ["bad", "awful", "boring"]}
    rows = []
    for i in range(400):
        words = list(random.choice(neutral, random.integers(2, 30)))
        mood = ("positive", "negative")[i % 2]
        words.insert(random.integers(len(words)), random.choice(moods[mood]))
        rows.append([" ".join(words), mood])
    write_table(folder / "reviews.csv", ["review", "sentiment"], rows)
    save_tokenizer(folder / "bert", neutral + moods["positive"] + moods["negative"])
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    BertForSequenceClassification(BertConfig(vocab_size=80, max_position_embeddings=64, **sizes)).save_pretrained(folder / "bert")


def write_images(folder: Path) -> None:
    """Writes photographs of three classes, which differ in color, of several sizes."""
    for part, count in ("train", 48), ("validation", 16):
        for label, name in enumerate(("apple", "leaf", "sky")):
            (folder / "photos" / part / name).mkdir(parents=True)
            for i in range(count):
                pixels = random.integers(0, 160, (random.integers(48, 90), random.integers(48, 90), 3), dtype=np.uint8)
                pixels[:, :, label] += 60
                Image.fromarray(pixels).save(folder / "photos" / part / name / f"{i}.jpg")


def write_sentences(folder: Path, model: str) -> None:
    """Writes sentences about numbers, and a tokenizer of 21 words into the folder of a model."""
    texts = [f"the number after {ONES[i]} is {ONES[i + 1]} ." for i in random.integers(0, 12, 1500)]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), folder / "notes.parquet")
    save_tokenizer(folder / model, ["the", "number", "after", "is", ".", *ONES])


def write_notes(folder: Path) -> None:
    """Writes sentences, and an untrained GPT-2."""
    write_sentences(folder, "gpt2")
    sizes = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 24, "bos_token_id": 2, "eos_token_id": 2,
             "initializer_range": 0.2}  # fmt: skip
    GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(folder / "gpt2")


def write_customers(folder: Path) -> None:
    """Writes customers who leave because of their city, plan and age. A tenth of these values is missing."""
    cities, plans = ["Lima", "Oslo", "Rome"], ["basic", "plus"]
    rows: list[list[object]] = []
    for _ in range(1200):
        age, income, visits = int(random.integers(18, 80)), round(random.normal(3000, 800), 2), int(random.integers(0, 30))
        city, plan = random.choice(cities), random.choice(plans)
        score = (age - 49) / 10 + 3 * (city == "Oslo") - 2 * (plan == "plus") + random.normal(0, 0.5)
        row = [age, income, visits, city, plan]
        if random.random() < 0.5:
            row[random.integers(5)] = ""
        rows.append([*row, "yes" if score > 0 else "no"])
    write_table(folder / "customers.csv", ["age", "income", "visits", "city", "plan", "churned"], rows)


def write_series(folder: Path) -> None:
    """Writes 60 days of a load with a daily period, which the temperature of the day changes."""
    hours = np.arange(24 * 60)
    temperature = 15 + 8 * np.sin(hours / 24 / 9) + random.normal(0, 0.5, len(hours))
    load = 500 + 100 * np.sin(2 * np.pi * hours / 24) + 4 * temperature + random.normal(0, 5, len(hours))
    times = np.datetime64("2025-01-01T00") + hours
    write_table(folder / "power.csv", ["time", "load", "temperature"], [list(row) for row in zip(times, load, temperature, strict=True)])


def write_recordings(folder: Path) -> None:
    """Writes recordings of 3 to 5 letters, each a tone of 60 ms between pauses."""
    (folder / "recordings").mkdir()
    rate, tones = 8000, {"a": 600, "b": 1100, "c": 1700, "d": 2600}
    rows = []
    for i in range(200):
        text = "".join(random.choice(list(tones), random.integers(3, 6)))
        time_of_tone = np.arange(int(0.06 * rate)) / rate
        parts = [np.concatenate([np.sin(2 * np.pi * tones[c] * time_of_tone), np.zeros(random.integers(200, 400))]) for c in text]
        sound = np.concatenate(parts)
        sound = (8000 * (sound + random.normal(0, 0.05, len(sound)))).astype(np.int16)
        with wave.open(str(folder / f"recordings/{i:03}.wav"), "wb") as file:
            file.setparams((1, 2, rate, 0, "NONE", ""))
            file.writeframes(sound.tobytes())
        rows.append([f"{i:03}.wav", text])
    write_table(folder / "recordings/transcripts.csv", ["file", "text"], rows)


@dataclass(frozen=True)
class Task:
    """How a task is tested.

    Attributes:
        write: Writes the files of the user into a folder.
        metric: The metric of the validation data that the output of the task has last.
        learned: Whether a value of the metric shows that the model has learned.
        exported: File of the exported model.
    """

    write: Callable[[Path], None]
    metric: str
    learned: Callable[[float], bool]
    exported: str = "trained.onnx"


TASKS = {
    "Classification of texts": Task(write_texts, "accuracy", lambda value: value > 0.9),
    "Classification of images": Task(write_images, "accuracy", lambda value: value > 0.9),
    "Fine-tuning by LoRA": Task(write_notes, "perplexity", lambda value: value < 2.5, "merged.onnx"),
    "Classification of table rows": Task(write_customers, "auc", lambda value: value > 0.85),
    "Forecasts of a time series": Task(write_series, "r2", lambda value: value > 0.9),
    "Speech recognition": Task(write_recordings, "label_error_rate", lambda value: value < 0.1),
}


def sections() -> dict[str, list[tuple[str, str]]]:
    """Maps the headings of the page to the languages and texts of their blocks."""
    found = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        found[heading] = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found


def run(task: Task, blocks: list[tuple[str, str]]) -> tuple[float, str]:
    """Runs the blocks of a task in a new folder, and returns the last value of its metric and the output."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task.write(folder)
        paths = [str(ROOT / "build/release/bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        variables = os.environ | {"PATH": os.pathsep.join(paths), "PYTHONPATH": str(ROOT / "python")}
        output = ""
        for language, text in blocks:
            command = [sys.executable, "-W", "ignore", "-c", SEED + text] if language == "python" else ["bash", "-ec", text]
            done = subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            output += done.stdout
            assert done.returncode == 0, f"{text}\n{output}"
        onnxruntime.set_default_logger_severity(3)
        assert onnxruntime.InferenceSession(folder / task.exported).get_outputs(), task.exported
    values = re.findall(rf"\b{task.metric}[ =':]+(-?[\d.]+(?:e[+-]\d+)?)", output)
    assert values, f"no {task.metric} in the output\n{output}"
    return float(values[-1]), output


def main() -> None:
    global random
    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    found = sections()
    assert found.keys() == TASKS.keys(), f"{PAGE.name}: expected the tasks {', '.join(TASKS)}, got {', '.join(found)}"
    for heading, blocks in found.items():
        if chosen not in heading:
            continue
        random = np.random.default_rng(0)
        torch.manual_seed(0)
        assert blocks and all(language in ("python", "shell") for language, _ in blocks), heading
        lines = sum(1 for _, text in blocks for line in text.splitlines() if line.strip())
        assert lines <= LINES, f"{heading}: has {lines} lines; expected at most {LINES}"
        start = time.monotonic()
        value, output = run(TASKS[heading], blocks)
        print(f"{heading}: {lines} lines, {TASKS[heading].metric} {value:g}, {time.monotonic() - start:.0f} s", flush=True)
        if chosen:
            print(output)
        assert TASKS[heading].learned(value), f"{heading}: has not learned\n{output}"


if __name__ == "__main__":
    main()
