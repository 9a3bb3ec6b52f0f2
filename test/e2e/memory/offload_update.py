# RUN: %python %s %t
"""The CPU updates offloaded optimizer state while an emulated GPU computes, with bit-identical results: for optimizers, precisions, clipping,
loss scaling and accumulation, after a resume, and with offloaded parameters and gradients. Other updates stay on the GPU, for a reason."""

import json
import re

from models import DIGITS, SMALL_GPT2
from program import MTC, Program, own_folder, run
from streams import FROM_GPU, ON_HOST, RESULTS_TO_GPU, concurrent, steps

STEPS, ROWS = 6, 192
EMULATED = ("--target", "cuda", "--emulate")
RECIPES = {
    "adamw": (),
    "adam": ("--optimizer", "adam"),
    "sgd": ("--optimizer", "momentum", "--momentum", "0.9"),
    "adagrad": ("--optimizer", "adagrad"),
    "rmsprop": ("--optimizer", "rmsprop", "--centered", "true", "--momentum", "0.5"),
    "lion": ("--optimizer", "lion", "--lr", "1e-4"),
    "8-bit": ("--optimizer-bits", "8"),
    "clipped": ("--clip-norm", "0.5"),
    "accumulated": ("--accumulate", "2", "--ema", "0.9"),
    "f16": ("--precision", "f16", "--loss-scale", "1e30"),  # the first updates are skipped
    "bf16": ("--precision", "bf16", "--ema", "0.9"),
    "bf16 and sgd": ("--precision", "bf16", "--optimizer", "sgd"),  # the CPU updates the lower halves of the parameters
}
# Optimizers whose update of a parameter needs all of its elements.
STAYS = ("muon", "adafactor")
folder = own_folder()


def built(name: str, *flags):
    recipe = RECIPES.get(name, ("--optimizer", name))
    optimizer = () if "--optimizer" in recipe else ("--optimizer", "adamw")
    rate = () if "--lr" in recipe else ("--lr", "2e-3")
    label = re.sub(r"\W+", "_", "_".join((name, *flags)))
    words = (*DIGITS.flags, *optimizer, *rate, *recipe, *EMULATED, *flags, "--remarks", folder / f"{label}.yaml")
    compiled = run([MTC, "compile", DIGITS.model, *words, "--json", "-o", folder / label], folder)
    return Program(folder / label, DIGITS.data(ROWS)), json.loads(compiled.stdout), (folder / f"{label}.yaml").read_text()


for name in RECIPES:
    plain, planned, _ = built(name)
    window = "64KiB" if name == "8-bit" else "12KiB"  # of whole blocks of elements
    moved, plan, _ = built(name, "--offload", "update", "--offload-window", window)
    on_host = plan["spaces"]["pinned_host"]
    freed = planned["categories"]["optimizer"] - plan["categories"]["optimizer"]
    assert on_host >= freed and (freed > 0 or name == "bf16 and sgd"), (name, on_host, freed)
    expected = plain.losses_and_weights("plain", STEPS)
    trace = folder / "trace.json"
    assert moved.losses_and_weights("moved", STEPS) == expected, f"{name}: different results"
    assert moved.losses_and_weights("profiled", STEPS, "--profile", trace) == expected, f"{name}: different results in a profile"
    assert re.search(r"kernel_\d+ host", trace.read_text()), f"{name}: no kernel on the host"
    assert moved.losses_and_weights("one", STEPS, "--threads", 1) == expected, f"{name}: different results with one thread"
    checkpoint = folder / f"{name}-checkpoint"
    moved.run("--steps", STEPS // 2, "--save", checkpoint)
    for other in (moved, plain):
        assert other.exported("resumed", "--steps", STEPS, "--resume", checkpoint) == expected[1], f"{name}: resumed"

for name in STAYS:
    _, plan, remarks = built(name, "--offload", "update")
    assert "is not offloaded: " in remarks, (name, remarks)

# The CPU updates offloaded parameters, with offloaded gradients, in place: the GPU receives nothing.
plain, planned, _ = built("accumulated")
expected = plain.losses_and_weights("plain", STEPS)
moved, plan, _ = built("accumulated", "--offload", "update,parameters,gradients", "--offload-window", "12KiB")
assert moved.losses_and_weights("moved", STEPS) == expected
some, plan, _ = built("adamw", "--offload", "update", "--offload-window", "12KiB")
whole, more, _ = built("adamw", "--offload", "update,parameters,activations", "--offload-window", "12KiB")
assert more["spaces"]["pinned_host"] > plan["spaces"]["pinned_host"], (plan, more)
assert whole.losses_and_weights("whole", STEPS) == some.losses_and_weights("some", STEPS)

# A larger model: the update of a layer overlaps with the backward pass of the layers before it.
recipe = (*SMALL_GPT2.flags, "--optimizer", "adamw", "--lr", "1e-3", *EMULATED)
results = {}
for name, flags in {"plain": (), "moved": ("--offload", "update", "--offload-window", "64KiB")}.items():
    run([MTC, "compile", SMALL_GPT2.model, *recipe, *flags, "-o", folder / name], folder)
    program = Program(folder / name, SMALL_GPT2.data(8))
    results[name] = program.losses_and_weights(f"{name}-gpt2", STEPS)
assert results["plain"] == results["moved"]
allocated = folder / "moved.mlir"
run([MTC, "compile", SMALL_GPT2.model, *recipe, *flags, "--emit", "allocated", "-o", allocated], folder)
pairs = concurrent(steps(allocated)["micro_step"])
assert {(ON_HOST, "call"), (ON_HOST, "launch"), (FROM_GPU, ON_HOST), (FROM_GPU, RESULTS_TO_GPU), (RESULTS_TO_GPU, "call")} <= pairs, pairs

# The search may choose updates on the CPU.
budget = str(int(0.85 * built("adamw")[1]["peak_bytes"]))
fitted, plan, _ = built("adamw", "--memory", budget, "--offload-window", "4KiB", "--recompute", "none", "--threads", "64")
assert plan["spaces"]["pinned_host"] > 0, plan
assert fitted.losses_and_weights("fitted", STEPS) == built("adamw")[0].losses_and_weights("plain", STEPS)

# On the CPU there is no other device.
error = run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--offload", "update"], folder, code=1).stderr
assert "--offload" in error and "--target cuda" in error, error
