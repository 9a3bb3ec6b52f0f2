# RUN: %python %s %t
"""Ranks that share each sequence (`--context`) train bit-identically to one rank with the same number of addends (`--context-chunks`): losses,
norms, weights and optimizer state, together with tensor groups, data parallelism, sharding, clipping, 16-bit values and dropout. The memory and
the traffic of each rank are those of the plan."""

import json

from launcher import Comparison, check_planned
from models import GPT2, SMALL_GPT2
from program import MTC, own_folder, run

folder = own_folder()


def comparison(name: str, example, *flags, context_chunks=2, rows=200, **settings) -> Comparison:
    return Comparison(folder, name, example, *flags, rows=rows, context_chunks=context_chunks, **settings)


gpt2 = comparison("gpt2", GPT2, "--clip-norm", 1)
gpt2.check(2, context=2)
gpt2.check(4, "--shard", "parameters", context=2)
both = comparison("both", GPT2, "--optimizer", "muon", chunks=2)
both.check(4, tensor=2, context=2)
both.check(2, context=2)
comparison("four", SMALL_GPT2, "--optimizer", "sgd", "--lr", 0.1, context_chunks=4, rows=100).check(2, context=2)
comparison("bf16", GPT2, "--precision", "bf16", rows=100).check(2, context=2)
comparison("recomputed", GPT2, "--recompute", "all", rows=100).check(2, context=2)
comparison("f16", SMALL_GPT2, "--precision", "f16", rows=100).check(2, context=2)

# The arena and the traffic of each rank have the planned size.
flags = [*GPT2.flags, "--clip-norm", 1, "--accumulate", 6, "--threads", 1, "--json"]
plan = json.loads(run([MTC, "plan", GPT2.model, *flags, "--ranks", 2, "--context", 2], folder).stdout)
whole = json.loads(run([MTC, "plan", GPT2.model, *flags, "--ranks", 1], folder).stdout)
check_planned(gpt2.program(2, context=2), plan)
sending = {name for name, kinds in plan["ranks"]["groups"].items() if any(sum(each["sent_bytes"]) for each in kinds.values())}
assert sending == {"context"}, plan["ranks"]["groups"]
# At the peak of one program, gradients of activations may be live, and at that of the other, more activations.
live = [sum(each["categories"][c] for c in ("activations", "activation_gradients")) for each in (plan, whole)]
assert live[0] / live[1] <= 0.6, live
