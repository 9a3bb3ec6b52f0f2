# RUN: %python %s

"""Checks that folders include only what the table in docs/design/architecture.md permits, and that the table has no cycle."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CHECKED = ("ir", "frontend", "passes", "codegen", "driver", "runtime", "support")
MINIMUM_FILES = 400

IncludeTable = dict[str, set[str]]


def read_table(text: str) -> IncludeTable:
    """Returns the folders that each folder may include, from the table "Who includes whom"."""
    section = text.split("### Who includes whom", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([\w/]+)/` \| (.+?) \|$", section, re.MULTILINE)
    assert len(rows) == len({name for name, _ in rows}), "the table lists a folder twice"
    return {name: set(re.findall(r"`([\w/]+)/`", allowed)) for name, allowed in rows}


def folder_of(path: str, allowed_includes: IncludeTable) -> str | None:
    """Returns the innermost folder of the table that contains a file or header."""
    holders = [folder for folder in allowed_includes if path.startswith(f"{folder}/")]
    return max(holders, key=len) if holders else None


def forbidden(files: dict[str, str], allowed_includes: IncludeTable) -> list[str]:
    """Returns the includes in these files that the table does not permit."""
    problems = []
    for path, text in files.items():
        own = folder_of(path, allowed_includes)
        if own is None:
            problems.append(f"{path} is in no folder of the table")
            continue
        for header in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            other = folder_of(header, allowed_includes)
            if other and other != own and other not in allowed_includes[own]:
                problems.append(f"{path} includes {header}: {own}/ may not include {other}/")
    return problems


def find_cycle(allowed_includes: IncludeTable) -> list[str] | None:
    done: set[str] = set()

    def visit(folder: str, path: list[str]) -> list[str] | None:
        if folder in path:
            return path[path.index(folder) :] + [folder]
        if folder in done:
            return None
        for other in sorted(allowed_includes[folder]):
            if cycle := visit(other, [*path, folder]):
                return cycle
        done.add(folder)
        return None

    return next((cycle for folder in allowed_includes if (cycle := visit(folder, []))), None)


def main():
    allowed_includes = read_table((ROOT / "docs/design/architecture.md").read_text())
    unknown = {other for allowed in allowed_includes.values() for other in allowed} - allowed_includes.keys()
    assert not unknown, f"the table permits folders that it does not list: {sorted(unknown)}"
    assert not (cycle := find_cycle(allowed_includes)), f"the table has a cycle: {' -> '.join(cycle)}"

    listed = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.split() if path.startswith(tuple(f"{folder}/" for folder in CHECKED))]
    files = {path: (ROOT / path).read_text() for path in paths if (ROOT / path).exists()}
    assert len(files) >= MINIMUM_FILES, f"only {len(files)} files were found"
    problems = forbidden(files, allowed_includes)
    assert not problems, "\n".join(problems)

    # The check finds a forbidden include and a cycle that are planted here.
    planted = files | {"ir/Planted.cpp": '#include "passes/Passes.h"\n'}
    assert forbidden(planted, allowed_includes) == ["ir/Planted.cpp includes passes/Passes.h: ir/ may not include passes/"]
    assert find_cycle(allowed_includes | {"ir": {"passes"}}) is not None


main()
