# RUN: %python %s %t
"""With optimizer state that is offloaded to disk, losses and weights are bit-identical, for every optimizer and technique. The plan has the
bytes of each memory space, checkpoints contain the state, and a killed program leaves no file."""

import json
import os
import re
import resource
import subprocess

from models import DIGITS, GPT2, SMALL_GPT2
from program import MTC, Program, own_folder, run

STEPS, ROWS = 6, 192
RECIPES = {
    "adamw": (),
    "sgd": ("--optimizer", "momentum", "--momentum", "0.9"),
    "adagrad": ("--optimizer", "adagrad"),
    "rmsprop": ("--optimizer", "rmsprop", "--centered", "true", "--momentum", "0.5"),
    "lion": ("--optimizer", "lion", "--lr", "1e-4"),
    "muon": ("--optimizer", "muon"),
    "adafactor": ("--optimizer", "adafactor"),
    "8-bit": ("--optimizer-bits", "8"),
    "4-bit": ("--optimizer-bits", "4"),
    "clipped": ("--clip-norm", "0.5"),
    "accumulated": ("--accumulate", "2", "--ema", "0.9"),
    "f16": ("--precision", "f16", "--loss-scale", "1024"),
    "bf16": ("--precision", "bf16", "--ema", "0.9"),
}
STAYS = {"adafactor"}  # The row and column factors of its state are small.
folder = own_folder()
disk = folder / "disk"
disk.mkdir()
os.environ["TMPDIR"] = str(disk)


def built(name: str, *flags):
    recipe = RECIPES[name]
    optimizer = () if "--optimizer" in recipe else ("--optimizer", "adamw")
    rate = () if "--lr" in recipe else ("--lr", "2e-3")
    words = (*DIGITS.flags, *optimizer, *rate, *recipe, *flags)
    label = re.sub(r"\W+", "_", "_".join((name, *flags)))
    compiled = run([MTC, "compile", DIGITS.model, *words, "--json", "-o", folder / label], folder)
    return Program(folder / label, DIGITS.data(ROWS)), json.loads(compiled.stdout)


for name in RECIPES:
    plain, planned = built(name)
    away, moved = built(name, "--offload", "optimizer", "--offload-window", "12KiB")
    assert "spaces" not in planned
    if name in STAYS:
        assert "spaces" not in moved, moved
        continue
    on_disk = moved["spaces"]["disk"]
    freed = planned["categories"]["optimizer"] - moved["categories"]["optimizer"]
    assert on_disk >= freed > 0 and on_disk % 4096 == 0, (name, on_disk, freed)
    expected = plain.losses_and_weights("plain", STEPS)
    report = folder / "report.json"
    assert away.losses_and_weights("away", STEPS, "--memory-report", report) == expected, f"{name}: different results"
    report = json.loads(report.read_text())
    assert report["planned_bytes"] == report["arena_bytes"] == moved["peak_bytes"], report
    assert on_disk in [use["bytes"] for use in report["outside_arena"]], report
    assert away.losses_and_weights("profiled", STEPS, "--profile", folder / "trace.json") == expected, f"{name}: different results in a profile"
    checkpoint = folder / f"{name}-checkpoint"
    away.run("--steps", STEPS // 2, "--save", checkpoint)
    assert away.exported("resumed", "--steps", STEPS, "--resume", checkpoint) == expected[1], f"{name}: resumed"
    # A checkpoint does not depend on where the state is stored.
    assert plain.exported("resumed", "--steps", STEPS, "--resume", checkpoint) == expected[1], f"{name}: elsewhere"
    rows = ("--evaluate",)
    assert away.run(*rows, "--resume", checkpoint).stdout == plain.run(*rows, "--resume", checkpoint).stdout
    if "--ema" in RECIPES[name]:
        average = ("--steps", STEPS, "--use-ema")
        assert away.exported("average", *average) == plain.exported("average", *average), f"{name}: average"
assert not list(disk.iterdir())

# The budgets require offloading, with one window per variable.
plain, planned = built("adamw")
whole, moved = built("adamw", "--offload", "optimizer")
expected = plain.losses_and_weights("plain", STEPS)
assert whole.losses_and_weights("whole", STEPS) == expected
budget = str(planned["peak_bytes"] - 4096)
fitted, fits = built("adamw", "--offload", "auto", "--memory", budget, "--recompute", "none", "--offload-window", "4KiB")
assert fits["peak_bytes"] <= int(budget) and 0 < fits["spaces"]["disk"] < moved["spaces"]["disk"], fits
assert fitted.losses_and_weights("fitted", STEPS) == expected
some, fits = built("adamw", "--offload", "optimizer", "--memory", budget, "--recompute", "none", "--offload-window", "4KiB")
assert fits["peak_bytes"] <= int(budget) and 0 < fits["spaces"]["disk"] < moved["spaces"]["disk"], fits
assert some.losses_and_weights("some", STEPS) == expected
needless, plan = built("adamw", "--offload", "auto")
assert plan == planned or "spaces" not in plan, plan

# A killed run resumes bit-exactly and leaves no file.
log = folder / "parts.jsonl"
away, _ = built("adamw", "--offload", "optimizer", "--offload-window", "4KiB")
flags = ("--steps", 200, "--seed", 7, "--threads", 1)
whole = plain.exported("long", *flags)
killed = away.run_with_kills(*flags, "--metrics", log, "--export", "parts.onnx", kills=4, after=(0.02, 0.15))
assert (folder / "parts.onnx").read_bytes() == whole
assert not list(disk.iterdir()), "a killed program left a file"

# Several folders share the state in stripes.
disks = [folder / "disk-1", folder / "disk-2"]
for each in disks:
    each.mkdir()
assert away.exported("striped", *flags, "--offload-dir", ",".join(map(str, disks))) == whole

# If the state cannot be stored, the program reports it before the first step.
refused = away.run("--steps", 1, "--offload-dir", folder / "missing", code=1).stderr
assert "--offload-dir" in refused and "missing" in refused, refused
if os.path.isdir("/dev/shm"):
    refused = away.run("--steps", 1, "--offload-dir", "/dev/shm", code=1).stderr
    assert "lies in memory" in refused, refused
refused = plain.run("--steps", 1, "--offload-dir", disk, code=1).stderr
assert "keeps nothing on a disk" in refused, refused
limited = subprocess.run(
    [str(word) for word in away.command("--steps", 1)], cwd=folder, capture_output=True, text=True,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)),
)  # fmt: skip
assert limited.returncode == 2 and "cannot be reserved" in limited.stderr, limited.stderr
assert str(moved["spaces"]["disk"]) in limited.stderr, limited.stderr
for value in ("5000", "0", "4095", "x"):
    error = run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--offload-window", value], folder, code=1).stderr
    assert "--offload-window" in error and "4 KiB" in error, error

