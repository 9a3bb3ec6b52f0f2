# RUN: %python %s %t
"""`--ranks N --accumulate k` trains bit-identically to one rank with N k micro-batches: losses, weights and optimizer state, with uneven
shards, ignored labels, clipping, loss scaling and 8-bit state. The arena and the traffic of each rank have the planned sizes. The test also
covers evaluation, resuming and messages."""

import json

import numpy as np
from models import DIGITS, EXAMPLES, GPT2, Example, digits
from program import MTC, Program, compile, own_folder, run
from launcher import compare, ranks_program, state_of
from safetensors.numpy import load_file

folder = own_folder()


def program(example: Example, ranks: int, *flags, rows: int, name: str) -> Program:
    return ranks_program(folder, example, ranks, *flags, rows=rows, name=name)


def ragged(rows: int) -> dict[str, np.ndarray]:
    """Labels with ignored elements; in some micro-batches all are ignored."""
    data = digits(rows)
    random = np.random.default_rng(0)
    data["labels"] = np.where(random.random(rows) < 0.4, -100, data["labels"])
    data["labels"][:32] = -100
    return data


RAGGED = Example("ragged", DIGITS.model, DIGITS.batch, ragged, DIGITS.flags, DIGITS.rates)
compare(folder, "sgd", RAGGED, "--optimizer", "sgd", "--lr", 0.1, rows=1000, ranks=(2, 3, 6))
compare(folder, "clipped", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05, "--ema", 0.9, rows=1000)
compare(folder, "muon", DIGITS, "--optimizer", "muon", rows=1000, ranks=(2,))
compare(folder, "bits", DIGITS, "--optimizer", "adamw", "--optimizer-bits", 8, rows=1000, ranks=(2,))
compare(folder, "f16", DIGITS, "--precision", "f16", "--loss-scale", 2.0**24, rows=1000, ranks=(2,))
compare(folder, "offloaded", DIGITS, "--offload", "gradients,optimizer", rows=1000, ranks=(2,))
compare(folder, "checked", DIGITS, "--check-memory", rows=1000, ranks=(2,))
compare(folder, "bf16", GPT2, "--precision", "bf16", rows=300, ranks=(2,))
several = compare(folder, "gpt2", GPT2, "--optimizer", "adamw", rows=300)

# The arena and the traffic of each rank have exactly the planned size.
STEPS_OF_RUN = 2
several.run("--steps", STEPS_OF_RUN, "--memory-report", "memory.json", "--quiet")
report = json.loads((several.folder / "memory.json").read_text())
planned = json.loads(
    run([MTC, "plan", GPT2.model, *GPT2.flags, "--optimizer", "adamw", "--ranks", 3, "--accumulate", 2, "--threads", 1, "--json"],
        folder).stdout)  # fmt: skip
assert planned["ranks"]["count"] == len(report["ranks"]) == 3, report
for rank, found in enumerate(report["ranks"]):
    assert found["arena_bytes"] == planned["peak_bytes"], (rank, found, planned["peak_bytes"])
    wanted = {kind: STEPS_OF_RUN * each["sent_bytes"][rank] for kind, each in planned["ranks"]["traffic"].items()}
    assert found["sent_bytes"] == wanted, (rank, found, wanted)
# Each micro-step sends gradients to their owners, and the update sends the sums back. A micro-step also gathers two numbers.
weights = sum(a.nbytes for a in load_file(several.path.with_suffix(".weights.safetensors")).values())
sent = {kind: sum(each["sent_bytes"]) for kind, each in planned["ranks"]["traffic"].items()}
assert sent["all_to_all"] == 2 * 2 * weights, (sent, weights)
assert sent["all_gather"] == 2 * weights + 2 * 3 * 2 * 16, (sent, weights)

# Only rank 0 prints, evaluates and writes.
program2 = program(RAGGED, 2, "--optimizer", "sgd", "--lr", 0.1, rows=1000, name="sgd")
one = program(RAGGED, 1, "--optimizer", "sgd", "--lr", 0.1, rows=1000, name="sgd")
for flags in ("--evaluate",), ("--outputs", "outputs.safetensors"):
    assert program2.run(*flags).stdout == one.run(*flags).stdout, flags
assert program2.run("--steps", 2).stdout.count("step 2/2") == 1
validated = ("--validate", f"x={EXAMPLES / 'digits/test_x.npy'}", "--validate", f"labels={EXAMPLES / 'digits/test_labels.npy'}")
assert state_of(program2, *validated, "--validate-every", 2, "--keep-best", "loss") == state_of(one, *validated, "--validate-every", 2, "--keep-best", "loss")

# Incomplete batches at the end of an epoch are handled as with one rank.
for how in "wrap", "drop", "mask":
    assert state_of(program2, "--last-batch", how) == state_of(one, "--last-batch", how), how

# A run can be resumed with another number of ranks, and without ranks.
whole = state_of(one)
half = program2.folder / "half"
program2.run("--steps", 3, "--save", half, "--quiet")
program3 = program(RAGGED, 3, "--optimizer", "sgd", "--lr", 0.1, rows=1000, name="sgd")
for other in one, program3:
    assert state_of(other, "--resume", half)[1] == whole[1], other.path

# A program for one rank does not link a transport.
plain = compile(DIGITS.model, folder, digits(64), *DIGITS.flags, name="plain")
for path, expected in (plain.path, False), (one.path, False), (program2.path, True):
    assert ("libmpi" in run(["ldd", path], folder).stdout) == expected, path

for flags, message in (
    (("--ranks", 2, "--emit", "library"), "--ranks 2: mpirun starts programs, not libraries"),
    (("--ranks", 2, "--static"), "--ranks 2: the program needs the shared library of MPI"),
    (("--ranks", 2, "--gradient-bits", 16), "--gradient-bits 16: not supported with --ranks"),
    (("--ranks", 5000), "--ranks 5000: expected 1 to 4096 ranks"),
):
    said = run([MTC, "compile", DIGITS.model, *DIGITS.flags, *flags, "-o", "refused"], folder, code=1).stderr
    assert message in said, (flags, said)
# Planning for many ranks needs none of their machines.
many = json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, "--ranks", 512, "--network", "100gbe", "--json"], folder).stdout)
assert len(many["ranks"]["traffic"]["all_to_all"]["sent_bytes"]) == 512
