# RUN: %python %s %t
"""`--ranks N --target cuda`: N ranks with emulated devices and an emulated NCCL train bit-identically to one rank, with the planned arena
and traffic. A checkpoint can be resumed with another number of ranks."""

import json
import os

from launcher import Comparison, state_of
from models import DIGITS, GPT2, SMALL_GPT2
from program import MTC, own_folder, run

folder = own_folder()
EMULATED = ("--target", "cuda", "--emulate")
SHARDS = "optimizer", "parameters"


def comparison(name: str, example, *flags, **settings) -> Comparison:
    return Comparison(folder, name, example, *EMULATED, *flags, **settings)


# Shards are uneven, and some ranks own no part of the small parameters.
digits = comparison("digits", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05)
for ranks, shards in (2, ((), ("--shard", "optimizer"))), (3, ((), ("--shard", "parameters"))):
    for shard in shards:
        digits.check(ranks, *shard)
digits.check(1, "--shard", "parameters")
layers = comparison("layers", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05, chunks=2)
for flags in (), ("--shard", "optimizer"):
    layers.check(4 if flags else 2, *flags, tensor=2)
comparison("four", DIGITS, "--optimizer", "sgd", "--lr", 0.1, chunks=4).check(2, tensor=2)
scaled = comparison("f16", DIGITS, "--precision", "f16", "--loss-scale", 2.0**24, micro_batches=2)
for shard in SHARDS:
    scaled.check(2, "--shard", shard)
comparison("offloaded", DIGITS, "--optimizer", "adamw", "--offload", "optimizer,gradients", micro_batches=2).check(2)
comparison("moved", DIGITS, "--optimizer", "adamw", "--offload", "parameters", micro_batches=2).check(2, "--shard", "optimizer")
comparison("checked", DIGITS, "--optimizer", "adamw", "--check-memory", micro_batches=2).check(2, "--shard", "parameters")
language = comparison("gpt2", GPT2, "--optimizer", "adamw", rows=100, micro_batches=2)
for shard in (), ("--shard", "parameters"):
    language.check(2, *shard)
for precision in "f32", "bf16":
    flags = ("--precision", precision, "--clip-norm", 1)
    divided = comparison(f"tensor {precision}", SMALL_GPT2, *flags, rows=100, micro_batches=2, chunks=2)
    divided.check(2, tensor=2)
    divided.check(2, "--tensor-tiles", 2, tensor=2)
comparison("context", SMALL_GPT2, rows=100, micro_batches=2, context_chunks=2).check(2, context=2)

# A checkpoint can be resumed with any number of ranks.
whole = state_of(digits.program(1))[1]
half = folder / "half"
for saving, resuming in (
    (digits.program(2), digits.program(3, "--shard", "parameters")),
    (digits.program(3, "--shard", "parameters"), digits.program(1)),
):
    saving.run("--steps", 3, "--save", half, "--overwrite", "--quiet")
    assert state_of(resuming, "--resume", half)[1] == whole, (saving.path, resuming.path)

# Rank 0 alone reads sharded variables, and evaluates like a single process.
evaluated = [p.run("--evaluate", "--quiet").stdout for p in (digits.program(1), digits.program(2), digits.program(3, "--shard", "parameters"))]
assert len(set(evaluated)) == 1, evaluated

# Each rank's arena has exactly the planned size. NCCL's traffic is exactly the planned traffic plus one byte to each other rank at the
# start.
STEPS, MICRO = 2, 6
for ranks, shard, tensor in (2, "none", 1), (3, "parameters", 1), (4, "optimizer", 2):
    programs = layers if tensor > 1 else digits
    program = programs.program(ranks, *(() if shard == "none" else ("--shard", shard)), tensor=tensor)
    os.environ["MTC_EMULATED_TRAFFIC"] = str(folder / "traffic")
    program.run("--steps", STEPS, "--memory-report", "memory.json", "--quiet")
    del os.environ["MTC_EMULATED_TRAFFIC"]
    report = json.loads((program.folder / "memory.json").read_text())
    groups = ("--ranks", ranks, "--tensor", tensor, "--accumulate", MICRO // (ranks // tensor))
    flags = (*DIGITS.flags, *programs.flags, *groups, "--shard", shard, "--threads", 1)
    planned = json.loads(run([MTC, "plan", DIGITS.model, *flags, "--json"], folder).stdout)
    assert planned["ranks"]["network"] == "nvlink-ib", planned["ranks"]
    traffic = planned["ranks"]["traffic"]
    for rank, found in enumerate(report["ranks"]):
        assert found["arena_bytes"] == planned["peak_bytes"], (rank, found, planned["peak_bytes"])
        sent = {kind: STEPS * each["sent_bytes"][rank] for kind, each in traffic.items()}
        assert found["sent_bytes"] == sent, (rank, found, sent)
        moved = int((folder / f"traffic.{rank}").read_text())
        assert moved == sum(sent.values()) + ranks - 1, (rank, moved, sent)
    (nccl,) = (use for use in report["outside_arena"] if use["name"] == "GPU: NCCL")
    assert nccl["bytes"] == ranks << 20 and f"between {ranks} ranks, as NCCL reports them" in nccl["why"], nccl
# Without emulation, the compiler needs no GPU, MPI or NCCL to plan.
many = json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, "--target", "cuda:sm_90", "--ranks", 64, "--shard", "parameters", "--json"], folder).stdout)
assert len(many["ranks"]["traffic"]["all_gather"]["sent_bytes"]) == 64

# MTC_NCCL=1 makes a single rank use NCCL, which tests the library's calls.
one = digits.program(1)
wanted = state_of(one)
os.environ["MTC_NCCL"] = "1"
assert state_of(one) == wanted
one.run("--steps", 1, "--memory-report", "one.json", "--quiet")
del os.environ["MTC_NCCL"]
assert "between 1 rank, " in (one.folder / "one.json").read_text()

# Profiles run one operation at a time.
two = digits.program(2)
two.run("--steps", 2, "--profile", "trace.json", "--quiet")
kernels = {event["args"].get("kernel") for event in json.loads((two.folder / "trace.json").read_text()) if event["ph"] == "X"}
assert {"all_to_all", "all_gather"} <= kernels, kernels
