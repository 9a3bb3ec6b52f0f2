# RUN: %python %s
"""`--recompute auto` is at most as good as the optimum of the solver, and close to it; the solver's optimum equals an exhaustive search."""

import heapq
import os
import random
import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent.parent / "bench"
sys.path.insert(0, str(BENCH))
from processor import has  # noqa: E402
from recomputation import Operation, Problem, Alternative, optimum, peak_of, time_of  # noqa: E402


def shortest(problem: Problem, budget: int) -> float:
    """Returns the minimum added time, found by a search over all sets of values that may be live before each operation."""
    alternatives, seen = problem.once(), set()
    queue = [(0, 0, 0, frozenset())]
    while queue:
        time, _, stage, alive = heapq.heappop(queue)
        if stage == len(alternatives):
            return time - time_of(alternatives)
        if (stage, alive) in seen:
            continue
        seen.add((stage, alive))
        for number, alternative in enumerate(alternatives[: stage + 1]):
            if not alive.issuperset(alternative.reads):
                continue
            after = alive | set(alternative.gives)
            if sum(problem.bytes[value] for value in after) > budget:
                continue
            for kept in [after, *(after - {value} for value in after)]:
                heapq.heappush(queue, (time + alternative.picoseconds, len(seen) * 1000 + number, stage + (number == stage), kept))
        for value in alive:
            heapq.heappush(queue, (time, len(seen) * 1000 + 999, stage, alive - {value}))
    return float("inf")


def tiny(numbers: random.Random) -> Problem:
    """A chain of operations with some skip connections, whose values are used again in reverse order."""
    count = numbers.randint(3, 4)
    bytes, operations = [], []

    def add(reads: list[int], gives: int = 1) -> int:
        bytes.extend(64 * numbers.randint(1, 3) for _ in range(gives))
        given = list(range(len(bytes) - gives, len(bytes)))
        operations.append(Operation("", True, [], [Alternative(numbers.randint(1, 9) * 1000, 0, sorted(set(reads)), given, [], [])]))
        return given[0]

    chain = [add([])]
    for _ in range(count - 1):
        chain.append(add([chain[-1], numbers.choice(chain)]))
    gradient = add([chain[-1]])
    for value in reversed(chain):
        gradient = add([gradient, value])
    operations.append(Operation("", False, [], [Alternative(0, 0, [gradient], [], [], [])]))
    return Problem(0, 0, bytes, operations)


def check_solver() -> None:
    numbers, worse, reached = random.Random(1), 0, 0
    for _ in range(12):
        problem = tiny(numbers)
        highest = peak_of(problem, problem.once())
        for budget in range(highest, 0, -128):
            best, least = optimum(problem, budget, 60), shortest(problem, budget)
            assert best.isOptimal and best.time >= least - 1, (budget, best, least, problem)
            worse += best.time > least + 1
            if best.time == float("inf"):
                break
            assert peak_of(problem, best.alternatives) <= budget, (budget, best, problem)
            assert abs(time_of(best.alternatives) - time_of(problem.once()) - best.time) <= 1, (budget, best, problem)
            reached += best.time > 0
    assert reached >= 12 and worse == 0, (reached, worse)


def check_distance(model: str, blocks: int, most: float) -> None:
    """Runs the script, which fails if a plan exceeds its budget or is faster than the optimum. `most` is the maximum added time, relative
    to the time of a micro-step."""
    command = [sys.executable, BENCH / "optimum.py", model, "--blocks", str(blocks), "--budgets", "4", "--mtc", os.environ["MTC"]]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (result.stdout, result.stderr)
    rows = re.findall(r"^\| [\d.]+ MB \| ([\d.]+)% \| ([\d.]+)% \|", result.stdout, re.MULTILINE)
    assert len(rows) == 3, result.stdout
    assert float(rows[-1][1]) > 0 and all(float(added) - float(least) <= 100 * most for added, least in rows), result.stdout


check_solver()
check_distance("perceptron", blocks=3, most=0.005)
# With AVX-512 the library fuses more operations, so that the search has fewer alternatives.
check_distance("transformer", blocks=1, most=0.065 if has("avx512f") else 0.11)
