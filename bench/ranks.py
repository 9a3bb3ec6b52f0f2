#!/usr/bin/env python3
"""Compares the step time and peak memory of one process with those of several ranks, for mtc and PyTorch.

    bench/ranks.py gpt2-124m --batch 2 --length 256 --precision bf16
    bench/ranks.py gpt2-124m --ranks 2 --batch 1 --length 512 --with one,none,parameters,ddp,fsdp

All contenders train on the same number of tokens with the same total number of threads:

    one             mtc, one process, with the batches of all ranks as one batch
    none, optimizer, gradients, parameters
                    mtc --ranks N --shard ..., one batch on each rank
    tensor          mtc --ranks N --tensor N, with the batches of all ranks
    ddp, fsdp       PyTorch's DistributedDataParallel and fully_shard by block (gloo)
    tp              PyTorch's DTensor: heads, hidden features and classes are divided; GPT-2 only

Contenders run alternately, in several rounds. The result of a run is the median of its steps, without the first two; the table shows the
median over all rounds, its ratio to `one`, and the peak resident memory of the largest process.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from compare import HERE, WORK, call, environment

SHARDS = "none", "optimizer", "gradients", "parameters"
OF_PYTORCH = "ddp", "fsdp", "tp"
WARM_UP = 2


@dataclass
class Contender:
    name: str
    command: list
    metrics: Path
    seconds: list[float] = field(default_factory=list)
    peak: int = 0


def mtc_contender(options, name: str, graph: Path, folder: Path) -> Contender:
    ranks = 1 if name == "one" else options.ranks
    batch = options.batch * options.ranks // (1 if name == "tensor" else ranks)
    program, metrics = folder / name, folder / f"{name}.jsonl"
    data = WORK / f"{options.model}-{options.batch * options.ranks}x{options.length}" / "data"
    several = [] if name == "one" else ["--ranks", ranks, *(["--tensor", ranks] if name == "tensor" else ["--shard", name])]
    call([options.mtc, "compile", graph, "--dim", f"batch={batch}", "--dim", f"sequence={options.length}", "--loss", options.loss,
          "--labels", "labels", "--optimizer", "adamw", "--lr", "1e-4", "--precision", options.precision,
          "--threads", options.threads // ranks, *several, "-o", program])  # fmt: skip
    files = [word for file in sorted(data.iterdir()) for word in ("--data", f"{file.stem}={file}")]
    words = ["mpirun", "-n", ranks] if ranks > 1 else []
    command = [*words, program, *files, "--steps", options.steps, "--no-shuffle", "--quiet", "--metrics", metrics]
    return Contender(name, command, metrics)


def pytorch_contender(options, name: str, python: Path, folder: Path) -> Contender:
    data = WORK / f"{options.model}-{options.batch * options.ranks}x{options.length}" / "data"
    metrics = folder / f"{name}.jsonl"
    command = [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", options.ranks, HERE / "pytorch_ranks.py",
               options.model, data, metrics, "--kind", name, "--steps", options.steps, "--precision", options.precision,
               "--threads", options.threads // options.ranks]  # fmt: skip
    return Contender(name, command, metrics)


def measure(contender: Contender):
    contender.metrics.unlink(missing_ok=True)
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([str(word) for word in contender.command], stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.exit(f"{contender.name}: exit code {process.returncode}\n{said.read()}")
    lines = [json.loads(line) for line in contender.metrics.read_text().splitlines()]
    contender.seconds.append(statistics.median([line["step_seconds"] for line in lines][WARM_UP:]))
    contender.peak = max(contender.peak, usage.ru_maxrss * 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="gpt2-124m", help="model of bench/models.py")
    parser.add_argument("--mtc", type=Path, default=HERE.parent / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="total number of threads of all ranks")
    parser.add_argument("--batch", type=int, default=2, help="samples per rank")
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--loss", default="causal-lm")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--with", dest="contenders", default="one,none,optimizer,parameters,ddp,fsdp")
    options = parser.parse_args()
    names = options.contenders.split(",")
    if wrong := [name for name in names if name not in ("one", "tensor", *SHARDS, *OF_PYTORCH)]:
        parser.error(f"--with {wrong[0]}: expected one, none, optimizer, gradients, parameters, tensor, ddp, fsdp or tp")
    if os.geteuid() == 0:  # mpirun refuses root, who may be the only user of a container.
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    os.environ["OMP_NUM_THREADS"] = str(options.threads // options.ranks)

    python = environment("bench-venv", "requirements.txt")
    graph, exported = WORK / f"{options.model}.onnx", WORK / f"{options.model}-{options.batch * options.ranks}x{options.length}"
    call([python, HERE / "models.py", options.model, "--graph", graph, "--out", exported,
          "--batch", options.batch * options.ranks, "--length", options.length])  # fmt: skip
    with tempfile.TemporaryDirectory(dir=WORK) as temporary:
        folder = Path(temporary)
        contenders = [
            pytorch_contender(options, name, python, folder) if name in OF_PYTORCH else mtc_contender(options, name, graph, folder)
            for name in names
        ]
        for number in range(options.rounds):
            for contender in contenders:
                measure(contender)
                print(f"round {number + 1}: {contender.name}: {contender.seconds[-1]:.3f} s", file=sys.stderr)
    base = next((statistics.median(each.seconds) for each in contenders if each.name == "one"), None)
    print(f"{options.model}, {options.precision}, {options.ranks} x {options.batch} x {options.length}, {options.threads} threads")
    for each in contenders:
        step = statistics.median(each.seconds)
        ratio = f"{step / base:.2f} x" if base else ""
        print(f"{each.name:12} {step:8.3f} s  {ratio:8} {each.peak / 2**30:6.2f} GiB")


if __name__ == "__main__":
    main()
