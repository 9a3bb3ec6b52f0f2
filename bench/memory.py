#!/usr/bin/env python3
"""Plans a model for a series of memory budgets and prints the cost of each plan.

    bench/memory.py gpt2-124m.onnx --flags "--dim batch=8 --dim sequence=1024 --loss causal-lm --cost-model avx512bf16"
    bench/memory.py resnet50.onnx --budgets 20 --batch 8 --run --flags "--dim batch=8 --loss cross-entropy"
    bench/memory.py gpt2-124m.onnx --svg curve.svg --flags "…"

Budgets are evenly spaced between the peak without a budget and the minimum peak. Columns of the table:

    budget        memory budget
    peak          peak memory of the plan
    activations   bytes of activations and workspace, relative to the plan without a budget
    peak / alive  peak relative to the maximum number of live bytes
    time          estimated step time, relative to the plan without a budget
    operations    floating-point operations, relative to the plan without a budget
    planned in    time of mtc plan
    measured      fastest measured step, with --run

With --run, each plan is compiled and trained on random data, and the rank correlation (Spearman) of estimates and
measurements is printed. Exits with 1 if a plan exceeds its budget, or if a smaller budget has a shorter estimated step time,
with a tolerance of 0.1 %.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from compare import ROOT, call, read_plan
from random_data import random_data
from step_cost import spearman


@dataclass
class Plan:
    budget: int
    peak: int
    live: int
    activations: int
    seconds: float
    flops: int
    planning: float  # time of planning in seconds
    fits: bool
    steps: list[float] = field(default_factory=list)  # measured, in seconds


def plan(options, budget: int | None) -> Plan:
    flags = [] if budget is None else ["--memory", str(budget)]
    begin = time.perf_counter()
    command = [str(options.mtc), "plan", str(options.model), *shlex.split(options.flags), *flags, "--json"]
    found = read_plan(command)
    activations = sum(found["categories"][each] for each in ("activations", "activation_gradients", "workspace"))
    return Plan(budget or found["peak_bytes"], found["peak_bytes"], found["live_bytes"], activations, found["step_seconds"],
                found["flops"], time.perf_counter() - begin, found["fits"])  # fmt: skip


def measure(options, plans: list[Plan]) -> None:
    """Measures steps on random data. Plans run alternately, in several rounds, so that a temporary slowdown affects all of them."""
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        programs = [folder / f"train{i}" for i in range(len(plans))]
        for each, program in zip(plans, programs):
            call([options.mtc, "compile", options.model, *shlex.split(options.flags), "--memory", each.budget, "-o", program])
        random_data(programs[0], options.batch, folder)
        files = [word for file in sorted(folder.glob("*.npy")) for word in ("--data", f"{file.stem}={file}")]
        for _ in range(options.rounds):
            for each, program in zip(plans, programs):
                metrics = folder / "metrics"
                metrics.unlink(missing_ok=True)
                call([program, *files, "--steps", options.steps, "--no-shuffle", "--quiet", "--metrics", metrics])
                each.steps += [json.loads(line)["step_seconds"] for line in metrics.read_text().splitlines()]


def write_svg(path: Path, plans: list[Plan]) -> None:
    """Draws peak memory against the estimated step time."""
    width, height, left, bottom = 640, 360, 70, 40
    most, least = plans[0].peak, plans[-1].peak
    longest = max(each.seconds / plans[0].seconds for each in plans) - 1 or 1.0

    def place(each: Plan) -> tuple[float, float]:
        x = left + (width - left - 20) * (each.seconds / plans[0].seconds - 1) / longest
        y = 20 + (height - bottom - 20) * (most - each.peak) / max(most - least, 1)
        return round(x, 1), round(y, 1)

    points = [place(each) for each in plans]
    marks = "".join(f'<circle cx="{x}" cy="{y}" r="3"/>' for x, y in points)
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<path d="M{left} 20V{height - bottom}H{width - 20}" fill="none" stroke="black"/>',
        f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" fill="none" stroke="#36c"/>',
        f'<g fill="#36c">{marks}</g>',
        f'<text x="{left - 5}" y="24" text-anchor="end">{most / 1e9:.2f} GB</text>',
        f'<text x="{left - 5}" y="{height - bottom}" text-anchor="end">{least / 1e9:.2f} GB</text>',
        f'<text x="{left}" y="{height - 15}">+0 %</text>',
        f'<text x="{width - 20}" y="{height - 15}" text-anchor="end">+{100 * longest:.0f} % time of a step, estimated</text>',
        "</svg>",
    ]
    path.write_text("\n".join(text) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="ONNX file")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: %(default)s)")
    parser.add_argument("--flags", default="", help="flags of mtc plan and mtc compile, as one argument")
    parser.add_argument("--budgets", type=int, default=20, help="number of budgets (default: %(default)s)")
    parser.add_argument("--run", action="store_true", help="compile each plan and measure its steps")
    parser.add_argument("--batch", type=int, default=1, help="samples of random data, with --run (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=5, help="steps per run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="runs per plan (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="folder for compiled programs, with --run (default: the system's)")
    parser.add_argument("--svg", type=Path, help="write the curve to this SVG file")
    options = parser.parse_args()

    most, least = plan(options, None), plan(options, 1)
    steps = max(options.budgets - 1, 1)
    budgets = [least.peak + (most.peak - least.peak) * i // steps for i in range(options.budgets - 1, -1, -1)]
    plans = [plan(options, budget) for budget in budgets]
    if options.run:
        measure(options, plans)
    measured = " measured |" if options.run else ""
    print(f"| budget | peak | activations | peak / alive | time | operations | planned in |{measured}")
    print("|---|---|---|---|---|---|---|" + ("---|" if options.run else ""))
    for each in plans:
        step = f" {min(each.steps):.4g} s |" if options.run else ""
        print(f"| {each.budget / 1e6:.1f} MB | {each.peak / 1e6:.1f} MB | {each.activations / most.activations:.3f} "
              f"| {each.peak / each.live:.4f} | {each.seconds / most.seconds:.4f} | {each.flops / most.flops:.4f} "
              f"| {each.planning:.1f} s |{step}", flush=True)  # fmt: skip
    if options.run:
        correlation = spearman([p.seconds for p in plans], [min(p.steps) for p in plans])
        print(f"\nrank correlation of estimates and steps: {correlation:.3f}")
    if options.svg:
        write_svg(options.svg, plans)
    wrong = [f"{p.budget} bytes: {p.peak}" for p in plans if not p.fits or p.peak > p.budget]
    wrong += [f"{b.budget} bytes take less time than {a.budget}" for a, b in zip(plans, plans[1:]) if b.seconds < 0.999 * a.seconds]
    if wrong:
        sys.exit("memory.py: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
