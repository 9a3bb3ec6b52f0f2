"""Optimal rematerialization within a memory budget, as a mixed-integer program for HiGHS.

The input is the output of `mtc-print-recomputation` for one function. The formulation follows Checkmate (Jain et al.,
"Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization", MLSys 2020): each stage ends with one operation, in
the order of the function, and may recompute other operations first. Liveness variables are continuous; they are integral if the
recomputation variables are. Extensions of Checkmate:

- an operation may have several results and several alternative computations;
- a result may be computed in place of an operand at its last use;
- library calls use scratch memory;
- an operation that reads a variable is not recomputed after the variable is written.
"""

import json
import math
from dataclasses import dataclass

import highspy
import numpy as np

TOLERANCE = 1e-6  # Smaller differences, relative to the time without recomputation, are ignored.


@dataclass
class Alternative:
    picoseconds: int
    scratch: int
    reads: list[int]
    gives: list[int]
    variables: list[str]
    in_place: list[tuple[int, int, int]]  # (result, value to overwrite, scratch in this case)


@dataclass
class Operation:
    node: str
    again: bool  # may be recomputed
    writes: list[str]
    alternatives: list[Alternative]  # alternatives; the first is the operation itself


@dataclass
class Problem:
    fixed: int  # bytes that are live during the whole function
    live: int  # maximum number of live bytes, as computed by mtc
    bytes: list[int]  # size of each value; 0 if it is stored in a variable
    operations: list[Operation]

    @staticmethod
    def read(line: str) -> "Problem":
        found = json.loads(line)
        operations = [Operation(each["node"], each["again"], each["writes"], [Alternative(**alternative) for alternative in each["alternatives"]])
                      for each in found["operations"]]  # fmt: skip
        return Problem(found["fixed_bytes"], found["live_bytes"], found["bytes"], operations)

    def once(self) -> list[Alternative]:
        return [operation.alternatives[0] for operation in self.operations]


def time_of(alternatives: list[Alternative]) -> int:
    return sum(alternative.picoseconds for alternative in alternatives)


def peak_of(problem: Problem, alternatives: list[Alternative]) -> int:
    """Returns the maximum number of live bytes. A value is live from each computation to its last use before the next one."""
    dies: list[set[int]] = [set() for _ in alternatives]  # values whose last use is this operation
    last: dict[int, int] = {}
    for number, alternative in enumerate(alternatives):
        for value in alternative.gives:
            if value in last:
                dies[last[value]].add(value)
        last |= dict.fromkeys([*alternative.reads, *alternative.gives], number)
    for value, number in last.items():
        dies[number].add(value)
    alive = peak = problem.fixed
    for alternative, dead in zip(alternatives, dies):
        taken: set[int] = set()
        scratch = alternative.scratch
        for number, value in enumerate(alternative.gives):
            over = next((each for each in alternative.in_place
                         if each[0] == number and each[1] in dead and each[1] not in taken | set(alternative.gives)), None)  # fmt: skip
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
    time: float  # lower bound on the added time, in picoseconds
    isOptimal: bool  # the best known choice reaches the bound
    alternatives: list[Alternative]  # operations of the best choice, in order; empty if none was found


class Program:
    """A mixed-integer program."""

    def __init__(self, seconds: float):
        self.highs = highspy.Highs()
        self.highs.silent()
        for option, value in {"time_limit": seconds, "mip_rel_gap": 0.0, "mip_abs_gap": TOLERANCE, "threads": 1}.items():
            self.highs.setOptionValue(option, value)
        self.one = self.add(least=1.0)

    def add(self, cost: float = 0.0, least: float = 0.0, isWhole: bool = False) -> int:
        """Adds a variable between `least` and 1."""
        number = self.highs.getNumCol()
        self.highs.addCol(cost, least, 1.0, 0, np.array([], np.int32), np.array([]))
        if isWhole:
            self.highs.changeColIntegrality(number, highspy.HighsVarType.kInteger)
        return number

    def at_most(self, terms: list[tuple[float, int]], bound: float = 0.0) -> None:
        """Adds the constraint that the sum of factors times variables is at most `bound`."""
        sums: dict[int, float] = {}
        for factor, variable in terms:
            sums[variable] = sums.get(variable, 0.0) + factor
        self.highs.addRow(-math.inf, bound, len(sums), np.array(list(sums), np.int32), np.array(list(sums.values())))

    def solve(self) -> tuple[bool, float, list[float]]:
        """Returns whether the solution is optimal, the dual bound (infinity if infeasible), and the values of the variables."""
        self.highs.run()
        status, info = self.highs.getModelStatus(), self.highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return True, math.inf, []
        isFound = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        values = list(self.highs.getSolution().col_value) if isFound else []
        return status == highspy.HighsModelStatus.kOptimal, info.mip_dual_bound, values


