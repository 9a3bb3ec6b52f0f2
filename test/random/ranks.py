#!/usr/bin/env python3
"""Trains random graphs on two ranks that divide axes drawn at random, and compares losses and weights with the reference in f64.

    test/random/ranks.py --mtc build/release/bin/mtc --graphs 150 --seed 7

A graph and its divided axes are determined by the seed and its number. Every other graph has tiles of contractions (`--tensor-tiles`). Graphs
without an axis that two ranks can divide are not counted. One rank with the same addends (`--tensor-chunks 2`) is compared with the reference,
too. Most graphs have the same bits on one rank; the others have sums whose order depends on the kernel that computes them (docs/design/splitting.md,
"Bits"). The last line has the counts; the exit code is 1 if a graph failed, or if more than a twentieth of many graphs have other bits.
"""

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # Each process of the pool uses one core.
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))

import onnx  # noqa: E402
from case import STEPS, Case  # noqa: E402
from comparison import Expectation, RuleError  # noqa: E402
from generator import generate, required  # noqa: E402
from open_mpi import launcher  # noqa: E402
from operators import name_of  # noqa: E402
from program import Checker, Failed  # noqa: E402

RANKS = 2
UNDIVIDED, PADDED = "no layer can be divided into", " is padded from "


@dataclass
class Outcome:
    index: int
    operator: str
    failure: str = ""
    is_divided: bool = True
    is_padded: bool = False
    is_rounded: bool = False


def train(checker: Checker, case: Case, name: str, words: list, flags: list) -> tuple[list[float], dict, str]:
    """Returns the losses and the weights of a program, and the messages of the compiler."""
    compiled = [checker.mtc, "compile", "model.onnx", *case.flags(), *flags, "--threads", 1, "-o", name]
    checker.run(compiled, "compile")
    messages = checker.messages
    files = {key: checker.folder / f"{name}.{key}" for key in ("jsonl", "onnx")}
    for file in files.values():
        file.unlink(missing_ok=True)
    written = ["--metrics", files["jsonl"], "--export", files["onnx"]]
    checker.run([*words, checker.folder / name, *case.data_flags(), "--no-shuffle", "--quiet", "--steps", STEPS, *written], "training run")
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(files["onnx"]).graph.initializer}
    return [json.loads(line)["loss"] for line in files["jsonl"].read_text().splitlines()], weights, messages


def tiles_of(seed: int) -> list:
    """Returns the flags of a program of several ranks, besides those of all programs."""
    return ["--tensor-tiles", 2] if seed % 2 else []


def check(checker: Checker, case: Case, expectation: Expectation, seed: int, outcome: Outcome):
    case.write(checker.folder)
    drawn = ["--tensor-seed", seed, "--ranks"]
    tiles = tiles_of(seed)
    try:
        losses, weights, messages = train(checker, case, "divided", [*launcher(RANKS)], [*drawn, RANKS, "--tensor", RANKS, *tiles])
    except Failed as failed:
        outcome.is_divided = UNDIVIDED not in failed.failure.text
        if outcome.is_divided:
            raise
        return
    outcome.is_padded = PADDED in messages
    problems = expectation.check_losses(losses) + expectation.check_weights(weights)
    alone = train(checker, case, "alone", [], [*drawn, 1, "--tensor-chunks", RANKS])
    problems += [f"alone: {text}" for text in expectation.check_losses(alone[0]) + expectation.check_weights(alone[1])]
    differ = [name for name in weights if weights[name].tobytes() != alone[1][name].tobytes()]
    outcome.is_rounded = bool(differ or losses != alone[0])
    if problems:
        raise Failed("values", "\n".join(problems))


def run_case(mtc: Path, folder: Path, seed: int, kept: Path | None, index: int) -> Outcome:
    outcome = Outcome(index, required(index))
    try:
        case, expectation = generate(seed, index, [])
    except (RuleError, RuntimeError, ValueError) as error:
        outcome.failure = f"the test itself: {error}"
        return outcome
    case = replace(case, skipped=[], emulated=False)
    checker = Checker(mtc, folder / f"worker{os.getpid()}")
    try:
        check(checker, case, expectation, 1 + index, outcome)
    except Failed as failed:
        operators = " ".join(sorted({name_of(node) for node in case.model.graph.node}))
        outcome.failure = f"{failed.failure.kind}: {failed.failure.text[:1500]}\n    {' '.join(failed.failure.command)}\n    {operators}"
        if kept:
            case.write(kept / f"graph{index}")
            (kept / f"graph{index}" / "flags.txt").write_text(" ".join(map(str, [*case.flags(), "--tensor-seed", 1 + index, *tiles_of(1 + index)])))
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=Path("build/release/bin/mtc"), help="compiler to test")
    parser.add_argument("--graphs", type=int, default=150, help="number of graphs that are divided")
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="graphs to run in parallel, each on two ranks")
    parser.add_argument("--verbose", action="store_true", help="print graphs whose bits depend on the number of ranks")
    parser.add_argument("--keep", type=Path, help="folder for failing graphs")
    options = parser.parse_args()
    mtc, kept = options.mtc.resolve(), options.keep and options.keep.resolve()
    outcomes, first = [], options.first
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(options.jobs) as pool:
        while (missing := options.graphs - sum(o.is_divided for o in outcomes)) > 0:
            numbers = range(first, first + missing)
            first += missing
            same = ([each] * missing for each in (mtc, Path(folder), options.seed, kept))
            for outcome in pool.map(run_case, *same, numbers):
                outcomes.append(outcome)
                if outcome.is_rounded and options.verbose:
                    print(f"graph {outcome.index} ({outcome.operator}): other bits than one rank", flush=True)
                if outcome.failure:
                    print(f"graph {outcome.index} ({outcome.operator}): {outcome.failure}", flush=True)
    divided, failed = [o for o in outcomes if o.is_divided], sum(bool(o.failure) for o in outcomes)
    rounded = sum(o.is_rounded for o in divided)
    padded = sum(o.is_padded for o in divided)
    print(f"{len(outcomes)} graphs of seed {options.seed}, {len(divided)} divided, {padded} of them with padding, {rounded} equal to one rank "
          f"up to rounding only, {failed} failed")  # fmt: skip
    return 1 if failed or (len(divided) >= 50 and 20 * rounded > len(divided)) else 0


if __name__ == "__main__":
    sys.exit(main())
