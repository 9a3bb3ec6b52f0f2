# RUN: %python %s %t
"""A run that is killed at any moment, also while it saves, and resumed from its last checkpoint is bit-identical to an uninterrupted run."""

from models import DIGITS
from program import compile_example, losses, own_folder, read_metrics

STEPS = 300
folder = own_folder()
program = compile_example(DIGITS, folder, "adamw", 480)
whole = folder / "whole.jsonl"
program.run("--steps", STEPS, "--seed", 7, "--threads", 1, "--metrics", whole, "--export", "whole.onnx")
expected = losses(read_metrics(whole))
assert len(expected) == STEPS

log = folder / "parts.jsonl"
flags = ("--steps", STEPS, "--seed", 7, "--threads", 1, "--metrics", log, "--export", "parts.onnx")
interrupted = program.run_with_kills(*flags, kills=8, after=(0.02, 0.15))
assert (folder / "parts.onnx").read_bytes() == (folder / "whole.onnx").read_bytes()
metrics = read_metrics(log)  # Each start resumes from its checkpoint.
assert [record["step"] for record in metrics] == list(range(1, STEPS + 1))
assert losses(metrics) == expected
print(f"{interrupted} runs were killed")
