# RUN: %python %s %t
"""TensorBoard's own reader finds every metric of a run in its event files, also after a kill and a resume."""

import math
import subprocess
import time

from models import DIGITS, GPT2
from program import compile_example, own_folder, read_metrics, run
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder = own_folder()


def scalars(name: str) -> dict[str, dict[int, float]]:
    """Returns a map from tags and steps to values. The size guidance 0 keeps every value."""
    events = EventAccumulator(str(folder / name), size_guidance={"scalars": 0})
    events.Reload()
    found = {}
    for tag in events.Tags()["scalars"]:
        values = events.Scalars(tag)
        found[tag] = {each.step: each.value for each in values}
        assert len(found[tag]) == len(values), f"{tag} has two values of one step"
        assert all(abs(each.wall_time - time.time()) < 3600 for each in values), tag
    return found


def expected(metrics: list[dict]) -> dict[str, dict[int, float]]:
    found = {}
    for record in metrics:
        for name, value in record.items():
            prefix = "validation/" if name.startswith("validation_") else "train/"
            if name not in ("step", "best"):
                found.setdefault(prefix + name.removeprefix("validation_"), {})[record["step"]] = math.nan if value is None else float(value)
    return found


def check(name: str, metrics: list[dict]) -> dict:
    found, wanted = scalars(name), expected(metrics)
    assert found.keys() == wanted.keys(), (found.keys(), wanted.keys())
    for tag, values in wanted.items():
        assert found[tag].keys() == values.keys(), tag
        for step, value in values.items():
            assert math.isclose(found[tag][step], value, rel_tol=1e-6) or math.isnan(value) and math.isnan(found[tag][step]), (tag, step)
    return found


program = compile_example(DIGITS, folder, "adamw", 480, "--clip-norm", "1")
program.run("--steps", 40, "--threads", 1, "--tensorboard", "runs", "--metrics", "m.jsonl", "--save", "c")
metrics = read_metrics(folder / "m.jsonl")
found = check("runs", metrics)
assert found.keys() == {f"train/{name}" for name in ("loss", "lr", "grad_norm", "step_seconds", "samples_per_second")}
assert list(found["train/loss"]) == list(range(1, 41))
(file,) = (folder / "runs").iterdir()
assert file.name.startswith("events.out.tfevents.")

# A resumed run replaces events of steps after its checkpoint.
program.run("--steps", 60, "--threads", 1, "--tensorboard", "runs", "--metrics", "m.jsonl", "--resume", "c")
program.run("--steps", 50, "--threads", 1, "--tensorboard", "runs", "--metrics", "m.jsonl", "--resume", "c")
metrics = read_metrics(folder / "m.jsonl")
assert [record["step"] for record in metrics] == list(range(1, 51))
check("runs", metrics)
assert len(list((folder / "runs").iterdir())) == 3

# A run from the start replaces all events.
program.run("--steps", 5, "--threads", 1, "--tensorboard", "runs", "--metrics", "m.jsonl")
check("runs", read_metrics(folder / "m.jsonl"))

# Validations have separate tags.
validation = ("--validate", "x=x.npy", "--validate", "labels=labels.npy", "--validate-every", 10)
program.run("--steps", 25, "--threads", 1, *validation, "--tensorboard", "validated", "--metrics", "m.jsonl")
found = check("validated", read_metrics(folder / "m.jsonl"))
assert list(found["validation/loss"]) == list(found["validation/accuracy"]) == [10, 20, 25] and len(found["train/loss"]) == 25, found

# Each step is in the file as soon as it is finished.
running = subprocess.Popen([str(word) for word in program.command("--steps", 10**9, "--threads", 1, "--tensorboard", "killed", "--metrics", "k.jsonl",
                                                                  "--quiet")], cwd=folder)  # fmt: skip
while not (folder / "k.jsonl").exists() or (folder / "k.jsonl").read_text().count("\n") < 200:
    assert running.poll() is None
    time.sleep(0.01)
running.kill()
running.wait()
metrics, events = read_metrics(folder / "k.jsonl"), scalars("killed")
assert 0 <= len(metrics) - len(events["train/loss"]) <= 1, (len(metrics), len(events["train/loss"]))

# Tokens are counted if the model reads tokens.
model = compile_example(GPT2, folder, "adamw", 16, name="gpt2.run")
model.run("--steps", 2, "--tensorboard", "new/folder/gpt2", "--metrics", "g.jsonl")
metrics = read_metrics(folder / "g.jsonl")
found = check("new/folder/gpt2", metrics)
length = metrics[0]["tokens_per_second"] / metrics[0]["samples_per_second"]
assert abs(length - 64) < 1e-6 and "train/tokens_per_second" in found, metrics[0]

# If the files cannot be written, the program reports it before the run.
(folder / "file").write_text("mine")
result = run(program.command("--steps", 1, "--tensorboard", "file"), folder, code=1)
assert "--tensorboard file: is a file; expected the name of a folder" in result.stderr, result.stderr
result = run(program.command("--steps", 1, "--tensorboard", "file/run"), folder, code=1)
assert "--tensorboard file/run: file is a file; expected the name of a folder" in result.stderr, result.stderr
result = run(program.command("--evaluate", "--tensorboard", "runs"), folder, code=1)
assert "--tensorboard and --report describe training" in result.stderr, result.stderr
