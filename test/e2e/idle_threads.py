# RUN: %python %s %t
"""Idle threads of a program with oneDNN sleep after about ten microseconds, unless the environment sets the wait policy. A program without
oneDNN has its own threads, and does not restart itself to set the policy."""

import os
import signal
import subprocess
import time
from pathlib import Path

from models import DIGITS
from program import compile_example, own_folder

POLICIES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
folder = own_folder()


def waiting(program, **given: str) -> dict[str, str]:
    """Returns the wait policies in the environment of the running program, and checks that its process is the one that was started."""
    environment = {name: value for name, value in os.environ.items() if name not in POLICIES} | given
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    command = [str(word) for word in program.command("--steps", 100_000_000, "--metrics", log, "--quiet")]
    process = subprocess.Popen(command, cwd=folder, env=environment)
    while not (log.exists() and log.stat().st_size):
        assert process.poll() is None, process.returncode
        time.sleep(0.01)
    lines = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    assert Path(f"/proc/{process.pid}/comm").read_text().strip() == program.path.name
    process.send_signal(signal.SIGKILL)
    process.wait()
    pairs = (line.decode().split("=", 1) for line in lines if line)
    return {name: value for name, value in pairs if name in POLICIES}


program = compile_example(DIGITS, folder, "sgd", DIGITS.batch)
assert waiting(program) == {"GOMP_SPINCOUNT": "1000"}, waiting(program)
for name, value in (("GOMP_SPINCOUNT", "7"), ("OMP_WAIT_POLICY", "active")):
    found = waiting(program, **{name: value})
    assert found == {name: value}, found
own = compile_example(DIGITS, folder, "sgd", DIGITS.batch, "--no-onednn", name="own")
assert waiting(own) == {}, waiting(own)
