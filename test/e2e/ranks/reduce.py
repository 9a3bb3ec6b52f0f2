# RUN: %python %s %t
"""`--reduce last`: each rank accumulates its own gradients, and the update sums the ranks' gradients once. Results are bit-identical for
all values of `--shard`, and one rank is bit-identical to a program without ranks. Gradients are sent once per update instead of once per
micro-step."""

import json

import numpy as np
from launcher import STEPS, check_equal, ranks_program, state_of
from models import DIGITS, GPT2
from program import MTC, Program, compile, own_folder, read_metrics, run

folder = own_folder()
LAST = ("--reduce", "last")

for name, example, flags in (
    ("sgd", DIGITS, ("--optimizer", "sgd", "--lr", 0.1)),
    ("gpt2", GPT2, ("--optimizer", "adamw")),
    ("f16", DIGITS, ("--precision", "f16", "--loss-scale", 2.0**24)),
):
    given = {"rows": 300 if example is GPT2 else 1000, "name": name}
    one = state_of(ranks_program(folder, example, 1, *flags, *LAST, **given, file="last"))
    data = example.data(given["rows"])
    path = compile(
        example.model, folder / name, data, *example.flags, *flags, "--accumulate", 6, "--threads", 1, name="alone"
    ).path
    alone = state_of(Program(path, data))
    if example is DIGITS:  # With ranks, the kernels of a causal language model's loss are fused differently.
        check_equal(one, alone, name)

    # The order of summation over ranks differs from one rank's, but not between values of --shard.
    several = ranks_program(folder, example, 2, *flags, *LAST, **given, file="last")
    found = state_of(several)
    divided = ranks_program(folder, example, 2, *flags, *LAST, "--shard", "optimizer", **given, file="last-divided")
    check_equal(state_of(divided), found, (name, "optimizer"))
    losses = [[line["loss"] for line in read_metrics(p.folder / p.path.with_suffix(".jsonl"))] for p in (several, Program(path, data))]
    assert len(losses[0]) == STEPS and np.allclose(*losses, rtol=1e-3 if name == "f16" else 1e-5), (name, losses)

# With one micro-step, there is nothing to accumulate.
once = {"rows": 1000, "name": "once", "micro_batches": 2}
(folder / "once").mkdir()
every = state_of(ranks_program(folder, DIGITS, 2, **once))
check_equal(state_of(ranks_program(folder, DIGITS, 2, *LAST, **once, file="last")), every, "once")


def plan(*flags) -> dict:
    return json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, "--optimizer", "adamw", "--threads", 1, *flags, "--json"], folder).stdout)


# The arena and the traffic have the planned sizes.
program = ranks_program(folder, GPT2, 3, "--optimizer", "adamw", *LAST, rows=300, name="gpt2", file="last")
program.run("--steps", 2, "--memory-report", "memory.json", "--quiet")
report = json.loads((program.folder / "memory.json").read_text())
flags = ("--ranks", 3, "--accumulate", 2)
last, every = plan(*flags, *LAST), plan(*flags)
for rank, found in enumerate(report["ranks"]):
    assert found["arena_bytes"] == last["peak_bytes"], (rank, found, last["peak_bytes"])
    sent = {kind: 2 * each["sent_bytes"][rank] for kind, each in last["ranks"]["traffic"].items()}
    assert found["sent_bytes"] == sent, (rank, found, sent)
moved = [sum(each["ranks"]["traffic"]["all_to_all"]["sent_bytes"]) for each in (last, every)]
assert 2 * moved[0] == moved[1], moved
assert plan(*flags, *LAST, "--shard", "optimizer")["peak_bytes"] < last["peak_bytes"]

for flags, message in (
    (LAST, "--reduce last: needs --ranks"),
    (("--ranks", 2, *LAST, "--shard", "gradients"), "each rank holds whole gradients, which --shard gradients divides; use --shard optimizer"),
    (("--ranks", 2, *LAST, "--shard", "parameters"), "each rank holds whole gradients, which --shard parameters divides"),
):
    said = run([MTC, "compile", DIGITS.model, *DIGITS.flags, *flags, "-o", "refused"], folder, code=1).stderr
    assert message in said, (flags, said)
