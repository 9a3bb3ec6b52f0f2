# RUN: %python %s %t
"""Runs the commands of README.md and of the guide in the order of each page, on the digits example, and compares their output.

Numbers may differ from those in the pages, and `[...]` replaces omitted text. The pages whose blocks need PyTorch have separate tests:
test/exports/guide.py, large_models.py and tasks.py.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
from launcher import SETTINGS
from program import MTC, TIMEOUT, own_folder

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = Path(os.environ["MTC_EXAMPLES"])
OTHERS = ("exporting.md", "large-models.md", "tasks.md")
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs/guide").glob("*.md") if path.name not in OTHERS)]
SKIPPED = ("tools/", "cmake ", "export ", "pip ", "apt ")  # commands that build or install mtc
MINIMUM = 24  # minimum number of commands
MINIMUM_PYTHON = 4  # minimum number of Python blocks
folder = own_folder()
environment = os.environ | {"PATH": f"{Path(MTC).parent}:{os.environ['PATH']}"} | SETTINGS


def prepare(page: Path) -> Path:
    """Creates a folder with the examples, and with a model and data under the names that the pages use."""
    work = folder / page.stem
    work.mkdir()
    (work / "examples").symlink_to(EXAMPLES)
    digits = EXAMPLES / "digits"
    shutil.copy(digits / "digits.onnx", work / "model.onnx")
    sources = {"x": "train_x", "labels": "train_labels"}
    sources |= {"test_x": "test_x", "test_labels": "test_labels", "val_x": "test_x", "val_labels": "test_labels"}
    for name, source in sources.items():
        np.save(work / f"{name}.npy", np.load(digits / f"{source}.npy"))
    return work


def commands(block: str) -> list[tuple[str, str]]:
    """Returns each command with the output that is shown after it. In a block without `$`, every line is a command; `\` continues it."""
    lines = [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    if not any(line.startswith("$ ") for line in lines):
        return [(line, "") for line in lines]
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def mask(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "0", " ".join(text.split()))


def check(page: Path, work: Path, command: str, shown: str):
    words = shlex.split(command, comments=True)
    if "on a machine with a GPU" in command:
        return
    result = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    output = mask(result.stdout + result.stderr)
    assert result.returncode == (1 if "mtc: error:" in shown else 0), f"{page.name}: {command}\n{result.stdout}{result.stderr}"
    at = 0
    for part in shown.split("[...]"):
        position = output.find(mask(part), at)
        assert position >= 0, f"{page.name}: {command}\nshown: {part}\nfound: {output}"
        at = position + len(mask(part))


def run_python(page: Path, work: Path, blocks: list[str]):
    """Runs the Python blocks of a page as one script, except those that need PyTorch."""
    script = work / "page.py"
    script.write_text("\n".join(blocks))
    result = subprocess.run([sys.executable, script], cwd=work, env=environment | {"PYTHONPATH": str(ROOT / "python")},
                            capture_output=True, text=True, timeout=TIMEOUT)  # fmt: skip
    assert result.returncode == 0, f"{page.name}:\n{result.stdout}{result.stderr}"


ran = ran_python = 0
for page in PAGES:
    work = prepare(page)
    scripts = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        if language == "toml":
            tomllib.loads(block)
        elif language == "python":
            compile(block, str(page), "exec")
            if "torch" not in block and "mtc.export" not in block:
                scripts.append(block)
        elif language == "text":
            continue
        elif language == "c":  # The first line is a comment with the file's name.
            (work / block.splitlines()[0].removeprefix("// ")).write_text(block)
        else:
            for command, shown in commands(block):
                if not command.startswith(SKIPPED):
                    check(page, work, command, shown)
                    ran += 1
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), f"{page.name}: {link} does not exist"
    run_python(page, work, scripts)
    ran_python += len(scripts)
assert ran_python >= MINIMUM_PYTHON, f"only {ran_python} Python blocks of the pages were run"
assert ran >= MINIMUM, f"only {ran} commands of the pages were run"
