"""Measures training steps of PyTorch and prints one JSON line.

    pytorch_steps.py MODEL DATA --steps N --threads T [--device cuda] [--precision P] [--compile [--budget FRACTION]] [--checkpoint]

The loop is typical user code: fused AdamW, `zero_grad(set_to_none=True)`, and the loss read in each step. 16-bit precision uses
torch.autocast, and f16 also GradScaler. `peak` in the output is the maximum device memory reserved by PyTorch, in bytes.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from models import MODELS

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model", choices=MODELS, help="model")
parser.add_argument("data", type=Path, help="folder with NAME.npy for each input and the labels")
parser.add_argument("--steps", type=int, required=True, help="number of steps")
parser.add_argument("--threads", type=int, required=True, help="number of threads")
parser.add_argument("--device", default="cpu", help="PyTorch device (default: %(default)s)")
parser.add_argument("--precision", choices=["f32", "tf32", "bf16", "f16"], default="f32", help="(default: %(default)s)")
parser.add_argument("--compile", action="store_true", help="use torch.compile")
parser.add_argument("--budget", type=float, help="activation_memory_budget of torch.compile, a fraction of 1")
parser.add_argument("--checkpoint", action="store_true", help="activation checkpointing by layer (gradient_checkpointing_enable)")
options = parser.parse_args()

torch.set_num_threads(options.threads)
torch.set_float32_matmul_precision("high" if options.precision == "tf32" else "highest")
description = MODELS[options.model]
model = description.build().to(options.device)
inputs = {file.stem: torch.tensor(np.load(file), device=options.device) for file in sorted(options.data.glob("*.npy"))}
labels = inputs.pop("labels").flatten()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
narrow = {"bf16": torch.bfloat16, "f16": torch.float16}.get(options.precision)
scaler = torch.amp.GradScaler(options.device, enabled=narrow == torch.float16)


@torch.autocast(options.device, narrow, enabled=narrow is not None)
def forward() -> torch.Tensor:
    return torch.nn.functional.cross_entropy(description.logits(model, inputs), labels)


if options.checkpoint:
    model.gradient_checkpointing_enable()
if options.budget is not None:
    torch._functorch.config.activation_memory_budget = options.budget
if options.compile:
    forward = torch.compile(forward)
seconds, losses = [], []
for _ in range(options.steps):
    start = time.perf_counter()
    loss = forward()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    losses.append(loss.item())
    seconds.append(time.perf_counter() - start)
peak = torch.cuda.max_memory_reserved() if options.device == "cuda" else 0
version = f"PyTorch {torch.__version__.split('+')[0]}"
print(json.dumps({"peak": peak, "seconds": seconds, "losses": losses, "version": version}))
