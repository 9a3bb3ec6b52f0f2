#!/usr/bin/env python3
"""Compares the arena size with the maximum number of live bytes, a lower bound for a given schedule.

    bench/placement.py "gpt2-124m.onnx --dim batch=8 --dim sequence=1024 --loss causal-lm" "resnet50.onnx --dim batch=8 --loss cross-entropy"

Each argument is a model with its flags. The table has one row per model, with three plans: without a budget ("no budget"), with sqrt
recomputation ("sqrt") and with minimum memory ("minimum"). Each plan has its peak, the ratio of peak to live bytes, and the planning time.
Exits with 1 if a ratio exceeds --maximum.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

from compare import ROOT, fail

PLANS = {"no budget": "", "sqrt": "--recompute sqrt --tile none", "minimum": "--memory 1"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL FLAGS", help="model with its flags of mtc plan, as one argument")
    parser.add_argument("--plans", default=",".join(PLANS), help="comma-separated plans (default: " + ", ".join(PLANS) + ")")
    parser.add_argument("--maximum", type=float, default=1.01, help="maximum ratio of peak to live bytes (default: %(default)s)")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: %(default)s)")
    options = parser.parse_args()
    names = options.plans.split(",")
    if unknown := [name for name in names if name not in PLANS]:
        parser.error(f"--plans {unknown[0]}: {', '.join(PLANS)} are known")
    print("| model |" + "".join(f" {name} | peak / alive | planned in |" for name in names))
    print("|---|" + "---|---|---|" * len(names))
    above = []
    for words in options.models:
        model, *flags = shlex.split(words)
        row = f"| {Path(model).stem if Path(model).stem != 'model' else Path(model).parent.name} |"
        for name in names:
            begin = time.perf_counter()
            command = [options.mtc, "plan", model, *flags, *PLANS[name].split(), "--json"]
            found = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            if not found.stdout:
                fail(f"{shlex.join(map(str, command))}: exit code {found.returncode}\n{found.stderr}")
            plan = json.loads(found.stdout)
            ratio = plan["peak_bytes"] / plan["live_bytes"]
            row += f" {plan['peak_bytes'] / 1e6:.1f} MB | {ratio:.4f} | {time.perf_counter() - begin:.1f} s |"
            if ratio > options.maximum:
                above.append(f"{words}, {name}: {ratio:.4f}")
        print(row, flush=True)
    if above:
        sys.exit(f"placement.py: more than {options.maximum} times what is alive: " + "; ".join(above))


if __name__ == "__main__":
    main()
