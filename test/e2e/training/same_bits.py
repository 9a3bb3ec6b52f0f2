# RUN: %python %s %t
"""Two runs of a program are bit-identical, with and without shuffling, and differ from runs with another seed."""

from models import GPT2
from program import compile_example, losses, own_folder, read_metrics, same_bits

folder = own_folder()
program = compile_example(GPT2, folder, "adamw", 32)
one, other = (program.exported(name, "--steps", 5, "--metrics", folder / f"{name}.jsonl") for name in ("one", "other"))
assert one == other
assert losses(read_metrics(folder / "one.jsonl")) == losses(read_metrics(folder / "other.jsonl"))
gradients = [program.gradients(f"gradients{k}") for k in range(2)]
assert same_bits(*gradients)

shuffled = {}
for name, seed in (("first", 3), ("again", 3), ("another", 4)):
    log = folder / f"{name}.jsonl"
    program.run("--steps", 8, "--shuffle", "--seed", seed, "--metrics", log)
    shuffled[name] = losses(read_metrics(log))
assert shuffled["first"] == shuffled["again"]
assert shuffled["first"] != shuffled["another"]
