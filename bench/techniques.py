#!/usr/bin/env python3
"""Trains one model with each memory technique and combinations of them, and compares losses with a run without any.

    bench/techniques.py model.onnx --data x=x.npy --data labels=y.npy --flags "--loss cross-entropy --optimizer adamw"

Columns of the table:

    technique          memory techniques of the run
    planned            planned bytes
    used by functions  bytes of activations and workspace, relative to the run without any technique
    losses             "bit-identical", or the maximum relative difference

Exits with 1 if a technique that must be bit-exact changes a loss, if another changes a loss by more than --tolerance, or if the
arena of a program differs from its plan.
"""

import argparse
import json
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from compare import ROOT, call, fail, read_plan

NONE = "--recompute none --tile none"
AWAY = "--offload optimizer,activations,parameters,gradients"


@dataclass(frozen=True)
class Technique:
    name: str
    flags: str
    exact: bool = True  # losses are bit-identical


TECHNIQUES = [
    Technique("order of the model", f"{NONE} --skip-pass mtc-reorder"),
    Technique("recompute sqrt", "--recompute sqrt --tile none"),
    Technique("recompute all", "--recompute all --tile none"),
    Technique("recompute auto, minimum", "--recompute auto --tile none --memory {minimum}"),
    Technique("tiles", "--recompute none --tile all", exact=False),
    Technique("offload optimizer", f"{NONE} --offload optimizer"),
    Technique("offload activations", f"{NONE} --offload activations"),
    Technique("offload parameters", f"{NONE} --offload parameters"),
    Technique("recompute all, offload all", f"--recompute all --tile none {AWAY}"),
    Technique("recompute and offload, minimum", "--recompute auto --tile none --offload auto --memory {minimum}"),
    Technique("recompute and tiles, minimum", "--memory {minimum}", exact=False),
    Technique("all together", "--recompute all --tile all " + AWAY, exact=False),
]


@dataclass
class Run:
    planned: int
    arena: int
    used: int  # bytes of activations and workspace
    losses: list[float]


def minimum_peak(options, flags: str, folder: Path) -> int:
    """Returns the minimum peak of the model with these flags: the peak that is reported for a budget of one byte."""
    return read_plan([options.mtc, "plan", options.model, *options.flags, *shlex.split(flags), "--json"], cwd=folder)["peak_bytes"]


def train(options, flags: str, folder: Path) -> Run:
    if "{minimum}" in flags:
        flags = flags.format(minimum=minimum_peak(options, flags.format(minimum=1), folder))
    words = [*options.flags, *shlex.split(flags)]
    plan = json.loads(call([options.mtc, "compile", options.model, *words, "--json", "-o", "train", "--force"], cwd=folder))
    data = [word for each in options.data for word in ("--data", each)]
    for name in ("metrics", "memory"):
        (folder / name).unlink(missing_ok=True)
    call(["./train", *data, "--steps", options.steps, "--no-shuffle", "--quiet", "--metrics", "metrics", "--memory-report",
          "memory"], cwd=folder)  # fmt: skip
    report = json.loads((folder / "memory").read_text())
    losses = [json.loads(line)["loss"] for line in (folder / "metrics").read_text().splitlines()]
    if len(losses) != options.steps:
        fail(f"{flags}: {len(losses)} losses instead of {options.steps}")
    used = sum(plan["categories"][each] for each in ("activations", "activation_gradients", "workspace"))
    return Run(report["planned_bytes"], report["arena_bytes"], used, losses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=lambda name: Path(name).resolve(), help="ONNX file")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=FILE", help="data of an input or the labels")
    parser.add_argument("--mtc", type=lambda name: Path(name).resolve(), default=ROOT / "build/release/bin/mtc")
    parser.add_argument("--flags", type=shlex.split, default=[], help="flags of mtc compile, as one argument")
    parser.add_argument("--steps", type=int, default=20, help="steps per run (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="relative tolerance of losses that are not bit-exact (default: %(default)s)")
    options = parser.parse_args()
    for each in options.data:
        if "=" not in each:
            parser.error(f"--data {each}: expected NAME=FILE")
    options.data = [f"{name}={Path(file).resolve()}" for name, file in (each.split("=", 1) for each in options.data)]

    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = train(options, NONE, folder)
        print(f"| technique | planned | used by functions | losses of {options.steps} steps |\n|---|---|---|---|")
        print(f"| none | {plain.planned} | 1 | {plain.losses[0]:.6f} to {plain.losses[-1]:.6f} |", flush=True)
        for each in TECHNIQUES:
            run = train(options, each.flags, folder)
            far = max(abs(a - b) / abs(b) for a, b in zip(run.losses, plain.losses, strict=True))
            shown = "bit-identical" if run.losses == plain.losses else f"{far:.1e}"
            print(f"| {each.name} | {run.planned} | {run.used / plain.used:.3f} | {shown} |", flush=True)
            if run.arena != run.planned:
                problems.append(f"{each.name}: the arena has {run.arena} bytes; expected {run.planned}, as planned")
            if far > (0 if each.exact else options.tolerance):
                problems.append(f"{each.name}: losses differ by {far:.1e}")
    if problems:
        fail("; ".join(problems))


if __name__ == "__main__":
    main()
