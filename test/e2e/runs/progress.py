# RUN: %python %s %t
"""In a terminal (tmux), the progress bar is one line at any width, also while the terminal is resized, and leaves no remains."""

import json
import os
import re
import shutil
import subprocess
import time

from models import DIGITS
from program import MTC, compile_example, own_folder, run

folder = own_folder()
assert shutil.which("tmux"), "tmux is missing: run tools/setup.sh --tests"
program = compile_example(DIGITS, folder, "adamw", 480, "--clip-norm", "1")
plan = run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--optimizer", "adamw", "--clip-norm", "1", "--json"], folder).stdout
planned = json.loads(plan)["peak_bytes"]  # this value depends on the processor


class Terminal:
    """A shell in a separate terminal. Each test folder has its own tmux server."""

    def __init__(self, columns: int, **environment: str):
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "OMP_WAIT_POLICY": "passive", **environment, "TMUX": ""}
        self.socket = folder / "tmux"
        self("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", 10, "sh")

    def __call__(self, *words) -> str:
        result = subprocess.run(["tmux", "-u", "-S", self.socket, *map(str, words)], env=self.environment, cwd=folder, capture_output=True, text=True)
        assert result.returncode == 0, (words, result.stderr)
        return result.stdout

    def type(self, line: str) -> None:
        self("send-keys", "clear; " + line, "Enter")

    def lines(self) -> list[str]:
        return [line for line in self("capture-pane", "-p").splitlines() if line.strip()]

    def wait(self, pattern: str) -> str:
        """Waits for a line that matches the pattern, and returns the first one."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for line in self.lines():
                if re.search(pattern, line):
                    return line
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} is not on the screen: {self.lines()}")

    def close(self) -> None:
        self("kill-server")


def shell(*flags) -> str:
    return " ".join(f"'{word}'" for word in program.command("--threads", 1, *flags))


terminal = Terminal(140)
try:
    terminal.type(shell("--steps", 10**8, "--save", "c"))
    line = terminal.wait("^step .*samples/s")
    for part in (r"^step \d+/100000000  ", "[━╸─]{8,}", r"  0%  ", r"  epoch \d+/\d+", r"  0:\d\d < [\d:]+  ", r"  loss [\d.e-]+", "  lr 0.002", r"  norm [\d.e-]+",
                 r"  [\d.]+k? samples/s", rf"  {planned / 1024:.2f} KiB$"):  # fmt: skip
        assert re.search(part, line), (part, line)
    for columns in (100, 61, 40, 24, 9):
        terminal("resize-window", "-x", columns, "-y", 10)
        # After it is redrawn, the bar is the last line and fits the width. A line that the terminal wrapped while the program wrote may
        # remain above it.
        deadline = time.monotonic() + 20
        while True:
            screen = terminal.lines()
            bars = [line for line in screen if line.startswith("step")]
            if bars and screen[-1] == bars[-1] and len(bars[-1]) < columns:
                break
            assert time.monotonic() < deadline, (columns, screen)
            time.sleep(0.1)
    terminal("resize-window", "-x", 120, "-y", 10)
    terminal.wait("^step .*samples/s")
    terminal("send-keys", "C-c")
    terminal.wait("stopped after step")
    terminal.wait("^[$#] *$")
    screen = terminal.lines()
    last = max(i for i, line in enumerate(screen) if line.startswith("step"))
    assert re.match(r"step (\d+)/100000000 .*  0:\d\d  loss", screen[last]), screen  # without the remaining time
    step = re.match(r"step (\d+)", screen[last])[1]
    assert screen[last + 1].startswith(f"SIGINT: stopped after step {step} of"), screen
    assert screen[-1].strip() in ("$", "#"), screen

    # A complete run ends with a full bar. Messages are separate lines before it.
    terminal.type(shell("--steps", 40, "--on-nan", "continue"))
    line = terminal.wait(r"^step 40/40")
    terminal.wait("^[$#] *$")
    line = terminal.wait(r"^step 40/40")
    assert re.search(r"  ━+  100%  ", line) and terminal.lines()[-1].strip() in ("$", "#"), terminal.lines()

    # A validation is a line above the bar, and its loss is shown in the bar.
    terminal.type(shell("--steps", 40, "--validate", "x=x.npy", "--validate", "labels=labels.npy", "--validate-every", 20))
    line = terminal.wait(r"^step 40/40")
    terminal.wait("^[$#] *$")
    assert "  val loss 0." in terminal.wait(r"^step 40/40"), terminal.lines()
    assert len([line for line in terminal.lines() if re.match(r"validation (20|40)/40  loss \S+  accuracy \S+  ", line)]) == 2, terminal.lines()

    # The bar has ASCII characters if the terminal supports no others, and separate lines if the terminal cannot clear a line.
    terminal.type("LC_ALL=C " + shell("--steps", 40))
    terminal.wait(r"^step 40/40  #+  100%")
    terminal.type("TERM=dumb " + shell("--steps", 3))
    terminal.wait(r"^step 3/3  loss .* ms$")
    terminal.type(shell("--steps", 3, "--quiet") + "; echo done")
    terminal.wait("^done")
    assert not [line for line in terminal.lines() if line.startswith("step")], terminal.lines()

    # mtc shows progress of slow steps and removes it at the end. An empty cache makes the compilation slow enough.
    terminal.type(f"MTC_CACHE_DIR={folder}/cache {MTC} compile {DIGITS.model} {' '.join(DIGITS.flags)} --target cuda --emulate -o emulated")
    terminal.wait(r"^mtc: compiling kernels|^\S*emulated: trains|^mtc: lowering")
    terminal.wait(r"emulated: trains")
    assert not [line for line in terminal.lines() if re.match("mtc: (compiling|lowering|linking)", line)], terminal.lines()
finally:
    terminal.close()

# In a file, progress consists of lines, at most about a thousand.
output = run(program.command("--steps", 3000, "--threads", 1), folder).stdout.splitlines()
assert len(output) == 1001 and all(re.fullmatch(r"step \d+/3000  loss \S+  lr 0.002  norm \S+  [\d.]+ ms", line) for line in output), output[:3]
assert "\x1b" not in "".join(output) and "\r" not in "".join(output)
assert json.loads(run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--json"], folder).stdout)["fits"]
