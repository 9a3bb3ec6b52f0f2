# RUN: %python %s %t
"""`--tensor T`: ranks that share each layer have the same samples, and the others train as without `--tensor`. N ranks are bit-identical to
N / T ranks with the same --tensor-chunks: losses, weights, optimizer state, checkpoints and evaluations, with the planned arenas and traffic."""

import json

import batch_norm
import numpy as np
import onnx
from launcher import Comparison, check_equal, check_planned, state_of
from models import DIGITS, GPT2, Example
from program import MTC, own_folder, run

folder = own_folder()
SHARDS = "none", "optimizer", "parameters"


def comparison(name: str, example, *flags, **settings) -> Comparison:
    return Comparison(folder, name, example, *flags, chunks=2, **settings)


clipped = comparison("clipped", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05, "--ema", 0.9)
for shard in SHARDS:
    clipped.check(4, "--shard", shard, tensor=2)
clipped.check(6, "--shard", "gradients", tensor=2)
clipped.check(2, "--shard", "parameters", tensor=2)
# One micro-step of one rank needs no sums of gradients.
once = comparison("once", DIGITS, "--optimizer", "adamw", micro_batches=1)
once.check(1, "--shard", "gradients")
once.check(2, "--shard", "parameters", tensor=2)
comparison("f16", DIGITS, "--precision", "f16", "--loss-scale", 2.0**24).check(4, "--shard", "gradients", tensor=2)
comparison("muon", GPT2, "--optimizer", "muon", rows=300).check(4, "--shard", "parameters", tensor=2)

# The order of summation of --reduce last depends on the number of ranks with different samples.
last = comparison("last", DIGITS, "--optimizer", "adamw", "--reduce", "last")
for shard in "none", "optimizer":
    two, four = last.program(2, "--shard", shard), last.program(4, "--shard", shard, tensor=2)
    check_equal(state_of(four), state_of(two), shard)

# Dropout and running statistics are those of the micro-batch, and --batch-norm sync averages over different samples.
def images(rows: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {"x": random.normal(0.5, 2, (rows, 2, 3, 3)).astype(np.float32), "labels": random.integers(0, 3, rows)}


onnx.save(batch_norm.model(True, opset=17, dropout=0.2), folder / "norm.onnx")
FLAGS = ("--dim", f"batch={batch_norm.BATCH}", "--loss", "cross-entropy", "--labels", "labels")
NORM = Example("norm", folder / "norm.onnx", batch_norm.BATCH, images, FLAGS, {})
norm = comparison("norm", NORM, "--optimizer", "sgd", "--lr", 0.1, rows=100)
check_equal(state_of(norm.program(4, tensor=2)), state_of(norm.program(2)), "norm")
two, four = norm.program(2, "--batch-norm", "sync"), norm.program(4, "--batch-norm", "sync", tensor=2)
check_equal(state_of(four), state_of(two), "sync")

# Ranks with different samples share the batches of evaluations.
validate = ("--validate", "x=x.npy", "--validate", "labels=labels.npy", "--validate-every", 2, "--keep-best", "loss", "--use-ema")
clipped.check(4, "--shard", "parameters", tensor=2, run=validate)
one = clipped.program(1)
for several in clipped.program(4, "--shard", "parameters", tensor=2), clipped.program(2, "--shard", "parameters", tensor=2):
    for flags in ("--evaluate",), ("--outputs", "outputs.safetensors"), ("--steps", 2, "--use-ema", "--export-weights", "weights.safetensors"):
        said, files = [], []
        for program in one, several:
            said.append(program.run(*flags, "--quiet").stdout)
            files.append((folder / "clipped" / flags[-1]).read_bytes() if len(flags) > 1 else b"")
        assert said[0] == said[1] and files[0] == files[1], (several.path, flags, said)

# Checkpoints do not depend on the groups.
whole = state_of(one)[1]
programs = [one, clipped.program(2, "--shard", "parameters"), *(clipped.program(4, "--shard", s, tensor=2) for s in SHARDS)]
half = folder / "half"
for saving in programs:
    saving.run("--steps", 3, "--save", half, "--overwrite", "--quiet")
    for resuming in programs:
        if resuming is not saving:
            assert state_of(resuming, "--resume", half)[1] == whole, (saving.path, resuming.path)

# The arena and the traffic of each rank have exactly the planned size.
for shard in SHARDS:
    flags = (*DIGITS.flags, *clipped.flags, "--ranks", 4, "--tensor", 2, "--shard", shard, "--accumulate", 3, "--threads", 1)
    planned = json.loads(run([MTC, "plan", DIGITS.model, *flags, "--json"], folder).stdout)
    assert planned["ranks"]["tensor"] == 2 and planned["ranks"]["micro_steps"] == 3, planned["ranks"]
    groups, traffic = planned["ranks"]["groups"], planned["ranks"]["traffic"]
    assert groups.keys() == {"data", "tensor"}, groups
    for kind, each in traffic.items():
        assert each["transfers"] == sum(group[kind]["transfers"] for group in groups.values() if kind in group), (kind, groups)
    check_planned(clipped.program(4, "--shard", shard, tensor=2), planned)
    assert "4, of which each 2 share the layers" in run([MTC, "plan", DIGITS.model, *flags], folder).stdout

# If all ranks share each layer, nothing is sent within data groups of one rank.
alone = (*DIGITS.flags, *clipped.flags, "--ranks", 2, "--tensor", 2, "--shard", "parameters", "--accumulate", 6, "--threads", 1, "--json")
groups = json.loads(run([MTC, "plan", DIGITS.model, *alone], folder).stdout)["ranks"]["groups"]
assert {sum(each["sent_bytes"]) for each in groups.get("data", {}).values()} <= {0} and groups["tensor"], groups

for flags, message in (
    (("--tensor", 2), "--tensor 2: needs --ranks"),
    (("--ranks", 4, "--tensor", 3), "--tensor 3: does not divide --ranks 4"),
    (("--ranks", 4, "--tensor", 0), "--tensor 0: expected at least 1 rank"),
):
    said = run([MTC, "compile", DIGITS.model, *DIGITS.flags, *flags, "-o", "refused"], folder, code=1).stderr
    assert message in said, (flags, said)
