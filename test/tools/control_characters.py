# RUN: %python %s %t
"""Control characters in names from files do not reach the terminal, in all output of the compiler and of programs."""

import json
import os
import pty
import re
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, TIMEOUT, own_folder

MARK = "\x1b[31m\x07\x7f\x9b2J\r\b"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
folder = own_folder()


def model(name: str, node: onnx.NodeProto, domain: str = "") -> str:
    """Saves a model of one node, in which every name contains MARK."""
    shape = [f"batch{MARK}", 4]
    values = [helper.make_tensor_value_info(f"{each}{MARK}", TensorProto.FLOAT, shape) for each in "xy"]
    weight = numpy_helper.from_array(np.eye(4, dtype=np.float32), f"w{MARK}")
    graph = helper.make_graph([node], f"graph{MARK}", values[:1], values[1:], [weight], doc_string=MARK)
    opsets = [helper.make_opsetid("", 18), *([helper.make_opsetid(domain, 1)] if domain else [])]
    made = helper.make_model(graph, opset_imports=opsets, producer_name=f"exporter{MARK}", producer_version=MARK, ir_version=9)
    onnx.save(made, folder / f"{name}.onnx")
    return f"{name}.onnx"


def node(operator: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(operator, [f"x{MARK}", f"w{MARK}"], [f"y{MARK}"], name=f"node{MARK}", **attributes)


def printed(*command, code: int) -> str:
    """Returns both streams of a command; its file names may contain control characters too."""
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=TIMEOUT)
    text = (run.stdout + run.stderr).decode()
    assert run.returncode == code, (command, run.returncode, text)
    found = CONTROL.search(text)
    assert not found, (command, text[max(0, found.start() - 100) : found.end() + 20])
    return text


good = model("good", node("MatMul"))
named = model(f"good{MARK}", node("MatMul"))
refused = [
    model("operator", node(f"Foo{MARK}", domain=f"domain{MARK}"), f"domain{MARK}"),
    model("attribute", node("MatMul", **{f"a{MARK}": 1})),
    model("kind", helper.make_node("Cast", [f"x{MARK}"], [f"y{MARK}"], name=f"node{MARK}", to=77)),
]
(folder / "recipe.toml").write_text(f"loss = {json.dumps(MARK)}\n")
(folder / f"{MARK}.toml").write_text("loss =\n")

shown = 0
for command in ("inspect", good), ("inspect", good, "--verbose"), ("plan", good), ("plan", good, "--verbose", "--techniques"):
    shown += "\\x1b[31m" in printed(MTC, *command, code=0)
for path in good, named:
    shown += "\\x1b[31m" in printed(MTC, "compile", path, "--loss", "mse", "-o", "train", "--force", "--remarks", "remarks.txt", code=0)
shown += "\\x1b[31m" in printed(MTC, "grad", good, "-o", "gradients.onnx", "--loss", "mse", code=0)
for stage in "onnx", "forward", "training", "kernels", "allocated", "llvm":
    printed(MTC, "compile", good, "--loss", "mse", "--emit", stage, code=0)
for path in refused:
    for command in "inspect", "plan", "compile":
        shown += "\\x1b[31m" in printed(MTC, command, path, code=1)
for flags in (["--dim", "none=1"], ["--dim", f"{MARK}=1"], ["--loss", MARK], ["--train", MARK], ["--output", MARK], ["--recipe", "recipe.toml"],
              ["--recipe", f"{MARK}.toml"], [f"--{MARK}"], ["-o", f"{MARK}/train"], ["--memory", "1KiB"]):  # fmt: skip
    shown += "\\x1b[31m" in printed(MTC, "compile", good, *flags, code=1)
assert shown == 7 + 9 + 10, shown

# A program.
np.save(folder / "x.npy", np.ones((16, 4), np.float32))
data = ["--data", f"x{MARK}=x.npy", "--data", "labels=x.npy"]
shown = 0
for flags, code in (["--help"], 0), (["--version"], 0), ([*data, "--steps", "3", "--save", f"saved{MARK}"], 0), ([*data, "--evaluate"], 0), (
        [*data, "--outputs", f"{MARK}.safetensors"], 0), (["--data", "x=x.npy"], 1), ([], 1), ([*data, f"--{MARK}"], 1), (
        [*data, "--weights", f"{MARK}.safetensors"], 1), ([*data, "--resume", MARK], 1):  # fmt: skip
    shown += "\\x1b[31m" in printed(folder / "train", *flags, code=code)
assert shown >= 8, shown

# This is the progress bar of a terminal.
primary, secondary = pty.openpty()
run = subprocess.Popen([MTC, "plan", named, "--techniques"], cwd=folder, stderr=secondary, stdout=subprocess.DEVNULL,
                       env={**os.environ, "TERM": "xterm"})  # fmt: skip
os.close(secondary)
seen = b""
try:
    while part := os.read(primary, 65536):
        seen += part
except OSError:  # end of the terminal's output
    pass
assert run.wait(TIMEOUT) == 0
assert b"\x1b[31m" not in seen and b"\x07" not in seen, seen
