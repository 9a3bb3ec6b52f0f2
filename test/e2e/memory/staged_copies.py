# RUN: %python %s %t
"""An allocated module trains bit-identically if copies on streams move a value to a host arena and back."""

import json
import math
import re

from models import DIGITS
from program import MTC, Program, own_folder, run

BATCH, STEPS = 320, 6  # batches of this size are staged, and steps after the first one run as a CUDA graph
FLAGS = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--lr", "1e-2")
folder = own_folder()


def slices(line: str) -> tuple[list[str], list[str]]:
    """Returns the slices that a launch or a call reads and writes."""
    reads, writes = re.fullmatch(r"\s+mtc\.(?:launch|call) .*?(\[#mtc\.at.*?) into (\[.*?>\]).*", line).groups()
    return tuple(re.findall(r"#mtc\.at<(.*?>)>", part) for part in (reads, writes))


def byte_range(slice: str) -> tuple[int, int]:
    offset, extents, bits = re.fullmatch(r"(\d+), tensor<((?:\d+x)*)[a-z]+(\d+)>", slice).groups()
    elements = math.prod(int(extent) for extent in extents.split("x")[:-1])
    return int(offset), int(offset) + elements * max(1, int(bits) // 8)


def overlap(one: str, other: str) -> bool:
    (a, b), (c, d) = byte_range(one), byte_range(other)
    return a < d and c < b


def find_gap(lines: list[str]) -> tuple[int, int, str]:
    """Finds the page-aligned value of the micro-step with the longest time between two uses. Returns the lines of its producer and of its
    next user, and its slice."""
    first = 1 + next(i for i, line in enumerate(lines) if "mtc.step @micro_step" in line)
    last = next(i for i in range(first, len(lines)) if not re.match(r"\s+mtc\.(launch|call)", lines[i]))
    gaps = []
    for i in range(first, last):
        for value in slices(lines[i])[1]:
            begin, end = byte_range(value)
            if (end - begin) % 4096:
                continue
            later = (j for j in range(i + 1, last) if any(overlap(each, value) for each in sum(slices(lines[j]), [])))
            if (j := next(later, None)) and value in slices(lines[j])[0]:
                gaps.append((j - i, i, value))
    distance, begin, value = max(gaps)
    assert distance > 2, "no value is live across other operations"
    return begin, begin + distance, value


def staged(text: str, space: str, waits: bool = True) -> str:
    """Moves the value to the host after its producer, overwrites its slice, and moves it back before its next user."""
    lines = text.splitlines()
    begin, end, value = find_gap(lines)
    first, last = byte_range(value)
    assert first >= last - first, "the slice would be overwritten by the variables at the start of the arena, which must be larger"
    kind = value.split(", ")[1]
    host = f"<0, {kind}, {space}>"
    arena = next(i for i, line in enumerate(lines) if "mtc.arena" in line)
    after = " after %back" if waits else ""
    operation, location = re.fullmatch(r"(.*?)( loc\(.*\))?", lines[end]).groups()
    indent = "    "
    lines[end : end + 1] = [
        f"{indent}%back = mtc.async_copy {host} into <{value}> stream 2 after %out",
        re.sub(r"( until \[.*?\])?( \{[^{}]*\})?$", lambda end: after + end[0], operation, count=1) + (location or ""),
    ]
    lines[begin + 1 : begin + 1] = [
        f"{indent}%out = mtc.async_copy <{value}> into {host} stream 1",
        f"{indent}mtc.copy <0, {kind}> into <{value}> after %out",
    ]
    lines.insert(arena, f"  mtc.arena in {space} size {last - first} live {last - first}")
    return "\n".join(lines) + "\n"


def refused(text: str, expected: str):
    file = folder / "refused.mlir"
    file.write_text(text)
    result = run([MTC, "compile", file, "-o", folder / "refused"], folder, code=1)
    assert expected in result.stderr, result.stderr
    assert not (folder / "refused").exists()


for target, spaces in (
    ((), ("host", "pinned_host", "disk")),
    (("--target", "cuda", "--emulate"), ("pinned_host",)),
):
    name = "cuda" if target else "cpu"
    placed = folder / f"{name}.mlir"
    run([MTC, "compile", DIGITS.model, *FLAGS, *target, "--emit", "allocated", "-o", placed], folder)
    text = placed.read_text()
    run([MTC, "compile", placed, "-o", folder / name], folder)
    program = Program(folder / name, DIGITS.data(BATCH * STEPS))
    expected = program.exported(name, "--steps", STEPS, "--no-shuffle")
    for space in spaces:
        own = f"{name}_{space}"
        file = folder / f"{own}.mlir"
        file.write_text(staged(text, space))
        compiled = run([MTC, "compile", file, "--json", "-o", folder / own], folder)
        bytes_of_space = json.loads(compiled.stdout)["spaces"]
        assert set(bytes_of_space) == {"device", space} and bytes_of_space[space] > 0, bytes_of_space
        moved = Program(folder / own, DIGITS.data(BATCH * STEPS))
        report = folder / f"{own}.json"
        flags = ("--steps", STEPS, "--no-shuffle")
        assert moved.exported(own, *flags, "--memory-report", report) == expected, f"{own}: different results"
        assert moved.exported(own, *flags, "--profile", "trace.json") == expected, f"{own}: different results in a profile"
        report = json.loads(report.read_text())
        assert report["planned_bytes"] == report["arena_bytes"], report
        assert bytes_of_space[space] in [use["bytes"] for use in report["outside_arena"]], report
    refused(staged(text, "pinned_host", waits=False), "wait for the copy's token (step_c1)")
    if target:
        refused(staged(text, "host"), "'pinned_host'")
        refused(staged(text, "disk"), "programs have no arena on disk")
