#!/usr/bin/env python3
"""Compares the memory that mtc plans with what its program and PyTorch need, and with what public estimators predict.

    PYTHON bench/memory_estimates.py [MODEL ...] [--settings NAME,...] [--markdown FILE]

PYTHON is an interpreter with the packages of test/exports/requirements.txt, accelerate and deepspeed. Models are exported from their configuration by
`python -m mtc.export`. Measured values are of the resident memory of a process of its own:

- *program*: the peak of the whole process.
- *PyTorch*: the growth from before the model is created to the peak of two steps, without the interpreter and its libraries. The allocator of glibc
  returns freed blocks of more than 64 KiB immediately, so that the growth is not that of fragments.

Estimators, for the same model and optimizer:

- *MemTracker*: torch.distributed._tools.mem_tracker under FakeTensorMode, which traces the same loop.
- *accelerate*: `accelerate estimate-memory`, the largest number for training. It does not know the batch.
- *DeepSpeed*: `estimate_zero2_model_states_mem_needs` for one GPU without offloading. It counts no activations.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
MTC = os.environ.get("MTC", str(ROOT / "build/release/bin/mtc"))
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python"), "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}
STARTER = """
import os, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
os.write(1, f"\\n{usage.ru_maxrss}".encode())
sys.exit(os.waitstatus_to_exitcode(status))
"""
STEPS = 2  # The second has the state of the optimizer from the start.


@dataclass(frozen=True)
class Model:
    """A model of transformers, and the batch that trains it."""

    task: str
    config: dict[str, Any]
    batch: int
    length: int = 0
    loss: str = "cross-entropy"


TIED = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
BERT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "num_labels": 4}
MODELS = {
    "GPT-2 124M": Model("causal-lm", {"model_type": "gpt2", "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}, 1, 256, "causal-lm"),
    "SmolLM 135M": Model("causal-lm", {"model_type": "llama", "vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30,
                                       "num_attention_heads": 9, "num_key_value_heads": 3, "tie_word_embeddings": True, **TIED}, 1, 256, "causal-lm"),
    "Pythia 70M": Model("causal-lm", {"model_type": "gpt_neox", "vocab_size": 50304, "hidden_size": 512, "intermediate_size": 2048,
                                      "num_hidden_layers": 6, "num_attention_heads": 8, "hidden_dropout": 0.0, "attention_dropout": 0.0, **TIED}, 2, 256, "causal-lm"),
    "BERT base": Model("sequence-classification", {"model_type": "bert", **BERT}, 4, 128),
    "DistilBERT": Model("sequence-classification", {"model_type": "distilbert", "dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0,
                                                    "num_labels": 4}, 4, 128),
    "T5 small": Model("seq2seq-lm", {"model_type": "t5", "dropout_rate": 0.0, "decoder_start_token_id": 0}, 2, 128, "output"),
    "ViT base": Model("image-classification", {"model_type": "vit", "num_labels": 10}, 4),
    "ResNet-50": Model("image-classification", {"model_type": "resnet", "num_labels": 10}, 4),
}  # fmt: skip
# Flags of mtc by setting. The optimizer is AdamW.
SETTINGS = {
    "f32": ["--recompute", "none"],
    "bf16": ["--recompute", "none", "--precision", "bf16"],
    "checkpointing": ["--recompute", "sqrt"],
}


def status(key: str) -> int:
    """Returns a value of /proc/self/status in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{key}:"))
    return 1024 * int(line.split()[1])


def module_of(model: Model, setting: str) -> Any:
    """Returns the module of a setting with random weights."""
    import transformers

    from mtc._export_options import TASKS

    values = dict(model.config)
    config = transformers.AutoConfig.for_model(values.pop("model_type"), **values)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    module = getattr(transformers, TASKS[model.task].auto).from_config(config).train()
    if setting == "checkpointing":
        module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return module


def batch_of(model: Model) -> dict[str, Any]:
    import torch

    if model.task == "image-classification":
        return {"pixel_values": torch.randn(model.batch, 3, 224, 224), "labels": torch.randint(0, 10, (model.batch,))}
    ids = torch.randint(1, 1000, (model.batch, model.length))
    shape = (model.batch,) if model.task == "sequence-classification" else ids.shape
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.randint(0, 4, shape)}


def train(module: Any, batch: dict[str, Any], setting: str, between: Callable[[], None] = lambda: None) -> None:
    import torch

    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], 1e-4, fused=True)
    for _ in range(STEPS):
        between()
        with torch.autocast("cpu", torch.bfloat16, enabled=setting == "bf16"):
            loss = module(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def pytorch(name: str, setting: str) -> dict[str, int]:
    """Measures PyTorch in this process."""
    import torch

    model = MODELS[name]
    small = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(288, 8))
    small(torch.randn(2, 3, 8, 8)).sum().backward()  # Libraries initialize themselves in the first step.
    torch.optim.AdamW(small.parameters(), fused=True).step()
    batch = batch_of(model)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    module = module_of(model, setting)
    train(module, batch, setting)
    total = sum(p.numel() for p in module.parameters())
    return {"peak": status("VmHWM") - before, "parameters": total}


