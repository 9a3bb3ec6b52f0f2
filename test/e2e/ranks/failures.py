# RUN: %python %s %t
"""If a rank is killed, stopped or started with other flags, all ranks end within the time limit, with a message that names the cause; the
checkpoint stays valid."""

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable

from models import DIGITS
from program import Program, compile, own_folder, run
from launcher import end_of, launcher, processes_of

TIMEOUT = 3  # seconds for --timeout
folder = own_folder()
data = DIGITS.data(640)
path = compile(DIGITS.model, folder, data, *DIGITS.flags, "--ranks", 2, "--threads", 1, name="ranks").path
program = Program(path, data, launcher(2))
endless = ("--steps", 10**9, "--timeout", TIMEOUT, "--save", "saved", "--save-every", 20, "--overwrite", "--quiet")


def ended(act: Callable[[int], None], victim: int) -> tuple[int, str, float]:
    """Returns the launcher's exit code, its messages, and the seconds from the interruption of one rank to the end of all processes."""
    shutil.rmtree(folder / "saved", ignore_errors=True)
    process = subprocess.Popen([str(w) for w in program.command(*endless)], cwd=folder, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while len(processes_of(path)) < program.runner[-1] or not (folder / "saved/manifest.json").exists():
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.05)
    time.sleep(0.2)
    pids = processes_of(path)
    return end_of(process, pids, lambda: act(pids[victim]))


def signaled(number: int, victim: int) -> tuple[int, str, float]:
    return ended(lambda pid: os.kill(pid, number), victim)


for victim in 0, 1:
    code, message, seconds = signaled(signal.SIGKILL, victim)
    assert code != 0 and "signal 9" in message and seconds < TIMEOUT + 10, (victim, code, message, seconds)
    run([path, "--version"], folder)
    assert "loss" in program.run("--resume", "saved", "--evaluate").stdout

    code, message, seconds = signaled(signal.SIGSTOP, victim)
    assert code != 0 and seconds < TIMEOUT + 10, (victim, code, message, seconds)
    other = 1 - victim
    assert f"error: rank {other} (host " in message and f"no answer for {TIMEOUT} s from rank {victim} (host " in message, message
    assert " in step " in message and "--timeout sets the limit" in message, message
    assert "loss" in program.run("--resume", "saved", "--evaluate").stdout

# A rank that waits for a silent one of its group is not silent for the other groups.
two = path, program
path = compile(DIGITS.model, folder, data, *DIGITS.flags, "--ranks", 4, "--tensor", 2, "--threads", 1, name="groups").path
program = Program(path, data, launcher(4))
for victim in 1, 2:
    code, message, seconds = signaled(signal.SIGKILL, victim)
    assert code != 0 and "signal 9" in message and seconds < TIMEOUT + 10, (victim, code, message, seconds)
    code, message, seconds = signaled(signal.SIGSTOP, victim)
    assert code != 0 and seconds < TIMEOUT + 10, (victim, code, message, seconds)
    assert f"no answer for {TIMEOUT} s from rank {victim} (host " in message, (victim, message)
    assert "loss" in program.run("--resume", "saved", "--evaluate").stdout
path, program = two

# With emulated GPUs, the time limit applies to the exchange that the device runs.
host = path, program, endless
LIMIT = 10  # seconds: emulated steps are slow
endless = tuple(LIMIT if flag == TIMEOUT else flag for flag in endless)
path = compile(DIGITS.model, folder, data, *DIGITS.flags, "--ranks", 2, "--threads", 1, "--target", "cuda", "--emulate", name="device").path
program = Program(path, data, launcher(2))
for victim in 0, 1:
    code, message, seconds = signaled(signal.SIGSTOP, victim)
    assert code != 0 and seconds < 2 * LIMIT + 10, (victim, code, message, seconds)
    assert f"error: rank {1 - victim} (host " in message and f"no answer for {LIMIT} s from rank {victim} (host " in message, message
    assert " in step " in message and "--timeout sets the limit" in message, message
code, message, seconds = signaled(signal.SIGKILL, 1)
assert code != 0 and "signal 9" in message and seconds < LIMIT + 10, (code, message, seconds)

# The disk is full while rank 1 writes its shard of a checkpoint.
path = compile(DIGITS.model, folder, data, *DIGITS.flags, "--ranks", 2, "--threads", 1, "--shard", "parameters", name="divided").path
program = Program(path, data, launcher(2))
code, message, seconds = ended(lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, 4096)), 1)
assert code == 2 and seconds < LIMIT + 10, (code, message, seconds)
assert message.count("error:") == 1 and "error: rank 1 (host " in message and "cannot be written: File too large; nothing was replaced" in message, message
assert "loss" in program.run("--resume", "saved", "--evaluate").stdout
assert len(list((folder / "saved").iterdir())) == 2, list((folder / "saved").iterdir())
path, program, endless = host

# If a rank never starts, the others end too.
words = [str(w) for w in (*launcher(1), *program.command(*endless)[3:], ":", "-n", 1, "sleep", 60)]
begin = time.monotonic()
said = subprocess.run(words, cwd=folder, stderr=subprocess.PIPE, text=True, timeout=50)
assert said.returncode == 2 and f"not all ranks have started after {TIMEOUT} s. --timeout sets" in said.stderr, said
assert time.monotonic() - begin < TIMEOUT + 10

# A signal to one rank stops all ranks after a step, and the checkpoint is complete.
code, message, seconds = signaled(signal.SIGTERM, 1)
assert seconds < TIMEOUT + 10 and message.count("SIGTERM: stopped after step ") == 1, (code, message, seconds)

# Errors of all ranks are reported once; an error of one rank is reported with the rank's name.
assert program.run("--steps", "no", code=1).stderr.count("error: --steps no: expected a whole number") == 1
said = Program(path, data, launcher(3)).run("--steps", 1, code=1).stderr
assert said.count("error: this program was compiled for 2 ranks, but the launcher started 3 processes") == 1, said
assert "mpirun -n 2" in said, said
said = run([path, *program.data_flags, "--steps", 1], folder, code=1).stderr
assert "this program was compiled for 2 ranks, but the launcher started 1 process;" in said, said
for variable, why in ("TORCHELASTIC_RUN_ID", "torchrun does not connect"), ("SLURM_PROCID", "--mpi=pmix"):
    said = run(["env", f"{variable}=1", path, *program.data_flags, "--steps", 1], folder, code=1).stderr
    assert why in said and "mpirun -n 2" in said, said


def apart(*flags) -> str:
    """Returns the messages of a run whose second rank has different flags."""
    words = [*launcher(1), *program.command()[3:], "--quiet", "--steps", 3, ":", "-n", 1, *program.command()[3:], "--quiet", *flags]
    return run(words, folder, code=1).stderr


assert "rank 1 (host " in (said := apart("--steps", 4)) and "last step 4, expected 3 as on rank 0" in said, said
assert "--seed 7, expected 0 as on rank 0" in (said := apart("--steps", 3, "--seed", 7)), said
assert "error: rank 1 (host " in (said := apart("--steps", 3, "--weights", "nothing.safetensors")) and "nothing.safetensors" in said, said
