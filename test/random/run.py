#!/usr/bin/env python3
"""Trains random graphs with mtc and compares all results with a reference in f64; README.md lists the comparisons.

    test/random/run.py --mtc build/release/bin/mtc --graphs 300 --seed 1 --jobs 2 --keep failures

Each case is determined by the seed and its number. A failing case is reduced and kept in a folder with its data, its command and the
differences. The last line has the counts; the exit code is 1 if a case failed, or if no graph contained one of the operators.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # Each process of the pool uses one core.
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))

from case import Case  # noqa: E402
from comparison import RuleError  # noqa: E402
from failures import keep  # noqa: E402
from generator import REQUIRED, generate, required  # noqa: E402
from operators import name_of  # noqa: E402
from program import Checker, Failure, optional_passes  # noqa: E402
from shrink import shrink  # noqa: E402


@dataclass
class Settings:
    mtc: Path
    seed: int
    passes: list[str]
    folder: Path
    kept: Path | None
    races: bool
    cached: bool
    shrink_seconds: float


@dataclass
class Outcome:
    index: int
    operators: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    emulated: bool = False
    skipped: bool = False
    threads_differ: bool = False


def run_case(settings: Settings, index: int) -> Outcome:
    """Draws, compiles, runs and compares one case, and reduces it if it fails."""
    try:
        case, expectation = generate(settings.seed, index, settings.passes)
    except (RuleError, RuntimeError, ValueError) as error:
        return Outcome(index, failures=[f"graph {index} ({required(index)}): the test itself: {error}"])
    outcome = Outcome(index, Counter(name_of(node) for node in case.model.graph.node), [], case.emulated, bool(case.skipped))
    assert outcome.operators[required(index)], f"graph {index} lacks {required(index)}"
    folder = settings.folder / f"worker{os.getpid()}"
    checker = Checker(settings.mtc, folder, settings.races, settings.cached)
    for failure in checker.failures(case, expectation):
        outcome.failures.append(report(settings, index, checker, case, failure))
    return outcome


def report(settings: Settings, index: int, checker: Checker, case: Case, failure: Failure) -> str:
    case = checker.build_of(case, failure)
    if settings.shrink_seconds:
        case = shrink(case, failure, checker.failures, settings.shrink_seconds)
    text = f"graph {index} ({required(index)}): {failure.kind}: {failure.text.splitlines()[0][:300]}"
    if settings.kept:
        text += f"\n    {keep(settings.kept, settings.seed, index, case, failure, checker)}"
    return text


def summarize(outcomes: list[Outcome], seconds: float, first: int) -> int:
    operators = sum((o.operators for o in outcomes), Counter())
    missing = [name for name in REQUIRED if not operators[name]] if len(outcomes) >= len(REQUIRED) else []
    failures = [text for o in outcomes for text in o.failures]
    failed = sum(bool(o.failures) for o in outcomes)
    for text in failures:
        print(text)
    if missing:
        print(f"operators in no graph: {' '.join(missing)}")
    emulated = sum(o.emulated for o in outcomes)
    held = sum(operators[name] > 0 for name in REQUIRED)
    print(f"{emulated} emulated, {sum(o.skipped for o in outcomes)} without passes too, {operators.total()} nodes, "
          f"{60 * len(outcomes) / seconds:.0f} graphs a minute")  # fmt: skip
    print(f"{len(outcomes)} graphs from number {first}, {held} of {len(REQUIRED)} operators, {failed} graphs failed")
    return 1 if failures or missing or not outcomes else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=Path("build/release/bin/mtc"), help="compiler to test")
    parser.add_argument("--graphs", type=int, default=300, help="number of graphs")
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="graphs to run in parallel")
    parser.add_argument("--keep", type=Path, help="folder for reduced failing cases")
    parser.add_argument("--no-shrink", action="store_true", help="do not reduce failing cases")
    parser.add_argument("--shrink-seconds", type=float, default=90.0, help="time limit of the reduction of one failure")
    parser.add_argument("--races", action=argparse.BooleanOptionalAction, default=True, help="check for races in the emulator")
    parser.add_argument("--no-cache", action="store_true", help="compile every kernel, without mtc's cache")
    options = parser.parse_args()

    start, mtc = time.monotonic(), options.mtc.resolve()
    shrink_seconds = 0.0 if options.no_shrink else options.shrink_seconds
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(mtc, options.seed, optional_passes(mtc), Path(folder), options.keep and options.keep.resolve(),
                            options.races, not options.no_cache, shrink_seconds)  # fmt: skip
        numbers = range(options.first, options.first + options.graphs)
        outcomes = []
        with ProcessPoolExecutor(options.jobs) as pool:
            for outcome in pool.map(run_case, [settings] * len(numbers), numbers):
                outcomes.append(outcome)
                for text in outcome.failures:
                    print(text, file=sys.stderr, flush=True)
    return summarize(outcomes, time.monotonic() - start, options.first)


if __name__ == "__main__":
    sys.exit(main())


