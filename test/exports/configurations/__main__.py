"""Exports the configurations of large models of this folder by `python -m mtc.export`, and plans them. The sizes are those of the published models.

Run `PYTHON test/exports/configurations [NAME ...]`, where PYTHON is an interpreter with the packages of requirements.txt. An export that needs more
than 2 GB of memory or 120 s of processor time is an error, and so is a wrong number of parameters."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
MTC = os.environ.get("MTC", str(ROOT / "build/release/bin/mtc"))
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python")}
MEMORY, SECONDS = 2e9, 120
PARAMETERS = {"llama-3-8b": 8_030_261_248, "llama-3-70b": 70_553_706_496, "qwen3-32b": 32_762_123_264, "qwen3-30b-a3b": 30_532_122_624,
              "mixtral-8x7b": 46_702_792_704}  # fmt: skip


def measured(*command: object) -> tuple[str, float, float, int]:
    """Runs a command. Returns its output, its elapsed and processor time in seconds, and its peak memory in bytes."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([*map(str, command)], stdout=output, stderr=errors, env=ENVIRONMENT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        assert child.returncode == 0, f"{command}\n{errors.read()}"
        return output.read(), time.monotonic() - start, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def check(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, f"{name}.onnx")
        config = Path(__file__).parent / f"{name}.json"
        text, elapsed, seconds, memory = measured(sys.executable, "-m", "mtc.export", "--hf", config, "-o", model)
        size = model.stat().st_size
        print(f"{name}: exported in {elapsed:.0f} s ({seconds:.0f} s of processor time), {memory / 1e9:.2f} GB, file of {size / 1e6:.1f} MB")
        assert f"{PARAMETERS[name]:,} parameters" in text and "input_ids [batch, sequence]" in text, text
        assert memory < MEMORY and seconds < SECONDS
        flags = ["--dim", "batch=1", "--dim", "sequence=2048", "--loss", "causal-lm", "--json"]
        plan, elapsed, seconds, memory = measured(MTC, "plan", model, *flags, "--precision", "bf16", "--recompute", "sqrt")
        peak = json.loads(plan)["peak_bytes"]
        print(f"{name}: planned in {elapsed:.0f} s ({seconds:.0f} s of processor time), {memory / 1e9:.2f} GB: peak {peak / 2**30:.1f} GiB", flush=True)


for chosen in sys.argv[1:] or PARAMETERS:
    check(chosen)
