# RUN: %python %s %t
"""Gradients are offloaded between micro-steps and until the update. Losses, weights, checkpoints and averages are bit-identical to those of
a program that keeps its gradients in memory, and the arena has the planned size."""

import json
import re

from models import DIGITS, GPT2, SMALL_GPT2
from program import MTC, Program, own_folder, run

STEPS, ROWS = 4, 192
folder = own_folder()
ALL = ("--offload", "optimizer,activations,parameters,gradients")
device = ("--target", "cuda", "--emulate")


def built(model, *flags):
    words = (*model.flags, "--optimizer", "adamw", "--lr", "2e-3", *flags)
    label = re.sub(r"\W+", "_", "_".join((model.name, *map(str, flags))))
    compiled = run([MTC, "compile", model.model, *words, "--json", "-o", folder / label], folder)
    return Program(folder / label, model.data(ROWS)), json.loads(compiled.stdout)


for model, recipe, target, choices in (
    (DIGITS, ("--accumulate", "3"), (), (("--offload", "gradients"), ("--check-memory", *ALL))),
    (DIGITS, ("--accumulate", "2", "--clip-norm", "0.5", "--ema", "0.9"), (), (("--offload", "gradients"), ALL)),
    (DIGITS, ("--accumulate", "2", "--precision", "f16", "--loss-scale", "1024"), (), (("--offload", "gradients"),)),
    (DIGITS, ("--accumulate", "2", "--ema", "0.9"), device, (("--offload", "gradients"), ALL)),
    (GPT2, ("--accumulate", "2"), (), (("--offload", "gradients"), ("--check-memory", *ALL))),
    (GPT2, ("--clip-norm", "0.5"), (), (("--offload", "gradients"),)),
    (SMALL_GPT2, ("--accumulate", "2"), device, (("--offload", "gradients"), ALL)),
):
    plain, planned = built(model, *recipe, *target)
    expected = plain.losses_and_weights("trained", STEPS)
    checkpoint = folder / "checkpoint"
    for flags in choices:
        name = f"{model.name} {recipe} {target} {flags}"
        away, moved = built(model, *recipe, *target, *flags, "--offload-window", "16KiB")
        assert moved["categories"]["gradients"] < planned["categories"]["gradients"], name
        report = folder / "report.json"
        assert away.losses_and_weights("trained", STEPS, "--memory-report", report) == expected, f"{name}: different results"
        report = json.loads(report.read_text())
        assert report["planned_bytes"] == report["arena_bytes"], (name, report)
        assert "--check-memory" in flags or report["planned_bytes"] == moved["peak_bytes"], (name, report)
        away.run("--steps", STEPS // 2, "--save", checkpoint, "--overwrite")
        for other in away, plain:
            resumed = other.exported("resumed", "--steps", STEPS, "--resume", checkpoint)
            assert resumed == expected[1], f"{name}: resumed"
        if "--ema" in recipe:
            average = ("--steps", STEPS, "--use-ema")
            assert away.exported("average", *average) == plain.exported("average", *average), f"{name}: average"

# On a target with host memory, a budget alone chooses what is offloaded; on a disk, nothing is offloaded without the flag.
for model, target, space in (GPT2, (), "disk"), (SMALL_GPT2, device, "pinned_host"):
    plain, planned = built(model, "--accumulate", "2", "--tile", "none", *target)
    expected = plain.losses_and_weights("trained", STEPS)
    budget = planned["peak_bytes"] * 7 // 10
    flags = ("--accumulate", "2", "--tile", "none", "--memory", budget, "--offload-window", "16KiB", *target)
    some, plan = built(model, *flags, *(("--offload", "auto") if space == "disk" else ()))
    assert plan["peak_bytes"] <= budget and plan["spaces"][space] > 0, plan
    assert some.losses_and_weights("trained", STEPS) == expected, f"{target}: different results"
    slight = ("--accumulate", "2", "--memory", planned["peak_bytes"] * 49 // 50, *target)
    _, plan = built(model, *slight, *(("--offload", "none") if target else ()))
    assert "spaces" not in plan or not plan["spaces"].get(space), plan
