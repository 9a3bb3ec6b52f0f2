#!/usr/bin/env python3
"""Compares the recomputation time of mtc's plans with the optimum of an exact solver.

    bench/optimum.py transformer --blocks 1
    bench/optimum.py model.onnx --flags "--dim batch=8 --loss mse" --budgets 6

The model is one of `blocks.py`, or a file. Budgets are evenly spaced between the peak without a budget and the minimum peak
that mtc reaches by recomputation only. Columns of the table, with times relative to the micro-step's time:

    budget     memory budget
    mtc adds   time added by mtc's plan
    optimum    minimum time added by any choice (`recomputation.py`), or its bounds after a timeout of the solver
    distance   difference of the two
    solved in  time of the solver

docs/benchmarks/memory.md defines the optimization problem. Exits with 1 if a plan exceeds its budget, is faster than the
optimum, or has another peak than the problem description. HiGHS is installed into build/ if it is missing.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compare import ROOT, call, environment, fail

try:
    import highspy  # noqa: F401
except ImportError:
    python = environment("bench-optimum", "requirements-optimum.txt")
    os.execv(python, [python, *sys.argv])

import blocks
from memory import Plan, plan
from recomputation import TOLERANCE, Problem, optimum, peak_of, time_of


def described(options, text: Path, *passes: str) -> Problem:
    """Returns the problem of the micro-step of a kernels-stage text, after some passes."""
    command = [options.mtc.with_name("mtc-opt"), text, *passes, "--mtc-print-recomputation", "-o", os.devnull]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    lines = [line for line in result.stderr.splitlines() if '"function":"micro_step"' in line]
    if result.returncode or len(lines) != 1:
        fail(f"{shlex.join(map(str, command))}: exit code {result.returncode}\n{result.stderr}")
    problem = Problem.read(lines[0])
    if peak_of(problem, problem.once()) != problem.live:
        fail(f"{peak_of(problem, problem.once())} bytes are live according to recomputation.py, {problem.live} by mtc")
    return problem


def compare(options, text: Path, problem: Problem, unbounded: Plan, budget: int) -> None:
    """Prints the row of the table for one budget."""
    planned = plan(options, budget)
    fitted = described(options, text, f"--mtc-fit=memory={budget} tile=none")
    if not planned.fits or planned.peak > budget or fitted.live > planned.live:
        fail(f"{budget} bytes: a plan needs {planned.peak}, of which {planned.live} are live, the micro-step {fitted.live}")
    whole = time_of(problem.once())
    added = time_of(fitted.once()) - whole
    if abs(1e12 * (planned.seconds - unbounded.seconds) - added) > TOLERANCE * whole:
        fail(f"{budget} bytes: the plan adds {planned.seconds - unbounded.seconds} s, the micro-step {added} ps")

    begin = time.perf_counter()
    best = optimum(problem, budget, options.seconds, known=added)
    seconds = time.perf_counter() - begin
    if best.time > added + 2 * TOLERANCE * whole:
        fail(f"{budget} bytes: mtc adds {added} ps, less than the minimum {best.time:.0f}")
    if best.alternatives and peak_of(problem, best.alternatives) > budget:
        fail(f"{budget} bytes: the optimum needs {peak_of(problem, best.alternatives)}")
    known = time_of(best.alternatives) - whole if best.alternatives else added
    least = f"{known / whole:.2%}" if best.isOptimal else f"{best.time / whole:.2%} – {known / whole:.2%}"
    distance = f"{'' if best.isOptimal else '≤ '}{max(added - best.time, 0) / whole:.2%}"
    print(f"| {budget / 1e6:.2f} MB | {added / whole:.2%} | {least} | {distance} | {seconds:.0f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=f"{', '.join(blocks.KINDS)}, or an ONNX file")
    parser.add_argument("--blocks", type=int, default=1, help="number of blocks of a model of blocks.py (default: %(default)s)")
    parser.add_argument("--flags", default="--loss mse --cost-model avx512", help="flags of mtc plan, as one argument (default: %(default)s)")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: %(default)s)")
    parser.add_argument("--budgets", type=int, default=6, help="number of budgets (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=300, help="time limit of the solver per budget (default: %(default)s)")
    options = parser.parse_args()
    options.flags += " --tile none"
    with tempfile.TemporaryDirectory() as name:
        if options.model in blocks.KINDS:
            kind, options.model = options.model, Path(name) / f"{options.model}.onnx"
            blocks.KINDS[kind](options.model, options.blocks)
        text = Path(name) / "kernels.mlir"
        call([options.mtc, "compile", options.model, *shlex.split(options.flags), "--emit=kernels", "-o", text])
        ordered = Path(name) / "ordered.mlir"
        call([options.mtc.with_name("mtc-opt"), text, "--mtc-reorder", "-o", ordered])
        problem = described(options, ordered)
        print(f"{len(problem.operations)} operations\n")
        print("| budget | mtc adds | optimum | distance | solved in |\n|---|---|---|---|---|")
        unbounded, least = plan(options, None), plan(options, 1).peak
        for step in range(1, options.budgets):
            budget = unbounded.peak - (unbounded.peak - least) * step // (options.budgets - 1)
            compare(options, ordered, problem, unbounded, budget)


if __name__ == "__main__":
    main()
