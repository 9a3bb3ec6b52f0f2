# RUN: %python %s %t
"""`mtc sweep` runs every combination of settings and ranks the runs as their own metrics do. Complete runs are not repeated, runs that fail do not
stop the others, and mistakes are named before any run starts."""

import csv
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
from models import DIGITS, digits
from program import MTC, compile, own_folder, run

folder = own_folder()
program = compile(DIGITS.model, folder, digits(320), *DIGITS.flags)
data = [*program.data_flags, *(word.replace("--data", "--validate") for word in program.data_flags)]


def sweep(*words, code=0):
    return run([MTC, "sweep", program.path, *words], folder, code)


def metrics(name) -> list[dict]:
    return [json.loads(line) for line in (folder / name / "metrics.jsonl").read_text().splitlines()]


RATES, SEEDS = ("1e-3", "1e-2", "3e-3"), ("0", "1")
found = sweep("--set", "lr=" + ",".join(RATES), "--set", "seed=0,1", "--out", "first", "--", *data, "--epochs", 2, "--export-weights", "{run}/weights.safetensors")
names = [f"lr={rate},seed={seed}" for rate in RATES for seed in SEEDS]
assert sorted(p.name for p in (folder / "first").iterdir()) == sorted([*names, "index.html", "table.csv"])
assert all((folder / "first" / name / "weights.safetensors").exists() for name in names)
# The runs are those of the program alone, and the table has their best validations in order.
values = {}
for name in names:
    lines = metrics(f"first/{name}")
    values[name] = min(line["validation_loss"] for line in lines if "validation_loss" in line)
alone = folder / "alone.jsonl"
run([program.path, *data, "--epochs", 2, "--lr", "1e-2", "--seed", 1, "--metrics", alone], folder)
last = [line for line in map(json.loads, alone.read_text().splitlines()) if "validation_loss" in line][-1]
swept = [line for line in metrics("first/lr=1e-2,seed=1") if "validation_loss" in line][-1]
assert last["validation_loss"] == swept["validation_loss"] and last["step"] == swept["step"], (last, swept)
table = list(csv.DictReader((folder / "first" / "table.csv").open()))
assert [f"lr={row['lr']},seed={row['seed']}" for row in table] == sorted(names, key=values.get), table
for row in table:
    np.testing.assert_allclose(float(row["validation_loss"]), values[f"lr={row['lr']},seed={row['seed']}"], rtol=1e-5)
page = (folder / "first" / "index.html").read_text()
curves = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])["curves"]
assert [curve["name"].replace(", ", ",") for curve in curves] == sorted(names, key=values.get)
assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", page), "the page refers to other files"

# A run that is complete is not repeated; another metric ranks by its own direction; one that fails is named, and the others go on.
times = {name: (folder / "first" / name / "metrics.jsonl").stat().st_mtime_ns for name in names}
again = sweep("--set", "lr=1e-3,1e-2,3e-3,-1", "--set", "seed=0,1", "--out", "first", "--metric", "accuracy", "--json", "--jobs", 2, "--",
              *data, "--epochs", 2, "--export-weights", "{run}/weights.safetensors", code=1)  # fmt: skip
assert times != {name: (folder / "first" / name / "metrics.jsonl").stat().st_mtime_ns for name in names}, "--jobs divides the threads"
again = sweep("--set", "lr=1e-3,1e-2,3e-3,-1", "--set", "seed=0,1", "--out", "first", "--metric", "accuracy", "--json", "--jobs", 2, "--",
              *data, "--epochs", 2, "--export-weights", "{run}/weights.safetensors", code=1)  # fmt: skip
result = json.loads(again.stdout)
assert result["metric"] == "validation_accuracy" and len(result["runs"]) == 8
ranked = [each["value"] for each in result["runs"] if "problem" not in each]
assert len(ranked) == 6 and ranked == sorted(ranked, reverse=True), ranked
assert all("--lr -1: expected a number" in each["problem"] for each in result["runs"][6:]), result["runs"][6:]
assert "6 of which were complete" in again.stderr, again.stderr

