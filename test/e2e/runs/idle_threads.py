# RUN: env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT %python %s %t
"""Idle threads of a model sleep after some ten microseconds, independently of the environment, and even if libgomp was loaded before the
model. Two models in one process share their threads. A program does not change its environment."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from models import DIGITS
from program import MTC, compile_example, own_folder, run

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
import mtc  # noqa: E402

THREADS = 2
STEPS = 30
folder = own_folder()


def environment(program) -> list[bytes]:
    """Returns the environment of the running program."""
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    command = [str(word) for word in program.command("--steps", 100_000_000, "--metrics", log, "--quiet")]
    process = subprocess.Popen(command, cwd=folder)
    while not (log.exists() and log.stat().st_size):
        assert process.poll() is None, process.returncode
        time.sleep(0.01)
    lines = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    process.send_signal(signal.SIGKILL)
    process.wait()
    return sorted(line for line in lines if line)


def others() -> set[int]:
    """Returns the threads of this process except the calling one."""
    return {int(thread) for thread in os.listdir("/proc/self/task")} - {os.getpid()}


def seconds(threads: set[int]) -> float:
    """Returns the processor time that threads have used."""
    return sum(time.clock_gettime(~thread << 3 | 6) for thread in threads)  # The clock of a thread, as in the kernel's posix-timers.h.


def idle_seconds(step) -> float:
    """Returns the processor time that other threads use while this one sleeps after a step."""
    used = 0.0
    for _ in range(STEPS):
        step()
        before = seconds(others())
        time.sleep(0.02)
        used += seconds(others()) - before
    return used


program = compile_example(DIGITS, folder, "sgd", DIGITS.batch)
assert environment(program) == sorted(name + b"=" + value for name, value in os.environb.items())

libgomp = ctypes.CDLL("libgomp.so.1")  # libgomp is loaded as another library of the process would load it, and reads the environment.
libgomp.omp_get_max_threads()
rng = np.random.default_rng(3)
example = {"x": rng.random((32, 64), np.float32), "labels": rng.integers(0, 10, 32)}
trainers = []
for name, optimizer in ("one", "sgd"), ("two", "adamw"):
    run([MTC, "compile", DIGITS.model, "--dim", "batch=32", "--optimizer", optimizer, "--emit", "library", "-o", folder / name], folder)
    trainers.append(mtc.Trainer(folder / f"lib{name}.so", threads=THREADS))

before = others()
first, second = trainers
losses = [first.step(example)]
assert len(others() - before) == THREADS - 1, others() - before
losses += [second.step(example)]
assert len(others() - before) == THREADS - 1, others() - before
# The threads of libgomp spin for 3 ms after each step, which is 100 ms in total.
for trainer in trainers:
    used = idle_seconds(lambda trainer=trainer: trainer.step(example))
    assert used < 0.02, used
