# RUN: %python %s %t
"""Two programs that save into one folder and are killed at any moment always leave one checkpoint that can be resumed.

`--rounds N` sets the number of trials.
"""

import random
import subprocess
import time

from models import DIGITS
from program import compile_example, own_folder, read_metrics, rounds

folder = own_folder()
program = compile_example(DIGITS, folder, "adamw", 480)
saved = folder / "saved"
moments = random.Random(0)
REFUSALS = ("saves into this folder", "this run does not go on from it")


def start() -> subprocess.Popen:
    resume = ("--resume", saved) if (saved / "manifest.json").exists() else ()
    flags = ("--steps", 10**9, "--save", saved, "--save-every", 1, "--quiet", "--threads", 1)
    command = [str(word) for word in program.command(*flags, *resume)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def step_of_checkpoint() -> int:
    """Reads the whole checkpoint and compares its checksums."""
    program.run("--resume", saved, "--evaluate", "--metrics", "evaluated.jsonl")
    return read_metrics(folder / "evaluated.jsonl")[0]["step"]


step = refused = killed = 0
for _ in range(rounds(12)):
    savers = [start(), start()]
    for process in moments.sample(savers, 2):
        time.sleep(moments.uniform(0.01, 0.25))
        process.kill()
        message = process.communicate()[1]
        if process.returncode == 1:
            assert any(refusal in message for refusal in REFUSALS), message
            refused += 1
        else:
            assert process.returncode == -9, (process.returncode, message)
            killed += 1
    if step or (saved / "manifest.json").exists():
        now = step_of_checkpoint()
        assert now >= step, f"step {now} was saved over step {step}"
        step = now
assert step > 0 and refused > 0 and killed > 0, (step, refused, killed)

# Killed programs leave no locks, and their temporary files are removed.
program.run("--steps", step + 1, "--save", saved, "--resume", saved)
assert sorted(file.suffix for file in saved.iterdir()) == [".json", ".safetensors"], list(saved.iterdir())
print(f"{killed} programs were killed, {refused} were refused; the checkpoint is of step {step + 1}")
