# RUN: %python %s
"""Checks that docs, help, messages, summaries, and comments of tests, scripts and CMake have none of the words that
docs/contributing/words.md retires, that public names have none of its second list, and that summaries and README keep their size."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/scripts"))

from draw_sentences import SCRIPTS, TESTS, files, messages, prose_of_tests  # noqa: E402

MTC = os.environ["MTC"]
README_LINES, SUMMARY = 200, 70


def retired() -> tuple[list[str], list[str]]:
    """Returns the words that are retired in text, and those that are retired in names."""
    tables = (ROOT / "docs/contributing/words.md").read_text().split("## Names")
    words = [
        [word for row in re.findall(r"^\| (`.*?) \| .* \|$", table, re.MULTILINE) for word in re.findall(r"`([^`]+)`", row)] for table in tables
    ]
    assert len(words) == 2 and len(words[0]) > 20 and len(words[1]) > 8, words
    return words[0], words[1]


def names() -> list[tuple[str, str]]:
    """Returns public names with the pages that list them: flags, passes, options, operations, attributes and JSON fields."""
    found = []
    for page in "command-line", "programs", "passes", "dialect", "targets", "file-formats":
        text = (ROOT / f"docs/reference/{page}.md").read_text()
        listed = re.findall(r"(?<![\w-])--?([a-z][\w-]+)|<code>(\w+)</code>|`([a-z][\w.-]*)`|`mtc\.([\w.]+)`", text)
        found += {(page, name) for names in listed for name in names if name}
    for path in (ROOT / "passes").rglob("*.h"):
        found += [(path.name, name) for name in re.findall(r'\{"([a-z][a-z-]+)", "', path.read_text())]
    assert len(found) > 1000, len(found)
    return sorted(found)


def texts() -> list[tuple[str, int, str]]:
    """Returns texts with their origin and the number of lines before them."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    found = [(str(path.relative_to(ROOT)), 0, path.read_text()) for path in pages if path.name != "words.md"]
    found += [(f"message '{text}'", 0, text) for text in messages()]
    for command in "inspect", "plan", "compile", "grad":
        found.append((f"mtc {command} --help-all", 0, subprocess.run([MTC, command, "--help-all"], check=True, capture_output=True, text=True).stdout))
    found.append(("mtc --help", 0, subprocess.run([MTC, "--help"], check=True, capture_output=True, text=True).stdout))
    assert len(found) > 300, len(found)
    comments = [(str(path.relative_to(ROOT)), line - 1, text) for path in files(*SCRIPTS, *TESTS) for line, text in prose_of_tests(path)]
    assert len(comments) > 2000, len(comments)
    return found + comments


problems = []
summaries = []
for path in [*(ROOT / "passes").rglob("*.td"), *(ROOT / "ir").rglob("*.td"), *(ROOT / "frontend").rglob("*.td"), *(ROOT / "codegen").rglob("*.td")]:
    for summary in re.findall(r'let summary = "(.*)";', path.read_text()):
        summaries.append((f"{path.relative_to(ROOT)}: {summary}", 0, summary))
        if len(summary) > SUMMARY or summary.endswith(".") or not re.match(r"[a-z0-9]|[A-Z]{2}", summary):
            problems.append(f"{path.relative_to(ROOT)}: summary '{summary}': a phrase of at most {SUMMARY} characters")
assert len(summaries) >= 150, len(summaries)
words, retired_names = retired()
for where, before, text in texts() + summaries:
    plain = re.sub(r"```.*?```|`[^`\n]*`|<code>.*?</code>", lambda code: "\n" * code[0].count("\n"), text, flags=re.DOTALL)
    for word in words:
        for match in re.finditer(rf"\b{re.escape(word)}\b", plain, re.IGNORECASE):
            line = before + plain.count("\n", 0, match.start()) + 1
            problems.append(f"{where}:{line}: '{word}' is retired; see docs/contributing/words.md")
for page, name in names():
    for part in () if (page, name) == ("file-formats", "least") else re.split(r"[-_.]", name):  # Existing checkpoints have this field.
        if part in retired_names or part.removesuffix("s") in retired_names:
            problems.append(f"{page}: the name '{name}' contains '{part}'; see docs/contributing/words.md")
length = (ROOT / "README.md").read_text().count("\n")
if length > README_LINES:
    problems.append(f"README.md has {length} lines; at most {README_LINES}")
assert not problems, "\n".join(problems)
