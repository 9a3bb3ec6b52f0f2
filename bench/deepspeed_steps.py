"""Fine-tunes all weights of a language model with PyTorch on a CPU, and prints one JSON line.

    deepspeed_steps.py KIND CONFIG --length L --steps N --threads T --disk DIR [--limit BYTES]

KIND is zero (DeepSpeed ZeRO-3 with parameters and optimizer state on a disk), fsdp (FSDP2 with CPUOffloadPolicy, one process) or eager.
The weights are random, in bf16, and so is the batch of one sample. fsdp and eager keep the state of AdamW in bf16, zero keeps it in f32 with
an f32 copy of the weights. Each layer is checkpointed. `peak` is the maximum resident memory of the process, in bytes.
`--limit` is a limit of the writable private memory (RLIMIT_DATA), set after the imports and the build of DeepSpeed's operators.
"""

import argparse
import importlib
import json
import os
import resource
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path

import torch
import torch._dynamo  # noqa: F401 - transformers imports it later, which fails within deepspeed.zero.Init.
from transformers import AutoConfig, AutoModelForCausalLM

LEARNING_RATE, DECAY = 1e-5, 0.01


def size_on_disk(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def zero_settings(largest: int, disk: Path) -> dict:
    """Returns the configuration of DeepSpeed with the minimum of buffers; `largest` is the number of elements of the largest parameter."""
    offload = {"device": "nvme", "nvme_path": str(disk), "pin_memory": False}
    return {
        "train_micro_batch_size_per_gpu": 1,
        "bf16": {"enabled": True},
        "optimizer": {"type": "AdamW", "params": {"lr": LEARNING_RATE, "weight_decay": DECAY}},
        "zero_optimization": {
            "stage": 3,
            # A buffer holds the largest parameter. An optimizer needs four: parameter, gradient and two moments.
            "offload_param": offload | {"buffer_count": 2, "buffer_size": largest},
            "offload_optimizer": offload | {"buffer_count": 4},
            "sub_group_size": 10**7,
            "reduce_bucket_size": 10**6,
            "stage3_prefetch_bucket_size": 0,
            "stage3_max_live_parameters": 10**7,
            "stage3_max_reuse_distance": 0,
            "stage3_param_persistence_threshold": 10**4,
        },
        "aio": {"block_size": 1 << 20, "queue_depth": 16, "single_submit": False, "overlap_events": True},
    }


def single_process() -> None:
    """Describes a group of one process to torch.distributed."""
    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 20000)}


def build_zero(config, options):
    import deepspeed
    from deepspeed.ops.op_builder import AsyncIOBuilder, CPUAdamBuilder

    for builder in (AsyncIOBuilder, CPUAdamBuilder):
        builder().load(verbose=False)
    single_process()
    # One process needs no operator of shared memory, whose build takes minutes. `deepspeed.comm.torch` as an attribute is the package torch.
    importlib.import_module("deepspeed.comm.torch").build_shm_op = lambda: None
    deepspeed.init_distributed("gloo", verbose=False)
    limit(options)
    settings = zero_settings(config.vocab_size * config.hidden_size, options.disk)
    with deepspeed.zero.Init(config_dict_or_path=settings, dtype=torch.bfloat16):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.gradient_checkpointing_enable()
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings)

    def step(tokens):
        loss = engine(input_ids=tokens, labels=tokens).loss
        engine.backward(loss)
        engine.step()
        return loss.item()

    return step


def build_torch(config, options):
    if options.kind == "fsdp":
        single_process()
        torch.distributed.init_process_group("gloo")
    limit(options)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.gradient_checkpointing_enable()
    if options.kind == "fsdp":
        from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

        mesh = torch.distributed.init_device_mesh("cpu", (1,))
        for layer in [*model.model.layers, model]:
            fully_shard(layer, mesh=mesh, offload_policy=CPUOffloadPolicy(pin_memory=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=DECAY, fused=True)

    def step(tokens):
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def limit(options: argparse.Namespace) -> None:
    if options.limit:
        resource.setrlimit(resource.RLIMIT_DATA, (options.limit, options.limit))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["zero", "fsdp", "eager"], help="library and technique")
    parser.add_argument("config", type=Path, help="folder with the config.json of the model")
    parser.add_argument("--length", type=int, required=True, help="tokens of the sample")
    parser.add_argument("--steps", type=int, required=True, help="number of steps")
    parser.add_argument("--threads", type=int, required=True, help="number of threads")
    parser.add_argument("--disk", type=Path, required=True, help="folder of offloaded tensors")
    parser.add_argument("--limit", type=int, help="limit of the writable private memory, in bytes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(options.config)
    tokens = torch.randint(config.vocab_size, (1, options.length))
    seconds, losses, stage = [], [], "construction of the model"
    try:
        step = (build_zero if options.kind == "zero" else build_torch)(config, options)
        for number in range(1, options.steps + 1):
            stage = f"step {number}"
            start = time.perf_counter()
            losses.append(step(tokens))
            seconds.append(time.perf_counter() - start)
    except Exception as error:
        traceback.print_exc()
        sys.exit(f"Error in {stage}: {str(error).splitlines()[0]}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    versions = {package: version(package) for package in ("torch", "deepspeed")}
    print(json.dumps({"peak": peak, "seconds": seconds, "losses": losses, "disk": size_on_disk(options.disk), "versions": versions}))


if __name__ == "__main__":
    main()
