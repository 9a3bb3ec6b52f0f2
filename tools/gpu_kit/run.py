#!/usr/bin/env python3
"""Checks and measures the programs that make.py packed: `run.py [--seconds 520] [--rounds 3] [--steps 20]`; prints one Markdown table.

The script needs python3 and the NVIDIA driver. Comparisons need PyTorch and transformers, and checks of memory accesses compute-sanitizer.
Checks that do not fit into the time limit are skipped and listed. The exit code is 1 if a check fails.
"""

import argparse
import importlib.util
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import checks
from checks import HERE, Example, Failure, Row, call
from random_data import random_data

WARM_UP = 5
begin = time.monotonic()


def device() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return f"no GPU; {platform.processor() or platform.machine()}"


def attempt(name: str, check, *arguments) -> list[Row]:
    try:
        return check(*arguments)
    except (Failure, OSError, ValueError, KeyError) as error:
        return [(f"{name}: {check.__name__}", f"{type(error).__name__}: {error}", False)]


def data_of(model: dict) -> Path:
    """Returns the folder with one random batch of each input, generated at the first call."""
    folder = HERE / model["folder"] / "data"
    if not folder.exists():
        folder.mkdir()
        random_data(next(iter(programs_of(model).values())), model["batch"], folder)
    return folder


def programs_of(model: dict) -> dict[str, Path]:
    return {name: HERE / model["folder"] / name for name in model["compile_seconds"]}


def data_flags(model: dict) -> list:
    return [word for file in sorted(data_of(model).glob("*.npy")) for word in ("--data", f"{file.stem}={file}")]


def steps_of_mtc(model: dict, precision: str, steps: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        metrics, report = Path(folder) / "metrics.jsonl", Path(folder) / "report.json"
        program = programs_of(model)[precision]
        call([program, *data_flags(model), "--steps", steps, "--no-shuffle", "--quiet", "--metrics", metrics,
              "--memory-report", report])  # fmt: skip
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        memory = json.loads(report.read_text())
    return {
        "seconds": [line["step_seconds"] for line in lines],
        "losses": [line["loss"] for line in lines],
        # The number excludes the driver's context, which PyTorch does not count either.
        "peak": memory["arena_bytes"]
        + sum(use["bytes"] for use in memory["outside_arena"] if use["name"] == checks.DEVICE_MEMORY),
    }


def steps_of_pytorch(model: dict, precision: str, compiled: bool, steps: int) -> dict:
    flags = ["--precision", precision] + ["--compile"] * compiled
    text = call([sys.executable, HERE / "pytorch_steps.py", model["name"], data_of(model), "--steps", steps, "--threads", 8,
                 "--device", "cuda", *flags])  # fmt: skip
    return json.loads(next(line for line in reversed(text.splitlines()) if line.startswith("{")))


def compare(model: dict, precision: str, options) -> list[Row]:
    """Compares the step times of programs that run alternately. The time of a program is the median over the rounds of each run's
    median."""
    name = f"{model['title']}, {precision}"
    runs = {"mtc": lambda: steps_of_mtc(model, precision, options.steps)}
    if options.torch:
        runs["PyTorch eager"] = lambda: steps_of_pytorch(model, precision, False, options.steps)
        runs["torch.compile"] = lambda: steps_of_pytorch(model, precision, True, options.steps)
    medians: dict[str, list[float]] = {key: [] for key in runs}
    peaks: dict[str, int] = {}
    rows: list[Row] = []
    for _ in range(options.rounds):
        for key, run in list(runs.items()):
            if time.monotonic() - begin > options.seconds:
                break
            try:
                result = run()
            except (Failure, StopIteration, ValueError) as error:
                rows.append((f"{name}: {key}", str(error), False))
                del runs[key]
                continue
            medians[key].append(statistics.median(result["seconds"][WARM_UP:] or result["seconds"]))
            peaks[key] = max(peaks.get(key, 0), result["peak"])
    base = statistics.median(medians["mtc"]) if medians["mtc"] else None
    for key, values in medians.items():
        if not values:
            continue
        middle = statistics.median(values)
        ratio = f", mtc takes {base / middle:.2f} of it" if base and key != "mtc" else ""
        rows.append((f"{name}: {key}", f"{1e3 * middle:.2f} ms ({len(values)} rounds), {peaks[key] / 1e9:.3f} GB{ratio}", None))
    return rows or [(f"{name}", "skipped: no time left", None)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=520, help="time after which no check starts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--no-torch", action="store_true")
    options = parser.parse_args()
    options.torch = not options.no_torch and importlib.util.find_spec("torch") and importlib.util.find_spec("transformers")
    kit = json.loads((HERE / "kit.json").read_text())
    print(f"{device()}; {kit['mtc']} for {'emulation' if kit['emulated'] else kit['architectures']}; {time.strftime('%Y-%m-%d')}\n")
    print("| what | result | |\n|---|---|---|", flush=True)
    wrong = count = 0

    def show(rows: list[Row]) -> None:
        nonlocal wrong, count
        for what, result, right in rows:
            mark = {None: "", True: "ok", False: "WRONG"}[right]
            wrong += right is False
            count += right is not None
            print(f"| {what} | {result.replace(chr(10), ' / ').replace('|', '/')} | {mark} |", flush=True)

    examples = [Example(made) for made in kit["examples"]]
    for example in examples:
        for check in (checks.losses, checks.gradients, checks.same_bits, checks.nccl):
            show(attempt(example.name, check, example))
        show(attempt(example.name, checks.memory, example.folder / "adamw", example.data, example.name))
    show(attempt("epilogues", checks.epilogues))
    for example in examples:
        for technique in kit["techniques"].get(example.name, []):
            show(attempt(f"{example.name}, {technique['title']}", checks.technique, example, technique))
    models = kit["timed"]
    for model in models:
        name = model["title"]
        show(attempt(name, checks.memory, programs_of(model)["f32"], data_flags(model), name))
    for model in kit["fitted"]:
        for name, program in programs_of(model).items():
            show(attempt(model["title"], checks.fitted, program, data_flags(model), f"{model['title']}, {name}"))
    for precision in ("bf16", "tf32", "f32"):
        for model in models:
            show(compare(model, precision, options))
    for model in models[:2]:
        for precision in ("bf16", "tf32"):
            name = f"{model['title']}, {precision}"
            program = programs_of(model)[precision]
            show(attempt(name, checks.bandwidth, program, data_flags(model), name))
    if not kit["emulated"]:
        for example in examples:
            if time.monotonic() - begin < options.seconds:
                show(attempt(example.name, checks.sanitizer, example))
    print(f"\n{count - wrong} right, {wrong} wrong; {time.monotonic() - begin:.0f} s")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
