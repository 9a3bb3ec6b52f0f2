# RUN: %python %s
"""The blocks in the guide are valid Python and shell, their flags exist, and links lead to files. test/exports/guide.py runs the blocks."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/guide/exporting.md"
LEAST = {"python": 9, "shell": 8}

text = PAGE.read_text()
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
count = {language: sum(found == language for found, _ in blocks) for language in LEAST}
assert all(count[language] >= least for language, least in LEAST.items()), count
help_text = subprocess.run([os.environ.get("MTC", "mtc"), "compile", "--help-all"], capture_output=True, text=True, check=True).stdout
exported = set()
for language, block in blocks:
    if language == "python":
        compile(block, str(PAGE), "exec")
        exported |= set(re.findall(r'"(\w+\.onnx)"', block))
    if language == "shell":
        subprocess.run(["bash", "-n", "-c", block], check=True)
        for line in block.splitlines():
            if line.startswith("mtc "):
                assert line.split()[2] in exported, f"no block exports the model of: {line}"
            for flag in re.findall(r"--[\w-]+", line) if line.startswith("mtc compile") else ():
                assert re.search(rf"^ +{flag}\b", help_text, re.MULTILINE), f"mtc compile has no flag {flag}: {line}"
for link in re.findall(r"\]\(([^)#]+)\)", text):
    assert (PAGE.parent / link).exists(), f"{link} does not exist"