# Settings of a file, with switches.
(folder / "settings.txt").write_text("# two runs\n--lr 1e-2 --warmup 5\n\n--lr=1e-3 --no-shuffle\n")
listed = sweep("--list", "settings.txt", "--set", "seed=3", "--out", "listed", "--json", "--quiet", "--", *program.data_flags, "--steps", 4)
settings = [each["setting"] for each in json.loads(listed.stdout)["runs"]]
assert {"lr": "1e-2", "warmup": "5", "seed": "3"} in settings and {"lr": "1e-3", "no-shuffle": "true", "seed": "3"} in settings, settings

# A signal ends the sweep, which continues where it was.
long = ["--set", "seed=0,1,2", "--out", "long", "--", *program.data_flags, "--steps", 200000]
process = subprocess.Popen([MTC, "sweep", program.path, *map(str, long)], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True)
while not (folder / "long" / "seed=0" / "metrics.jsonl").exists():
    time.sleep(0.05)
os.killpg(process.pid, signal.SIGINT)
process.communicate(timeout=60)
assert process.returncode == 1 and not (folder / "long" / "seed=0" / "completed").exists()
assert not (folder / "long" / "seed=1").exists()

# An error of the sweep ends the runs that it has started.
(folder / "broken").mkdir()
(folder / "broken" / "seed=2").write_text("a file, so that the third run has no folder")
started = time.monotonic()
shown = sweep("--set", "seed=0,1,2", "--jobs", 3, "--out", "broken", "--", *program.data_flags, "--steps", 20000000, code=1).stderr
assert "error: broken/seed=2" in shown, shown
left = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)]
assert not any(bytes(folder / "broken") in words or b"broken/seed=" in words for words in left)
assert time.monotonic() - started < 60

for words, problem in (
    (["--out", "x", "--", *data], "no settings; give --set FLAG=VALUE,VALUE or --list FILE"),
    (["--set", "lr=1", "--", *data], "--out DIR is missing"),
    (["--set", "lr", "--out", "x"], "--set lr: expected a flag of the program and its values"),
    (["--set", "lr=1,1", "--out", "x"], "'1' is given twice"),
    (["--set", "lr=1", "--set", "lr=2", "--out", "x"], "--lr: has two values in the run"),
    (["--set", "lr=1", "--out", "x", "--", "--lr", "2"], "--lr: is a setting of the sweep, and a flag of all runs"),
    (["--set", "lr=1", "--out", "x", "--", "--save", "saved"], "--save saved: all runs would write it; use {run}"),
    (["--set", "lr=1", "--out", "x", "--", "--metrics", "m"], "--metrics: mtc sweep sets it"),
    (["--set", "lr=1", "--out", "x", "--jobs", 0], "expected 1 or more"),
    (["--list", "nothing.txt", "--out", "x"], "--list nothing.txt: "),
):
    shown = sweep(*words, code=1).stderr
    assert problem in shown, (words, shown)
    assert not (folder / "x").exists(), words
shown = run([MTC, "sweep"], folder, code=1).stderr
assert "mtc sweep: expected a program" in shown, shown
shown = run([MTC, "sweep", "nothing", "--set", "lr=1", "--out", "x"], folder, code=1).stderr
assert "nothing: not a program that can be run" in shown, shown
shown = run([MTC, "sweep", "/bin/true", "--set", "lr=1", "--out", "x"], folder, code=1).stderr
assert "/bin/true: does not list its flags with --describe" in shown, shown
described = json.loads(run([program.path, "--describe"], folder).stdout)
assert {"name": "save", "value": "DIR", "writes_files": True} in described["flags"], described
assert {"name": "accuracy", "is_higher_better": True} in described["metrics"], described
shown = sweep("--set", "lr=1e-3", "--out", "metric", "--metric", "f5", "--", *program.data_flags, "--steps", 1, code=1).stderr
assert "--metric f5: no run has this metric; the metrics are loss" in shown, shown
