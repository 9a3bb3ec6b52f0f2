#!/usr/bin/env python3
"""Measures all algorithms for a model's contractions and convolutions, relative to the peak of multiply-adds in registers.

    bench/contractions.py build/bench/gpt2-124m.onnx --dim batch=4 --dim sequence=256 --loss causal-lm
    bench/contractions.py build/bench/resnet50.onnx --dim batch=8 --loss cross-entropy --rows

Runs mtc-bench with one thread for each --precision (default: f32,bf16), --rounds times, and prints one line per precision: the throughput
with the program's algorithms and with the best ones, both averaged over operations and relative to the throughput in registers, and the
largest ratio of a call's time to that of its best algorithm. --rows prints a line for each call. Other flags are those of mtc compile.
The script measures CPU time, which depends less on other load of the machine than wall time.
"""

import argparse
import csv
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from compare import processor

ROOT = Path(__file__).resolve().parent.parent
ALGORITHMS = ("as stored", "with a packed rhs", "with packed operands", "by own panels")
SMALLEST = 1e8  # minimum number of operations of a call


@dataclass
class Call:
    """The measured seconds of a call with each algorithm, and with the algorithm that the program chooses."""

    name: str
    flops: float = 0
    runs: float = 0
    seconds: float = 0
    chosen: str = ""
    algorithms: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        return min(self.seconds, *self.algorithms.values())


def measure(bench: Path, arguments: list[str], precision: str, minimum: str) -> tuple[list[Call], float]:
    """Returns the calls of a program, and the peak throughput of operations in registers."""
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
        if rest in ALGORITHMS:
            call.algorithms[rest] = seconds
        elif row["runs"]:
            call.name, call.seconds, call.chosen = f"{name} {rest}", seconds, row["label"]
            call.runs, call.flops = float(row["runs"]), float(row["FLOP/s"]) * float(row["real_time"]) * 1e-6
    return [call for call in calls.values() if call.algorithms and call.runs and call.flops >= SMALLEST], registers


def fastest(rounds: list[tuple[list[Call], float]]) -> tuple[list[Call], float]:
    """Returns each call with the minimum of its times over all rounds."""
    calls = rounds[0][0]
    for others, _ in rounds[1:]:
        for call, other in zip(calls, others, strict=True):
            call.seconds = min(call.seconds, other.seconds)
            call.algorithms = {name: min(seconds, other.algorithms[name]) for name, seconds in call.algorithms.items()}
    return calls, max(registers for _, registers in rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--precision", default="f32,bf16", help="precisions to measure (default: f32,bf16)")
    parser.add_argument("--minimum", default="0.1", help="seconds per call and algorithm (default: 0.1)")
    parser.add_argument("--rounds", type=int, default=1, help="number of measurements; the minimum counts (default: 1)")
    parser.add_argument("--mtc-bench", type=Path, default=ROOT / "build/release/bin/mtc-bench", dest="bench", help="mtc-bench (default: %(default)s)")
    parser.add_argument("--rows", action="store_true", help="print a line for each call")
    options, flags = parser.parse_known_args()
    print(f"{options.model.stem} {' '.join(flags)} on {processor()}")
    for precision in options.precision.split(","):
        rounds = [measure(options.bench, [str(options.model), *flags], precision, options.minimum) for _ in range(options.rounds)]
        calls, registers = fastest(rounds)
        if not calls or not registers:
            sys.exit(f"{precision}: no large calls, or no instructions for this precision")
        flops = sum(call.flops * call.runs for call in calls)
        rates = [flops / sum(seconds(call) * call.runs for call in calls) for seconds in (lambda c: c.seconds, lambda c: c.best)]
        gap = max(call.seconds / call.best for call in calls)
        print(
            f"{precision}: {rates[0] * 1e-9:.1f} GFLOP/s, {rates[0] / registers:.3f} of {registers * 1e-9:.1f} in registers; "
            f"best algorithms {rates[1] / registers:.3f}; largest gap {gap:.2f} x; {len(calls)} shapes"
        )
        if options.rows:
            for call in sorted(calls, key=lambda call: -call.seconds * call.runs):
                algorithms = ", ".join(f"{name} {call.flops / seconds * 1e-9:.1f}" for name, seconds in call.algorithms.items())
                print(f"  {call.runs:3.0f} x {call.flops / call.seconds * 1e-9:6.1f} {call.chosen}; {algorithms}; {call.name}")


if __name__ == "__main__":
    main()
