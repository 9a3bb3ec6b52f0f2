# RUN: %python %s %t
"""The page of --report contains the numbers of --metrics in its tables and in its data, during a run and after it."""

import json
import math
import re
import signal
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx
from models import DIGITS
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile_example, losses, own_folder, read_metrics, run

folder = own_folder()
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Checks that elements are closed, and collects tables, tiles and data."""

    def __init__(self, path: Path):
        super().__init__()
        self.open, self.tables, self.text, self.data = [], {}, "", None
        self.names: list[str] = []
        self.source = path.read_text()
        self.feed(self.source)
        assert not set(self.open) - {"html", "body"}, self.open
        assert self.source.startswith("<!-- written by mtc\n-->\n<!doctype html>"), self.source[:80]
        assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", self.source), "the page refers to other files"

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        attributes = dict(attributes)
        if tag == "table":
            self.caption, self.rows = "", []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "script" and attributes.get("id") == "data":
            self.data = ""

    def handle_endtag(self, tag):
        if tag == "script" and isinstance(self.data, str):
            self.data = json.loads(self.data)
        elif tag == "table":
            self.tables[self.caption] = self.rows
        while self.open and self.open.pop() != tag:
            assert self.open, f"</{tag}> closes nothing"

    def handle_data(self, text):
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            if isinstance(self.data, str):
                self.data += text
        elif inside == "caption":
            self.caption += text
        elif inside in ("td", "th"):
            self.rows[-1][-1] += text
        elif inside != "style":
            self.text += text + " "


def number(text: str) -> float:
    return float(text.replace(",", ""))


def check(page: Page, metrics: list[dict]) -> None:
    """Checks that every step is in a range of the data, and that means and extremes are those of the metrics."""
    steps, by_step = page.data["steps"], {record["step"]: record for record in metrics}
    covered = [step for first, last in zip(steps["first"], steps["last"], strict=True) for step in range(first, last + 1)]
    assert covered == [record["step"] for record in metrics], "the ranges do not cover the steps"
    for name in ("loss", "lr", "grad_norm", "step_seconds"):
        assert (name in steps) == (name in metrics[0]), name
        for i, (first, last) in enumerate(zip(steps["first"], steps["last"], strict=True) if name in steps else ()):
            values = [by_step[step][name] for step in range(first, last + 1)]
            assert math.isclose(steps[name]["mean"][i], sum(values) / len(values), rel_tol=1e-9), (name, i)
            assert steps[name]["minimum"][i] == min(values) and steps[name]["maximum"][i] == max(values), (name, i)
    row = next(row for row in page.tables["Last value, mean and extremes of each metric over all steps"] if row[0] == "Loss")
    wanted = [metrics[-1]["loss"], sum(losses(metrics)) / len(metrics), min(losses(metrics)), max(losses(metrics))]
    assert all(math.isclose(number(cell), value, rel_tol=1e-4) for cell, value in zip(row[1:], wanted, strict=True)), (row, wanted)
    rows = page.tables["Means of the metrics over ranges of steps"][1:]
    assert 0 < len(rows) <= 50 and number(rows[-1][0].split(" – ")[-1]) == metrics[-1]["step"], rows


program = compile_example(DIGITS, folder, "adamw", 480, "--clip-norm", "1")
common = ("--threads", 1, "--quiet", "--metrics", "m.jsonl", "--report", "run.html")
program.run("--steps", 40, *common, "--save", "c")
page = Page(folder / "run.html")
check(page, read_metrics(folder / "m.jsonl"))
assert page.data["state"] == "completed" and page.data["step"] == 40 and "http-equiv" not in page.source
plan = json.loads(run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--clip-norm", "1", "--json"], folder).stdout)
memory = {row[0]: row for row in page.tables["Planned memory by category, and the measured peak of the process"]}
assert number(memory["Arena, planned"][2]) == plan["peak_bytes"] == page.data["planned_bytes"]
assert number(memory["Parameters"][2]) == plan["categories"]["parameters"]
assert number(memory["Process, measured peak"][2]) == page.data["process_peak_bytes"] > plan["peak_bytes"]

# A resumed run continues the charts after the steps of the checkpoint.
program.run("--steps", 60, *common, "--resume", "c")
program.run("--steps", 2100, *common, "--resume", "c")
page = Page(folder / "run.html")
check(page, read_metrics(folder / "m.jsonl"))
assert [each["first_step"] for each in page.data["executions"]] == [0, 40], page.data["executions"]
assert len(page.data["steps"]["first"]) <= 1024 and len(page.source) < 400_000, len(page.source)
result = run(program.command("--steps", 60, "--resume", "c", "--report", "other.html"), folder)
assert "--report other.html: starts with step 41" in result.stderr, result.stderr
assert Page(folder / "other.html").data["steps"]["first"][0] == 41

# Validations are in a table and in the data; the best one is marked.
validation = ("--validate", "x=x.npy", "--validate", "labels=labels.npy", "--validate-every", 10)
program.run("--steps", 25, "--threads", 1, "--quiet", *validation, "--metrics", "v.jsonl", "--report", "validated.html")
page, lines = Page(folder / "validated.html"), [record for record in read_metrics(folder / "v.jsonl") if "validation_loss" in record]
rows = page.tables["Loss and metrics of validations"]
assert rows[0][:3] == ["Step", "Loss", "accuracy"] and [number(row[0]) for row in rows[1:]] == [10, 20, 25], rows
for row, record, each in zip(rows[1:], lines, page.data["validations"], strict=True):
    assert math.isclose(number(row[1]), record["validation_loss"], rel_tol=1e-4) and each["loss"] == record["validation_loss"], (row, record)
    assert each["metrics"]["accuracy"] == record["validation_accuracy"] and each["best"] == record["best"], (each, record)
assert [row[0] for row in rows if row[-1] == "best loss"] == [str([record for record in lines if record["best"]][-1]["step"])], rows
assert "Best validation loss" in page.text

# The page is valid during the run, and reports how the run ended.
running = subprocess.Popen([str(word) for word in program.command("--steps", 10**9, "--threads", 1, "--quiet", "--report", "live.html")],
                           cwd=folder, stderr=subprocess.PIPE, text=True)  # fmt: skip
deadline = time.monotonic() + 120
while True:
    assert time.monotonic() < deadline and running.poll() is None, "the page was not updated"
    if (folder / "live.html").exists() and (page := Page(folder / "live.html")).data["step"] > 0:
        break
    time.sleep(0.1)
assert page.data["state"] == "running" and 'http-equiv="refresh"' in page.source
running.send_signal(signal.SIGTERM)
assert "stopped after step" in running.communicate(timeout=60)[1]
page = Page(folder / "live.html")
assert page.data["state"] == "stopped" and page.data["step"] > 0 and "http-equiv" not in page.source

# A run that diverges leaves a page with the reason.
x = np.load(folder / "x.npy")
x[100:] = np.nan
np.save(folder / "bad.npy", x)
result = run([program.path, "--data", "x=bad.npy", "--data", "labels=labels.npy", "--no-shuffle", "--report", "bad.html"], folder, code=2)
page = Page(folder / "bad.html")
assert page.data["state"] == "failed" and "the loss of step 4 is nan" in page.data["message"] and page.data["message"] in result.stderr
assert "the loss of step 4 is nan" in page.text and page.data["steps"]["loss"]["mean"][3] is None

# Names of the model are escaped in HTML.
shape = ["batch", 4]
hostile = helper.make_model(helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"], name="</script><b>&")], "<i>",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")]), opset_imports=[helper.make_opsetid("", 17)])  # fmt: skip
onnx.save(hostile, folder / "a<script>&'\".onnx")
run([MTC, "compile", "a<script>&'\".onnx", "--loss", "mse", "--dim", "batch=4", "-o", "<b>train"], folder)
np.save(folder / "four.npy", np.ones((8, 4), np.float32))
usage = run(["./<b>train", "--help"], folder).stdout.splitlines()[0]
inputs = re.findall(r"--data (\S+)=FILE", usage)
run(["./<b>train", *(word for name in inputs for word in ("--data", f"{name}=four.npy")), "--report", "hostile.html"], folder)
page = Page(folder / "hostile.html")
assert page.data["model"] == "a<script>&'\"" and page.data["model"] in page.text and "<b>train" in page.text
assert page.source.count("<script") == 3 and "<b>" not in page.source.replace("`<b>", "")

# A page may replace another page, but no file that mtc did not write.
(folder / "mine.html").write_text("<p>mine")
result = run(program.command("--steps", 1, "--report", "mine.html"), folder, code=1)
assert "--report mine.html: exists, and mtc did not write it" in result.stderr and (folder / "mine.html").read_text() == "<p>mine"
run(program.command("--steps", 1, "--report", "mine.html", "--force"), folder)
run(program.command("--steps", 1, "--report", "mine.html"), folder)
result = run(program.command("--steps", 1, "--report", "x.npy", "--force"), folder, code=1)
assert "is the data of 'x'" in result.stderr, result.stderr
