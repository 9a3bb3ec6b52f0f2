#!/usr/bin/env python3
"""Compares the step time and peak memory of mtc with those of other frameworks.

    bench/compare.py gpt2-124m --batch 4 --length 256                       # mtc, PyTorch, torch.compile
    bench/compare.py xlmr-base --batch 8 --length 128 --with mtc,eager
    bench/compare.py gpt2-124m --batch 4 --length 256 --with mtc,onnxruntime
    bench/compare.py resnet50 --batch 8
    bench/compare.py lstm-512 --batch 32 --length 128 --with mtc,eager
    bench/compare.py gpt2-124m --batch 4 --length 256 --with mtc:bf16,compile:bf16,mtc
    bench/compare.py gpt2-124m --batch 8 --length 1024 --with mtc,mtc@4GB,eager,checkpoint,compile@0.5
    bench/compare.py --graph model.onnx --loss mse --dim batch=8 --mtc build/release/bin/mtc --mtc other/bin/mtc

Each run is a separate process with the same data, optimizer (AdamW) and number of threads. Frameworks run alternately, in
several rounds. The syntax of a contender is KIND[@BUDGET][:PRECISION]:

    BUDGET      --memory of mtc, or activation_memory_budget of torch.compile, a fraction of 1 (default: none)
    PRECISION   --precision of mtc, or the type of torch.autocast (default: f32)

The result of a run is the median of its steps, without the first two. The table shows the median, minimum and maximum of these
results over all rounds, and the peak resident memory of the process. Missing Python packages are installed into build/.
"""

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from figure import Point, draw
from random_data import random_data

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "build/bench"
WARM_UP = 2
LOSSES = {
    "gpt2-tiny": "causal-lm",
    "gpt2-124m": "causal-lm",
    "xlmr-base": "cross-entropy",
    "xlmr-large": "cross-entropy",
    "resnet50": "cross-entropy",
    "lstm-512": "cross-entropy",
}
IMAGES = {"resnet50"}  # models without a sequence length
PRECISIONS = ("f32", "tf32", "bf16", "f16")
NAMES = {
    "mtc": "mtc",
    "eager": "PyTorch eager",
    "checkpoint": "PyTorch eager, checkpointing",
    "compile": "torch.compile",
    "onnxruntime": "onnxruntime-training",
}
BUDGETED = ("mtc", "compile")


@dataclass(frozen=True)
class Wanted:
    """A contender, as parsed from KIND[@BUDGET][:PRECISION]."""

    kind: str
    budget: str
    precision: str

    @classmethod
    def parse(cls, word: str) -> "Wanted":
        rest, _, precision = word.partition(":")
        kind, _, budget = rest.partition("@")
        return cls(kind, budget, precision or "f32")

    def __str__(self) -> str:
        return self.kind + f"@{self.budget}" * bool(self.budget) + f":{self.precision}" * (self.precision != "f32")

    def named(self, name: str) -> str:
        return ", ".join([name, *filter(None, [self.budget]), *[self.precision] * (self.precision != "f32")])


@dataclass
class Contender:
    name: str
    command: list[str]  # prints a JSON line with the seconds of each step if `metrics` is None
    metrics: Path | None = None
    version: str = ""
    rounds: list[float] = field(default_factory=list)  # the median step of each round, in seconds
    peak: int = 0  # bytes
    losses: list[float] = field(default_factory=list)
    killed: bool = False  # by the system's out-of-memory killer


def fail(message: str):
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")  # The name of the running script, which may import this one.


def call(command: list, **options) -> str:
    """Returns the standard output of a command; exits with an error if the command fails."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode:
        fail(f"{shlex.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def read_plan(command: list, **options) -> dict:
    """Returns what a command `mtc plan … --json` prints, also if the plan misses its budget."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if not result.stdout:
        fail(f"{shlex.join(map(str, command))}: exit code {result.returncode}\n{result.stderr}")
    return json.loads(result.stdout)


# ---------------------------------------------------------------------------------------------- contenders


def environment(name: str, requirements: str, links: Path | None = None) -> Path:
    """Returns the Python of the virtual environment build/NAME; creates it if the requirements file is new or has changed."""
    venv, wanted = ROOT / "build" / name, HERE / requirements
    done, python = venv / "requirements.txt", venv / "bin/python3"
    if not done.exists() or done.read_text() != wanted.read_text():
        print(f"installing {wanted.name} into {venv}", file=sys.stderr)
        call([sys.executable, "-m", "venv", "--clear", venv])
        # uv unpacks PyTorch and its libraries in a minute; pip needs up to 25 minutes.
        call([python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "uv"])
        call([venv / "bin/uv", "pip", "install", "--quiet", "--python", python, "-r", wanted])
        packages = next(venv.glob("lib/python*/site-packages"))
        if links:
            (packages / "links.pth").write_text(f"{next(links.parent.parent.glob('lib/python*/site-packages'))}\n")
        shutil.copy(wanted, done)
    return python


