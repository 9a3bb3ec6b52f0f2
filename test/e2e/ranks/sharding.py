# RUN: %python %s %t
"""`--shard`: N ranks that shard optimizer state, gradients or parameters train bit-identically to one rank, with the planned arena and
traffic. Checkpoints do not depend on the number of ranks or on `--shard`."""

import json

from launcher import Comparison, check_planned, state_of
from many_layers import many_layers
from models import DIGITS, GPT2
from program import MTC, Program, own_folder, run
from safetensors.numpy import load_file

folder = own_folder()
SHARDS = "optimizer", "gradients", "parameters"


def comparison(name: str, example, *flags, **settings) -> Comparison:
    return Comparison(folder, name, example, *flags, **settings)


# Shards are uneven, and some ranks own no part of the small parameters.
clipped = comparison("clipped", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05, "--ema", 0.9)
for shard in SHARDS:
    for ranks in 1, 2, 3:
        clipped.check(ranks, "--shard", shard)
comparison("seven", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05, micro_batches=7).check(7, "--shard", "parameters")
# The partial sums of the norm are fused into kernels with few or many other sums, depending on the sharding.
layers = many_layers(folder / "layers.onnx")
adagrad = comparison("adagrad", layers, "--optimizer", "adagrad", "--lr", 1e-3, "--clip-norm", 0.1)
for shard in SHARDS:
    adagrad.check(3, "--shard", shard)
bits = comparison("bits", DIGITS, "--optimizer", "adamw", "--optimizer-bits", 8)
scaled = comparison("f16", DIGITS, "--precision", "f16", "--loss-scale", 2.0**24)
language = comparison("bf16", GPT2, "--precision", "bf16", "--optimizer", "adamw", rows=300)
for shard in "gradients", "parameters":
    bits.check(3, "--shard", shard)
    scaled.check(2, "--shard", shard)
    language.check(3, "--shard", shard)
for recomputed in "sqrt", "all":
    comparison(recomputed, GPT2, "--precision", "bf16", "--recompute", recomputed, rows=300).check(3, "--shard", "parameters")
comparison("lion", DIGITS, "--optimizer", "lion", "--lr", 1e-3).check(2, "--shard", "optimizer")
comparison("offloaded", DIGITS, "--optimizer", "adamw", "--offload", "optimizer").check(2, "--shard", "parameters")
comparison("checked", DIGITS, "--optimizer", "adamw", "--check-memory").check(2, "--shard", "parameters")

# Frozen matrices are sharded in their stored form, and so are the factors of their adapters.
for bits in 32, 4:
    adapted = comparison(f"lora{bits}", GPT2, "--optimizer", "adamw", "--lora", "*.weight", "--frozen-bits", bits, rows=300)
    adapted.check(3, "--shard", "parameters")

# Muon's matrices are assigned to ranks as a whole: each rank updates one of several equal matrices. A rank may own no matrix.
comparison("muon", DIGITS, "--optimizer", "muon").check(2, "--shard", "gradients")
muon = comparison("matrices", GPT2, "--optimizer", "muon", "--clip-norm", 0.5, "--ema", 0.9, rows=300)
for ranks, shard in (2, "optimizer"), (2, "parameters"), (3, "parameters"):
    muon.check(ranks, "--shard", shard)
comparison("muon8", GPT2, "--optimizer", "muon", "--optimizer-bits", 8, rows=300).check(2, "--shard", "optimizer")
comparison("adafactor", GPT2, "--optimizer", "adafactor", rows=300).check(3, "--shard", "parameters")
comparison("muon16", GPT2, "--optimizer", "muon", "--precision", "f16", "--loss-scale", 2.0**24, rows=300).check(2, "--shard", "gradients")

# Averages are evaluated at the end and during training, and exported.
validate = ("--validate", "x=x.npy", "--validate", "labels=labels.npy", "--validate-every", 2, "--keep-best", "loss", "--use-ema")
for shard in "optimizer", "parameters":
    clipped.check(2, "--shard", shard, run=validate)
    one, two = clipped.program(1), clipped.program(2, "--shard", shard)
    for flags in ("--evaluate",), ("--outputs", "outputs.safetensors"), ("--steps", 2, "--use-ema", "--export-weights", "weights.safetensors"):
        said = [program.run(*flags, "--quiet").stdout for program in (one, two)]
        assert said[0] == said[1], (shard, flags, said)
        files = [load_file(folder / "clipped" / flags[-1]) for _ in "x" if flags[-1] != "--evaluate"]
        one.run(*flags, "--quiet")
        for file in files:
            wanted = load_file(folder / "clipped" / flags[-1])
            assert {n: a.tobytes() for n, a in file.items()} == {n: a.tobytes() for n, a in wanted.items()}, (shard, flags)

