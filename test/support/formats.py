"""Formats of lit tests for scripts, fuzz targets and clang-format; that for clang-tidy is in clang_tidy.py. lit.cfg.py selects scripts, and
lit.local.cfg files select the others."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import lit.formats
import lit.Test
import lit.TestRunner


def git(root: str, *arguments: str) -> list[str]:
    """Returns the names that a git command lists with -z."""
    listed = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


class Script(lit.formats.ShTest):
    """A test that consists of RUN lines. Files that a passing test wrote under %t are removed, because those of all tests would fill small
    disks."""

    def __init__(self, keeps: bool):
        super().__init__(execute_external=False)
        self.keeps = keeps

    def execute(self, test, lit_config):
        result = super().execute(test, lit_config)
        if result.code == lit.Test.PASS and not self.keeps:
            folder, base = map(Path, lit.TestRunner.getTempPaths(test))
            for path in folder.glob(f"{base.name}.tmp*"):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
        return result


class Listed(lit.formats.base.TestFormat):
    """One test for each name in `names`, in the folder whose lit.local.cfg selects the format."""

    def names(self, config) -> list[str]:
        raise NotImplementedError

    def run(self, name: str, config) -> str:
        """Returns the error, or an empty text if the test passes."""
        raise NotImplementedError

    def getTestsInDirectory(self, suite, path, lit_config, config):
        for name in self.names(config):
            test = lit.Test.Test(suite, (*path, *name.split("/")), config)
            test.listed = name
            yield test

    def execute(self, test, lit_config):
        wrong = self.run(test.listed, test.config)
        return (lit.Test.FAIL, wrong) if wrong else (lit.Test.PASS, "")


class FuzzTargets(Listed):
    """Runs fuzz targets on their seeds and a fixed set of mutations, or for `seconds` on random ones if this is not 0. A failing input is
    kept next to the target."""

    def __init__(self, runs: dict[str, int], seconds: int):
        self.runs = runs
        self.seconds = seconds

    def names(self, config) -> list[str]:
        return sorted(self.runs)

    def run(self, name: str, config) -> str:
        target = Path(config.mtc_build, f"bin/fuzz/mtc_fuzz_{name}")
        length = [f"-max_total_time={self.seconds}"] if self.seconds else [f"-runs={self.runs[name]}", "-seed=1"]
        flags = ["-max_len=65536", "-timeout=120", "-rss_limit_mb=4096", "-close_fd_mask=3", "-print_final_stats=1"]
        # Leaks are not checked, because symbolizing each leak would take longer than the run, and a process frees its memory when it ends.
        environment = config.environment | {"ASAN_OPTIONS": "detect_leaks=0"}
        with tempfile.TemporaryDirectory() as corpus:
            seeds = Path(config.mtc_source, "test/fuzz/seeds", name)
            command = [target, *length, *flags, f"-artifact_prefix={target}-", corpus, seeds]
            result = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
        executed = re.search(r"^stat::number_of_executed_units:\s*(\d+)", result.stderr, re.MULTILINE)
        ran = int(executed[1]) if executed else 0
        if result.returncode == 0 and ran >= (1 if self.seconds else self.runs[name]):
            return ""
        return f"exit code {result.returncode} after {ran} inputs\n{result.stderr[-8000:]}"


class ClangFormat(Listed):
    """One test checks that all C++ files of the project are formatted by clang-format-22."""

    def names(self, config) -> list[str]:
        return ["clang-format"]

    def run(self, name: str, config) -> str:
        files = git(config.mtc_source, "ls-files", "-z", "*.cpp", "*.h")
        command = ["clang-format-22", "--dry-run", "-Werror", *files]
        result = subprocess.run(command, cwd=config.mtc_source, capture_output=True, text=True, errors="replace")
        if result.returncode == 0 and files:
            return ""
        wrong = sorted({found[1] for found in re.finditer(r"^([^:\n]+):\d+:\d+: error", result.stderr, re.MULTILINE)})
        return f"Not as clang-format-22 writes them: {' '.join(wrong)}\nTo mend it: clang-format-22 -i FILE..."
