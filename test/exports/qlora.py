#!/usr/bin/env python3
"""QLoRA of a Llama from a folder of `save_pretrained` has the losses of PEFT's on the same quantized weights, in the planned memory. Run
`PYTHON test/exports/qlora.py [tiny|1b] [FOLDER]`, where PYTHON is an interpreter with the packages of requirements.txt. 1b is a Llama of 1.24 B
parameters in 1.2 GiB; it needs 8 GB of memory for PyTorch, 6 GB of disk, and minutes.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from bitsandbytes.functional import dequantize_4bit, quantize_4bit
from peft import PeftModel
from transformers import LlamaConfig, LlamaForCausalLM

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
MTC = os.environ.setdefault("MTC", str(ROOT / "build/release/bin/mtc"))
import mtc  # noqa: E402

STEPS, RATE = 10, 2e-4
SIZES = {
    "tiny": {"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 320},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
           "vocab_size": 128256},
}  # fmt: skip
LENGTHS = {"tiny": 16, "1b": 256}
BUDGETS = {"tiny": "4MiB", "1b": "1200MiB"}
# Largest relative difference of a loss: programs of 1b compute in bf16.
TOLERANCES = {"tiny": 1e-5, "1b": 2e-3}
PRECISIONS = {"tiny": "f32", "1b": "bf16"}
OUTSIDE = 64 << 20  # bytes of the process outside the plan

size = sys.argv[1] if len(sys.argv) > 1 else "tiny"
folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp())
config = LlamaConfig(**SIZES[size], tie_word_embeddings=True, use_cache=False)
if not (folder / "base").exists():
    torch.manual_seed(0)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder / "base", max_shard_size="500MB")
with mtc.empty_weights():
    empty = LlamaForCausalLM(config)
ids = torch.ones(2, LENGTHS[size], dtype=torch.int64)
mtc.export(empty, {"input_ids": ids}, folder / "llama.onnx", dynamic_axes={"input_ids": {0: "batch", 1: "sequence"}})
tokens = np.random.default_rng(0).integers(0, config.vocab_size, (STEPS, LENGTHS[size]))
np.save(folder / "input_ids.npy", tokens)


def run(*words) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def trained_by_mtc() -> list[float]:
    """Returns the losses. The initial adapters are in the folder `adapters`."""
    flags = ["--dim", "batch=1", "--dim", f"sequence={LENGTHS[size]}", "--loss", "causal-lm", "--optimizer", "adamw", "--lr", RATE, "--weight-decay",
             0.01, "--precision", PRECISIONS[size], "--lora", "*_proj.weight:rank=16,alpha=32", "--frozen-bits", 4, "--memory", BUDGETS[size],
             "--weights", folder / "base", "-o", folder / "train"]  # fmt: skip
    print(run(MTC, "compile", folder / "llama.onnx", *flags))
    run(folder / "train", "--export-adapters", folder / "adapters", "--adapter-base", folder / "base")
    log, memory = folder / "log.jsonl", folder / "memory.json"
    data = ["--data", f"input_ids={folder / 'input_ids.npy'}", "--no-shuffle"]
    run(folder / "train", *data, "--steps", STEPS, "--metrics", log, "--memory-report", memory)
    used = json.loads(memory.read_text())
    outside = used["process_peak_bytes"] - used["planned_bytes"]
    steps = [json.loads(line) for line in log.read_text().splitlines()]
    seconds = float(np.median([step["step_seconds"] for step in steps]))
    print(f"planned {used['planned_bytes']} bytes, {outside} outside; {seconds:.2f} s per step")
    assert outside <= OUTSIDE, used
    return [step["loss"] for step in steps]


def trained_by_peft() -> list[float]:
    """Returns the losses with the weights that the program has quantized."""
    model = LlamaForCausalLM.from_pretrained(folder / "base", dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("_proj.weight"):
                parameter.copy_(dequantize_4bit(*quantize_4bit(parameter, blocksize=64, quant_type="nf4")))
    model = PeftModel.from_pretrained(model, folder / "adapters", is_trainable=True).train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], RATE, weight_decay=0.01)
    losses = []
    for row in torch.from_numpy(tokens):
        optimizer.zero_grad()
        loss = model(input_ids=row[None], labels=row[None]).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


found, expected = trained_by_mtc(), trained_by_peft()
apart = float(np.abs(np.array(found) / expected - 1).max())
print(f"losses {found[0]:.5f} to {found[-1]:.5f}; PEFT's {expected[0]:.5f} to {expected[-1]:.5f}: {apart:.1e} apart")
assert apart < TOLERANCES[size], (found, expected)
