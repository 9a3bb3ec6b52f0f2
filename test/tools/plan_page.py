# RUN: %python %s %t
"""The peak, techniques and budgets that `mtc plan` prints agree with each other and with the page of --html."""

import json
import re

import numpy as np
import onnx
from models import DIGITS, GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

folder = own_folder()


def plan(model, *flags, code: int = 0) -> dict:
    return json.loads(run([MTC, "plan", model, *flags, "--json"], folder, code).stdout)


def data_of(page) -> dict:
    text = page.read_text()
    assert text.startswith("<!-- written by mtc\n-->\n<!doctype html>"), text[:80]
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", text), "the page refers to other files"
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def check(name: str, model, *flags) -> None:
    page = folder / f"{name}.html"
    planned = plan(model, *flags, "--html", page)
    data = data_of(page)
    text = data["strings"]
    assert data["arena_bytes"] == planned["peak_bytes"] and text[data["operations"][data["peak"]]] == planned["peak_at"]
    assert max(data["live"]) == data["live"][data["peak"]] == planned["live_bytes"], name
    lives = [(*life[:4], data["categories"][life[4]], *(text[each] for each in life[5:])) for life in data["lifetimes"]]
    at_peak = sorted((o, b, c, t, n, why) for o, b, f, l, c, t, n, _, why in lives if f <= data["peak"] <= l)
    listed = planned["alive_at_peak"]
    keys = ("offset", "bytes", "category", "type", "node", "why")
    assert at_peak == sorted(tuple(each[key] for key in keys) for each in listed), name
    assert [each["bytes"] for each in listed] == sorted((each["bytes"] for each in listed), reverse=True), name
    assert sum(each["bytes"] for each in listed) == planned["live_bytes"], name
    # The arena's categories count gaps as activations.
    for category, sum_of_category in planned["categories"].items():
        listed_of_category = sum(each["bytes"] for each in listed if each["category"] == category)
        gaps = planned["peak_bytes"] - planned["live_bytes"] if category == "activations" else 0
        assert listed_of_category == sum_of_category - gaps, (name, category)
    # Values with overlapping lifetimes have disjoint slices inside the arena.
    for operation in range(len(data["live"])):
        alive = sorted((life[0], life[0] + life[1]) for life in lives if life[2] <= operation <= life[3])
        assert all(a[1] <= b[0] for a, b in zip(alive, alive[1:], strict=False)), (name, operation)
        assert alive[-1][1] <= data["arena_bytes"], name
        assert sum(end - begin for begin, end in alive) == data["live"][operation], (name, operation)
    # The phases divide the operations, and the values of the backward pass are gradients.
    phases = data["phases"]
    assert [phase["first"] for phase in phases] == [0, *(phase["first"] + phase["count"] for phase in phases[:-1])], phases
    assert phases[-1]["first"] + phases[-1]["count"] == len(data["operations"]), phases
    assert phases[0]["name"] == "forward" and {"update", "evaluation"} < {phase["name"] for phase in phases}, phases
    assert any(phase["name"] in ("backward", "backward and update") for phase in phases), phases
    gradients = {c for _, _, _, _, c, _, _, _, why in lives if why.startswith("gradient, last used")}
    assert gradients and gradients <= {"gradients", "activation_gradients"}, gradients
    # The tables contain the same numbers, for browsers without scripts.
    html = page.read_text()
    rows = re.search(r"by category</caption>.*?<tbody>(.*?)</tbody>", html, re.DOTALL)[1].split("</tr>")[:-1]
    cells = [re.findall(r"<t[hd][^>]*>(?:<i[^>]*></i>)?(.*?)</t[hd]>", row) for row in rows]
    assert sum(int(row[2].replace(",", "")) for row in cells) == planned["peak_bytes"], (name, cells)
    assert sum(int(row[3].replace(",", "")) for row in cells if row[3]) == len(listed), (name, cells)
    assert html.count('<th scope="row"', html.index("largest first</caption>"), html.index("</footer>")) == min(len(listed), 200), name
    reasons = {re.split(" of | for |,", why)[0] for *_, why in lives}
    assert {"parameter", "optimizer state", "saved", "input"} <= reasons, reasons


digits = ("--dim", "batch=32", "--loss", "cross-entropy")
check("digits", DIGITS.model, *digits)
check("gpt2", GPT2.model, *GPT2.flags)
check("cuda", GPT2.model, *GPT2.flags, "--target", "cuda", "--accumulate", "2")

