# RUN: %python %s

"""No folder includes one that docs/design/architecture.md does not allow it: the arrows between the rooms of the compiler and
the runtime are those of its table, and they make no circle."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CHECKED = ("ir", "frontend", "passes", "codegen", "driver", "runtime", "tools/support")
LEAST_FILES = 400

Arrows = dict[str, set[str]]


def read_table(text: str) -> Arrows:
    """Each room with those that it may include, from the table under the heading "Who includes whom"."""
    section = text.split("### Who includes whom", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([\w/]+)/` \| (.+?) \|$", section, re.MULTILINE)
    assert len(rows) == len({name for name, _ in rows}), "a room is listed twice"
    return {name: set(re.findall(r"`([\w/]+)/`", allowed)) for name, allowed in rows}


def room_of(path: str, arrows: Arrows) -> str | None:
    """The innermost room that a file or header lies in."""
    holders = [room for room in arrows if path.startswith(f"{room}/")]
    return max(holders, key=len) if holders else None


def forbidden(files: dict[str, str], arrows: Arrows) -> list[str]:
    """What each of the files, with their texts, includes and must not."""
    problems = []
    for path, text in files.items():
        own = room_of(path, arrows)
        if own is None:
            problems.append(f"{path} lies in no room of the table")
            continue
        for header in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            other = room_of(header, arrows)
            if other and other != own and other not in arrows[own]:
                problems.append(f"{path} includes {header}: {own}/ may not include {other}/")
    return problems


def find_circle(arrows: Arrows) -> list[str] | None:
    done: set[str] = set()

    def visit(room: str, way: list[str]) -> list[str] | None:
        if room in way:
            return way[way.index(room) :] + [room]
        if room in done:
            return None
        for other in sorted(arrows[room]):
            if circle := visit(other, [*way, room]):
                return circle
        done.add(room)
        return None

    return next((circle for room in arrows if (circle := visit(room, []))), None)


def main():
    arrows = read_table((ROOT / "docs/design/architecture.md").read_text())
    unknown = {other for allowed in arrows.values() for other in allowed} - arrows.keys()
    assert not unknown, f"the table allows rooms that it lacks: {sorted(unknown)}"
    assert not (circle := find_circle(arrows)), f"the table allows a circle: {' -> '.join(circle)}"

    listed = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.split() if path.startswith(tuple(f"{folder}/" for folder in CHECKED))]
    files = {path: (ROOT / path).read_text() for path in paths if (ROOT / path).exists()}
    assert len(files) >= LEAST_FILES, f"only {len(files)} files were found"
    problems = forbidden(files, arrows)
    assert not problems, "\n".join(problems)

    # The check itself sees an arrow that is not allowed, and a circle.
    planted = files | {"ir/Planted.cpp": '#include "passes/Passes.h"\n'}
    assert forbidden(planted, arrows) == ["ir/Planted.cpp includes passes/Passes.h: ir/ may not include passes/"]
    assert find_circle(arrows | {"ir": {"passes"}}) is not None


main()
