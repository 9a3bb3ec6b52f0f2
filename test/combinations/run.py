#!/usr/bin/env python3
"""Trains models with random combinations of techniques, and checks these properties of every combination:

- `mtc` writes a program, or exits with an error and exit code 1 if two flags contradict each other or a budget cannot be met;
- `mtc plan` and `mtc compile` report the same bytes; the program uses exactly these, and they are within the budget;
- two runs are bit-identical; on a single thread, losses are equal up to rounding, because libraries sum in another order;
- techniques that only move or recompute values, such as `--offload` and `--recompute`, are bit-exact;
- a run that was interrupted and resumed is bit-identical to an uninterrupted one.

    build/venv/bin/python3 test/combinations/run.py --mtc build/release/bin/mtc --count 300 --seed 7 --jobs 2

A combination depends only on the seed and its number. The last line has the counts; the exit code is 1 if anything failed, or if less than
half of the combinations compiled.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
sys.path.append(str(HERE.parent / "random"))  # the list of optimizers

from draw import Combination, draw  # noqa: E402
from subjects import models  # noqa: E402

STEPS = 4
TIMEOUT = 900  # time limit of a command in seconds, for a busy machine


class Wrong(Exception):
    """The failure of a check."""


class Refused(Exception):
    """The error that rejects a combination of flags."""


@dataclass
class Workplace:
    mtc: Path
    folder: Path

    def run(self, command: list, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess:
        words = [str(word) for word in command]
        result = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        if result.returncode not in codes:
            raise Wrong(f"exit code {result.returncode}, expected {codes}\n{' '.join(words)}\n{result.stderr[-3000:]}")
        return result

    def compile(self, flags: list[str], name: str) -> dict:
        """Returns the plan. Raises `Refused`."""
        model, *others = flags
        made = self.run([self.mtc, "compile", model, *others, "--json", "-o", name], (0, 1))
        planned = self.run([self.mtc, "plan", model, *others, "--json"], (0, 1))
        if made.returncode != planned.returncode:
            raise Wrong(f"mtc plan: exit code {planned.returncode}, mtc compile: {made.returncode}\n{made.stderr}\n{planned.stderr}")
        if made.returncode == 1:
            errors = [line for line in made.stderr.splitlines() if "error:" in line]
            raise Refused(errors[0]) if errors else Wrong(f"refused without an error:\n{made.stderr}")
        plan, again = json.loads(made.stdout), json.loads(planned.stdout)
        if plan["peak_bytes"] != again["peak_bytes"]:
            raise Wrong(f"mtc compile plans {plan['peak_bytes']} bytes, mtc plan {again['peak_bytes']}")
        return plan

    def train(self, program: str, flags: list[str], name: str, *more: str) -> tuple[bytes, list[float]]:
        """Returns the exported file, and the losses of the steps."""
        for suffix in (".onnx", ".jsonl", ".memory"):
            (self.folder / (name + suffix)).unlink(missing_ok=True)
        files = ["--export", f"{name}.onnx", "--metrics", f"{name}.jsonl", "--memory-report", f"{name}.memory"]
        self.run([f"./{program}", *flags, *files, "--quiet", *more])
        lines = (self.folder / f"{name}.jsonl").read_text().splitlines()
        return (self.folder / f"{name}.onnx").read_bytes(), [json.loads(line)["loss"] for line in lines]


def check(place: Workplace, drawn: Combination):
    """Raises `Wrong` or `Refused`."""
    for name, array in drawn.model.data.items():
        np.save(place.folder / f"{name}.npy", array)
    flags = [str(drawn.model.file), *drawn.flags, *(["--target", "cuda", "--emulate"] if drawn.emulated else [])]
    free = place.compile(flags, "free")
    limit = [f"--memory={int(free['peak_bytes'] * drawn.budget)}", *drawn.allow] if drawn.budget else []
    plan = place.compile([*flags, *drawn.moves, *limit], "program")
    # The test ignores the gaps that --check-memory adds between values.
    counted = plan["live_bytes" if "--check-memory" in flags else "peak_bytes"]
    if limit and counted > free["peak_bytes"] * drawn.budget:
        raise Wrong(f"plans {counted} bytes where {limit[0]} is given")

    run = [word for name in drawn.model.data for word in ("--data", f"{name}={name}.npy")] + [*drawn.run, "--threads", "2"]
    steps = ["--steps", str(STEPS)]
    weights, losses = place.train("program", [*run, *steps], "one")
    if len(losses) != STEPS or not np.isfinite(losses).all():
        raise Wrong(f"losses {losses}")
    memory = json.loads((place.folder / "one.memory").read_text())
    if not plan["peak_bytes"] == memory["planned_bytes"] == memory["arena_bytes"]:
        raise Wrong(f"mtc plans {plan['peak_bytes']} bytes, the program: {memory}")
    if place.train("program", [*run, *steps], "again") != (weights, losses):
        raise Wrong("the same run ends with other bits")
    _, found = place.train("program", [*run[:-1], "1", *steps], "alone")
    if not np.allclose(found, losses, 1e-2 if drawn.is_rounded else 1e-4):
        raise Wrong(f"losses on one thread {found}, on two {losses}")
    if drawn.moves and not limit and place.train("free", [*run, *steps], "free") != (weights, losses):
        raise Wrong("values that are moved or recomputed end with other bits")
    half = STEPS // 2
    shutil.rmtree(place.folder / "saved", ignore_errors=True)
    schedule = ["--schedule-steps", str(STEPS)] if drawn.falls else []
    _, first = place.train("program", [*run, "--steps", str(half), *schedule], "first", "--save", "saved")
    ended, second = place.train("program", [*run, *steps], "second", "--resume", "saved")
    if ended != weights or first + second != losses:
        raise Wrong(f"resumed: other bits, losses {first + second} for {losses}")


@dataclass
class Outcome:
    text: str
    wrong: str = ""
    refused: str = ""


def run_one(mtc: Path, seed: int, number: int) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(Random(f"{seed} {number}"), models(Path(folder)))
        outcome = Outcome(f"{number}: {drawn}")
        try:
            check(Workplace(mtc, Path(folder)), drawn)
        except Refused as error:
            outcome.refused = str(error)
        except (Wrong, subprocess.TimeoutExpired) as error:
            outcome.wrong = str(error)
        return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=Path("build/release/bin/mtc"), help="compiler to test")
    parser.add_argument("--count", type=int, default=300, help="how many combinations")
    parser.add_argument("--first", type=int, default=0, help="number of the first combination")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="combinations to run in parallel")
    parser.add_argument("--verbose", action="store_true", help="print each combination")
    options = parser.parse_args()

    mtc = options.mtc.resolve()
    numbers = range(options.first, options.first + options.count)
    outcomes = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(run_one, [mtc] * len(numbers), [options.seed] * len(numbers), numbers):
            outcomes.append(outcome)
            if outcome.wrong or options.verbose:
                print(f"{outcome.text}\n    {outcome.wrong or outcome.refused or 'passed'}", flush=True)
    failed, refused = sum(bool(o.wrong) for o in outcomes), sum(bool(o.refused) for o in outcomes)
    print(f"{options.count} combinations of seed {options.seed}, {refused} refused, {failed} failed")
    return 1 if failed or 2 * refused > options.count else 0


if __name__ == "__main__":
    sys.exit(main())
