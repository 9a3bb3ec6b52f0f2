#!/usr/bin/env python3
"""Adapters of a BERT classifier have the losses of PEFT's, and PEFT loads what a program exports. Run `PYTHON test/exports/adapters.py`,
where PYTHON is an interpreter with the packages of requirements.txt."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from peft import AutoPeftModelForSequenceClassification, LoraConfig, get_peft_model
from safetensors.numpy import load_file, save_file
from transformers import BertConfig, BertForSequenceClassification

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("MTC", str(ROOT / "build/release/bin/mtc"))
import mtc  # noqa: E402

folder = Path(tempfile.mkdtemp())
BATCH, STEPS, RATE = 8, 10, 1e-2
random = np.random.default_rng(0)
ids = random.integers(1, 100, (BATCH * STEPS, 12))
labels = (ids[:, 0] < 50).astype(np.int64)
torch.manual_seed(0)
base = BertForSequenceClassification(
    BertConfig(num_labels=2, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100,
               hidden_dropout_prob=0, attention_probs_dropout_prob=0, classifier_dropout=0)
)  # fmt: skip
base.save_pretrained(folder / "base")
mtc.export(base, {"input_ids": torch.from_numpy(ids[:BATCH])}, folder / "bert.onnx")
np.save(folder / "input_ids.npy", ids)
np.save(folder / "labels.npy", labels)


def program_name(name: str) -> str | None:
    """Returns the name in programs of a parameter of PEFT's model; None if the model does not use it."""
    if ".original_module." in name:
        return None
    for part in ("base_model.model.", ".base_layer", ".modules_to_save.default", ".default"):
        name = name.replace(part, "")
    return name.replace("lora_magnitude_vector.weight", "lora_magnitude_vector")


def check(name: str, settings: str, **options) -> None:
    model = BertForSequenceClassification.from_pretrained(folder / "base").train()
    config = LoraConfig(task_type="SEQ_CLS", target_modules=["query", "value"], modules_to_save=["classifier"], r=4, lora_alpha=8, **options)
    model = get_peft_model(model, config)
    for parameter, value in model.named_parameters():
        if "lora_B" in parameter:
            torch.nn.init.normal_(value, std=0.1)
    start = {program_name(n): p.detach().numpy().copy() for n, p in model.named_parameters() if program_name(n)}
    save_file(start, folder / "start.safetensors")
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], RATE, weight_decay=0.01)
    expected = []
    for rows in torch.arange(len(ids)).split(BATCH):
        optimizer.zero_grad()
        loss = model(input_ids=torch.from_numpy(ids)[rows], labels=torch.from_numpy(labels)[rows]).loss
        loss.backward()
        optimizer.step()
        expected.append(loss.item())

    train, adapters = folder / name, folder / f"{name}-adapters"
    flags = ["--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "adamw", "--lr", str(RATE), "--weight-decay", "0.01",
             "--lora", f"*.query.weight:rank=4,alpha=8{settings}", "--lora", f"*.value.weight:rank=4,alpha=8{settings}",
             "--train", "classifier.*", "-o", str(train)]  # fmt: skip
    subprocess.run([os.environ["MTC"], "compile", str(folder / "bert.onnx"), *flags], check=True, capture_output=True)
    data = ["--data", f"input_ids={folder / 'input_ids.npy'}", "--data", f"labels={folder / 'labels.npy'}"]
    files = ["--weights", folder / "start.safetensors", "--metrics", folder / f"{name}.jsonl", "--save", folder / f"{name}-saved"]
    exports = ["--export-adapters", adapters, "--adapter-base", folder / "base", "--adapter-task", "SEQ_CLS"]
    subprocess.run([train, *data, "--no-shuffle", "--steps", str(STEPS), *files, *exports], check=True, capture_output=True)
    log = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    losses = [entry["loss"] for entry in log if "loss" in entry and "step" in entry][:STEPS]
    apart = float(np.abs(np.array(losses) / expected - 1).max())

    outputs = ["--weights", folder / "start.safetensors", "--resume", folder / f"{name}-saved", "--outputs", folder / f"{name}.safetensors"]
    subprocess.run([train, *data[:2], *outputs], check=True, capture_output=True)
    logits = load_file(folder / f"{name}.safetensors")["logits"]
    reloaded = AutoPeftModelForSequenceClassification.from_pretrained(adapters).eval()
    with torch.no_grad():
        peft = reloaded(input_ids=torch.from_numpy(ids)).logits.numpy()
    distance = float(np.abs(logits - peft).max())
    print(f"{name}: losses {apart:.1e} apart, logits of the reloaded adapter {distance:.1e} apart")
    assert "dropout" in name or apart < 1e-4, (losses, expected)
    assert distance < 1e-5 * max(1.0, float(np.abs(peft).max()))


check("plain", "")
check("rslora", ",rslora", use_rslora=True)
check("dora", ",dora", use_dora=True)
check("dropout", ",dropout=0.1", lora_dropout=0.1)
check("dora-dropout", ",dropout=0.1,dora,rslora", lora_dropout=0.1, use_dora=True, use_rslora=True)