# State is also offloaded to host memory, with an emulated GPU.
for name in ("adamw", "8-bit", "accumulated"):
    device = ("--target", "cuda", "--emulate")
    plain, planned = built(name, *device)
    away, moved = built(name, *device, "--offload", "optimizer", "--offload-window", "12KiB")
    assert set(moved["spaces"]) == {"device", "pinned_host"}, moved
    expected = plain.losses_and_weights("plain", STEPS)
    assert away.losses_and_weights("away", STEPS) == expected, f"{name}: different results on the device"
    checkpoint = folder / f"{name}-device-checkpoint"
    away.run("--steps", STEPS // 2, "--save", checkpoint)
    assert away.exported("resumed", "--steps", STEPS, "--resume", checkpoint) == expected[1], f"{name}: resumed"

# Activations and parameters are offloaded separately and together, and only as much as the budget requires.
recipe = ("--optimizer", "adamw", "--lr", "1e-3")


def built_gpt2(name: str, *flags):
    compiled = run([MTC, "compile", GPT2.model, *GPT2.flags, *recipe, *flags, "--json", "-o", folder / name], folder)
    return Program(folder / name, GPT2.data(48)), json.loads(compiled.stdout)


plain, planned = built_gpt2("gpt2")
expected = plain.losses_and_weights("plain", STEPS)
peaks = {(): planned["peak_bytes"]}
window = ("--offload-window", "64KiB")
for chosen in ("activations",), ("parameters",), ("optimizer", "activations", "parameters"):
    flags = [word for what in chosen for word in ("--offload", what)]
    away, moved = built_gpt2("away", *flags, *window)
    peaks[chosen] = moved["peak_bytes"]
    assert away.losses_and_weights("away", STEPS) == expected, f"{chosen}: different results"
    assert away.losses_and_weights("profiled", STEPS, "--profile", folder / "trace.json") == expected, f"{chosen}: different results in a profile"
assert peaks[()] > max(peaks[("activations",)], peaks[("parameters",)]), peaks
assert min(peaks[("activations",)], peaks[("parameters",)]) > peaks[("optimizer", "activations", "parameters")], peaks
budget = (peaks[()] + peaks[("activations",)]) // 2
keep = ("--recompute", "none", "--tile", "none")
some, moved = built_gpt2("some", "--offload", "activations", "--memory", budget, *keep)
most, low = built_gpt2("most", "--offload", "activations", *keep)
assert moved["peak_bytes"] <= budget and 0 < moved["spaces"]["disk"] < low["spaces"]["disk"], (moved, low)
assert some.losses_and_weights("some", STEPS) == expected
unneeded, whole = built_gpt2("whole", "--offload", "auto", "--memory", peaks[()])
assert "spaces" not in whole, whole

# Both models train for more steps with all combinations of techniques on both targets, and with checks of each operation's writes.
ALL = [word for what in ("optimizer", "activations", "parameters") for word in ("--offload", what)]


def built_of(model, rows: int, name: str, *flags):
    words = (*model.flags, *recipe, "--tile", "none", *(window if "--offload" in flags else ()), *flags)
    compiled = run([MTC, "compile", model.model, *words, "--json", "-o", folder / name], folder)
    return Program(folder / name, model.data(rows)), json.loads(compiled.stdout)


device, checked, tight = ("--target", "cuda", "--emulate"), ("--check-memory", *ALL), ("--offload", "auto", "--memory")
for model, STEPS, target, choices in (
    (DIGITS, 20, (), (ALL, checked)),
    (DIGITS, 20, device, (ALL,)),
    (GPT2, 20, (), (ALL, checked, ("--recompute", "sqrt", "--offload", "activations"), ("--recompute", "none", *tight), tight)),
    (SMALL_GPT2, 4, device, (ALL, ("--recompute", "none", *tight))),
):
    rows = model.batch * STEPS
    plain, planned = built_of(model, rows, "plain", *target)
    expected = plain.losses_and_weights("plain", STEPS)
    budget = planned["peak_bytes"] * 7 // 10
    for flags in choices:
        given = (*flags, budget) if flags[-1] == "--memory" else flags
        away, moved = built_of(model, rows, "away", *target, *given)
        assert budget not in given or moved["peak_bytes"] <= budget, (given, moved)
        assert away.losses_and_weights("away", STEPS) == expected, f"{model.name} {target} {given}: different results"
