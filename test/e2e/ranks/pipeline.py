# RUN: %python %s %t
"""Pipeline stages: losses, checkpoints, exports, evaluations and outputs are byte for byte those of one stage, on one or two ranks for each
stage. A checkpoint is resumed with any number of stages. If a rank is killed or stopped, all ranks end within the time limit."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from launcher import end_of, launcher, processes_of
from models import DIGITS, GPT2, Example
from program import Program, compile, own_folder, read_metrics

MICRO_BATCHES, STEPS, TIMEOUT = 4, 6, 3
FLAGS = ("--optimizer", "adamw", "--clip-norm", 0.05, "--ema", 0.9, "--threads", 1)
folder = own_folder()
digits = folder / DIGITS.name


def stages(count: int, ranks: int = 1, *flags, example: Example = DIGITS, rows=1000) -> Program:
    """Compiles a program with `count` stages of `ranks` ranks each."""
    layout = ("--ranks", count * ranks, "--pipeline", count, "--accumulate", MICRO_BATCHES // ranks)
    name = "-".join([example.name, str(count), str(ranks), *(str(f).strip("-") for f in flags)])
    own = folder / example.name  # Examples have inputs of the same names.
    own.mkdir(exist_ok=True)
    program = compile(example.model, own, example.data(rows), *example.flags, *FLAGS, *flags, *layout, name=name)
    return Program(program.path, example.data(rows), launcher(count * ranks) if count * ranks > 1 else ())


def saved(name: str, folder: Path = digits) -> tuple[str, bytes]:
    """Returns the manifest and the data file of a checkpoint. The name of the data file depends on earlier saves, and so does the checksum."""
    manifest = json.loads((folder / name / "manifest.json").read_text())
    file = manifest.pop("file")
    manifest.pop("checksum")
    return json.dumps(manifest), (folder / name / file).read_bytes()


def trained(program: Program, *flags) -> tuple:
    """Returns the metrics, the checkpoint and the exported weights of a run."""
    shutil.rmtree(digits / "run", ignore_errors=True)
    for file in "run.jsonl", "weights.safetensors":
        (digits / file).unlink(missing_ok=True)
    program.run(
        *("--steps", STEPS, "--save", "run", "--metrics", "run.jsonl", "--export-weights", "weights.safetensors", "--use-ema", "--quiet"),
        *("--validate", f"x={digits / 'x.npy'}", "--validate", f"labels={digits / 'labels.npy'}", "--validate-every", 2, "--keep-best", "loss"),
        *flags,
    )
    lines = [{k: v for k, v in line.items() if "second" not in k} for line in read_metrics(digits / "run.jsonl")]
    return str(lines), saved("run"), saved("run/best"), (digits / "weights.safetensors").read_bytes()


def evaluated(program: Program) -> tuple[str, bytes]:
    """Returns the evaluation of a checkpoint, and its outputs."""
    (digits / "outputs.safetensors").unlink(missing_ok=True)
    text = program.run("--evaluate", "--resume", "half").stdout
    program.run("--outputs", "outputs.safetensors", "--resume", "half", "--quiet")
    return text, (digits / "outputs.safetensors").read_bytes()


one = stages(1)
programs = [stages(2), stages(3), stages(2, 2), stages(2, 2, "--shard", "optimizer")]
wanted = trained(one)
assert len(set(wanted[0].split("'loss': "))) > STEPS, f"nothing is trained: {wanted[0]}"
for program in programs:
    found = trained(program)
    # The checksums of divided tensors are those of their shards.
    shards = "optimizer" in program.path.name
    for number, what in enumerate(("losses", "checkpoint", "best checkpoint", "weights")):
        same = found[number][1] == wanted[number][1] if shards and "checkpoint" in what else found[number] == wanted[number]
        assert same, (program.path.name, what, found[number][0], wanted[number][0])

# Each program resumes the checkpoints of the others, evaluates them, and exports them without data.
for saving in one, *programs:
    shutil.rmtree(digits / "half", ignore_errors=True)
    saving.run("--steps", 3, "--save", "half", "--quiet")
    results = []
    for resuming in one, *programs:
        shutil.rmtree(digits / "rest", ignore_errors=True)
        resuming.run("--steps", STEPS, "--resume", "half", "--save", "rest", "--quiet")
        assert saved("rest")[1] == wanted[1][1], (saving.path.name, resuming.path.name)
        results.append(evaluated(resuming))
        (digits / "weights.safetensors").unlink(missing_ok=True)
        Program(resuming.path, {}, resuming.runner).run("--resume", "half", "--export-weights", "weights.safetensors", "--quiet")
        results[-1] += ((digits / "weights.safetensors").read_bytes(),)
        assert results[-1] == results[0], (saving.path.name, resuming.path.name, results[-1][0], results[0][0])

# A tied embedding is the first variable of the program and belongs to the last stage.
tied = [stages(count, example=GPT2, rows=64) for count in (1, 2, 3)]
for saving in tied:
    shutil.rmtree(folder / GPT2.name / "half", ignore_errors=True)
    saving.run("--steps", 2, "--save", "half", "--quiet")
    results = []
    for resuming in tied:
        shutil.rmtree(folder / GPT2.name / "rest", ignore_errors=True)
        resuming.run("--steps", 4, "--resume", "half", "--save", "rest", "--quiet")
        results.append(saved("rest", folder / GPT2.name))
        assert results[-1] == results[0], (saving.path.name, resuming.path.name)


def ended(program: Program, number: int, victim: int) -> tuple[int, str, float]:
    """Sends a signal to a rank. Returns the launcher's exit code, its messages, and the seconds until all processes have ended."""
    shutil.rmtree(digits / "saved", ignore_errors=True)
    command = program.command("--steps", 10**9, "--timeout", TIMEOUT, "--save", "saved", "--save-every", 20, "--quiet")
    process = subprocess.Popen([str(w) for w in command], cwd=digits, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while len(processes_of(program.path)) < program.runner[-1] or not (digits / "saved/manifest.json").exists():
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.05)
    time.sleep(0.2)
    pids = processes_of(program.path)
    return end_of(process, pids, lambda: os.kill(pids[victim], number))


three = programs[1]
for victim in range(3):
    code, message, seconds = ended(three, signal.SIGKILL, victim)
    assert code != 0 and "signal 9" in message and seconds < TIMEOUT + 10, (victim, code, message, seconds)
    assert "loss" in three.run("--resume", "saved", "--evaluate").stdout

    code, message, seconds = ended(three, signal.SIGSTOP, victim)
    assert code != 0 and seconds < TIMEOUT + 10, (victim, code, message, seconds)
    assert f"no answer for {TIMEOUT} s from rank {victim} (host " in message and "--timeout sets the limit" in message, message

# A signal to one rank stops all after a step, which is saved.
code, message, seconds = ended(three, signal.SIGTERM, 2)
assert code != 0 and "stopped after step" in message and seconds < TIMEOUT + 10, (code, message, seconds)
assert json.loads((digits / "saved/manifest.json").read_text())["step"] > 0
