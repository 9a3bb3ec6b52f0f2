#!/usr/bin/env python3
"""Measures how much longer training takes beside busy processes than their share of the processors explains.

    bench/busy.py                                                  # all models, alone and beside 2 and 6 busy processes
    bench/busy.py small-cnn --busy 6 --rounds 10
    bench/busy.py small-cnn resnet18 --mtc build/release/bin/mtc --mtc other/bin/mtc

Each model is trained by a program and by a library in a Python process. The share of a run is what T threads that never wait would obtain of
the processors that the run and the N busy processes obtained together: T / (N + T) of their processor time per second. On P processors
without other load, that is P * T / (N + T). The work of a run is its processor time on one thread, the least of all rounds. The table has the least and
greatest seconds of a run, and the medians over the rounds of the seconds on one thread beside the same processes, of the share, of the processor time,
which includes that of waiting in loops, and of

    delay = seconds * share / work

which is 1 if a run makes full use of its share. A thread that the system interrupts within its part of an operation is waited for, so that on
average fewer than T threads can run: with one thread that never waits, the share would be 1 / (N + 1). Missing Python packages are installed into build/.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from compare import ROOT, WORK, call, environment, processor
from random_data import random_data

DIGITS = ROOT / "examples/digits/digits.onnx"
LIBRARY_RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
import mtc, numpy
from pathlib import Path
library, data, steps, threads = sys.argv[2:]
batch = {file.stem: numpy.load(file) for file in Path(data).glob("*.npy")}
trainer = mtc.Trainer(library, threads=int(threads))
trainer.step(batch)
seconds, work = time.perf_counter(), time.process_time()
for _ in range(int(steps)):
    trainer.step(batch)
print(time.perf_counter() - seconds, time.process_time() - work)
"""


@dataclass(frozen=True)
class Model:
    batch: int
    steps: int  # about half a second of work
    loss: str = "cross-entropy"
    length: int = 0


MODELS = {
    "digits": Model(batch=32, steps=8000),
    "small-cnn": Model(batch=16, steps=200),
    "resnet18": Model(batch=16, steps=12),
    "gpt2-tiny": Model(batch=8, steps=400, loss="causal-lm", length=64),
}


@dataclass
class Contender:
    """A compiled model that a program or a library trains."""

    name: str
    kind: str
    path: Path
    data: Path
    steps: int
    work: float = float("inf")  # processor seconds on one thread
    alone: dict[int, list[float]] = field(default_factory=dict)  # seconds on one thread, by number of busy processes
    shares: dict[int, list[float]] = field(default_factory=dict)
    seconds: dict[int, list[float]] = field(default_factory=dict)
    used: dict[int, list[float]] = field(default_factory=dict)  # processor seconds

    def measure(self, busy: int, threads: int) -> None:
        """Runs once on one thread and once on several, beside busy processes."""
        with BusyProcesses(busy) as others:
            alone, work = self.run(1)
            self.work = min(self.work, work)
            begin, before = time.perf_counter(), others.seconds()
            seconds, used = self.run(threads)
            obtained = (others.seconds() - before) / (time.perf_counter() - begin) + used / seconds
        share = obtained * threads / (busy + threads)
        for values, value in (self.alone, alone), (self.shares, share), (self.seconds, seconds), (self.used, used):
            values.setdefault(busy, []).append(value)

    def run(self, threads: int) -> tuple[float, float]:
        """Trains the steps. Returns their seconds and the processor seconds."""
        if self.kind == "library":
            words = [self.path, self.data, self.steps, threads]
            seconds, work = call([sys.executable, "-c", LIBRARY_RUN, ROOT / "python", *words]).split()
            return float(seconds), float(work)
        metrics = self.path.with_suffix(".jsonl")
        metrics.unlink(missing_ok=True)
        files = [word for file in sorted(self.data.glob("*.npy")) for word in ("--data", f"{file.stem}={file}")]
        before = os.times()
        call([self.path, *files, "--steps", self.steps, "--threads", threads, "--no-shuffle", "--quiet", "--metrics", metrics])
        after = os.times()
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        work = after.children_user + after.children_system - before.children_user - before.children_system
        return sum(line["step_seconds"] for line in lines), work