def tracked(name: str, setting: str) -> dict[str, int]:
    """Predicts the peak of PyTorch with fake tensors."""
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker

    model = MODELS[name]
    # This initialization of ViT reads the drawn values, which fake tensors do not have.
    drawn = mock.patch.object(torch.nn.init, "_no_grad_trunc_normal_", lambda tensor, *_, **__: tensor)
    with FakeTensorMode(), drawn:
        module, batch = module_of(model, setting), batch_of(model)
        tracker = MemTracker()
        tracker.track_external(module)
        with tracker:
            train(module, batch, setting, tracker.reset_mod_stats)
    return {"peak": max(snapshot["Total"] for snapshot in tracker.get_tracker_snapshot("peak").values())}


def accelerated(parameters: int, setting: str) -> int:
    from accelerate.commands.estimate import estimate_training_usage

    return max(estimate_training_usage(4 * parameters, "bfloat16" if setting == "bf16" else "float32").values())


def deepspeeds(parameters: int) -> int:
    from deepspeed.runtime.zero.stage_1_and_2 import estimate_zero2_model_states_mem_needs

    return estimate_zero2_model_states_mem_needs(parameters, num_gpus_per_node=1, cpu_offload=False)[1]


def run(*words: Any, cwd: Path | None = None) -> tuple[str, int]:
    """Runs a command. Returns its output and its peak of resident memory in bytes."""
    # The peak of a process includes that of the process from which it was forked: a small one starts the command.
    starter = [sys.executable, "-S", "-c", STARTER, *map(str, words)]
    done = subprocess.run(starter, capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stderr[-2000:]}")
    output, _, peak = done.stdout.rpartition("\n")
    return output, 1024 * int(peak)


def measured(function: Callable[..., dict[str, int]], *arguments: Any) -> dict[str, int] | None:
    """Returns what a function returns in a child of this process, which has imported the libraries."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(writer, json.dumps(function(*arguments)).encode())
        except Exception as error:
            print(f"{arguments}: {function.__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def row(name: str, setting: str, folder: Path) -> list[int | None]:
    """Returns plan, program, PyTorch, MemTracker, accelerate and DeepSpeed in bytes."""
    model = MODELS[name]
    file = folder / "model.onnx"
    sizes = {"batch": model.batch, "sequence": model.length, "target": model.length}
    text = file.with_suffix(".txt").read_text()
    flags = [f"--dim={dim}={size}" for dim, size in sizes.items() if dim in text]
    flags += ["--loss", model.loss, "--optimizer", "adamw", "--init", "normal:0.02", "--tune", "off", *SETTINGS[setting]]
    plan = json.loads(run(MTC, "plan", file, *flags, "--json")[0])["peak_bytes"]
    run(MTC, "compile", file, *flags, "-o", folder / "train", "--force")
    given = [f"--data={array.stem}={array}" for array in folder.glob("*.npy")]
    _, program = run(folder / "train", *given, "--steps", STEPS, cwd=folder)
    torch = measured(pytorch, name, setting)
    fake = measured(tracked, name, setting)
    count = torch["parameters"] if torch else None
    return [plan, program, torch and torch["peak"], fake and fake["peak"], count and accelerated(count, setting), count and deepspeeds(count)]


def exported(task: str, folder: str) -> dict[str, int]:
    """Exports the configuration in a folder."""
    from mtc._configuration import export
    from mtc._export_options import parse

    Path(folder, "model.txt").write_text(export(parse(["--hf", folder, "--task", task, "-o", f"{folder}/model.onnx", "--quiet"])))
    return {}


def prepare(model: Model, folder: Path) -> None:
    """Exports a model, and writes a batch."""
    import numpy as np

    (folder / "config.json").write_text(json.dumps(model.config))
    measured(exported, model.task, str(folder))
    for name, tensor in batch_of(model).items():
        if not (name == "labels" and model.loss == "causal-lm"):
            np.save(folder / f"{name}.npy", tensor.numpy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"(default: all) {', '.join(MODELS)}")
    parser.add_argument("--settings", default="f32,bf16,checkpointing", help=f"(default: %(default)s) {', '.join(SETTINGS)}")
    parser.add_argument("--markdown", type=Path, help="file to append the table to")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "python"))
    warnings.filterwarnings("ignore")
    import mtc._configuration  # noqa: F401 (imported before the processes fork)
    lines = ["| model | setting | `mtc plan` | program | PyTorch | MemTracker | accelerate | DeepSpeed |", "|---|---|---|---|---|---|---|---|"]
    print(*lines, sep="\n", flush=True)
    for name in options.models or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            prepare(MODELS[name], Path(folder))
            for setting in options.settings.split(","):
                cells = [f"{value / 1e6:.0f} MB" if value else "–" for value in row(name, setting, Path(folder))]
                lines.append(f"| {' | '.join((name, setting, *cells))} |")
                print(lines[-1], flush=True)
    if options.markdown:
        with options.markdown.open("a") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
