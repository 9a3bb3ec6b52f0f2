# RUN: %python %s %t
"""mtc rejects the invalid models that onnx's checker rejects, each with one fault, and accepts valid ones.

LENIENT and STRICT list the exceptions by the first words of the message; docs/reference/onnx.md has the same list with reasons.
"""

import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from mutate import FAULTS, HARMLESS, Mutated, mutated_models, valid_models
from program import MTC, own_folder

SEED = 0
BASES, FAULTY, VALID = 90, 420, 60
MINIMUM_BASES, MINIMUM_REFUSED = 70, 330

# Messages of the checker for models that mtc accepts.
LENIENT = {
    "Field 'shape' of 'type' is required": "the shape of an output need not be declared",
    "Field 'name' of 'graph' is required": "the graph's name says nothing",
    "Nodes in a graph must be topologically sorted": "nodes are sorted",
    "[ShapeInferenceError] (op_type:Add): A typestr: T, has unsupported type": "a type that a later definition allows",
}
# Messages of mtc for models that the checker accepts.
STRICT = {
    r"attribute .* = .*, expected": "a value that the standard's text excludes, which the checker does not look at",
    r"has an unknown attribute": "of LayerNormalization, whose attributes the checker does not look at",
    r"is declared as .* and as": "two declarations contradict each other",
    r"is required, but omitted": "an operand in the middle of a list",
    r"element type STRING is not supported": "strings",
    r"must be known at compile time": "shapes that depend on data",
    r"expected 0 or more": "negative extents",
    r"_data has \d+ (elements|bytes)": "an initializer with too few or too many elements",
    r"operand \d+ .* has (shape|rank) .*, expected": "a shape that the standard's text excludes, which the checker does not look at",
    r"but the file declares": "an inner value's type that does not follow from the nodes",
    r"cannot (give|expand) shape|cannot multiply|does not broadcast": "shapes that do not fit, where the checker infers none",
}


def inspect(mutated: Mutated, folder, index: int) -> tuple[int, str]:
    """Returns the exit code and the messages."""
    file = folder / f"{index}.onnx"
    file.write_bytes(mutated.model.SerializeToString())
    result = subprocess.run([MTC, "inspect", file], capture_output=True, text=True, errors="replace", timeout=60)
    file.unlink()
    return result.returncode, result.stderr


def inspect_all(models: list[Mutated], folder) -> list[tuple[int, str]]:
    with ThreadPoolExecutor() as pool:
        return list(pool.map(inspect, models, [folder] * len(models), range(len(models))))


def choose_bases(folder) -> list:
    """Returns valid models that mtc accepts: those with several nodes, and an even selection of backend tests."""
    every = list(valid_models())
    chosen = every[:3] + every[3 :: len(every) // BASES]
    results = inspect_all([Mutated(name, "none", model) for name, model in chosen], folder)
    bases = [base for base, (code, _) in zip(chosen, results) if code == 0 and not Mutated(*base[:1], "", base[1]).problem()]
    assert len(bases) >= MINIMUM_BASES and bases[:3] == chosen[:3], f"mtc accepts {len(bases)} of {len(chosen)} valid models"
    return bases


def main() -> int:
    folder = own_folder()
    bases = choose_bases(folder)
    failures, counts = [], Counter()

    faulty = mutated_models(bases, FAULTY, SEED)
    for mutated, (code, messages) in zip(faulty, inspect_all(faulty, folder)):
        problem = mutated.problem()
        errors = [line for line in messages.splitlines() if "error: " in line]
        counts["refused by the checker" if problem else "valid all the same", "refused" if code else "taken"] += 1
        if code not in (0, 1) or bool(code) != bool(errors):
            failures.append(f"{mutated.name()}: exit code {code}\n{messages}")
        elif problem and code == 0 and "is omitted:" in messages:
            counts["refused by the checker", "an output is left out"] += 1
        elif problem and code == 0 and not any(problem.startswith(words) for words in LENIENT):
            failures.append(f"{mutated.name()}: accepted, but onnx's checker reports: {problem}")
        elif not problem and code == 1 and not any(re.search(words, error) for error in errors for words in STRICT):
            failures.append(f"{mutated.name()}: rejected, but valid: {errors}")

    valid = mutated_models(bases, VALID, SEED, HARMLESS)
    for mutated, (code, messages) in zip(valid, inspect_all(valid, folder)):
        problem = mutated.problem()
        assert not problem, f"{mutated.name()}: the change is harmful: {problem}"
        counts["valid", "refused" if code else "taken"] += 1
        if code != 0:
            failures.append(f"{mutated.name()}: rejected, but valid\n{messages}")

    for key, count in sorted(counts.items()):
        print(*key, count)
    print(f"{len(FAULTS)} kinds of faults, {len(HARMLESS)} harmless changes, {len(bases)} models")
    assert counts["refused by the checker", "refused"] >= MINIMUM_REFUSED, counts
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
