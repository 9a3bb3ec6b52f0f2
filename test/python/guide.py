# RUN: %python %s
"""The blocks of the pages that need PyTorch are valid Python and shell, their flags exist, and links lead to files. The scripts
guide.py, large_models.py and tasks.py of test/exports run the blocks."""

import os
import re
import subprocess
from pathlib import Path

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs/guide"
LEAST = {"exporting.md": {"python": 9, "shell": 8}, "large-models.md": {"python": 2, "shell": 4}, "tasks.md": {"python": 7, "shell": 5}}
LINES = 30  # of a task

help_text = subprocess.run([os.environ.get("MTC", "mtc"), "compile", "--help-all"], capture_output=True, text=True, check=True).stdout


def blocks_of(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


for name, minimum in LEAST.items():
    page = GUIDE / name
    blocks = blocks_of(page.read_text())
    count = {language: sum(found == language for found, _ in blocks) for language in minimum}
    assert all(count[language] >= least for language, least in minimum.items()), (name, count)
    exported = {model for language, block in blocks if language == "python" for model in re.findall(r'"(\w+\.onnx)"', block)}
    exported |= {model for language, block in blocks if language == "shell" for model in re.findall(r"mtc\.export .*-o (\w+\.onnx)", block)}
    for language, block in blocks:
        if language == "python":
            compile(block, str(page), "exec")
        if language == "shell":
            subprocess.run(["bash", "-n", "-c", block], check=True)
            for line in block.splitlines():
                if line.startswith("mtc "):
                    assert line.split()[2] in exported, f"no block exports the model of: {line}"
                for flag in re.findall(r"--[\w-]+", line) if line.startswith("mtc compile") else ():
                    assert re.search(rf"^ +{flag}\b", help_text, re.MULTILINE), f"mtc compile has no flag {flag}: {line}"
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / link).exists(), f"{name}: {link} does not exist"

for task in re.split(r"^## ", (GUIDE / "tasks.md").read_text(), flags=re.MULTILINE)[1:]:
    lines = sum(bool(line.strip()) for _, block in blocks_of(task) for line in block.splitlines())
    assert 0 < lines <= LINES, f"{task.splitlines()[0]}: {lines} lines; expected 1 to {LINES}"
