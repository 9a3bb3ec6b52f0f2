"""Runs programs of several ranks by mpirun on this machine, and compares them with one rank."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from models import Example
from open_mpi import SETTINGS, launcher  # noqa: F401: tests import them from here
from program import Program, compile, read_metrics
from safetensors.numpy import load_file

STEPS, MICRO_BATCHES = 6, 6  # number of steps of a comparison


def processes_of(path: Path) -> dict[int, int]:
    """Returns the processes of a program on several ranks, by rank. Some may have ended or not started yet."""
    found = {}
    for process in Path("/proc").iterdir():
        try:
            if not process.name.isdigit() or os.readlink(process / "exe") != str(path.resolve()):
                continue
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for entry in environment:
            if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(entry.split(b"=")[1])] = int(process.name)
    return found


def end_of(process: subprocess.Popen, pids: dict[int, int], act: Callable[[], None]) -> tuple[int, str, float]:
    """Interrupts ranks by `act`, which receives their `pids`. Returns the launcher's exit code and messages, and the seconds from the
    interruption to the end of all processes."""
    begin = time.monotonic()
    act()
    try:
        message = process.communicate(timeout=60)[1]
    finally:
        for pid in pids.values():  # A stopped process would stay if it is not killed.
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return process.returncode, message, time.monotonic() - begin


def ranks_program(
    folder: Path, example: Example, ranks: int, *flags, rows: int, name: str, micro_batches=MICRO_BATCHES, file="ranks", tensor=1, context=1,
    pipeline=0,
) -> Program:
    """Compiles a program whose updates have the given number of micro-batches on all ranks together; `tensor` ranks share each layer, and
    `context` ranks each sequence. With `pipeline`, that many stages have different layers."""
    (folder / name).mkdir(exist_ok=True)
    given = ("--ranks", ranks, "--tensor", tensor, "--context", context)
    given += ("--pipeline", pipeline) if pipeline else ()
    given += ("--accumulate", micro_batches // (ranks // (tensor * context * max(pipeline, 1))), "--threads", 1)
    one = compile(example.model, folder / name, example.data(rows), *example.flags, *flags, *given, name=f"{file}{ranks}")
    return Program(one.path, example.data(rows), launcher(ranks) if ranks > 1 else ())


def state_of(program: Program, *flags, steps=STEPS) -> tuple[str, dict]:
    """Returns the losses, norms and scales of a run, and its weights, running statistics and optimizer state."""
    run = program.folder / program.path.name
    metrics, saved = run.with_suffix(".jsonl"), run.with_suffix(".saved")
    metrics.unlink(missing_ok=True)
    program.run("--steps", steps, "--save", saved, "--overwrite", "--metrics", metrics, "--quiet", *flags)
    (file,) = saved.glob("*.safetensors")
    lines = [{k: v for k, v in line.items() if "second" not in k} for line in read_metrics(metrics)]
    return str(lines), {n: (a.dtype, a.shape, a.tobytes()) for n, a in load_file(file).items()}


def check_equal(found: tuple[str, dict], wanted: tuple[str, dict], what):
    assert found[0] == wanted[0], (what, found[0], wanted[0])
    differ = [n for n in wanted[1] if wanted[1][n] != found[1].get(n)]
    assert found[1].keys() == wanted[1].keys() and not differ, (what, differ)


def check_planned(program: Program, plan: dict, steps=2):
    """Compares the arena and the traffic of each rank in a run with the plan, as `mtc plan --json` prints it."""
    program.run("--steps", steps, "--memory-report", "memory.json", "--quiet")
    report = json.loads((program.folder / "memory.json").read_text())
    for rank, found in enumerate(report["ranks"]):
        assert found["arena_bytes"] == plan["peak_bytes"], (program.path.name, rank, found, plan["peak_bytes"])
        sent = {kind: steps * each["sent_bytes"][rank] for kind, each in plan["ranks"]["traffic"].items()}
        assert found["sent_bytes"] == sent, (program.path.name, rank, found, sent)


def check_close(found: tuple[str, dict], wanted: tuple[str, dict], tolerance: float, what):
    """Compares states whose sums may have other orders."""
    assert found[1].keys() == wanted[1].keys(), what
    for name, (dtype, shape, data) in wanted[1].items():
        ours, theirs = np.frombuffer(found[1][name][2], dtype), np.frombuffer(data, dtype)
        assert found[1][name][:2] == (dtype, shape) and np.allclose(ours, theirs, rtol=tolerance, atol=tolerance), (what, name)


def compare(folder: Path, name: str, example: Example, *flags, ranks=(2, 3), rows: int, run=()) -> Program:
    """Compares runs on several ranks with one rank and as many micro-batches; `run` are flags of the programs."""
    wanted = state_of(ranks_program(folder, example, 1, *flags, rows=rows, name=name), *run)
    assert wanted[0].count("'loss'") == STEPS and len(set(wanted[0].split("'loss': "))) > 2, f"{name}: nothing is trained"
    for count in ranks:
        several = ranks_program(folder, example, count, *flags, rows=rows, name=name)
        check_equal(state_of(several, *run), wanted, (name, count))
    return several


class Comparison:
    """Programs with one model and one set of flags that shard variables among different numbers of ranks. `chunks` is the number of addends of
    sums that ranks of tensor groups divide, and `context_chunks` that of context groups."""

    def __init__(
        self, folder: Path, name: str, example: Example, *flags, rows=1000, micro_batches=MICRO_BATCHES, chunks=1, context_chunks=1
    ):
        self.folder, self.name, self.example = folder, name, example
        self.flags = (*flags, *(("--tensor-chunks", chunks) if chunks > 1 else ()))
        self.flags += ("--context-chunks", context_chunks) if context_chunks > 1 else ()
        self.settings = {"rows": rows, "name": name, "micro_batches": micro_batches}
        self.programs: dict[tuple, Program] = {}
        self.wanted: dict[tuple, tuple[str, dict]] = {}  # states of one rank, by the flags of the run

    def program(self, ranks: int, *flags, tensor=1, context=1) -> Program:
        key = ranks, tensor, context, flags
        if key not in self.programs:
            groups = [*(["tensor", str(tensor)] if tensor > 1 else []), *(["context", str(context)] if context > 1 else [])]
            file = "-".join(["ranks", *(str(f).strip("-") for f in flags), *groups, *([""] if groups else [])])
            self.programs[key] = ranks_program(
                self.folder, self.example, ranks, *self.flags, *flags, **self.settings, file=file, tensor=tensor, context=context
            )
        return self.programs[key]

    def check(self, ranks: int, *flags, run=(), tensor=1, context=1):
        """Compares a program, run with these flags, with one rank that has all variables."""
        if run not in self.wanted:
            self.wanted[run] = state_of(self.program(1), *run)
        wanted = self.wanted[run]
        assert len(set(wanted[0].split("'loss': "))) > 2, f"{self.name}: nothing is trained"
        found = state_of(self.program(ranks, *flags, tensor=tensor, context=context), *run)
        check_equal(found, wanted, (self.name, ranks, tensor, context, flags))
