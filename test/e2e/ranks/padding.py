# RUN: %python %s %t
"""Axes whose extents the number of ranks does not divide get padding (`--tensor 3`: 256 classes, 512 features): losses, norms, weights and
optimizer state are those of one rank with as many addends, bit for bit, and up to rounding those of a program without padding. Files contain no
padding: programs of any number of ranks resume the checkpoints of others. The memory and the traffic of each rank are those of the plan."""

import json

from launcher import Comparison, check_close, check_equal, check_planned, ranks_program, state_of
from models import GPT2
from program import MTC, own_folder, run

folder = own_folder()


def comparison(name: str, *flags, rows=100) -> Comparison:
    return Comparison(folder, name, GPT2, *flags, rows=rows, chunks=3)


gpt2 = comparison("gpt2", "--optimizer", "adamw", "--clip-norm", 1)
gpt2.check(3, tensor=3)
gpt2.check(6, "--shard", "optimizer", tensor=3)
gpt2.check(6, "--shard", "parameters", tensor=3)
comparison("recomputed", "--recompute", "all", "--ema", 0.9).check(3, tensor=3)
comparison("bf16", "--precision", "bf16").check(3, tensor=3)
comparison("muon", "--optimizer", "muon").check(3, tensor=3)

whole = ranks_program(folder, GPT2, 1, *gpt2.flags[:-2], rows=100, name="whole")
check_close(state_of(gpt2.program(3, tensor=3)), state_of(whole), 1e-4, "without padding")

layouts = [whole, gpt2.program(1), gpt2.program(3, tensor=3), gpt2.program(6, "--shard", "parameters", tensor=3)]
for each in layouts:
    each.run("--steps", 2, "--save", folder / each.path.name, "--overwrite", "--quiet")
for other in layouts:
    states = [state_of(one, "--resume", folder / other.path.name, steps=4) for one in layouts[1:]]
    for state in states[1:]:
        check_equal(state, states[0], f"resumed from {other.path.name}")

flags = [*GPT2.flags, "--optimizer", "adamw", "--clip-norm", 1, "--accumulate", 6, "--threads", 1, "--json"]
compiled = run([MTC, "plan", GPT2.model, *flags, "--ranks", 3, "--tensor", 3], folder)
assert "'lm_head.weight' is padded from 256 to 258 elements" in compiled.stderr, compiled.stderr
plan = json.loads(compiled.stdout)
check_planned(gpt2.program(3, tensor=3), plan)
assert plan["categories"]["parameters"] < 0.5 * json.loads(run([MTC, "plan", GPT2.model, *flags], folder).stdout)["categories"]["parameters"]