# Names of the model cannot end the data element.
shape = ["batch", 4]
hostile = helper.make_model(helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"], name="</script><b>&\u2028")], "<i>",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")]), opset_imports=[helper.make_opsetid("", 17)])  # fmt: skip
onnx.save(hostile, folder / "hostile.onnx")
run([MTC, "plan", "hostile.onnx", "--loss", "mse", "--html", "hostile.html"], folder)
assert any("</script><b>&\u2028" in each for each in data_of(folder / "hostile.html")["strings"])
assert (folder / "hostile.html").read_text().count("</script>") == 2

# A page may replace a page, but no file that mtc did not write.
(folder / "mine.html").write_text("<p>mine")
result = run([MTC, "plan", DIGITS.model, *digits, "--html", "mine.html"], folder, code=1)
assert "--html mine.html" in result.stderr and (folder / "mine.html").read_text() == "<p>mine", result.stderr
run([MTC, "plan", DIGITS.model, *digits, "--html", "mine.html", "--force"], folder)
run([MTC, "plan", DIGITS.model, *digits, "--html", "mine.html"], folder)
run([MTC, "plan", DIGITS.model, *digits, "--html", "nowhere/page.html"], folder, code=1)

# Effects of techniques are differences between plans.
measured = plan(GPT2.model, *GPT2.flags, "--techniques", "--curve")
base = plan(GPT2.model, *GPT2.flags)
assert "techniques" not in base and "curve" not in base
names = [technique["name"] for technique in measured["techniques"]]
assert "mtc-fuse-update" in names and "recompute" not in names, names
for technique in measured["techniques"][:3]:
    without = plan(GPT2.model, *GPT2.flags, "--skip-pass", technique["name"])
    assert technique["saves_bytes"] == without["peak_bytes"] - base["peak_bytes"], technique
    assert technique["costs_flops"] == base["flops"] - without["flops"], technique
    assert abs(technique["costs_seconds"] - base["step_seconds"] + without["step_seconds"]) < 1e-9, technique
assert any(technique["saves_bytes"] > 0 for technique in measured["techniques"])

# A smaller budget is never faster, and the curve ends at the minimum peak of `mtc plan`.
curve = [(point["peak_bytes"], point["step_seconds"]) for point in measured["curve"]]
assert len(curve) > 2 and curve == sorted(curve, key=lambda point: (-point[0], point[1])), curve
assert all(a[1] <= b[1] for a, b in zip(curve, curve[1:], strict=False)), curve
assert curve[0][0] == base["peak_bytes"], curve
least = plan(GPT2.model, *GPT2.flags, "--memory", curve[-1][0])
assert least["fits"] and least["peak_bytes"] <= curve[-1][0], (least["peak_bytes"], curve)
assert "knee_bytes" not in measured or measured["knee_bytes"] in [peak for peak, _ in curve]
used = plan(GPT2.model, *GPT2.flags, "--memory", curve[-1][0], "--techniques")["techniques"]
(recomputed,) = (technique for technique in used if technique["name"] == "recompute")
# Other techniques may also lower the peak.
assert 0 < recomputed["saves_bytes"] <= curve[0][0] - least["peak_bytes"], recomputed
assert recomputed["costs_seconds"] > 0, recomputed

# The page names the techniques that lowered the peak.
plan(GPT2.model, *GPT2.flags, "--memory", curve[-1][0], "--html", "lowered.html")
lowered = (folder / "lowered.html").read_text()
assert "Lowered by recompute (bit-identical)" in lowered and re.search(r"Budget.*met: .* are left", lowered, re.DOTALL)
assert re.search(r"What would lower the peak</h2>.*--optimizer-bits 8", lowered, re.DOTALL)
plan(GPT2.model, *GPT2.flags, "--memory", curve[-1][0] // 2, "--html", "unmet.html", code=1)
assert re.search(r"Budget.*not met: .* are missing", (folder / "unmet.html").read_text(), re.DOTALL)

# Returns the visible part of the page.
text = run([MTC, "plan", GPT2.model, *GPT2.flags, "--techniques", "--curve"], folder).stdout
for line in (r"Largest of the \d+ tensors that are live at the peak", r"  +[\d.]+ .iB +\d+ x  others: see --verbose, --json or --html", r"  +[\d.]+ .iB +\d+ x  .*\.\*\..*  parameter", r"Techniques +saves bytes +adds time", r"  mtc-fuse-update +\d+", r"--memory +step time", r"  +%d .* 0\.0 %%" % base["peak_bytes"]):  # fmt: skip
    assert re.search(line, text), (line, text)
