# RUN: %python %s
"""Docs, help, messages and summaries have none of the words that docs/contributing/words.md retires; summaries and README keep their size."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/scripts"))

from draw_sentences import messages  # noqa: E402

MTC = os.environ["MTC"]
README_LINES, SUMMARY = 200, 70


def retired() -> list[str]:
    rows = re.findall(r"^\| (`.*?) \| .* \|$", (ROOT / "docs/contributing/words.md").read_text(), re.MULTILINE)
    words = [word for row in rows for word in re.findall(r"`([^`]+)`", row)]
    assert len(words) > 20, words
    return words


def texts() -> dict[str, str]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    found = {str(path.relative_to(ROOT)): path.read_text() for path in pages if path.name != "words.md"}
    found |= {f"message '{text}'": text for text in messages()}
    assert len(found) > 300, len(found)
    for command in "inspect", "plan", "compile", "grad":
        found[f"mtc {command} --help-all"] = subprocess.run([MTC, command, "--help-all"], check=True, capture_output=True, text=True).stdout
    found["mtc --help"] = subprocess.run([MTC, "--help"], check=True, capture_output=True, text=True).stdout
    return found


problems = []
summaries = {}
for path in [*(ROOT / "passes").rglob("*.td"), *(ROOT / "ir").rglob("*.td"), *(ROOT / "frontend").rglob("*.td"), *(ROOT / "codegen").rglob("*.td")]:
    for summary in re.findall(r'let summary = "(.*)";', path.read_text()):
        summaries[f"{path.relative_to(ROOT)}: {summary}"] = summary
        if len(summary) > SUMMARY or summary.endswith(".") or not re.match(r"[a-z0-9]|[A-Z]{2}", summary):
            problems.append(f"{path.relative_to(ROOT)}: summary '{summary}': a phrase of at most {SUMMARY} characters")
assert len(summaries) >= 150, len(summaries)
for where, text in (texts() | summaries).items():
    plain = re.sub(r"```.*?```|`[^`\n]*`|<code>.*?</code>", "", text, flags=re.DOTALL)
    for word in retired():
        for match in re.finditer(rf"\b{re.escape(word)}\b", plain, re.IGNORECASE):
            line = plain.count("\n", 0, match.start()) + 1
            problems.append(f"{where}:{line}: '{word}' is retired; see docs/contributing/words.md")
length = (ROOT / "README.md").read_text().count("\n")
if length > README_LINES:
    problems.append(f"README.md has {length} lines; at most {README_LINES}")
assert not problems, "\n".join(problems)
