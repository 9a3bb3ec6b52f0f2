#!/usr/bin/env python3
"""Plans fine-tuning of models of 1 to 70 billion parameters on small machines, for docs/guide/large-models.md.

    bench/what_fits.py --markdown docs/guide/large-models.md
    bench/what_fits.py --only 8B --machines 12

A cell has the estimated time of an update on 1 x 1024 tokens, and the bytes outside the budget: of the disk on a CPU, of pinned host memory on a GPU.
An asterisk marks a plan with `--offload optimizer,parameters` that is faster than what `--offload auto` finds. Nothing is measured. CPUs have the rates
of a processor class, with a disk that reads and writes 1 GB/s at once, and GPUs those of their data sheets.
The models are the decoders of `scaling.py`, without weights. The budget leaves memory for the system and for the GPU's driver.
"""

import argparse
import dataclasses
import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from compare import ROOT, fail, read_plan
from large_models import LLAMA_70B
from scaling import LLAMA_8B, Decoder, Model

TOKENS = 1024
FLAGS = ["--loss", "causal-lm", "--init", "normal:0.02", "--optimizer", "adamw", "--precision", "bf16"]
LONGEST = 10**6  # seconds of a search; with --search-seconds, no flags are suggested for budgets that cannot be met


@dataclass(frozen=True)
class Machine:
    name: str
    budget: str
    flags: tuple[str, ...]


CPU = ("--cost-model", "avx2", "--threads", "8")
MACHINES = [
    Machine("CPU, 8 GiB", "6GiB", CPU),
    Machine("CPU, 16 GiB", "13GiB", CPU),
    Machine("GPU, 8 GB", "7GiB", ("--target", "cuda:sm_89", "--cost-model", "rtx-4060")),
    Machine("GPU, 12 GB", "11GiB", ("--target", "cuda:sm_89", "--cost-model", "rtx-4070")),
    Machine("GPU, 24 GB", "22GiB", ("--target", "cuda:sm_89", "--cost-model", "rtx-4090")),
]
MODELS = [
    Model("Llama-3.2 1B", 16, 2048, 32, 128256, TOKENS, hidden=8192, groups=8, is_tied=True),
    Model("Llama-3.2 3B", 28, 3072, 24, 128256, TOKENS, hidden=8192, groups=8, is_tied=True),
    dataclasses.replace(LLAMA_8B, length=TOKENS),
    Model("Qwen2.5 14B", 48, 5120, 40, 152064, TOKENS, hidden=13824, groups=8),
    Model("Qwen2.5 32B", 64, 5120, 40, 152064, TOKENS, hidden=27648, groups=8),
    dataclasses.replace(LLAMA_70B, length=TOKENS),
]
OFFLOADS = {"auto": "", "optimizer,parameters": "*"}  # with their marks
ADAPTERS = ["--lora", "layer*.weight:rank=16,alpha=32"]
TRAININGS = {
    "all weights": ["--allow", "optimizer-bits"],
    "LoRA": [*ADAPTERS, "--frozen-bits", "16"],
    "QLoRA": [*ADAPTERS, "--frozen-bits", "4"],
}


def in_units(seconds: float) -> str:
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"


def cell(mtc: Path, file: Path, training: str, machine: Machine) -> str:
    """Returns the fastest plan."""
    flags = [*FLAGS, *TRAININGS[training], *machine.flags, "--memory", machine.budget, "--search-seconds", LONGEST]
    plans = {}
    for offload in OFFLOADS:
        plan = read_plan([mtc, "plan", file, *flags, "--offload", offload, "--quiet", "--json"])
        if plan["fits"]:
            plans[offload] = plan
    if not plans:
        return "–"
    offload = min(plans, key=lambda each: plans[each]["step_seconds"])
    outside = sum(size for space, size in plans[offload].get("spaces", {}).items() if space != "device")
    return in_units(plans[offload]["step_seconds"]) + OFFLOADS[offload] + (f", {outside / 2**30:.3g} GiB" if outside else "")


def around_table(page: Path, header: str) -> tuple[str, str]:
    """Returns the text of a page before and after the table with this header."""
    before, found, after = page.read_text().partition(header + "\n")
    if not found:
        fail(f"--markdown {page}: has no table with the header {header}")
    return before, "".join(itertools.dropwhile(lambda line: line.startswith("|"), after.splitlines(keepends=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="models whose name contains one of the texts")
    parser.add_argument("--machines", nargs="+", default=[""], metavar="TEXT", help="machines whose name contains one of the texts")
    parser.add_argument("--layers", type=int, help="number of layers (default: those of the model)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="page whose table is replaced")
    options = parser.parse_args()
    machines = [each for each in MACHINES if any(text in each.name for text in options.machines)]
    table = [f"| model | trained | {' | '.join(each.name for each in machines)} |", "|---" * (2 + len(machines)) + "|"]
    before, after = around_table(options.markdown, table[0]) if options.markdown else ("", "")
    print(*table, sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            if not any(text in model.name for text in options.only):
                continue
            file = Path(folder, "model.onnx")
            Decoder(model, options.layers or model.layers, samples=1).save(file)
            for training in TRAININGS:
                cells = [cell(options.mtc.resolve(), file, training, each) for each in machines]
                table.append(f"| {model.name} | {training} | {' | '.join(cells)} |")
                print(table[-1], flush=True)
    if options.markdown:
        options.markdown.write_text(before + "\n".join(table) + "\n" + after)


if __name__ == "__main__":
    main()
