#!/usr/bin/env python3
"""Measures planning and compiling of Llama-3 8B and 70B, whose weights exceed most machines.

    bench/large_models.py
    bench/large_models.py --only 8B --command plan budget
    bench/large_models.py --model llama.onnx --dim batch=1 --dim sequence=2048 --memory 12GB

`plan` plans AdamW in bf16 on 1 x 2048 tokens for a GPU (sm_90) without a budget. `budget` plans the same with a budget of device memory,
in which the search may recompute, offload and store 8-bit optimizer state. `compile` compiles this plan without the kernel cache. The
models are the decoders of `scaling.py`, without weights; `--model` measures an exported file instead. docs/benchmarks/growth.md has the
results.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scaling import LLAMA_8B, Decoder, Model

ROOT = Path(__file__).resolve().parent.parent
TOKENS = 2048
LLAMA_70B = Model("Llama-3 70B", 80, 8192, 64, 128256, TOKENS, hidden=28672, groups=8)
MODELS = {"8B": (dataclasses.replace(LLAMA_8B, length=TOKENS), "12GB"), "70B": (LLAMA_70B, "139GB")}
FLAGS = ["--loss", "causal-lm", "--init", "normal:0.02", "--optimizer", "adamw", "--precision", "bf16", "--target", "cuda:sm_90"]
COMMANDS = ["plan", "budget", "compile"]


@dataclasses.dataclass
class Usage:
    """Resources of one run of mtc."""

    user_seconds: float
    wall_seconds: float
    peak_mib: int
    output: str


def measure(command: list) -> Usage:
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        output.seek(0)
        text = output.read().decode()
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{' '.join(map(str, command))}\n{text[-2000:]}")
    return Usage(used.ru_utime, wall, used.ru_maxrss // 1024, text)


def measure_model(mtc: Path, name: str, model: list, budget: str, commands: list[str], folder: Path) -> None:
    limited = [*model, *FLAGS, "--memory", budget, "--offload", "auto", "--allow", "optimizer-bits"]
    files = ["--no-cache", "--force", "--quiet", "-o", folder / "program"]
    words = {
        "plan": ["plan", *model, *FLAGS, "--json"],
        "budget": ["plan", *limited, "--json"],
        "compile": ["compile", *limited, *files],
    }
    for command in commands:
        usage = measure([mtc, *words[command]])
        cells = [name, command, f"{usage.user_seconds:.2f}", f"{usage.wall_seconds:.1f}", str(usage.peak_mib), "", ""]
        if command != "compile":
            plan = json.loads(usage.output[usage.output.index("{\n") :])
            cells[-2:] = f"{plan['peak_bytes'] / 2**30:.2f}", f"{plan['step_seconds']:.3f}"
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), help="sizes to measure")
    parser.add_argument("--command", nargs="+", choices=COMMANDS, default=COMMANDS, help="what to measure")
    parser.add_argument("--layers", type=int, help="number of layers (default: those of the model)")
    parser.add_argument("--model", type=Path, help="a model file to measure instead")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="a dimension of --model")
    parser.add_argument("--memory", help="the budget (default: 12GB for 8B, 139GB for 70B)")
    options = parser.parse_args()
    if options.model and not options.memory:
        parser.error("--model: expected --memory SIZE, too")
    mtc = options.mtc.resolve()
    print("| model | command | user s | wall s | memory of mtc, MiB | planned peak, GiB | step, s |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        if options.model:
            given = [options.model, *(f"--dim={dim}" for dim in options.dim)]
            measure_model(mtc, options.model.stem, given, options.memory, options.command, Path(folder))
            return
        for name in options.only:
            model, budget = MODELS[name]
            path = Path(folder) / f"{name}.onnx"
            Decoder(model, options.layers or model.layers, samples=1).save(path)
            measure_model(mtc, model.name, [path], options.memory or budget, options.command, Path(folder))
            path.unlink()


if __name__ == "__main__":
    main()
