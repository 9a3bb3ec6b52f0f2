"""Records of failures: the case, a script that reproduces it, and the differences."""

import shlex
from pathlib import Path

import onnx
from case import STEPS, Case
from comparison import RuleError, expect
from program import EMULATED, Checker, Failure
from safetensors.numpy import save_file
from tape import Rejected


def keep(folder: Path, seed: int, index: int, case: Case, failure: Failure, checker: Checker) -> Path:
    """Writes the case into a separate folder, and returns the folder."""
    kind = "".join(c if c.isalnum() else "-" for c in failure.kind)[:60].strip("-")
    own = folder / f"seed{seed}-graph{index}-{kind}"
    case.write(own)
    (own / "model.txt").write_text(onnx.printer.to_text(case.model) + "\n")
    (own / "reproduce.sh").write_text(script(case))
    (own / "reproduce.sh").chmod(0o755)
    (own / "differences.txt").write_text(f"{failure.kind}\n{shlex.join(failure.command)}\n{describe(case, failure, checker, own)}\n")
    return own


def describe(case: Case, failure: Failure, checker: Checker, own: Path) -> str:
    """Describes the differences in the reduced case, or in the original one if the reduced one cannot be compared."""
    try:
        expectation = expect(case)
    except (Rejected, RuleError):
        return failure.text
    save_file({name: e.value for name, e in expectation.gradients.items()}, own / "expected-gradients.safetensors")
    lines = [f"expected loss of step {i}: {e.value:.9g} within {e.tolerance:.2g}" for i, e in enumerate(expectation.losses, 1)]
    same = [f.text for f in checker.failures(case, expectation) if f.kind == failure.kind]
    return "\n".join([*(same or [failure.text]), *lines])


def script(case: Case) -> str:
    flags = case.flags() + case.skip_flags() + (EMULATED if case.emulated else [])
    races = "MTC_EMULATED_RACES=1 " if case.emulated else ""
    program = f"{races}./program {shlex.join(case.data_flags())} --no-shuffle"
    return f"""#!/bin/sh
# usage: reproduce.sh [MTC]; gradients.safetensors must equal expected-gradients.safetensors
cd "$(dirname "$0")" || exit 1
"${{1:-mtc}}" compile model.onnx {shlex.join(flags)} -o program || exit
{program} --gradients gradients.safetensors || exit
{program} --steps {STEPS} --metrics metrics.jsonl
"""
