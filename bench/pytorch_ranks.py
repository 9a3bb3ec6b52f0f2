"""Measures training steps of PyTorch on several ranks, started by torch.distributed.run; rank 0 writes a JSON line for each step.

    pytorch_ranks.py MODEL DATA METRICS --kind ddp|fsdp|tp --steps N --threads T [--precision P]

Each rank trains on its part of the batch in DATA; with `tp`, on all of it with its part of each layer (GPT-2 only). `fsdp` shards each
block of the model, and the model itself.
"""

import argparse
import contextlib
import json
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from models import MODELS
from pytorch_tensor import divide, groups
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import loss_parallel
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", choices=MODELS)
parser.add_argument("data", type=Path)
parser.add_argument("metrics", type=Path)
parser.add_argument("--kind", choices=["ddp", "fsdp", "tp"], required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
options = parser.parse_args()

torch.set_num_threads(options.threads)
dist.init_process_group("gloo")
rank, count = dist.get_rank(), dist.get_world_size()
description = MODELS[options.model]
model = description.build()
parts, part = (1, 0) if options.kind == "tp" else (count, rank)
inputs = {file.stem: torch.tensor(np.array_split(np.load(file), parts)[part]) for file in sorted(options.data.glob("*.npy"))}
labels = inputs.pop("labels").flatten()
narrow = torch.bfloat16 if options.precision == "bf16" else None
if options.kind == "ddp":
    trained = DistributedDataParallel(model)
elif options.kind == "tp":
    trained = divide(model, init_device_mesh("cpu", (count,)))
else:
    policy = MixedPrecisionPolicy(param_dtype=narrow, reduce_dtype=torch.float32) if narrow else MixedPrecisionPolicy()
    mesh = init_device_mesh("cpu", (count,))
    for blocks in (module for module in model.modules() if isinstance(module, nn.ModuleList)):
        for block in blocks:
            fully_shard(block, mesh=mesh, mp_policy=policy)
    trained = fully_shard(model, mesh=mesh, mp_policy=policy)
optimizer = torch.optim.AdamW(groups(trained), lr=1e-4, weight_decay=0.01)

for step in range(options.steps):
    dist.barrier()
    start = time.perf_counter()
    with loss_parallel() if options.kind == "tp" else contextlib.nullcontext():
        with torch.autocast("cpu", narrow, enabled=narrow is not None):
            loss = torch.nn.functional.cross_entropy(description.logits(trained, inputs).float(), labels)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    seconds = time.perf_counter() - start
    if rank == 0:
        with options.metrics.open("a") as file:
            print(json.dumps({"step": step, "loss": loss.item(), "step_seconds": seconds}), file=file)
dist.destroy_process_group()
