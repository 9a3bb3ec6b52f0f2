# RUN: %python %s

"""Checks that docs/contributing/add-an-element-type.md lists exactly the files that name a particular type narrower than f32."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/contributing/add-an-element-type.md"
CHECKED = ("ir", "frontend", "passes", "codegen", "driver", "runtime", "support", "tools")
MINIMUM_FILES = 900
NAMED = re.compile(
    r"\bMTC_(?:MODEL_)?(?:BF16|F16|F8E4M3|F8E5M2)\b|\bPrecision::B?F16\b|\bis(?:BF16|F16)\(|\bget(?:BF16|F16)Type\b"
    r"|\b(?:BFloat16|Float16|Float8\w+)Type\b|\bF8E(?:4M3|5M2)|\"b?f16\"|\bFLOAT\(B?F16"
)


def named(files: dict[str, str]) -> set[str]:
    """Returns the files that name a type; comments do not count."""
    return {path for path, text in files.items() if NAMED.search(re.sub(r"//.*|/\*.*?\*/", "", text))}


def main():
    listed = subprocess.run(
        ["git", "ls-files", "*.h", "*.cpp", "*.inc", "*.td"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    paths = [path for path in listed.split() if path.startswith(tuple(f"{folder}/" for folder in CHECKED))]
    files = {path: (ROOT / path).read_text() for path in paths if (ROOT / path).exists()}
    assert len(files) >= MINIMUM_FILES, f"only {len(files)} files were found"

    on_page = re.findall(r"^\| \[`([^`]+)`\]\(\.\./\.\./([^)]+)\)", PAGE.read_text(), re.MULTILINE)
    assert all(text == path for text, path in on_page), "the page links to a file under another name"
    rows = [path for path, _ in on_page]
    assert len(rows) == len(set(rows)), "the page lists a file twice"

    found = named(files)
    problems = [f"{path} names a type but is not on the page" for path in sorted(found - set(rows))]
    problems += [f"{path} is on the page but names no type" for path in sorted(set(rows) - found)]
    assert not problems, "\n".join(problems)

    # The check itself finds a type, and ignores comments.
    assert named({"a.cpp": "if (type == MTC_BF16)", "b.cpp": "// MTC_BF16", "c.cpp": "isNarrowFloat(type)"}) == {"a.cpp"}


main()
