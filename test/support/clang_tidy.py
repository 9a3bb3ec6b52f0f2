"""Runs clang-tidy as lit tests, one for each batch of sources, and one for each source outside of batches."""

import functools
import json
import os
import re
import shlex
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from formats import Listed, git

# folders of the compiler and the runtime
SOURCES = ["ir", "passes", "codegen", "frontend", "driver", "runtime", "support", "tools"]
HOURS, OTHERS = 4, 10  # The age in hours of changes to check, and the number of other units to check.
FOLDER = "test/clang-tidy"  # build folder whose compile commands clang-tidy uses


class Unit(NamedTuple):
    """One run of clang-tidy: a batch of sources that the build compiles together, or one source."""

    file: str
    command: str  # source that the build compiles
    sources: list[str]


class ClangTidy(Listed):
    """Runs the checks of .clang-tidy on sources and their headers. Clean units are skipped until they change. The build must be complete,
    because clang-tidy reads generated and precompiled headers."""

    def __init__(self, everything: bool):
        self.everything = everything
        self.units = {}
        self.marks = {}
        self.commands = ""

    def names(self, config) -> list[str]:
        root, build = Path(config.mtc_source), Path(config.mtc_build)
        self.units = read_units(root, build)
        chosen = list(self.units) if self.everything else choose(root, self.units)
        self.marks = find_marks(root, build, {name: self.units[name].command for name in chosen})
        self.commands = write_commands(build, self.units)
        return chosen

    def run(self, name: str, config) -> str:
        mark = self.marks.get(name)
        if mark and mark.exists():
            return ""
        run_compiler = f"{config.mtc_source}/cmake/run_compiler.sh"
        # The precompiled header may be empty.
        fill = [run_compiler, "true", *shlex.split(self.units[name].command)]
        subprocess.run(fill, cwd=config.mtc_build, check=True)
        check = [run_compiler, "clang-tidy-22", "-p", self.commands, "--quiet", "--warnings-as-errors=*", self.units[name].file]
        result = subprocess.run(check, cwd=config.mtc_source, capture_output=True, text=True, errors="replace")
        if result.returncode != 0:
            return result.stdout + result.stderr
        if mark:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        return ""


def choose(root: Path, units: dict[str, Unit]) -> list[str]:
    """Returns units with sources that changed in the last hours, and a few others, so that every unit is checked regularly even if only its
    headers change."""
    [head, time] = git(root, "log", "-z", "--format=%H%x00%ct", "--max-count=1")
    changes = git(root, "diff", "-z", "--name-only", "HEAD")
    # The oldest commit of a shallow clone contains every file, but changed none.
    since = f"--since={int(time) - HOURS * 3600}"
    changes += git(root, "log", "-z", "--name-only", "--format=", "--min-parents=1", since)
    before = git(root, "log", "-z", "--format=%H", "--max-count=1", f"--before={int(time) - HOURS * 3600}")
    changes = [file for file in set(changes) if not (before and has_same_code(root, before[0], file))]
    sources = {re.sub(r"\.h$", ".cpp", file) for file in changes}
    changed = {name for name, unit in units.items() if not sources.isdisjoint(unit.sources)}
    others = sorted(units.keys() - changed, key=lambda name: sha256(f"{head} {name}".encode()).digest())
    return [name for name in units if name in changed or name in others[:OTHERS]]


TOKEN = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\s+|\w+|.""", re.DOTALL)


def code_of(text: str) -> list[str]:
    """Returns the tokens of a C++ source without comments."""
    tokens = (match[0] for match in TOKEN.finditer(text))
    return [token for token in tokens if not token.startswith(("//", "/*")) and not token.isspace()]


def has_same_code(root: Path, commit: str, file: str) -> bool:
    """Returns whether a file differs from that of a commit only in comments, which clang-tidy ignores."""
    old = subprocess.run(["git", "-C", root, "show", f"{commit}:{file}"], capture_output=True, text=True, errors="replace")
    path = root / file
    return old.returncode == 0 and path.exists() and code_of(old.stdout) == code_of(path.read_text(errors="replace"))


# Checks for unused using-declarations and namespace aliases only apply to the main file.
OF_MAIN_FILE = re.compile(r"^(using [\w:]+::\w+;|namespace \w+ = )", re.MULTILINE)


def read_units(root: Path, build: Path) -> dict[str, Unit]:
    """Returns all units of the host's code by name. Batches save time, because clang-tidy spends most of its time in shared headers. Device
    code has other compile commands."""
    files = set(git(root, "ls-files", "-z", *(f"{folder}/*.cpp" for folder in SOURCES)))
    units = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file, command = entry["file"], entry["command"]
        if "--target=" in command:
            continue
        alone = [file.removeprefix(f"{root}/")]
        if Path(file).is_relative_to(build / "batches"):
            name = str(Path(file).relative_to(build / "batches"))
            if not name.startswith(tuple(f"{folder}/" for folder in SOURCES)):
                continue  # tests, some of which compile runtime sources again
            sources = re.findall(r'^#include "(.+)"$', Path(file).read_text(), re.MULTILINE)
            copy = write_batch(build / FOLDER / name, sources)
            units[name] = Unit(copy, command.replace(f"-c {file}", f"-c {copy}"), sources)
            alone = [source for source in sources if OF_MAIN_FILE.search((root / source).read_text())]
        for source in alone:
            if source in files and "/device/" not in source:
                path = str(root / source)
                units.setdefault(source, Unit(path, command.replace(f"-c {file}", f"-c {path}"), [source]))
    return dict(sorted(units.items()))


def write_batch(path: Path, sources: list[str]) -> str:
    """Writes a batch that includes its sources explicitly, and returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f'#include "{source}" // NOLINT(bugprone-suspicious-include)\n' for source in sources))
    return str(path)


def write_commands(build: Path, units: dict[str, Unit]) -> str:
    """Writes the compile commands of units for clang-tidy, and returns the folder."""
    folder = build / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    entries = [{"directory": str(build), "command": unit.command, "file": unit.file} for unit in units.values()]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return str(folder)


def find_marks(root: Path, build: Path, commands: dict[str, str]) -> dict[str, Path]:
    """Returns the file that marks a unit as clean in all clones. Its name is a digest of everything that clang-tidy reads except system
    headers. Units whose headers the build does not know have no file."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mtc-tests/clang-tidy")
    version = subprocess.run(["clang-tidy-22", "--version"], capture_output=True, check=True).stdout
    common = sha256(version + (root / ".clang-tidy").read_bytes()).digest()
    headers = read_dependencies(build)

    @functools.cache
    def digest(file: str) -> bytes:
        path = Path(os.path.normpath(build / file))
        if not path.is_relative_to(root):
            return file.encode()
        return sha256(path.read_bytes().replace(str(root).encode(), b"")).digest()

    marks = {}
    for name, command in commands.items():
        words = shlex.split(command)
        read = headers.get(words[words.index("-o") + 1]) if "-o" in words else None
        if read:
            everything = [common, command.replace(str(root), "").encode(), *map(digest, read)]
            marks[name] = folder / sha256(b"\0".join(everything)).hexdigest()
    return marks


def read_dependencies(build: Path) -> dict[str, list[str]]:
    """Returns the files from which each object was compiled, as recorded by ninja."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    found = {}
    for paragraph in listed.stdout.split("\n\n"):
        [head, *files] = paragraph.strip().split("\n")
        if head.endswith("(VALID)"):
            found[head.split(": #deps")[0]] = [file.strip() for file in files]
    return found
