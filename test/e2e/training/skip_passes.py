# RUN: %python %s %t
"""Optimizations change neither losses nor gradients, and do not increase memory."""

import json

import numpy as np
from models import GPT2
from program import MTC, compile_example, losses, own_folder, run, same_bits

STEPS = 6
PASSES = ["mtc-fuse-update", "mtc-recompute-elementwise", "mtc-fuse-kernels", "mtc-compact-scatter",
          "mtc-fuse-epilogues", "mtc-fuse-activations", "mtc-fuse-column-sums", "mtc-fuse-bias-gradients", "mtc-reorder"]

folder = own_folder()
full = compile_example(GPT2, folder, "adamw", STEPS * GPT2.batch, name="full")
expected, gradients = losses(full.train(STEPS)), full.gradients("gradients_full")
peaks = {}
for skipped in [*([p] for p in PASSES), PASSES]:
    flags = [word for name in skipped for word in ("--skip-pass", name)]
    program = compile_example(GPT2, folder, "adamw", STEPS * GPT2.batch, *flags, name="less")
    found = losses(program.train(STEPS))
    assert len(found) == STEPS and np.allclose(found, expected, rtol=2e-6), (skipped, found, expected)
    for name, gradient in program.gradients("gradients_less").items():
        scale = np.abs(gradients[name]).max()
        assert np.abs(gradient - gradients[name]).max() <= 1e-4 * scale + 1e-8, (skipped, name)
    plan = json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, *flags, "--json"], folder).stdout)
    peaks[tuple(skipped)] = plan["peak_bytes"]
# Recomputed or reordered values are computed from the same operands by the same operations.
for skipped in ("mtc-recompute-elementwise", "mtc-reorder"):
    same = compile_example(GPT2, folder, "adamw", GPT2.batch, "--skip-pass", skipped, name="kept")
    assert same_bits(same.gradients("gradients_kept"), gradients), skipped
best = json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, "--json"], folder).stdout)["peak_bytes"]
# Fused column sums need scratch memory for partial sums.
assert all(best <= 1.0005 * peak for peak in peaks.values()) and best < 0.85 * peaks[PASSES[1],], (best, peaks)
assert best < peaks["mtc-reorder",], (best, peaks)

# The error for an unknown pass lists the valid names.
message = run([MTC, "plan", GPT2.model, *GPT2.flags, "--skip-pass", "mtc-allocate"], folder, code=1).stderr
assert "--skip-pass mtc-allocate" in message and all(name in message for name in PASSES), message

# --remarks reports what was fused, and why other candidates were not.
run([MTC, "plan", GPT2.model, *GPT2.flags, "--remarks", "remarks.txt"], folder)
lines = (folder / "remarks.txt").read_text().splitlines()
run([MTC, "plan", GPT2.model, *GPT2.flags, "--remarks", "again.txt"], folder)
assert (folder / "again.txt").read_text().splitlines() == lines, "remarks must not depend on the order in which passes run"
assert sum(line.startswith("Passed mtc-fuse-kernels joined [") for line in lines) > 20, lines
assert any(line.startswith("Missed mtc-fuse-kernels not-fused [") and "as one kernel: " in line for line in lines), lines
message = run([MTC, "plan", GPT2.model, *GPT2.flags, "--remarks", "no/where.txt"], folder, code=1).stderr
assert "--remarks no/where.txt: cannot be written: No such file or directory" in message, message