def in_order(operation: Operation) -> list[Alternative]:
    """Returns the alternatives of an operation in topological order."""
    done, rest = operation.alternatives[:1], operation.alternatives[1:]
    while rest:
        waiting = {value for alternative in rest for value in alternative.gives}
        free = [alternative for alternative in rest if waiting.isdisjoint(alternative.reads)] or rest[:1]
        done += free
        rest = [alternative for alternative in rest if alternative not in free]
    return done


def candidates(problem: Problem, stage: int) -> list[Alternative]:
    """Returns the operations that may be recomputed before an operation for its operands, in order."""
    needed, found = set(problem.operations[stage].alternatives[0].reads), []
    written: set[str] = set()  # variables written by the current operation or a later one
    for operation in reversed(problem.operations[:stage]):
        for alternative in reversed(in_order(operation) if operation.again else []):
            isKept = all(problem.bytes[value] == 0 for value in alternative.gives)
            if not isKept and not needed.isdisjoint(alternative.gives) and written.isdisjoint(alternative.variables):
                found.append(alternative)
                needed |= set(alternative.reads)
        written |= set(operation.writes)
    return found[::-1]


class Stages:
    """The mixed-integer program of a problem. Costs are relative to the time without recomputation."""

    def __init__(self, problem: Problem, budget: int, seconds: float, known: float):
        self.problem, self.program, self.time = problem, Program(seconds), time_of(problem.once())
        costs: list[tuple[float, int]] = []
        self.unit = max(problem.bytes)  # bytes per unit in constraints
        self.capacity = (budget - problem.fixed) / self.unit
        self.alive: dict[int, int] = {}  # value -> its current liveness variable
        self.runs: list[tuple[int, Alternative]] = []  # variable, and the operation that runs if it is 1
        for stage, operation in enumerate(problem.operations):
            again = [(self.program.add(alternative.picoseconds / self.time, isWhole=True), alternative) for alternative in candidates(problem, stage)]
            costs += [(alternative.picoseconds / self.time, variable) for variable, alternative in again]
            self.require_users(again, operation.alternatives[0])
            for variable, alternative in [*again, (self.program.one, operation.alternatives[0])]:
                self.run(variable, alternative)
        self.program.at_most(costs, known / self.time + TOLERANCE)

    def require_users(self, again: list[tuple[int, Alternative]], last: Alternative) -> None:
        """A recomputed value has a user in the same stage, because mtc recomputes values immediately before their users."""
        for number, (variable, alternative) in enumerate(again):
            later = [*again[number + 1 :], (self.program.one, last)]
            self.program.at_most([(1, variable)] + [(-1, each) for each, user in later if not set(alternative.gives).isdisjoint(user.reads)])

    def run(self, runs: int, alternative: Alternative) -> None:
        bytes = self.problem.bytes
        memory = [(bytes[value] / self.unit, variable) for value, variable in self.alive.items()]
        memory += [((alternative.scratch + sum(bytes[value] for value in alternative.gives)) / self.unit, runs)]
        after = {}
        for value in dict.fromkeys([*alternative.reads, *alternative.gives]):
            if bytes[value] == 0:
                continue
            before = [(-1, self.alive[value])] if value in self.alive else []
            born = [(-1, runs)] if value in alternative.gives else []
            after[value] = self.program.add()
            self.program.at_most([(1, after[value]), *before, *born])
            if value in alternative.reads:
                self.program.at_most([(1, runs), *before])
        over: dict[tuple[str, int], list[tuple[float, int]]] = {}
        for number, operand, scratch in alternative.in_place:
            shares = self.program.add()
            freed = bytes[operand] + (alternative.scratch - scratch if number == 0 else 0)
            memory.append((-freed / self.unit, shares))
            over.setdefault(("result", number), [(-1, runs)]).append((1, shares))
            dies = [(-1, self.alive[operand]), (1, after[operand])]
            over.setdefault(("operand", operand), dies).append((1, shares))
        for terms in over.values():
            self.program.at_most(terms)
        self.program.at_most(memory, self.capacity)
        self.alive |= after
        self.runs.append((runs, alternative))

    def solve(self) -> Solution:
        isOptimal, bound, values = self.program.solve()
        return Solution(bound * self.time, isOptimal, [alternative for variable, alternative in self.runs if values and values[variable] > 0.5])


def optimum(problem: Problem, budget: int, seconds: float, known: float = math.inf) -> Solution:
    """Returns the minimum added time such that at most `budget` bytes are live, to a relative precision of 1e-6. The time is infinity
    if no choice meets the budget in at most `known` picoseconds."""
    return Stages(problem, budget, seconds, known).solve()
