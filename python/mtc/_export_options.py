"""The tasks and the command line of ``python -m mtc.export``. This module needs the standard library only."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TEXT = ("input_ids", "attention_mask")
DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Task:
    """A task of transformers.

    Attributes:
        auto: The class of transformers that chooses the model.
        inputs: The inputs of the graph by default.
        labels: The dimensions of the input ``labels``.
        loss: The ``--loss`` of ``mtc compile`` for graphs that do not compute their loss.
    """

    auto: str
    inputs: tuple[str, ...]
    labels: tuple[str, ...]
    loss: str


TASKS = {
    "causal-lm": Task("AutoModelForCausalLM", TEXT, ("batch", "sequence"), "causal-lm"),
    "masked-lm": Task("AutoModelForMaskedLM", TEXT, ("batch", "sequence"), "cross-entropy"),
    "seq2seq-lm": Task("AutoModelForSeq2SeqLM", (*TEXT, "labels"), ("batch", "target"), "output"),
    "sequence-classification": Task("AutoModelForSequenceClassification", TEXT, ("batch",), "cross-entropy"),
    "token-classification": Task("AutoModelForTokenClassification", TEXT, ("batch", "sequence"), "cross-entropy"),
    "question-answering": Task("AutoModelForQuestionAnswering", (*TEXT, "start_positions", "end_positions"), (), "output"),
    "multiple-choice": Task("AutoModelForMultipleChoice", TEXT, ("batch",), "cross-entropy"),
    "image-classification": Task("AutoModelForImageClassification", ("pixel_values",), ("batch",), "cross-entropy"),
    "semantic-segmentation": Task(
        "AutoModelForSemanticSegmentation", ("pixel_values", "labels"), ("batch", "height", "width"), "output"
    ),
}

EPILOG = f"""
tasks:
{textwrap.fill(", ".join(TASKS), 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)}

examples:
  python -m mtc.export --hf Llama-3.1-8B --task causal-lm -o llama.onnx
  python -m mtc.export --hf bert/config.json --task sequence-classification --labels 5 -o bert.onnx
"""


@dataclass(frozen=True)
class Options:
    """The options of the command.

    Attributes:
        hf: A configuration of transformers: a JSON file, or a folder with a ``config.json``.
        output: The ONNX file to write.
        task: A key of :data:`TASKS`; None for the task of the configuration's ``architectures``.
        labels: The number of classes.
        dtype: The element type of the parameters.
        inputs: The inputs of the graph; None for those of the task.
        sizes: Fixed sizes of dimensions by name.
        settings: Values of the configuration to replace, by their path, such as ``text_config.num_hidden_layers``.
        train: Whether to export the training form.
        quiet: Whether to omit progress and summary.
    """

    hf: Path
    output: Path
    task: str | None
    labels: int | None
    dtype: str
    inputs: tuple[str, ...] | None
    sizes: dict[str, int]
    settings: dict[str, Any]
    train: bool
    quiet: bool


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number of at least 1")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or not value:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE")
    return name, value


def _size(text: str) -> tuple[str, int]:
    name, value = _pair(text)
    return name, _positive(value)


def _setting(text: str) -> tuple[str, Any]:
    """Parses a value as JSON, and any other text as a string."""
    name, value = _pair(text)
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _names(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


def _task(text: str) -> str:
    if text not in TASKS:
        raise argparse.ArgumentTypeError(f"{text!r}: unknown task; expected one of: {', '.join(TASKS)}")
    return text


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python -m mtc.export",
        description="Write the ONNX file of a configuration of transformers, without weights.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("--hf", required=True, metavar="CONFIG", type=Path, help="config.json, or a folder with it; weights are not read")
    add("-o", "--output", required=True, metavar="FILE", type=Path, help="ONNX file to write")
    add("--task", metavar="TASK", type=_task, help="task of the model (default: from the configuration's architectures)")
    add("--labels", metavar="N", type=_positive, help="number of classes (default: from the configuration)")
    add("--dtype", choices=DTYPES, default="float32", help="element type of parameters (default: float32)")
    add("--inputs", metavar="NAME,...", type=_names, help="inputs of the graph (default: from the task); labels: compute the loss")
    add("--dim", metavar="NAME=N", type=_size, action="append", default=[], help="fix a dimension (default: symbolic)")
    add("--set", metavar="KEY=VALUE", type=_setting, action="append", default=[], help="replace a value of the configuration")
    add("--inference", action="store_true", help="export the inference form, without dropout")
    add("--quiet", action="store_true", help="print only errors")
    return result


def parse(arguments: Sequence[str]) -> Options:
    """Parses the command line; prints help or an error and exits where the command line asks for it or is invalid."""
    words = parser().parse_args(arguments)
    return Options(
        hf=words.hf,
        output=words.output,
        task=words.task,
        labels=words.labels,
        dtype=words.dtype,
        inputs=words.inputs,
        sizes=dict(words.dim),
        settings=dict(words.set),
        train=not words.inference,
        quiet=words.quiet,
    )
