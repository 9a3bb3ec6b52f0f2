# RUN: %python %s
"""Faults in divided programs are found: `mtc-split-axes` divides small programs among two ranks, and each mutation changes the sums, the
parts or the ranks of one program as a faulty pass could. The verifier must refuse the program, or the values on two ranks must differ
from those of the undivided program. A mutation that nothing finds fails the test."""

import copy
import re
import subprocess
from collections import Counter

import numpy as np
from exchange import Mismatch, run_on_ranks
from generic_ir import Body
from interpret import Fault, parse
from split_mutations import MUTATIONS, VALUES, VERIFIER, Inapplicable
from split_programs import PROGRAMS

RANKS, CHUNKS = 2, 4
MINIMUM = 100  # mutations


def run_opt(text: str, *flags) -> subprocess.CompletedProcess:
    return subprocess.run(["mtc-opt", "-", *flags, "-mlir-print-local-scope"], input=text, capture_output=True, text=True)


LOWER = "-mtc-exchange-partials", "-mtc-decompose=library-calls", "-canonicalize", "-mtc-form-kernels"


def part_of(array: np.ndarray, text: str, rank: int) -> np.ndarray:
    """Returns the part of a variable that a rank has, by the variable's division."""
    if not text:
        return array
    numbers = {key: int(number) for key, number in re.findall(r"(\w+) = (\d+)", text)}
    axis, outer, parts = numbers["axis"], numbers.get("outer", 1), numbers["parts"]
    shape = array.shape
    blocks = array.reshape(*shape[:axis], outer, parts, shape[axis] // outer // parts, *shape[axis + 1 :])
    return np.take(blocks, rank, axis + 1).reshape(*shape[:axis], shape[axis] // parts, *shape[axis + 1 :])


class Program:
    """A program on one rank, with random variables and inputs, and its results."""

    def __init__(self, text: str, indices: int):
        (self.whole,) = parse(run_opt(text, *LOWER[1:]).stdout).values()
        self.divided = run_opt(text, f"-mtc-split-axes=ranks={RANKS} chunks={CHUNKS}", "-mlir-print-op-generic")
        assert self.divided.returncode == 0, self.divided.stderr
        random = np.random.default_rng(5)
        self.arguments = [random.integers(0, indices, shape) if np.issubdtype(dtype, np.integer) else random.normal(size=shape).astype(dtype)
                          for shape, dtype in self.whole.types]  # fmt: skip
        self.variables = {name: random.normal(size=shape).astype(dtype) for name, (shape, dtype) in self.whole.state.types.items()}
        self.whole.state.values = dict(self.variables)
        self.results = self.whole(*self.arguments)

    def differs(self, text: str) -> str:
        """Returns how the mutated program is found, or an empty text."""
        lowered = run_opt(text, *LOWER)
        if lowered.returncode:
            assert re.search("see current operation|error: @", lowered.stderr), f"refused by the parser instead of the verifier: {lowered.stderr}"
            return VERIFIER
        splits = dict(re.findall(r"mtc.variable +\w+ @([\w.]+) : .*along (<.*?>)", lowered.stdout))
        ranks = []
        for rank in range(RANKS):
            (function,) = parse(lowered.stdout).values()
            function.state.values = {name: part_of(value, splits.get(name, ""), rank) for name, value in self.variables.items()}
            ranks.append(function)
        try:
            results = run_on_ranks(ranks, [self.arguments] * RANKS)
        except (Mismatch, Fault):
            return VALUES
        for rank, (function, found) in enumerate(zip(ranks, results)):
            if not all(np.allclose(a, b, 1e-4, 1e-4) for a, b in zip(found, self.results, strict=True)):
                return VALUES
            for name, value in self.whole.state.values.items():
                if not np.allclose(function.state.values[name], part_of(value, splits.get(name, ""), rank), 1e-4, 1e-4):
                    return VALUES
        return ""


def main():
    np.seterr(all="ignore")
    found, missed, unexpected, applied = Counter(), [], [], Counter()
    for program_name, (text, indices) in PROGRAMS.items():
        program = Program(text, indices)
        body = Body.parse(program.divided.stdout)
        assert not program.differs(str(body)), f"{program_name}: the program itself differs from that of one rank"
        for name, (change, by) in MUTATIONS.items():
            mutated = copy.deepcopy(body)
            try:
                change(mutated)
            except Inapplicable:
                continue
            how = program.differs(str(mutated))
            applied[name] += 1
            found[how] += 1
            if not how:
                missed.append(f"{program_name}: {name}")
            elif how != by:
                unexpected.append(f"{program_name}: {name}: found by {how}, expected {by}")
    total = applied.total()
    print(f"{total} mutations of {len(applied)} kinds in {len(PROGRAMS)} programs: {found[VERIFIER]} found by the verifier, "
          f"{found[VALUES]} by values, {len(missed)} missed")  # fmt: skip
    assert not missed, missed
    assert not unexpected, unexpected
    assert applied.keys() == MUTATIONS.keys(), f"no program has the operations of {sorted(MUTATIONS.keys() - applied.keys())}"
    assert total >= MINIMUM, f"{total} mutations, expected at least {MINIMUM}"


main()
