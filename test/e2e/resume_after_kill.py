# RUN: %python %s %t
"""A run killed at any moment, also while it saves, resumes from its last checkpoint to the bits of a run left alone."""

import random
import subprocess

from models import DIGITS
from program import compile_example, losses, own_folder, read_metrics

STEPS = 300
folder = own_folder()
program = compile_example(DIGITS, folder, "adamw", 480)
whole = folder / "whole.jsonl"
program.run("--steps", STEPS, "--seed", 7, "--threads", 1, "--metrics", whole, "--export", "whole.onnx")
expected = losses(read_metrics(whole))
assert len(expected) == STEPS

random.seed(0)
checkpoint = folder / "checkpoint"
flags = ("--steps", STEPS, "--seed", 7, "--threads", 1, "--save", checkpoint, "--save-every", 1)
interrupted = 0
for attempt in range(40):
    started = (checkpoint / "manifest.json").exists()
    log = folder / f"part{attempt}.jsonl"
    resume = ("--resume", checkpoint) if started else ()
    command = [str(word) for word in program.command(*flags, *resume, "--metrics", log, "--export", "parts.onnx")]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = process.communicate(timeout=random.uniform(0.02, 0.15) if attempt < 8 else 300)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        interrupted += 1
        continue
    assert process.returncode == 0, output
    break
assert interrupted > 0, "no run was killed: the test says nothing"
assert (folder / "parts.onnx").read_bytes() == (folder / "whole.onnx").read_bytes()
last = read_metrics(log)
assert last[-1]["step"] == STEPS, last[-1]
for record in last:
    assert record["loss"] == expected[record["step"] - 1], record
print(f"{interrupted} runs were killed; the last one began at step {last[0]['step']}")
