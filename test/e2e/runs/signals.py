# RUN: %python %s %t
"""A signal ends training after the current step with a checkpoint and without an export, and ends other runs without output; the exit code
is 128 + the signal's number. A second signal ends a run immediately."""

import os
import signal
import subprocess
import time

import numpy as np
from models import GPT2
from program import TIMEOUT, compile_example, own_folder

folder = own_folder()
program = compile_example(GPT2, folder, "adamw", GPT2.batch)
for name in "input_ids", "labels":  # enough rows for a run that ends only by a signal
    np.save(folder / f"{name}.npy", np.tile(np.load(folder / f"{name}.npy"), (5000, 1)))


def stopped(*flags, signals=(signal.SIGTERM,)) -> tuple[int, str]:
    """Returns the exit code (negative: the signal that killed the process) and messages of a run that receives signals once it handles
    them."""
    command = [str(word) for word in program.command(*flags, "--quiet")]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=listen)
    end = time.monotonic() + TIMEOUT
    while not catches(process.pid, signals[0]):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the run never handled signals"
        time.sleep(0.005)
    time.sleep(0.05)
    for number in signals:
        process.send_signal(number)
    message = process.communicate(timeout=TIMEOUT)[1]
    return process.returncode, message


def listen():
    """Resets signals to their default, because a program inherits ignored signals, for example SIGINT in background jobs of scripts."""
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)


def catches(pid: int, number: int) -> bool:
    """Returns whether the handler is set. It must run on a thread that does not compute, whose stack pointer the library may use otherwise."""
    if not has(f"/proc/{pid}/status", "SigCgt:", number):
        return False
    takers = [task for task in os.listdir(f"/proc/{pid}/task") if not has(f"/proc/{pid}/task/{task}/status", "SigBlk:", number)]
    assert len(takers) == 1 and takers != [str(pid)], takers
    return True


def has(status: str, key: str, number: int) -> bool:
    with open(status) as lines:
        signals = next((line for line in lines if line.startswith(key)), f"{key} 0")
    return int(signals.split()[1], 16) >> (number - 1) & 1 == 1


train = ("--no-shuffle", "--threads", 2, "--save", "saved", "--export", "stopped.onnx")
code, message = stopped(*train)
assert code == 128 + signal.SIGTERM, (code, message)
assert message.startswith("SIGTERM: stopped after step ") and "--resume saved; nothing was exported" in message, message
assert not (folder / "stopped.onnx").exists()
step = int(message.split("step ")[1].split()[0])
whole = program.exported("whole", "--no-shuffle", "--steps", step + 1)
assert program.exported("resumed", "--steps", step + 1, "--resume", "saved") == whole

code, message = stopped("--steps", 10**6, signals=[signal.SIGINT])
assert code == 128 + signal.SIGINT and "nothing was saved" in message, (code, message)
for flags in ("--evaluate",), ("--outputs", "o.safetensors"):
    code, message = stopped(*flags, signals=[signal.SIGHUP])
    assert code == 128 + signal.SIGHUP and message == "SIGHUP: stopped; nothing was written\n", (flags, code, message)
assert not (folder / "o.safetensors").exists()

# The two signals may arrive in either order. On a busy machine, the program may finish its step and end by the first signal before the
# second arrives.
both = (signal.SIGTERM, signal.SIGINT)
for attempt in range(20):
    code, message = stopped("--steps", 10**6, signals=both)
    if code in [-number for number in both]:
        break
    assert code in [128 + number for number in both] and "nothing was saved" in message, (code, message)
else:
    raise AssertionError("a second signal never ended the program immediately")
