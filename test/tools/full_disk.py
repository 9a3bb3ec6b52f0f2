# RUN: %python %s %t
"""If a tool cannot write its output, it exits with code 2 and a message that names the output."""

import os
import subprocess

from models import DIGITS
from program import MTC, TIMEOUT, own_folder

folder = own_folder()
model = [str(DIGITS.model), "--dim", "batch=32"]
bin = os.path.dirname(MTC)


def ends(command, says: str, redirect: str = ""):
    """Runs a command in a shell that redirects its output."""
    words = ["bash", "-c", f'set -o pipefail; "$@" {redirect}', "bash", *map(str, command)]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    shown = f"{command} {redirect}\nexit code {result.returncode}\n{result.stderr}"
    assert result.returncode == 2 and says in result.stderr, f"no '{says}'\n{shown}"
    assert "LLVM ERROR" not in result.stderr and "Stack dump" not in result.stderr, shown


run_text = f"{os.path.dirname(__file__)}/../codegen/program/executable.mlir"
printers = [
    [MTC, "plan", *model],
    [MTC, "plan", *model, "--json"],
    [MTC, "inspect", *model],
    [MTC, "inspect", *model, "--json"],
    [MTC, "compile", *model, "-o", "program"],
    [MTC, "compile", *model, "-o", "program", "--json"],
    *([MTC, "compile", *model, f"--emit={stage}"] for stage in ("onnx", "training", "kernels", "llvm", "object")),
    [MTC, "--version"],
    [MTC, "compile", "--help"],
    [f"{bin}/mtc-opt", run_text],
    [f"{bin}/mtc-run", run_text, "--emit=llvm"],
]
for command in printers:
    name = os.path.basename(command[0])
    ends(command, f"{name}: error: standard output cannot be written: No space left on device", ">/dev/full")
    ends(command, f"{name}: error: standard output cannot be written: Bad file descriptor", ">&-")

# The process that reads the pipe has exited.
for command in printers:
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(list(map(str, command)), cwd=folder, stdout=write, stderr=subprocess.PIPE, text=True,
                            timeout=TIMEOUT)  # fmt: skip
    os.close(write)
    assert result.returncode == 2, (command, result)
    assert "standard output cannot be written: Broken pipe" in result.stderr, (command, result)

# If messages cannot be written, the exit code stays the same.
words = ["bash", "-c", '"$@" 2>/dev/full', "bash", MTC, "plan"]
assert subprocess.run([*words, *model], stdout=subprocess.DEVNULL).returncode == 0
assert subprocess.run([*words, "absent.onnx"], stdout=subprocess.DEVNULL).returncode == 1

full = "cannot be written: No space left on device"
ends([MTC, "plan", *model, "--remarks", "/dev/full"], f"--remarks /dev/full: {full}")
ends([MTC, "compile", *model, "--remarks", "/dev/full", "-o", "program"], f"--remarks /dev/full: {full}")
ends([MTC, "compile", *model, "--emit=forward", "-o", "/dev/full"], f"-o /dev/full: {full}")
ends([f"{bin}/mtc-opt", run_text, "-o", "/dev/full"], f"mtc-opt: error: -o /dev/full: {full}")

# If the reproducer of a failing pass cannot be written, no message claims that it was.
command = [MTC, "compile", *model, "--loss", "causal-lm", "--crash-reproducer", "/dev/full"]
result = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
assert result.returncode == 1 and f"--crash-reproducer /dev/full: {full}" in result.stderr, result
assert "reproducer generated" not in result.stderr, result
