# RUN: %python %s %t
"""With a limited address space, the compiler and its programs end with one message about memory, without a signal, and leave no file. Below
some limit, the system's loader reports that libraries do not fit."""

import resource
import subprocess

from models import DIGITS
from program import MTC, TIMEOUT, own_folder

folder = own_folder()
MIB = 1 << 20
data = DIGITS.model.parent
COMPILE = [MTC, "compile", DIGITS.model, "--dim", "batch=32", "--quiet", "--no-cache", "-o", "limited"]
TRAIN = ["./train", "--data", f"x={data}/train_x.npy", "--data", f"labels={data}/train_labels.npy", "--steps", "2",
         "--threads", "2", "--save", "saved", "--overwrite", "--quiet"]  # fmt: skip


def run(command: list, limit: int | None = None) -> subprocess.CompletedProcess:
    """Runs a command with an address space of `limit` MiB."""
    def restrict():
        resource.setrlimit(resource.RLIMIT_AS, (limit * MIB, limit * MIB))

    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT,
                          preexec_fn=restrict if limit else None)  # fmt: skip


def check(command: list, limits: list[int], tool: str) -> tuple[int, int]:
    """Runs a command with each limit. Returns how many runs failed with mtc's message, and how many succeeded."""
    failed = passed = 0
    for limit in limits:
        before = set(folder.iterdir())
        result = run(command, limit)
        shown = f"{command[0]} in {limit} MiB: exit code {result.returncode}\n{result.stderr}"
        assert "bug report" not in result.stderr and result.returncode in (0, 1, 2, 127), shown
        if result.returncode == 0:
            passed += 1
            continue
        lines = [line for line in result.stderr.splitlines() if line]
        assert len(lines) == 1 and set(folder.iterdir()) <= before, shown
        # Messages of failures before main: the loader cannot map a library, or a library cannot allocate memory while it is loaded.
        if "shared libraries" in lines[0] or lines[0].startswith("libgomp: Out of memory"):
            continue
        words = (": out of memory", "cannot be started: Resource temporarily unavailable", "no thread can be started")
        assert result.returncode == 2 and lines[0].startswith(tool) and any(word in shown for word in words), shown
        failed += 1
    return failed, passed


base = run(COMPILE[:-1] + ["train"])
assert base.returncode == 0, base.stderr
failed, passed = check(COMPILE, [*range(150, 331, 30), 2000], "mtc: error: ")
assert failed >= 3 and passed >= 1, (failed, passed)
failed, passed = check(TRAIN, [*range(40, 101, 10), 1000], "error: ")
assert failed >= 2 and passed >= 1, (failed, passed)
