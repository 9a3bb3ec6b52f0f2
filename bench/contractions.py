#!/usr/bin/env python3
"""Rates of a model's contractions and convolutions in each of their ways, relative to multiplications in registers.

    bench/contractions.py build/bench/gpt2-124m.onnx --dim batch=4 --dim sequence=256 --loss causal-lm
    bench/contractions.py build/bench/resnet50.onnx --dim batch=8 --loss cross-entropy --rows

Runs mtc-bench with one thread for each --precision (default: f32,bf16), --rounds times, and prints a line: the rate that the program's choice
reaches, the rate of the best way, both as averages weighted by operations and relative to the rate in registers, and the
largest gap between the choice and the best way of a call. --rows prints a line for each call. Other flags are those of
mtc compile. Times are CPU time, so that other load on the machine matters less.
"""

import argparse
import csv
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from compare import processor

ROOT = Path(__file__).resolve().parent.parent
WAYS = ("as stored", "with a packed rhs", "with packed operands", "by own panels")
SMALLEST = 1e8  # operations of a call that is compared


@dataclass
class Call:
    """A call with its seconds by way, and those of the program's choice."""

    name: str
    flops: float = 0
    runs: float = 0
    seconds: float = 0
    chosen: str = ""
    ways: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        return min(self.seconds, *self.ways.values())


def measure(bench: Path, arguments: list[str], precision: str, minimum: str) -> tuple[list[Call], float]:
    """The calls of a program, and the operations per second in registers."""
    command = [bench, *arguments, "--precision", precision, "--threads=1", "--benchmark_format=csv"]
    command += ["--benchmark_filter=^(contraction|.*convolution.*|registers)", f"--benchmark_min_time={minimum}"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    lines = result.stdout.splitlines()
    calls, registers = {}, 0.0
    for row in csv.DictReader(lines[next(i for i, line in enumerate(lines) if line.startswith("name,")) :]):
        name, _, rest = row["name"].removesuffix("/real_time").partition(" ")
        if name == "registers":
            registers = float(row["FLOP/s"]) if rest == precision else registers
            continue
        call, seconds = calls.setdefault(name, Call(name)), float(row["cpu_time"]) * 1e-6
        if rest in WAYS:
            call.ways[rest] = seconds
        elif row["runs"]:
            call.name, call.seconds, call.chosen = f"{name} {rest}", seconds, row["label"]
            call.runs, call.flops = float(row["runs"]), float(row["FLOP/s"]) * float(row["real_time"]) * 1e-6
    return [call for call in calls.values() if call.ways and call.runs and call.flops >= SMALLEST], registers


def fastest(rounds: list[tuple[list[Call], float]]) -> tuple[list[Call], float]:
    """The calls with their fastest times of all rounds."""
    calls = rounds[0][0]
    for others, _ in rounds[1:]:
        for call, other in zip(calls, others, strict=True):
            call.seconds = min(call.seconds, other.seconds)
            call.ways = {way: min(seconds, other.ways[way]) for way, seconds in call.ways.items()}
    return calls, max(registers for _, registers in rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--precision", default="f32,bf16", help="precisions to measure (default: f32,bf16)")
    parser.add_argument("--minimum", default="0.1", help="seconds for each call in each way (default: 0.1)")
    parser.add_argument("--rounds", type=int, default=1, help="measurements, of which the fastest count (default: 1)")
    parser.add_argument("--mtc-bench", type=Path, default=ROOT / "build/release/bin/mtc-bench", dest="bench", help="the program")
    parser.add_argument("--rows", action="store_true", help="a line for each call")
    options, flags = parser.parse_known_args()
    print(f"{options.model.stem} {' '.join(flags)} on {processor()}")
    for precision in options.precision.split(","):
        rounds = [measure(options.bench, [str(options.model), *flags], precision, options.minimum) for _ in range(options.rounds)]
        calls, registers = fastest(rounds)
        if not calls or not registers:
            sys.exit(f"{precision}: no large calls, or no instructions that multiply it")
        flops = sum(call.flops * call.runs for call in calls)
        rates = [flops / sum(seconds(call) * call.runs for call in calls) for seconds in (lambda c: c.seconds, lambda c: c.best)]
        gap = max(call.seconds / call.best for call in calls)
        print(
            f"{precision}: {rates[0] * 1e-9:.1f} GFLOP/s, {rates[0] / registers:.3f} of {registers * 1e-9:.1f} in registers; "
            f"best ways {rates[1] / registers:.3f}; largest gap {gap:.2f} x; {len(calls)} shapes"
        )
        if options.rows:
            for call in sorted(calls, key=lambda call: -call.seconds * call.runs):
                ways = ", ".join(f"{way} {call.flops / seconds * 1e-9:.1f}" for way, seconds in call.ways.items())
                print(f"  {call.runs:3.0f} x {call.flops / call.seconds * 1e-9:6.1f} {call.chosen}; {ways}; {call.name}")


if __name__ == "__main__":
    main()
