#!/usr/bin/env python3
"""Measures how the time of planning and compiling grows with the size of a model.

    bench/growth.py
    bench/growth.py --only fan-out concat --command plan --mtc build/release/bin/mtc

Each row of the table has a model of `test/support/growing_models.py`, the user CPU time in seconds of `mtc plan` or of `mtc compile`
without the kernel cache, and the exponent e of n^e from the preceding row to this one; 1 is linear. `half` plans `chain`
with a budget of half its peak, and `refused` plans a model with a budget of 100 bytes. docs/benchmarks/growth.md has the results.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "support"))

from growing_models import KINDS  # noqa: E402

SIZES = {
    "fan-out": (375, 750, 1500, 3000), "concat": (500, 1000, 2000, 4000), "split": (500, 1000, 2000), "chain": (2500, 5000, 10000, 20000),
    "layers": (96, 192, 384, 768), "tree": (500, 1000, 2000), "outputs": (625, 1250, 2500, 5000), "parameters": (750, 1500, 3000),
}  # fmt: skip
FLAGS = {"parameters": ["--optimizer", "adamw", "--group", "match=*.bias weight-decay=0", "--group", "match=*.scale optimizer=sgd lr=1e-2"]}


def user_seconds(command: list) -> tuple[float, str]:
    """Returns the user CPU time of a command and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stderr[-2000:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, result.stdout


def measure(mtc: Path, kind: str, size: int, commands: list[str], folder: Path) -> dict[str, float]:
    model = folder / f"{kind}{size}.onnx"
    KINDS[kind](model, size)
    flags = [model, "--dim", "batch=4", "--loss", "output", *FLAGS.get(kind, [])]
    times = {}
    if "plan" in commands or "half" in commands:
        times["plan"], text = user_seconds([mtc, "plan", *flags, "--json"])
    if "half" in commands and kind == "chain":
        half = json.loads(text)["peak_bytes"] // 2
        times["half"], text = user_seconds([mtc, "plan", *flags, "--memory", half, "--json"])
        assert json.loads(text)["fits"], f"{model.name} does not fit in {half} bytes"
    if "refused" in commands:
        times["refused"], _ = user_seconds([mtc, "plan", *flags, "--memory", 100, "--quiet"])
    if "compile" in commands:
        times["compile"], _ = user_seconds([mtc, "compile", *flags, "--no-cache", "--tune", "off", "--quiet", "--force", "-o", folder / "program"])
    model.unlink()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of models")
    commands = ["plan", "half", "refused", "compile"]
    parser.add_argument("--command", nargs="+", choices=commands, default=commands, help="what to measure")
    parser.add_argument("--largest", type=int, default=sys.maxsize, help="omit larger models")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print("| model | nodes | command | user seconds | exponent |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.only:
            before: dict[str, float] = {}
            for size in SIZES[kind]:
                if size > options.largest:
                    break
                times = measure(options.mtc.resolve(), kind, size, options.command, Path(folder))
                for command, seconds in times.items():
                    exponent = f"{math.log2(seconds / before[command]):.2f}" if command in before else ""
                    print(f"| {kind} | {size} | {command} | {seconds:.2f} | {exponent} |", flush=True)
                before = times


if __name__ == "__main__":
    main()