# A checkpoint can be resumed with any number of ranks.
whole = state_of(clipped.program(1))
programs = [clipped.program(1), clipped.program(2), *(clipped.program(2, "--shard", shard) for shard in SHARDS), clipped.program(3, "--shard", "parameters")]
half = folder / "half"
for saving in programs[1:]:
    saving.run("--steps", 3, "--save", half, "--overwrite", "--quiet")
    for resuming in programs:
        assert state_of(resuming, "--resume", half)[1] == whole[1], (saving.path, resuming.path)
# Exports of a checkpoint need no data.
exported = []
for program in clipped.program(1), clipped.program(2, "--shard", "parameters"):
    Program(program.path, {}, program.runner).run("--resume", half, "--export-weights", "exported.safetensors", "--quiet")
    exported.append((program.folder / "exported.safetensors").read_bytes())
assert exported[0] == exported[1]
# A checkpoint that is damaged in another rank's shard is rejected.
(file,) = half.glob("*.safetensors")
damaged = bytearray(file.read_bytes())
damaged[-1] ^= 1
file.write_bytes(damaged)
said = clipped.program(2, "--shard", "parameters").run("--resume", half, "--steps", 6, code=1).stderr
assert "is damaged: its checksum is not the manifest's" in said, said

# The arena and the traffic of each rank have exactly the planned size.
RANKS, MICRO = 3, 2
weights = sum(a.size for a in load_file(language.program(1).path.with_suffix(".weights.safetensors")).values())
for shard in SHARDS:
    flags = (*GPT2.flags, *language.flags, "--ranks", RANKS, "--shard", shard, "--accumulate", MICRO, "--threads", 1)
    planned = json.loads(run([MTC, "plan", GPT2.model, *flags, "--json"], folder).stdout)
    check_planned(language.program(RANKS, "--shard", shard), planned)
    sent = {kind: sum(each["sent_bytes"]) for kind, each in planned["ranks"]["traffic"].items()}
    # Each micro-step sends f32 gradients to their owners once.
    assert sent["all_to_all"] == (RANKS - 1) * MICRO * 4 * weights, (shard, sent, weights)
    # Parameters are sent in bf16, except for those of normalizations: once per update, or once or twice per micro-step.
    times = sent["all_gather"] / ((RANKS - 1) * 2 * weights)
    low, high = (1, 1.15) if shard != "parameters" else (MICRO, 2 * MICRO * 1.15)
    assert low <= times <= high, (shard, times)

# The search selects the fastest sharding that fits.
flags = (*DIGITS.flags, "--optimizer", "adamw", "--ranks", 2, "--accumulate", 3)
peaks = {
    shard: json.loads(run([MTC, "plan", DIGITS.model, *flags, "--shard", shard, "--json"], folder).stdout)["peak_bytes"]
    for shard in ("none", "gradients", "parameters")
}
assert peaks["parameters"] < peaks["gradients"] < peaks["none"], peaks
for wanted in "gradients", "parameters":
    peak = peaks[wanted]
    found = json.loads(run([MTC, "plan", DIGITS.model, *flags, "--shard", "auto", "--memory", f"{peak}B", "--tile", "none", "--recompute", "none", "--json"], folder).stdout)
    assert found["ranks"]["shard"] == wanted and found["peak_bytes"] <= peak, (wanted, found["ranks"], found["peak_bytes"], peaks)

for flags, message in (
    (("--shard", "optimizer"), "--shard optimizer: needs --ranks"),
    (("--ranks", 2, "--shard", "all"), "--shard all: "),
    (("--ranks", 2, "--shard", "auto"), "--shard auto: no memory budget; use it with --memory"),
):
    said = run([MTC, "compile", DIGITS.model, *DIGITS.flags, *flags, "-o", "refused"], folder, code=1).stderr
    assert message in said, (flags, said)
