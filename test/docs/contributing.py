# RUN: %python %s
"""The pages of docs/contributing are true: links lead to files, each code block is part of the file that is linked before it, names of files
and identifiers exist, and scripts in shell blocks are executable. A line `...` in a block stands for omitted lines."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted((ROOT / "docs/contributing").glob("*.md"))
CHECKED = ("cpp", "tablegen", "mlir", "cmake", "python", "c")
ELSEWHERE = {"cuMemAlloc", "hipMalloc", "gtest_filter"}  # names of other projects
MAX_LINES, MIN_BLOCKS = 120, 30


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(lines: list[str], part: list[str]) -> bool:
    return any(lines[i : i + len(part)] == part for i in range(len(lines) - len(part) + 1))


def missing(block: str, file: Path) -> list[str]:
    """Returns the parts of a block, between lines `...`, that the file does not have."""
    known = lines_of(file.read_text())
    parts = re.split(r"^\s*\.\.\.$", block, flags=re.MULTILINE)
    return [part for part in parts if not contains(known, lines_of(part))]


def words_of_tree() -> set[str]:
    """Returns the words of all files outside docs, and those of their names."""
    words = set()
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        path = ROOT / name
        words |= set(re.findall(r"\w+", name))
        if not name.startswith("docs/") and path.suffix != ".onnx" and path.is_file() and path.stat().st_size < 1 << 20:
            words |= set(re.findall(r"\w+", path.read_text(errors="ignore")))
    return words


problems, blocks = [], 0
words = words_of_tree()
for page in PAGES:
    text = page.read_text()
    if text.count("\n") > MAX_LINES:
        problems.append(f"{page.name}: {text.count(chr(10))} lines, at most {MAX_LINES}")
    plain = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", plain):
        if not (page.parent / link).exists():
            problems.append(f"{page.name}: {link} does not exist")
    for match in re.finditer(r"^ *```(\w+)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        if match[1] == "shell":
            scripts = re.findall(r"^ *([\w/]+\.py)\b", match[2], re.MULTILINE)
            problems += [f"{page.name}: {name} is not executable" for name in scripts if not os.access(ROOT / name, os.X_OK)]
        if match[1] not in CHECKED:
            continue
        blocks += 1
        link = re.findall(r"\]\(([^)#& ]+)\)", text[: match.start()])[-1]
        problems += [f"{page.name}: {link} does not contain:\n{part}" for part in missing(match[2], page.parent / link)]
    if page.name == "words.md":
        continue
    for code in re.findall(r"`([^`\n]+)`", plain):
        for word in re.findall(r"\w+", code):
            # Placeholders of names are in capitals: addNAMELosses.
            if not re.search(r"[A-Z]{4}", word) and re.search(r"_|[a-z][A-Z]", word) and word not in words | ELSEWHERE:
                problems.append(f"{page.name}: nothing is named {word} in `{code}`")
assert not problems, "\n".join(problems)
assert blocks >= MIN_BLOCKS, blocks
