"""Recomputation as a problem for solvers: what `mtc-print-recomputation` says of a function, what is alive while its operations
run, and the least time that computing values again takes within a budget, by HiGHS.

The formulation is that of Checkmate (Jain et al., "Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization",
MLSys 2020) with stages that end with one operation after the other, in the order of the function; in front of it others run
again. Whether a value is alive is a number between two operations that touch it, which is whole where the choice of what
runs is. Beyond the paper's: operations have several values and several ways to compute them, results may lie where operands
were that are read last, calls have scratch, and what reads a variable does not run again once that is written.
"""

import json
import math
from dataclasses import dataclass

import highspy
import numpy as np

TOLERANCE = 1e-6  # of the time without recomputation: choices that differ less are equally good


@dataclass
class Way:
    picoseconds: int
    scratch: int
    reads: list[int]
    gives: list[int]
    variables: list[str]
    in_place: list[tuple[int, int, int]]  # number of a result, value that it may be computed over, scratch then


@dataclass
class Operation:
    node: str
    again: bool  # may run more than once
    writes: list[str]
    ways: list[Way]  # the first is the operation itself


@dataclass
class Problem:
    fixed: int  # bytes that outlive the function
    live: int  # the most that is alive, as the compiler says
    bytes: list[int]  # of each value; 0: it lies in a variable
    operations: list[Operation]

    @staticmethod
    def read(line: str) -> "Problem":
        found = json.loads(line)
        operations = [Operation(each["node"], each["again"], each["writes"], [Way(**way) for way in each["ways"]])
                      for each in found["operations"]]  # fmt: skip
        return Problem(found["fixed_bytes"], found["live_bytes"], found["bytes"], operations)

    def once(self) -> list[Way]:
        return [operation.ways[0] for operation in self.operations]


def time_of(ways: list[Way]) -> int:
    return sum(way.picoseconds for way in ways)


def peak_of(problem: Problem, ways: list[Way]) -> int:
    """The most that is alive while these run, each value from when it is computed to its last reader before it is computed anew."""
    dies: list[set[int]] = [set() for _ in ways]  # values after whose last use nothing needs them
    last: dict[int, int] = {}
    for number, way in enumerate(ways):
        for value in way.gives:
            if value in last:
                dies[last[value]].add(value)
        last |= dict.fromkeys([*way.reads, *way.gives], number)
    for value, number in last.items():
        dies[number].add(value)
    alive = peak = problem.fixed
    for way, dead in zip(ways, dies):
        taken: set[int] = set()
        scratch = way.scratch
        for number, value in enumerate(way.gives):
            over = next((each for each in way.in_place
                         if each[0] == number and each[1] in dead and each[1] not in taken | set(way.gives)), None)  # fmt: skip
            if not over:
                alive += problem.bytes[value]
                continue
            taken.add(over[1])
            scratch = over[2] if number == 0 else scratch
        peak = max(peak, alive + scratch)
        alive -= sum(problem.bytes[value] for value in dead - taken)
    return peak


# ------------------------------------------------------------------------------------------------- the optimum


@dataclass
class Solution:
    time: float  # picoseconds: no choice adds less
    isOptimal: bool  # the choice that is known adds no more
    ways: list[Way]  # what runs then; empty where no choice was found


class Program:
    """A mixed-integer program, row by row."""

    def __init__(self, seconds: float):
        self.highs = highspy.Highs()
        self.highs.silent()
        for option, value in {"time_limit": seconds, "mip_rel_gap": 0.0, "mip_abs_gap": TOLERANCE, "threads": 1}.items():
            self.highs.setOptionValue(option, value)
        self.one = self.add(least=1.0)

    def add(self, cost: float = 0.0, least: float = 0.0, isWhole: bool = False) -> int:
        """A variable of at most 1."""
        number = self.highs.getNumCol()
        self.highs.addCol(cost, least, 1.0, 0, np.array([], np.int32), np.array([]))
        if isWhole:
            self.highs.changeColIntegrality(number, highspy.HighsVarType.kInteger)
        return number

    def at_most(self, terms: list[tuple[float, int]], bound: float = 0.0) -> None:
        """A row: the sum of factors times variables is no larger."""
        sums: dict[int, float] = {}
        for factor, variable in terms:
            sums[variable] = sums.get(variable, 0.0) + factor
        self.highs.addRow(-math.inf, bound, len(sums), np.array(list(sums), np.int32), np.array(list(sums.values())))

    def solve(self) -> tuple[bool, float, list[float]]:
        """Whether the solution is optimal, the bound below all solutions, and the variables; infinity where there is no solution."""
        self.highs.run()
        status, info = self.highs.getModelStatus(), self.highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return True, math.inf, []
        isFound = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        values = list(self.highs.getSolution().col_value) if isFound else []
        return status == highspy.HighsModelStatus.kOptimal, info.mip_dual_bound, values


