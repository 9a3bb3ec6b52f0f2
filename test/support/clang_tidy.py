"""clang-tidy as tests that lit runs: one for each source that it looks at."""

import functools
import json
import os
import re
import shlex
import subprocess
from hashlib import sha256
from pathlib import Path

from formats import Listed, git

# The folders of the compiler and the runtime.
SOURCES = ["ir", "passes", "codegen", "frontend", "driver", "runtime", "tools"]
HOURS, OTHERS = 4, 10  # How far back it looks for changed ones, and how many more it checks.


class ClangTidy(Listed):
    """The checks of .clang-tidy on sources and their headers: what was clean and has not changed stays clean. The build must
    be whole: generated headers and the precompiled one are read."""

    def __init__(self, everything: bool):
        self.everything = everything
        self.marks = {}
        self.commands = ""

    def names(self, config) -> list[str]:
        root = config.mtc_source
        # Code of devices is compiled by a command of its own.
        files = git(root, "ls-files", "-z", *(f"{folder}/*.cpp" for folder in SOURCES))
        sources = [file for file in files if "/device/" not in file]
        chosen = sources if self.everything else choose(root, sources)
        build = Path(config.mtc_build)
        commands = read_commands(Path(root), build)
        self.marks = find_marks(Path(root), build, chosen, commands)
        self.commands = write_commands(build, commands)
        return chosen

    def run(self, name: str, config) -> str:
        mark = self.marks.get(name)
        if mark and mark.exists():
            return ""
        command = ["clang-tidy-22", "-p", self.commands, "--quiet", "--warnings-as-errors=*", name]
        result = subprocess.run(command, cwd=config.mtc_source, capture_output=True, text=True, errors="replace")
        if result.returncode != 0:
            return result.stdout + result.stderr
        if mark:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        return ""


def choose(root: str, sources: list[str]) -> list[str]:
    """Those changed in the last hours, in which a change is finished, and a few others, so that each is looked at once in a
    while, whatever has changed in what it includes."""
    [head, time] = git(root, "log", "-z", "--format=%H%x00%ct", "--max-count=1")
    changes = git(root, "diff", "-z", "--name-only", "HEAD")
    # The first commit there is, which in a shallow clone has every file, changed none.
    since = f"--since={int(time) - HOURS * 3600}"
    changes += git(root, "log", "-z", "--name-only", "--format=", "--min-parents=1", since)
    before = git(root, "log", "-z", "--format=%H", "--max-count=1", f"--before={int(time) - HOURS * 3600}")
    changes = [file for file in set(changes) if not (before and has_same_code(Path(root), before[0], file))]
    changed = {re.sub(r"\.h$", ".cpp", file) for file in changes}
    others = sorted(set(sources) - changed, key=lambda file: sha256(f"{head} {file}".encode()).digest())
    return [file for file in sources if file in changed or file in others[:OTHERS]]


TOKEN = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\s+|\w+|.""", re.DOTALL)


def code_of(text: str) -> list[str]:
    """The tokens of a C++ source without comments."""
    tokens = (match[0] for match in TOKEN.finditer(text))
    return [token for token in tokens if not token.startswith(("//", "/*")) and not token.isspace()]


def has_same_code(root: Path, commit: str, file: str) -> bool:
    """Whether a file differs from that of a commit in comments only, which clang-tidy does not read."""
    old = subprocess.run(["git", "-C", root, "show", f"{commit}:{file}"], capture_output=True, text=True, errors="replace")
    path = root / file
    return old.returncode == 0 and path.exists() and code_of(old.stdout) == code_of(path.read_text(errors="replace"))


def read_commands(root: Path, build: Path) -> dict[str, str]:
    """The command that compiles each source of the project for this machine, by the source's path. One in a batch has the
    batch's command, on itself."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file, command = entry["file"], entry["command"]
        if "--target=" in command:
            continue
        sources = [file]
        if Path(file).is_relative_to(build / "batches"):
            sources = [str(root / name) for name in re.findall(r'^#include "(.+)"$', Path(file).read_text(), re.MULTILINE)]
        for source in sources:
            commands.setdefault(source, command.replace(f"-c {file}", f"-c {source}"))
    return commands


def write_commands(build: Path, commands: dict[str, str]) -> str:
    """Writes them for clang-tidy, and returns the folder."""
    folder = build / "test/clang-tidy"
    folder.mkdir(parents=True, exist_ok=True)
    entries = [{"directory": str(build), "command": command, "file": file} for file, command in commands.items()]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return str(folder)


def find_marks(root: Path, build: Path, sources: list[str], commands: dict[str, str]) -> dict[str, Path]:
    """The file that says, in all clones, that clang-tidy found a source clean: named by a digest of all that it reads but the
    system's headers. No file for a source whose headers the build does not know."""
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
    for source in sources:
        command = commands.get(str(root / source), "")
        words = shlex.split(command)
        read = headers.get(words[words.index("-o") + 1]) if "-o" in words else None
        if read:
            everything = [common, command.replace(str(root), "").encode(), *map(digest, read)]
            marks[source] = folder / sha256(b"\0".join(everything)).hexdigest()
    return marks


def read_dependencies(build: Path) -> dict[str, list[str]]:
    """The files that each object was compiled from, as ninja has them, by the object."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    found = {}
    for paragraph in listed.stdout.split("\n\n"):
        [head, *files] = paragraph.strip().split("\n")
        if head.endswith("(VALID)"):
            found[head.split(": #deps")[0]] = [file.strip() for file in files]
    return found