class BusyProcesses:
    """Processes that use their share of the processors within a scope."""

    def __init__(self, count: int):
        self.count = count

    def __enter__(self) -> "BusyProcesses":
        self.processes = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(self.count)]
        return self

    def __exit__(self, *_) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def seconds(self) -> float:
        """Returns the processor time that they have obtained."""
        return sum(time.clock_gettime(~process.pid << 3 | 2) for process in self.processes)  # The clock of a process, as in posix-timers.h.


def compile_model(name: str, mtc: Path, folder: Path) -> list[Contender]:
    model, data = MODELS[name], folder / f"{name}-data"
    if name == "digits":
        graph = DIGITS
    else:
        graph, out = WORK / f"{name}.onnx", WORK / f"{name}-{model.batch}x{model.length}"
        call([sys.executable, ROOT / "bench/models.py", name, "--graph", graph, "--out", out, "--batch", model.batch, "--length", model.length])
        data = out / "data"
    flags = ["--dim", f"batch={model.batch}", *(["--dim", f"sequence={model.length}"] if model.length else []), "--loss", model.loss]
    target = folder / f"{name}-{len(list(folder.iterdir()))}"
    call([mtc, "compile", graph, *flags, "--quiet", "-o", target])
    call([mtc, "compile", graph, *flags, "--quiet", "--emit", "library", "-o", target])
    if not data.exists():
        data.mkdir()
        random_data(target, model.batch, data)
    library = target.with_name(f"lib{target.name}.so")
    return [Contender(name, "program", target, data, model.steps), Contender(name, "library", library, data, model.steps)]


def table(found: dict[Path, list[Contender]], options: argparse.Namespace, load: float) -> str:
    lines = [
        f"{date.today()}; {processor()}, {options.threads} threads; {options.rounds} rounds, load of the machine before them {load:.1f}.", "",
        "| model | | busy processes | seconds | one thread | share | work | processor time | delay |", "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for mtc, contenders in found.items():
        compiler = f", {mtc}" if len(found) > 1 else ""
        for c in contenders:
            for busy, seconds in c.seconds.items():
                delays = [time * share / c.work for time, share in zip(seconds, c.shares[busy], strict=True)]
                share, delay = (f"{statistics.median(values):.2f}" if busy else "" for values in (c.shares[busy], delays))
                lines.append(
                    f"| {c.name}, {c.steps} steps | {c.kind}{compiler} | {busy} | {min(seconds):.2f} – {max(seconds):.2f} | "
                    f"{statistics.median(c.alone[busy]):.2f} | {share} | {c.work:.2f} | {statistics.median(c.used[busy]):.2f} | {delay} |"
                )
    return "\n".join(lines)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"models (default: {' '.join(MODELS)})")
    parser.add_argument("--busy", default="0,2,6", help="numbers of busy processes (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each model (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="number of threads (default: all cores)")
    parser.add_argument("--mtc", type=Path, action="append", default=[], help="compiler, repeatable (default: build/release/bin/mtc)")
    options = parser.parse_args(arguments)
    options.busy = [int(count) for count in options.busy.split(",")]
    options.models = options.models or list(MODELS)
    options.mtc = options.mtc or [ROOT / "build/release/bin/mtc"]
    if unknown := [name for name in options.models if name not in MODELS]:
        parser.error(f"model '{unknown[0]}' is unknown; expected one of: {', '.join(MODELS)}")
    return options


def main() -> None:
    python = environment("bench-venv", "requirements.txt")
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), __file__, *sys.argv[1:]])
    options = parse(sys.argv[1:])
    WORK.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        found = {mtc: [c for name in options.models for c in compile_model(name, mtc.resolve(), Path(folder))] for mtc in options.mtc}
        for _ in range(options.rounds):
            for busy in options.busy:
                for contender in (c for group in zip(*found.values(), strict=True) for c in group):
                    contender.measure(busy, options.threads)
    print(table(found, options, load))


if __name__ == "__main__":
    main()