def mtc_contender(options, mtc: Path, name: str, wanted: Wanted, graph: Path, data: Path, folder: Path) -> Contender:
    program = folder / name.replace(" ", "-").replace("/", "-")
    dims = [word for dim in options.dim for word in ("--dim", dim)]
    memory = ["--memory", wanted.budget] if wanted.budget else []
    begin = time.perf_counter()
    call([mtc, "compile", graph, *dims, "--loss", options.loss, "--optimizer", "adamw", "--lr", "1e-4",
          "--weight-decay", "0.01", "--precision", wanted.precision, *memory, *options.compile_flags, "-o", program])  # fmt: skip
    print(f"{name}: compiled in {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    if not any(data.iterdir()):
        random_data(program, options.batch, data)
    metrics = folder / f"{program.name}.jsonl"
    files = [word for file in sorted(data.iterdir()) for word in ("--data", f"{file.stem}={file}")]
    command = [program, *files, "--steps", options.steps, "--threads", options.threads, "--no-shuffle", "--quiet"]
    version = call([program, "--version"]).strip()
    return Contender(name, [*map(str, command), "--metrics", str(metrics)], metrics, version)


def contenders(options, folder: Path) -> list[Contender]:
    found = []
    if options.graph:
        graph, data = options.graph, folder / "data"
        data.mkdir()
    else:
        python = environment("bench-venv", "requirements.txt")
        exported = WORK / f"{options.model}-{options.batch}x{options.length}"
        flat = ["--onnxruntime"] if any(wanted.kind == "onnxruntime" for wanted in options.contenders) else []
        graph, data = WORK / f"{options.model}.onnx", exported / "data"
        call([python, HERE / "models.py", options.model, "--graph", graph, "--out", exported,
              "--batch", options.batch, "--length", options.length, *flat])  # fmt: skip
    for wanted in options.contenders:
        if wanted.kind == "mtc":
            for mtc in options.mtc:
                name = wanted.named("mtc" if len(options.mtc) == 1 else f"mtc of {mtc}")
                found.append(mtc_contender(options, mtc, name, wanted, graph, data, folder))
        elif wanted.kind == "onnxruntime":
            runtime = environment("bench-onnxruntime", "requirements-onnxruntime.txt", links=python)
            script = HERE / "onnxruntime_steps.py"
            if not (exported / "artifacts/optimizer_model.onnx").exists():
                call([runtime, script, exported, "--prepare"])
            words = [runtime, script, exported, "--steps", options.steps, "--threads", options.threads]
            found.append(Contender(NAMES[wanted.kind], [str(word) for word in words]))
        else:
            words = [python, HERE / "pytorch_steps.py", options.model, data, "--steps", options.steps,
                     "--threads", options.threads, "--precision", wanted.precision,
                     *([f"--{wanted.kind}"] if wanted.kind != "eager" else []),
                     *(["--budget", wanted.budget] if wanted.budget else [])]  # fmt: skip
            found.append(Contender(wanted.named(NAMES[wanted.kind]), [str(word) for word in words]))
    return found


# ------------------------------------------------------------------------------------------------- measuring


def measure(contender: Contender, options) -> None:
    """Runs a contender once in a separate process and records step times and peak resident memory."""
    if contender.metrics:
        contender.metrics.unlink(missing_ok=True)
    settings = {"OMP_NUM_THREADS": str(options.threads), "TORCHINDUCTOR_CACHE_DIR": str(WORK / "inductor")}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(contender.command, stdout=output, stderr=errors, env=os.environ | settings)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        contender.peak = max(contender.peak, usage.ru_maxrss * 1024)
        if process.returncode == -signal.SIGKILL and not contender.metrics:  # A program of mtc must not run out of memory.
            contender.killed = True
            return
        if process.returncode:
            fail(f"{shlex.join(contender.command)}: exit code {process.returncode}\n{errors.read()}")
        if contender.metrics:
            lines = [json.loads(line) for line in contender.metrics.read_text().splitlines()]
            seconds, losses = [line["step_seconds"] for line in lines], [line["loss"] for line in lines]
        else:
            line = json.loads(output.read().strip().splitlines()[-1])
            seconds, losses, contender.version = line["seconds"], line["losses"], line["version"]
    step = statistics.median(seconds[WARM_UP:])
    contender.rounds.append(step)
    contender.losses = losses
    load = os.getloadavg()[0]
    print(f"{contender.name}: {step:.4g} s, {usage.ru_maxrss / 1024:.0f} MiB, load {load:.1f}", file=sys.stderr)


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def describe_model(options) -> str:
    size = options.batch if options.model in IMAGES else f"{options.batch} x {options.length}"
    return options.graph.name if options.graph else f"{options.model}, {size}"


def table(found: list[Contender], options, loads: list[float]) -> str:
    first = found[0]
    base = statistics.median(first.rounds)
    rows = [
        f"| | median step | minimum – maximum | time relative to {first.name} | peak memory | "
        f"loss, step 1 – {options.steps} |",
        "|---|---|---|---|---|---|",
    ]
    for c in found:
        if c.killed:
            rows.append(f"| {c.name} | killed by the system at {c.peak / 1e9:.3g} GB | | | | |")
            continue
        middle = statistics.median(c.rounds)
        rows.append(
            f"| {c.name} | {middle:.4g} s | {min(c.rounds):.4g} – {max(c.rounds):.4g} s | {middle / base:.2f} | "
            f"{c.peak / 1e9:.3g} GB | {c.losses[0]:.5f} – {c.losses[-1]:.5f} |"
        )
    what = describe_model(options)
    versions = "; ".join(dict.fromkeys(c.version for c in found))
    return "\n".join(
        [
            f"### {what}, AdamW", "",
            f"{date.today()}; {processor()}, {options.threads} threads; {options.rounds} rounds of {options.steps} "
            f"steps, load of the machine before them {', '.join(f'{load:.1f}' for load in loads)}; {versions}.", "",
            f"`{shlex.join(['bench/compare.py', *options.arguments])}`", "", *rows, "",
        ]
    )  # fmt: skip


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", choices=LOSSES)
    parser.add_argument("--graph", type=Path, help="ONNX file to train on random data; only with mtc")
    parser.add_argument("--batch", type=int, default=8, help="batch size (default: %(default)s)")
    parser.add_argument("--length", type=int, default=128, help="sequence length in tokens (default: %(default)s)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="set a symbolic dimension of --graph")
    parser.add_argument("--loss", help="loss function of --graph")
    parser.add_argument("--with", dest="contenders", default="", metavar="LIST",
                        help="contenders KIND[@BUDGET][:PRECISION]; kinds: mtc, eager, checkpoint, compile, onnxruntime; "
                        "times are relative to the first (default: mtc,eager,compile)")
    parser.add_argument("--mtc", type=Path, action="append", default=[],
                        help="compiler, repeatable (default: build/release/bin/mtc)")
    parser.add_argument("--compile-flags", type=shlex.split, default=[],
                        help="additional flags of mtc compile, as one argument")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=3, help="runs per contender (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=7, help=f"steps per run, including {WARM_UP} warm-up steps (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="number of threads (default: all cores)")
    parser.add_argument("--out", type=Path, help="also append the table to this file")
    parser.add_argument("--svg", type=Path, help="draw peak memory against step time into this file")
    options = parser.parse_args(arguments)
    files = ["--out", str(options.out)]  # does not affect the measurement
    options.arguments = [a for a in arguments if a not in files]
    usual = "mtc" if options.graph else "mtc,eager,compile"
    options.contenders = [Wanted.parse(word) for word in (options.contenders or usual).split(",")]
    options.mtc = options.mtc or [ROOT / "build/release/bin/mtc"]
    if bool(options.graph) == bool(options.model):
        parser.error("a model or --graph FILE is expected")
    for wanted in options.contenders:
        if wanted.kind not in NAMES or wanted.precision not in PRECISIONS:
            parser.error(f"--with {wanted}: {', '.join(NAMES)} are known, and {', '.join(PRECISIONS)}")
        if wanted.kind == "onnxruntime" and wanted.precision != "f32":
            parser.error(f"--with {wanted}: onnxruntime is run in f32")
        if wanted.budget and wanted.kind not in BUDGETED:
            parser.error(f"--with {wanted}: {' and '.join(BUDGETED)} take a budget")
    if options.graph and (not options.loss or any(wanted.kind != "mtc" for wanted in options.contenders)):
        parser.error("--graph takes --loss, and is run by mtc alone")
    if options.steps <= WARM_UP or options.rounds < 1:
        parser.error(f"--steps must be more than {WARM_UP}, and --rounds at least 1")
    if options.graph:
        batches = [int(value) for name, value in (dim.split("=") for dim in options.dim) if name == "batch"]
        options.batch = batches[0] if batches else options.batch
    else:
        options.loss = LOSSES[options.model]
        options.dim = [f"batch={options.batch}"]
        if options.model not in IMAGES:
            options.dim.append(f"sequence={options.length}")
    return options


def main() -> None:
    options = parse(sys.argv[1:])
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        found, loads = contenders(options, Path(folder)), []
        for _ in range(options.rounds):
            loads.append(os.getloadavg()[0])
            for contender in found:
                if not contender.killed:
                    measure(contender, options)
        text = table(found, options, loads)
    print(text)
    if options.svg:
        points = [Point(c.name, statistics.median(c.rounds), c.peak, c.metrics is not None) for c in found if not c.killed]
        draw(options.svg, f"Training {describe_model(options)}, AdamW, {options.threads} threads", points)
    if options.out:
        with options.out.open("a") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
