# RUN: %python %s %t
"""Paths may contain any characters: no part of a path is interpreted as a pattern, option or list by the compiler, its linker or its
programs."""

import json
import os
import subprocess

from models import DIGITS
from program import MTC, own_folder

PERCENT = "100%"
# The text that llvm::sys::fs::createUniqueFile and ld.lld insert for PERCENT.
SIBLINGS = [f"100{digit:x}" for digit in range(16)]
# Characters with a meaning in options, lists, response files, shells, patterns and lines.
ODD = "-o @a,b $HOME 'c' \"d\" [e]*? %s#;&\n"

folder = own_folder()
model = folder / ODD / "digits.onnx"
for name in (ODD, PERCENT, *SIBLINGS, "tmp%"):
    (folder / name).mkdir()
model.write_bytes(DIGITS.model.read_bytes())
environment = os.environ | {"TMPDIR": str(folder / "tmp%")}


def run(*words, cwd=folder) -> str:
    """Returns the standard output of a command, which must succeed."""
    result = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{words}\nexit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout


COMPILE = (MTC, "compile", model, "--dim", "batch=32", "--quiet")
for name in (PERCENT, ODD):
    run(*COMPILE, "-o", folder / name / "train", "--remarks", folder / name / "remarks%")
    run(MTC, "grad", model, "--dim", "batch=32", "--quiet", "-o", folder / name / "gradients.onnx")
    run(MTC, "plan", model, "--dim", "batch=32", "--quiet", "--html", folder / name / "plan.html")
# Relative paths may look like an option or a response file. Libraries are compiled as well.
run(*COMPILE, "-o", f"{ODD}/relative")
run(*COMPILE, "--emit", "library", "-o", f"{PERCENT}/libdigits.so")
run(*COMPILE, "--emit", "library", "-o", f"{ODD}/libdigits.a")

for name in (PERCENT, ODD):
    here = folder / name
    for array in ("train_x", "train_labels"):
        (here / f"{array}%.npy").write_bytes((DIGITS.model.parent / f"{array}.npy").read_bytes())
    data = ("--data", f"x={here}/train_x%.npy", "--data", f"labels={here}/train_labels%.npy")
    run(here / "train", *data, "--steps", "2", "--save", here / "%s%", "--metrics", here / "%d.jsonl", "--report",
        here / "%.html", "--export", here / "%.onnx", "--export-weights", here / "%.safetensors", "--quiet")  # fmt: skip
    run(here / "train", *data, "--steps", "3", "--resume", here / "%s%", "--quiet")
    assert [json.loads(line)["step"] for line in (here / "%d.jsonl").read_text().splitlines()] == [1, 2]
    assert not [file for file in here.iterdir() if file.name.startswith(".mtc")], list(here.iterdir())

strays = [file for name in (*SIBLINGS, "tmp%") for file in (folder / name).iterdir()]
assert not strays, strays
