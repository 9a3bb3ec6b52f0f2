# RUN: %python %s %t
"""An interrupted search ends immediately and leaves no file. It reports progress on a terminal only."""

import os
import pty
import signal
import subprocess
import time

from models import GPT2
from program import MTC, own_folder

folder = own_folder()
# About twelve batch sizes are planned, which takes some seconds.
SEARCH = ("--memory", "64MB", "--fit-batch", "--offload", "auto", "--freeze", "*wpe*")
command = [MTC, "compile", str(GPT2.model), *GPT2.flags, *SEARCH, "-o", str(folder / "train")]


def start(**streams) -> subprocess.Popen:
    # lit ignores the signal, and its child processes would inherit this.
    return subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                            env=os.environ | {"TERM": "xterm"}, **streams)  # fmt: skip


def interrupt(process: subprocess.Popen) -> None:
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT, process.returncode
    assert time.monotonic() - begin < 30, "an interrupted search continues"
    assert not os.listdir(folder), os.listdir(folder)


process = start(stderr=subprocess.PIPE)
line = process.stderr.readline()  # The model has been read: the search starts.
assert b"parameters trained" in line, line
interrupt(process)
assert b"\r" not in process.stderr.read()

terminal, stderr = pty.openpty()
process = start(stderr=stderr)
os.close(stderr)
shown = b""
while b"  0:01" not in shown:
    shown += os.read(terminal, 1024)
interrupt(process)
assert b"\rmtc: searching for a plan within --memory  " in shown, shown
