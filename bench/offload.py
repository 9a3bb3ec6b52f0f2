#!/usr/bin/env python3
"""Trains a model that is larger than its memory, with state on a disk, and compares its updates with the plan and with the disk.

    python -m mtc.export --hf Llama-3.2-1B --task causal-lm --inputs input_ids --dim batch=1 --dim sequence=256 -o llama-1b.onnx
    bench/offload.py llama-1b.onnx --memory 2GiB
    bench/offload.py llama-1b.onnx --memory 1200MiB --flags "--lora *_proj.weight:rank=16,alpha=32 --frozen-bits 4"

The weights are random. The rows of the table:

    peak          the process, and the plan
    update        measured (the median), and planned
    computation   time of kernels and library calls in a step without copies beside it, and planned
    copies        bytes of an update to and from the disk
    disk          rates of direct reads and writes at once, each alone in its thread, before and after the updates
    bound         the larger of the computation and the copies at these rates, and the update relative to it

Nothing else should run. The disk needs the bytes that `mtc plan` prints.
"""

import argparse
import ctypes
import json
import mmap
import os
import shlex
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from compare import ROOT, call, processor
from random_data import random_data

PIECE, PIECES = 8 << 20, 48  # bytes of a copy, and copies of a measurement of the disk
COPIES = "copies"


def huge_pages(size: int) -> memoryview:
    """Returns memory with huge pages, as the arena of a program has: the disk is up to twice as fast as with small ones."""
    page = 2 << 20
    memory = mmap.mmap(-1, size + page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    begin = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % page
    view = memoryview(memory)[begin : begin + size]
    view[:] = bytes(size)
    return view


class Disk:
    """Rates of the disk of a folder, in bytes per second."""

    def __init__(self, folder: Path):
        self.file = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT, 0o600)
        os.posix_fallocate(self.file, 0, 2 * PIECES * PIECE)
        self.memory = [huge_pages(PIECE) for _ in range(2)]
        for piece in range(2 * PIECES):
            os.pwrite(self.file, self.memory[0], piece * PIECE)

    def rates(self) -> tuple[float, float]:
        """Returns the rates of reads and of writes at the same time."""
        found = [0.0, 0.0]

        def copy(number: int) -> None:
            begin = time.perf_counter()
            for piece in range(number * PIECES, (number + 1) * PIECES):
                if number:
                    os.pwrite(self.file, self.memory[1], piece * PIECE)
                else:
                    os.preadv(self.file, [self.memory[0]], piece * PIECE)
            found[number] = PIECES * PIECE / (time.perf_counter() - begin)

        threads = [threading.Thread(target=copy, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found[0], found[1]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="ONNX file of a language model, with or without weights")
    parser.add_argument("--memory", required=True, help="budget of the compiler, such as 2GiB")
    parser.add_argument("--flags", default="", help="additional flags of mtc compile, as one argument")
    parser.add_argument("--precision", default="bf16", help="precision (default: %(default)s)")
    parser.add_argument("--updates", type=int, default=5, help="measured updates (default: %(default)s)")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="folder of the offload file (default: %(default)s)")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: build/release/bin/mtc)")
    return parser.parse_args(arguments)


def read_steps(path: Path) -> list[float]:
    return [json.loads(line)["step_seconds"] for line in path.read_text().splitlines()]


def in_units(value: float) -> str:
    return f"{value / 1e9:.2f} GB"


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    flags = ["--loss", "causal-lm", "--init", "normal:0.02", "--precision", options.precision, "--offload", "auto", "--memory", options.memory]
    flags += shlex.split(options.flags)
    environment = os.environ | {"TMPDIR": str(options.disk)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, log, memory, profile = (folder / part for part in ("train", "log.jsonl", "memory.json", "profile.json"))
        plan = json.loads(call([options.mtc, "plan", options.model, *flags, "--json"], env=environment))
        call([options.mtc, "compile", options.model, *flags, "-o", program], env=environment)
        random_data(program, options.updates + 1, folder)
        data = [word for file in folder.glob("*.npy") for word in ("--data", f"{file.stem}={file}")]
        disk = Disk(options.disk)
        rates = [disk.rates() for _ in range(3)]
        run = [program, *data, "--no-shuffle", "--lr", "1e-5", "--offload-dir", options.disk]
        call([*run, "--steps", options.updates + 1, "--metrics", log, "--memory-report", memory])
        rates += [disk.rates() for _ in range(3)]
        call([*run, "--steps", 1, f"--profile-summary={profile}"])
        seconds = statistics.median(read_steps(log)[1:])  # The first update reads state that was never written.
        totals = json.loads(profile.read_text())["totals"]
        computing = sum(totals[part]["seconds"] for part in totals if part not in (COPIES, "load", "between"))
        used = json.loads(memory.read_text())
    moved = plan["transfers"] or {"bytes": 0, "seconds": 0.0}
    reading, writing = (statistics.median(each[i] for each in rates) for i in range(2))
    copying = moved["bytes"] / (reading + writing)
    bound = max(computing, copying)
    planned = plan["step_seconds"] - plan["exposed_seconds"]
    print(f"{options.model.stem}, {options.memory}, {options.precision} {options.flags}; {processor()}\n")
    print("| | measured | planned |\n|---|---|---|")
    print(f"| peak | {used['process_peak_bytes'] / 2**20:.0f} MiB | {used['planned_bytes'] / 2**20:.0f} MiB |")
    print(f"| update | {seconds:.1f} s | {plan['step_seconds']:.1f} s ({plan['step_seconds'] / seconds:.2f}) |")
    print(f"| computation | {computing:.1f} s | {planned:.1f} s |")
    print(f"| copies | {in_units(moved['bytes'])} | in {moved['seconds'] / 2:.1f} s in each direction |")
    print(f"| disk | reads {in_units(reading)}/s, writes {in_units(writing)}/s | |")
    print(f"| bound | {bound:.1f} s (update {seconds / bound:.2f}) | |")


if __name__ == "__main__":
    main(sys.argv[1:])
