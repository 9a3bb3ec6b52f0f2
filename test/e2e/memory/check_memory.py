# RUN: %python %s %t
"""--check-memory trains bit-identically. A program with an error in its plan or in an operation ends, and its message names both values
involved."""

import json
import re
import struct
from dataclasses import replace

from models import DIGITS, GPT2, SMALL_GPT2
from program import MTC, Program, compile_example, own_folder, run

STEPS = 3
folder = own_folder()


def trained(program, name: str) -> tuple[bytes, str]:
    log = folder / f"{name}.jsonl"
    weights = program.exported(name, "--steps", STEPS, "--metrics", log)
    return weights, re.findall(r'"loss":\s*[^,}]*', log.read_text())


def compare(name: str, example, *flags) -> None:
    """Without errors, --check-memory reports nothing and changes no bit; only the live bytes are more, since values are apart."""
    kept = [
        compile_example(example, folder, "adamw", STEPS * example.batch * 2, *flags, *more, name=f"{name}_{i}")
        for i, more in enumerate(((), ("--check-memory",)))
    ]
    plain, checked = (trained(program, program.path.name) for program in kept)
    assert len(plain[1]) == STEPS and plain == checked, name
    for run_flags in (("--evaluate",), ("--gradients", folder / "gradients.safetensors")):
        kept[1].run(*run_flags)
    reports = []
    for program in kept:
        program.run("--steps", 1, "--memory-report", folder / "memory.json")
        reports.append(json.loads((folder / "memory.json").read_text()))
    assert all(each["planned_bytes"] == each["arena_bytes"] for each in reports), reports
    live = [
        json.loads(run([MTC, "plan", example.model, *example.flags, "--optimizer", "adamw", *flags, *more, "--json"], folder).stdout)["live_bytes"]
        for more in ((), ("--check-memory",))
    ]
    assert live[0] < live[1], live


compare("digits", DIGITS)
compare("gpt2", GPT2)
compare("recomputed", GPT2, "--recompute", "all", "--clip-norm", "1")
compare("bf16", GPT2, "--precision", "bf16", "--optimizer-bits", "8")
compare("accumulated", GPT2, "--accumulate", "2")
compare("emulated", SMALL_GPT2, "--target", "cuda", "--emulate")
# Nothing is written after inputs whose sizes are not multiples of the alignment.
few = replace(DIGITS, batch=4, flags=("--dim", "batch=4", *DIGITS.flags[2:]))
compare("emulated few", few, "--target", "cuda", "--emulate")
# Between a step's loss and its report, the arena is checked more often than there are slots for results.
compare("emulated accumulated", few, "--target", "cuda", "--emulate", "--accumulate", "3", "--clip-norm", "1")

# The budget applies to the arena without the gaps between values, in mtc plan too.
command = [MTC, "plan", DIGITS.model, "--dim", "batch=32", "--loss", "cross-entropy", "--check-memory", "--json"]
free = json.loads(run(command, folder).stdout)
assert free["live_bytes"] < free["peak_bytes"], free
between = f"--memory={(free['live_bytes'] + free['peak_bytes']) // 2}"
plan = json.loads(run([*command, between], folder).stdout)
assert plan["fits"] and plan["peak_bytes"] == free["peak_bytes"], plan
run([MTC, "compile", *command[2:-1], between, "-o", folder / "between"], folder)

# The text of an allocated program is edited so that it has errors.
FLAGS = ("--dim", "batch=32", "--loss", "cross-entropy", "--check-memory")
placed = folder / "placed.mlir"
run([MTC, "compile", DIGITS.model, *FLAGS, "--emit", "allocated", "-o", placed], folder)
text = placed.read_text()


def compiled(changed: str, name: str, code: int = 0):
    file = folder / f"{name}.mlir"
    file.write_text(changed)
    return run([MTC, "compile", file, "-o", folder / name], folder, code)


def values_of_step() -> list[tuple[int, int, str]]:
    """Returns the producer, the last user and the slice of each value of the micro-step."""
    lines = text[text.index("mtc.step @micro_step") :].splitlines()[1:]
    values = []
    for number, line in enumerate(lines):
        if not re.match(r"\s+mtc\.(launch|call)", line):
            break
        results = re.findall(r"#mtc\.at<.*?>>", re.search(r" into (\[.*?>\])", line)[1])
        lives = json.loads(re.search(r" until (\[.*?\])", line)[1])
        values += [(number, last, slice) for slice, last in zip(results, lives, strict=True) if last >= 0]
    return values


# Overlapping slices of live values are rejected before code generation.
values = values_of_step()
kept = next(value for value in values if value[1] - value[0] > 2)
other = next(value for value in values if kept[0] < value[0] < kept[1] and value[2] != kept[2])
offset = re.match(r"#mtc\.at<(\d+)", kept[2])[1]
overlapping = text.replace(other[2], re.sub(r"<\d+", f"<{offset}", other[2], count=1))
message = compiled(overlapping, "overlapping", code=1).stderr
assert re.search(r"node '.*': 'mtc\.(launch|call)' op writes .* where a result of node '.*' is live until operation \d+, node '.*', has run \(step_c4\)", message), message

# A value is read after the end of its lifetime.
shorter = text.replace(f"until [{kept[1]}]", f"until [{kept[0]}]", 1)
assert "where no value is live (step_c5)" in compiled(shorter, "shorter", code=1).stderr


# Strides that exceed the operands of the first contraction, [32, 64] x [64, 256].
for pattern, wrong, refusal in ((r"out_strides = \[256, 1\]", "out_strides = [258, 1]", "by strides that leave its result"),
                                (r"lhs_strides = \[64, 1\]", "lhs_strides = [66, 1]", "where no value is live")):  # fmt: skip
    start = text.index("mtc.step @micro_step")
    changed = text[:start] + re.sub(pattern, wrong, text[start:], count=1)
    assert changed != text, pattern
    said = compiled(changed, "strides", code=1).stderr
    assert refusal in said and "(step_c5)" in said, said

compiled(text, "whole")


def ends(name: str, strides: tuple[int, int], wrong: tuple[int, int], *expected: str) -> None:
    """Changes the strides of the first contraction in the program's tables, as if a library were faulty, and expects the program to end
    there."""
    table = (folder / "whole").read_bytes()
    record = table.index(struct.pack("<3q", 32, 256, 64))
    place = table.index(struct.pack("<2q", *strides), record)
    program = folder / name
    program.write_bytes(table[:place] + struct.pack("<2q", *wrong) + table[place + 16 :])
    program.chmod(0o755)
    result = Program(program, DIGITS.data(32)).run("--steps", 1, code=2)
    for each in expected:
        assert re.search(each, result.stderr), (each, result.stderr)


# Library calls write or read out of bounds.
ends("writes", (256, 1), (258, 1),
     r"error: layers\.0/Gemm: contraction .* has changed byte \d+ of the arena, which is none of its results: it holds nothing, \d+ bytes after a result of 'layers\.0/Gemm', which '.*' reads last")  # fmt: skip
ends("reads", (64, 1), (66, 1),
     r"error: layers\.0/Gemm: contraction .* gives no number at element \d+ of the result", "it has read bytes that hold no value")  # fmt: skip