def in_order(operation: Operation) -> list[Way]:
    """The ways of an operation, each behind those that give what it starts from."""
    done, rest = operation.ways[:1], operation.ways[1:]
    while rest:
        waiting = {value for way in rest for value in way.gives}
        free = [way for way in rest if waiting.isdisjoint(way.reads)] or rest[:1]
        done += free
        rest = [way for way in rest if way not in free]
    return done


def candidates(problem: Problem, stage: int) -> list[Way]:
    """What may run again in front of an operation for its sake, in order."""
    needed, found = set(problem.operations[stage].ways[0].reads), []
    written: set[str] = set()  # from the operation that is looked at on
    for operation in reversed(problem.operations[:stage]):
        for way in reversed(in_order(operation) if operation.again else []):
            isKept = all(problem.bytes[value] == 0 for value in way.gives)
            if not isKept and not needed.isdisjoint(way.gives) and written.isdisjoint(way.variables):
                found.append(way)
                needed |= set(way.reads)
        written |= set(operation.writes)
    return found[::-1]


class Stages:
    """The program of a problem: in front of each operation, what runs again, and what is alive. Its costs are parts of the time
    without it."""

    def __init__(self, problem: Problem, budget: int, seconds: float, known: float):
        self.problem, self.program, self.time = problem, Program(seconds), time_of(problem.once())
        costs: list[tuple[float, int]] = []
        self.unit = max(problem.bytes)  # of bytes in rows
        self.room = (budget - problem.fixed) / self.unit
        self.alive: dict[int, int] = {}  # value -> variable, as of now
        self.runs: list[tuple[int, Way]] = []  # variable, and what runs where it is 1
        for stage, operation in enumerate(problem.operations):
            again = [(self.program.add(way.picoseconds / self.time, isWhole=True), way) for way in candidates(problem, stage)]
            costs += [(way.picoseconds / self.time, variable) for variable, way in again]
            self.readers(again, operation.ways[0])
            for variable, way in [*again, (self.program.one, operation.ways[0])]:
                self.run(variable, way)
        self.program.at_most(costs, known / self.time + TOLERANCE)

    def readers(self, again: list[tuple[int, Way]], last: Way) -> None:
        """What runs again in front of an operation is read there: mtc computes again in front of readers."""
        for number, (variable, way) in enumerate(again):
            later = [*again[number + 1 :], (self.program.one, last)]
            self.program.at_most([(1, variable)] + [(-1, each) for each, reader in later if not set(way.gives).isdisjoint(reader.reads)])

    def run(self, runs: int, way: Way) -> None:
        bytes = self.problem.bytes
        memory = [(bytes[value] / self.unit, variable) for value, variable in self.alive.items()]
        memory += [((way.scratch + sum(bytes[value] for value in way.gives)) / self.unit, runs)]
        after = {}
        for value in dict.fromkeys([*way.reads, *way.gives]):
            if bytes[value] == 0:
                continue
            before = [(-1, self.alive[value])] if value in self.alive else []
            born = [(-1, runs)] if value in way.gives else []
            after[value] = self.program.add()
            self.program.at_most([(1, after[value]), *before, *born])
            if value in way.reads:
                self.program.at_most([(1, runs), *before])
        over: dict[tuple[str, int], list[tuple[float, int]]] = {}
        for number, operand, scratch in way.in_place:
            shares = self.program.add()
            freed = bytes[operand] + (way.scratch - scratch if number == 0 else 0)
            memory.append((-freed / self.unit, shares))
            over.setdefault(("result", number), [(-1, runs)]).append((1, shares))
            dies = [(-1, self.alive[operand]), (1, after[operand])]
            over.setdefault(("operand", operand), dies).append((1, shares))
        for terms in over.values():
            self.program.at_most(terms)
        self.program.at_most(memory, self.room)
        self.alive |= after
        self.runs.append((runs, way))

    def solve(self) -> Solution:
        isOptimal, bound, values = self.program.solve()
        return Solution(bound * self.time, isOptimal, [way for variable, way in self.runs if values and values[variable] > 0.5])


def optimum(problem: Problem, budget: int, seconds: float, known: float = math.inf) -> Solution:
    """The least time that is added so that no more than `budget` bytes are alive, to a millionth of the time without it; infinity
    where no choice is enough, or none takes as little as `known` picoseconds."""
    return Stages(problem, budget, seconds, known).solve()
