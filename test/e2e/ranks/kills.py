# RUN: %python %s %t
"""If a rank is killed or stopped at a random moment, all ranks end within the time limit, with a message that names the cause. A run
resumed from the checkpoint is bit-identical to an uninterrupted one. `--rounds N` sets the number of trials."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from launcher import Comparison, processes_of, state_of
from models import DIGITS
from program import own_folder, rounds

TIMEOUT = 10  # seconds for --timeout; on a busy machine, ranks take almost this long to start
MICRO_BATCHES, STEPS, SAVE_EVERY = 6, 600, 25
folder = own_folder()
FLAGS = ("--optimizer", "adamw", "--clip-norm", 0.05)
clipped = Comparison(folder, "clipped", DIGITS, *FLAGS, micro_batches=MICRO_BATCHES)
layers = Comparison(folder, "layers", DIGITS, *FLAGS, micro_batches=MICRO_BATCHES, chunks=2)
several = [clipped.program(2, "--shard", "none"), clipped.program(2, "--shard", "parameters"), clipped.program(3, "--shard", "optimizer")]
programs = [(each, state_of(clipped.program(1), steps=STEPS)[1]) for each in several]
programs.append((layers.program(4, "--shard", "optimizer", tensor=2), state_of(layers.program(1), steps=STEPS)[1]))
draw = random.Random(17)
saving = ("--save", "saved", "--save-every", SAVE_EVERY, "--timeout", TIMEOUT, "--steps", STEPS)
ended_before, resumed = 0, 0
ROUNDS = rounds(4)


def saved_step(folder) -> int:
    """Returns the step of the checkpoint in `folder`, 0 without one."""
    try:
        return json.loads((folder / "manifest.json").read_text())["step"]
    except FileNotFoundError:
        return 0


def wait_for_step(process, folder, step: int) -> None:
    """Waits until a checkpoint of this step is saved, so that the machine's speed does not decide where a run is interrupted."""
    while process.poll() is None and saved_step(folder) < step:
        time.sleep(0.002)


for number in range(ROUNDS):
    program, wanted = draw.choice(programs)
    ranks = program.runner[-1]
    victim, sent = draw.randrange(ranks), signal.SIGSTOP if number % 4 == 3 else signal.SIGKILL
    shutil.rmtree(program.folder / "saved", ignore_errors=True)
    # The launcher runs in a session of its own, so that all its processes can be ended together.
    process = subprocess.Popen(
        [str(w) for w in program.command(*saving, "--quiet")], cwd=program.folder, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    # One in four runs is interrupted while ranks start, the others between two checkpoints or while one is written.
    step, delay = (0, draw.uniform(0.1, 0.6)) if number % 4 == 0 else (SAVE_EVERY * draw.randint(1, 16), draw.uniform(0, 0.1))
    wait_for_step(process, program.folder / "saved", step)
    time.sleep(delay)
    pid = processes_of(program.path).get(victim)
    what = (number, program.path.name, victim, sent, step, delay)
    begin = time.monotonic()
    if pid:
        os.kill(pid, sent)
    try:
        message = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{what}: not all ranks have ended after 60 s") from None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    seconds = time.monotonic() - begin
    assert seconds < TIMEOUT + 10 or process.returncode == 0, (what, seconds)
    if process.returncode == 0:
        ended_before += 1  # The rank had already finished its work for the others.
    elif step == 0 and ("not all ranks have started" in message or "returned\na non-zero exit code" in message):
        pass  # The launcher ends the others, too, if MPI cannot start.
    elif sent == signal.SIGKILL:
        assert "signal 9" in message or f"from rank {victim}" in message, (what, message)
    else:
        assert f"from rank {victim} (host " in message, (what, message)
    if (program.folder / "saved/manifest.json").exists():
        resumed += 1
        assert state_of(program, "--resume", "saved", steps=STEPS)[1] == wanted, what

print(f"{ROUNDS} rounds: {ended_before} finished before the interruption, {resumed} resumed")
assert ended_before <= ROUNDS / 2 and resumed >= ROUNDS / 4, (ended_before, resumed)
