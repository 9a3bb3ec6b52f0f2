# RUN: %python %s %t
"""Ranks that share each layer (`--tensor`) train bit-identically to one rank with the same number of addends (`--tensor-chunks`): losses,
norms, weights and optimizer state, together with data parallelism, sharding, accumulation, clipping, loss scaling and dropout. The memory and
the traffic of each rank are those of the plan."""

import json

from launcher import Comparison, check_equal, check_planned, state_of
from models import DIGITS, GPT2, SMALL_GPT2
from program import MTC, own_folder, run

folder = own_folder()


def comparison(name: str, example, *flags, chunks=2, rows=1000, **settings) -> Comparison:
    return Comparison(folder, name, example, *flags, rows=rows, chunks=chunks, **settings)


digits = comparison("digits", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05)
digits.check(2, tensor=2)
digits.check(4, tensor=2)
digits.check(4, "--shard", "parameters", tensor=2)
four = comparison("four", DIGITS, "--optimizer", "sgd", "--lr", 0.1, chunks=4)
four.check(2, tensor=2)
four.check(4, tensor=4)
comparison("f16", DIGITS, "--precision", "f16", "--loss-scale", 2.0**24).check(2, tensor=2)

gpt2 = comparison("gpt2", GPT2, "--optimizer", "adamw", "--clip-norm", 1, rows=200)
gpt2.check(2, tensor=2)
gpt2.check(4, "--shard", "optimizer", tensor=2)
bf16 = comparison("bf16", GPT2, "--precision", "bf16", "--clip-norm", 1, rows=100)
bf16.check(2, tensor=2)
for each in gpt2, bf16:  # Contractions of tiles have the sums of whole ones.
    each.check(2, "--tensor-tiles", 2, tensor=2)
gpt2.check(4, "--tensor-tiles", 4, "--shard", "parameters", tensor=2)
comparison("f16 gpt2", SMALL_GPT2, "--precision", "f16", rows=100).check(2, tensor=2)
comparison("recomputed", GPT2, "--recompute", "all", rows=100).check(2, tensor=2)
comparison("muon", SMALL_GPT2, "--optimizer", "muon", rows=100).check(2, tensor=2)
adafactor = comparison("adafactor", SMALL_GPT2, "--optimizer", "adafactor", rows=100)
adafactor.check(2, tensor=2)
adafactor.check(4, "--shard", "gradients", tensor=2)

# No part of fewer ranks than chunks, and no piece of such a part, divides a block of quantized state or of a norm.
eight = comparison("8 bits", GPT2, "--optimizer", "adamw", "--optimizer-bits", 8, "--clip-norm", 0.5, chunks=4, rows=100)
eight.check(2, tensor=2)
eight.check(4, "--shard", "parameters", tensor=2)
comparison("4 bits", SMALL_GPT2, "--optimizer", "adamw", "--optimizer-bits", 4, rows=100).check(2, tensor=2)

# Programs of any number of ranks resume the checkpoints of others.
layouts = [gpt2.program(1), gpt2.program(2, tensor=2), gpt2.program(4, "--shard", "optimizer", tensor=2)]
for each in layouts:
    each.run("--steps", 2, "--save", folder / each.path.name, "--quiet")
states = [state_of(one, "--resume", folder / other.path.name, steps=4) for one in layouts for other in layouts]
for state in states:
    check_equal(state, states[0], "resumed")

# The arena and the traffic of each rank have the planned size.
flags = [*GPT2.flags, "--optimizer", "adamw", "--clip-norm", 1, "--accumulate", 6, "--threads", 1, "--json"]
plan = json.loads(run([MTC, "plan", GPT2.model, *flags, "--ranks", 2, "--tensor", 2], folder).stdout)
whole = json.loads(run([MTC, "plan", GPT2.model, *flags, "--ranks", 1], folder).stdout)
check_planned(gpt2.program(2, tensor=2), plan)
tiled = json.loads(run([MTC, "plan", GPT2.model, *flags, "--ranks", 2, "--tensor", 2, "--tensor-tiles", 2], folder).stdout)
check_planned(gpt2.program(2, "--tensor-tiles", 2, tensor=2), tiled)
for kind, each in plan["ranks"]["traffic"].items():
    assert each["sent_bytes"] == tiled["ranks"]["traffic"][kind]["sent_bytes"], kind
    assert each["transfers"] < tiled["ranks"]["traffic"][kind]["transfers"], kind
for category, most in {"parameters": 0.6, "gradients": 0.6, "optimizer": 0.6, "activations": 0.75}.items():
    share = plan["categories"][category] / whole["categories"][category]
    assert share <= most, (category, share)
