#!/usr/bin/env python3
"""Compares the estimated step time of `mtc plan` with measurements.

    bench/step_cost.py gpt2-124m.onnx --batch 4 --flags "--dim batch=4 --dim sequence=256 --loss causal-lm --init normal:0.02"
    bench/step_cost.py vit.onnx --data data --flags "--dim batch=16 --loss cross-entropy"

Prints one table row with these columns:

- the estimated step time;
- the median and the minimum of the measured steps, without a profile;
- the difference of estimate and minimum in percent;
- Spearman's rank correlation of estimated and profiled times of operations; the profiled time is the minimum over all steps.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

from compare import ROOT, call, fail, random_data


def ranks(values: list[float]) -> list[float]:
    """Returns the ranks of the values, from 1; equal values have the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for i in order[begin:end]:
            result[i] = (begin + 1 + end) / 2
        begin = end
    return result


def spearman(left: list[float], right: list[float]) -> float:
    return statistics.correlation(ranks(left), ranks(right)) if len(set(left)) > 1 and len(set(right)) > 1 else 1.0


def estimates(mtc: Path, model: Path, flags: list[str]) -> tuple[dict, list[tuple[str, str, float]]]:
    """Returns the plan, and the kind, nodes and estimated seconds of each operation of a step in order."""
    plan = json.loads(call([mtc, "plan", model, *flags, "--json"]))
    with tempfile.NamedTemporaryFile(suffix=".mlir") as text:
        call([mtc, "compile", model, *flags, "--emit=allocated", "-o", text.name, "--force"])
        printed = subprocess.run(
            [mtc.with_name("mtc-opt"), text.name, "--mtc-print-cost", "-o", "/dev/null"],
            capture_output=True, text=True, check=True,
        ).stderr  # fmt: skip
    rows = [line.split("\t") for line in printed.splitlines()]
    return plan, [(kind, nodes, float(seconds)) for function, kind, seconds, _, _, nodes in rows
                  if function in ("micro_step", "update")]  # fmt: skip


def profiled(trace: Path, count: int) -> list[float]:
    """Returns the minimum time of each operation of a step in seconds, in order."""
    times = [event["dur"] / 1e6 for event in json.loads(trace.read_text()) if event["cat"] == "operation"]
    if not times or len(times) % count:
        fail(f"the profile has {len(times)} operations; expected a multiple of {count}, the operations of a step")
    return [min(times[i::count]) for i in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="ONNX file")
    parser.add_argument("--flags", default="", help="flags of mtc compile, as one argument")
    parser.add_argument("--data", type=Path, help="folder with NAME.npy for each input and the labels (default: random)")
    parser.add_argument("--batch", type=int, default=1, help="samples of random data (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=6, help="steps per run (default: %(default)s)")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: %(default)s)")
    parser.add_argument("--print", type=int, default=0, metavar="N", help="list the N operations with the largest absolute errors")
    options = parser.parse_args()
    flags = shlex.split(options.flags)
    plan, operations = estimates(options.mtc, options.model, flags)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, data = folder / "train", options.data or folder
        call([options.mtc, "compile", options.model, *flags, "-o", program])
        if not options.data:
            random_data(program, options.batch, folder)
        files = [word for file in sorted(data.glob("*.npy")) for word in ("--data", f"{file.stem}={file}")]
        run = [program, *files, "--steps", options.steps, "--no-shuffle", "--quiet"]
        call([*run, "--metrics", folder / "metrics"])
        steps = [json.loads(line)["step_seconds"] for line in (folder / "metrics").read_text().splitlines()]
        call([*run, "--profile", folder / "trace"])
        times = profiled(folder / "trace", len(operations))
    estimated, fastest = plan["step_seconds"], min(steps)
    agreement = spearman([seconds for _, _, seconds in operations], times)
    print(f"| {options.model.stem} | {estimated:.4g} s | {statistics.median(steps):.4g} s | {fastest:.4g} s "
          f"| {100 * (estimated / fastest - 1):+.0f} % | {agreement:.3f} |")  # fmt: skip
    sums = {}
    for (kind, _, seconds), time in zip(operations, times, strict=True):
        known = sums.get(kind, (0, 0))
        sums[kind] = (known[0] + seconds, known[1] + time)
    shown = [f"{kind} {1e3 * left:.4g} : {1e3 * right:.4g} ms" for kind, (left, right) in sums.items()]
    print(f"{plan['cost_model']}; estimated : in the profile: {', '.join(shown)}")
    rows = sorted(zip(operations, times, strict=True), key=lambda row: -abs(row[0][2] - row[1]))
    for (kind, nodes, seconds), time in rows[: options.print]:
        print(f"  {kind:28} {1e3 * seconds:9.3f} ms estimated {1e3 * time:9.3f} ms measured  {nodes[:80]}")


if __name__ == "__main__":
    main()
