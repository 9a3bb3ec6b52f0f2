# RUN: %python %s %t
"""Compiles models with one fault each, and valid models, with an instrumented compiler.

Each model compiles or is rejected with an error. A report of a sanitizer ends mtc with a signal.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutate import HARMLESS, Mutated, mutated_models, valid_models
from program import MTC, own_folder

SEED = 0
FAULTY, VALID = 200, 20
MINIMUM = {"refused": 170, "compiled": VALID}
LAYERED = 3  # number of valid models with parameters, from the start of the list
FLAGS = ["--loss", "mse"]
TIMEOUT = 120

MESSAGE = re.compile(r"mtc: (error|warning|note): ")
INTERNAL = re.compile(r"'\w+\.[\w.]+' op ")  # the compiler's own operations, which messages must not mention


def mtc(command: str, folder: Path, *flags) -> tuple[int, list[str]]:
    """Returns the exit code, and the errors that the exit code and the messages show."""
    words = [MTC, command, "model.onnx", *FLAGS, *flags]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    lines = result.stderr.splitlines()
    problems = [f"{command}: {line}" for line in lines if not MESSAGE.match(line) or INTERNAL.search(line)]
    if result.returncode not in (0, 1):
        problems.append(f"{command}: exit code {result.returncode}")
    elif bool(result.returncode) != any(line.startswith("mtc: error: ") for line in lines):
        problems.append(f"{command}: exit code {result.returncode} and the messages {lines}")
    return result.returncode, problems


def check(mutated: Mutated, folder: Path) -> tuple[str, list[str]]:
    """Returns the verdict on a model, and its errors."""
    folder.mkdir()
    (folder / "model.onnx").write_bytes(mutated.model.SerializeToString())
    code, problems = mtc("compile", folder, "--no-cache", "-o", "train")
    left = {file.name for file in folder.iterdir()} - {"model.onnx", "train.weights.safetensors"}
    if left != ({"train"} if code == 0 else set()):
        problems.append(f"compile: exit code {code} left {sorted(left)}")
    plan_code, plan_problems = mtc("plan", folder)
    if plan_code != code:
        problems.append(f"plan: exit code {plan_code}, compile: {code}")
    return "refused" if code else "compiled", problems + plan_problems


def main() -> int:
    folder = own_folder()
    bases = list(valid_models())
    models = mutated_models(bases, FAULTY, SEED) + mutated_models(bases[:LAYERED], VALID, SEED, HARMLESS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, models, [folder / str(index) for index in range(len(models))]))
    counts = Counter(kind for kind, _ in results)
    print(dict(counts))
    failures = [f"{model.name()}: {problem}" for model, (_, problems) in zip(models, results) for problem in problems]
    for failure in failures:
        print("FAILED", failure)
    assert all(counts[kind] >= least for kind, least in MINIMUM.items()), counts
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
