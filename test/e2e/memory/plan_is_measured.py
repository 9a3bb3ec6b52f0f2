# RUN: %python %s %t
"""`mtc plan` reports the exact size of the program's arena without compiling it."""

import json

from models import DIGITS, GPT2
from program import MTC, compile_example, own_folder, run

for example in (DIGITS, GPT2):
    folder = own_folder()
    flags = ("--optimizer", "adamw", "--lr", "1e-3")
    plan = json.loads(run([MTC, "plan", example.model, *example.flags, *flags, "--json"], folder).stdout)
    program = compile_example(example, folder, "adamw", example.batch)
    program.run("--steps", 2, "--memory-report", folder / "memory.json")
    report = json.loads((folder / "memory.json").read_text())
    assert plan["peak_bytes"] == report["planned_bytes"] == report["arena_bytes"], (plan, report)
    assert plan["floor_bytes"] <= plan["peak_bytes"] and plan["live_bytes"] <= plan["peak_bytes"], plan
    assert sum(plan["categories"].values()) > 0 and plan["fits"] is True, plan
    assert report["process_peak_bytes"] >= report["arena_bytes"], report
    # The peak memory of the process consists of the arena and the memory outside the arena that the report lists.
    uses = report["outside_arena"]
    assert all(use["bytes"] >= 0 and use["name"] and use["why"] for use in uses), uses
    named = report["arena_bytes"] + sum(use["bytes"] for use in uses)
    assert abs(report["process_peak_bytes"] - named) <= max(0.03 * named, 32 << 20), report
