#!/usr/bin/env python3
"""Fine-tunes a language model within limits of host memory with mtc, DeepSpeed ZeRO-3 on a disk, FSDP2 with CPU offload, and PyTorch eager.

    python -m mtc.export --hf config.json --task causal-lm --inputs input_ids -o llama-1b.onnx
    bench/deepspeed_offload.py llama-1b.onnx --hf FOLDER                      # limits of 2 GiB and 4 GiB, and none
    bench/deepspeed_offload.py llama-1b.onnx --hf FOLDER --limits 4 --with mtc,zero

FOLDER has the config.json of the model; the weights are random. AdamW trains all weights on one sample, on the CPU. Each run is a separate process.
A limit is RLIMIT_DATA, which needs no root: it counts writable private memory, but neither the page cache nor the code of libraries. `peak` is the
maximum resident memory, with the code of libraries. mtc compiles with `--memory` of the limit, less 64 MiB for the stacks and heap of its process.
The time of a step is the median without the first one. Missing Python packages are installed into build/. DeepSpeed needs g++ and libaio-dev.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import HERE, ROOT, call, environment, fail, processor
from random_data import random_data

NAMES = {
    "mtc": "mtc",
    "zero": "DeepSpeed ZeRO-3, parameters and optimizer state on the disk",
    "fsdp": "FSDP2, `CPUOffloadPolicy`, one process",
    "eager": "PyTorch eager",
}
GIB = 1 << 30
MARGIN = 64 << 20


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="ONNX file of the model, with or without weights")
    parser.add_argument("--hf", type=Path, required=True, help="folder with the config.json of the model")
    parser.add_argument("--length", type=int, default=256, help="tokens of the sample (default: %(default)s)")
    parser.add_argument("--limits", default="2,4,none", help="limits in GiB (default: %(default)s)")
    parser.add_argument("--with", dest="kinds", default=",".join(NAMES), help="contenders (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=3, help="steps of a run (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=300, help="time limit of a run (default: %(default)s)")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="folder of offloaded tensors (default: %(default)s)")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: build/release/bin/mtc)")
    options = parser.parse_args(arguments)
    options.kinds = options.kinds.split(",")
    for kind in options.kinds:
        if kind not in NAMES:
            fail(f"--with: unknown contender '{kind}'; expected some of: {', '.join(NAMES)}")
    options.limits = [None if word == "none" else int(float(word) * GIB) for word in options.limits.split(",")]
    return options


def run(command: list, limit: int | None, seconds: float) -> tuple[str, str]:
    """Returns the standard output and the error of a run within a limit of memory; the error is empty if the run succeeded."""

    def restrict() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    settings = os.environ | {"DS_ACCELERATOR": "cpu"}
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds, preexec_fn=restrict, env=settings)
    except subprocess.TimeoutExpired:
        return "", f"no result in {seconds:.0f} s"
    if not done.returncode:
        return done.stdout, ""
    lines = [line.strip() for line in done.stderr.splitlines() if "Error" in line or "Assertion" in line]
    return "", f"exit code {done.returncode}: {lines[-1] if lines else done.stderr.strip()[-200:]}"


def run_mtc(options: argparse.Namespace, limit: int | None, folder: Path) -> dict:
    """Returns the peak, seconds and disk of a run, or its error; also the estimated seconds."""
    program, log, memory = folder / "train", folder / "log.jsonl", folder / "memory.json"
    flags = ["--dim", "batch=1", "--dim", f"sequence={options.length}", "--loss", "causal-lm", "--init", "normal:0.02", "--precision", "bf16",
             "--optimizer", "adamw", "--threads", options.threads]  # fmt: skip
    flags += ["--memory", limit - MARGIN, "--offload", "auto"] if limit else []
    plan = json.loads(call([options.mtc, "plan", options.model, *flags, "--json"]))
    call([options.mtc, "compile", options.model, *flags, "-o", program])
    random_data(program, options.steps, folder)
    data = [word for file in folder.glob("*.npy") for word in ("--data", f"{file.stem}={file}")]
    command = [program, *data, "--no-shuffle", "--lr", "1e-5", "--steps", options.steps, "--threads", options.threads, "--offload-dir", options.disk]
    _, error = run([*command, "--metrics", log, "--memory-report", memory], limit, options.seconds)
    if error:
        return {"error": error}
    seconds = [json.loads(line)["step_seconds"] for line in log.read_text().splitlines()]
    peak = json.loads(memory.read_text())["process_peak_bytes"]
    return {"peak": peak, "seconds": seconds, "disk": plan["spaces"].get("disk", 0), "planned": plan["step_seconds"]}


def run_torch(options: argparse.Namespace, kind: str, python: Path, limit: int | None, folder: Path) -> dict:
    """Returns the peak, seconds and disk of a run, or its error."""
    words = [python, HERE / "deepspeed_steps.py", kind, options.hf, "--length", options.length, "--steps", options.steps, "--threads", options.threads]
    words += ["--disk", folder, *(["--limit", limit] if limit else [])]
    output, error = run(words, None, options.seconds)  # The script sets its own limit, after the build of DeepSpeed's operators.
    return {"error": error} if error else json.loads(output.splitlines()[-1])


def row(kind: str, limit: int | None, found: dict) -> str:
    start = f"| {f'{limit / GIB:g} GiB' if limit else 'none'} | {NAMES[kind]} |"
    if "error" in found:
        return f"{start} – | – | – | {found['error']} |"
    update = statistics.median(found["seconds"][1:])
    note = f"estimated {found['planned']:.1f} s ({found['planned'] / update:.2f})" if "planned" in found else ""
    return f"{start} {update:.1f} s | {found['peak'] / GIB:.2f} GiB | {found['disk'] / 1e9:.1f} GB | {note} |"


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    python = environment("bench-deepspeed", "requirements-deepspeed.txt") if set(options.kinds) != {"mtc"} else Path(sys.executable)
    os.environ["PATH"] = f"{python.parent}:{os.environ['PATH']}"  # DeepSpeed builds its operators with ninja.
    print(f"{options.model.stem}, 1 x {options.length} tokens, bf16, AdamW, {options.threads} threads; {processor()}\n")
    print("| limit | | step | peak | disk | |\n|---|---|---|---|---|---|")
    for limit in options.limits:
        for kind in options.kinds:
            with tempfile.TemporaryDirectory(dir=options.disk) as name:
                folder = Path(name)
                found = run_mtc(options, limit, folder) if kind == "mtc" else run_torch(options, kind, python, limit, folder)
            print(json.dumps({"limit": limit, "kind": kind, **found}), file=sys.stderr)
            print(row(kind, limit, found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
