# RUN: %python %s %t %build/lib/test/libmtc_allocations.so
"""After the first steps, a program allocates no memory, and its libraries free what they allocate temporarily."""

import os
import subprocess
import sys
from pathlib import Path

from models import DIGITS, GPT2
from processor import has
from program import compile, compile_example, own_folder

counter = sys.argv[2]
folder = own_folder()


def allocations(program, steps: int) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the numbers of allocations by the program and each library, and the bytes and mappings in use."""
    count = folder / "count"
    for file in count, folder / "metrics.jsonl":  # A run reads existing metrics.
        file.unlink(missing_ok=True)
    environment = {**os.environ, "LD_PRELOAD": counter, "MTC_ALLOCATIONS": str(count)}
    command = [str(word) for word in program.command("--steps", steps, "--metrics", folder / "metrics.jsonl")]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    lines = [line.split(" ", 1) for line in count.read_text().splitlines()]
    counts = {Path(name).name: int(number) for number, name in lines}
    return counts, {name: counts.pop(name) for name in ("peak", "left", "mappings")}


for name, example, flags in (
    ("digits", DIGITS, ()),
    ("staged", DIGITS, ("--dim", "batch=320", "--loss", "cross-entropy")),  # batches are prefetched by a separate thread
    ("gpt2", GPT2, ("--clip-norm", "1")),
    ("bf16", GPT2, ("--precision", "bf16", "--optimizer-bits", "8", "--accumulate", "2")),
    ("emulated", DIGITS, ("--target", "cuda", "--emulate")),
):
    emulated = "--emulate" in flags
    if name == "staged":
        program = compile(example.model, folder, example.data(1280), *flags, name=name)
    else:
        program = compile_example(example, folder, "adamw", 8 * example.batch, *flags, name=name)
    (few, few_sums), (many, many_sums) = (allocations(program, steps) for steps in (3, 13))
    grown = {name: (many[name] - few.get(name, 0)) // 10 for name in many if many[name] - few.get(name, 0) >= 10}
    print(f"{name}: heap {few_sums} after 3 steps, {many_sums} after 13; a step allocates {grown}")
    assert few[program.path.name] > 0, "no allocation was counted"
    # The number of the emulator's concurrent fibers varies between runs. Without an emulator, only the length of a name may differ.
    assert many_sums["peak"] <= few_sums["peak"] + (64 << 10 if emulated else 200), f"{name}: the peak grows with the number of steps"
    assert many_sums["left"] <= few_sums["left"] + 200, f"{name}: steps leak memory"
    assert many_sums["mappings"] == few_sums["mappings"], f"{name}: steps map pages"
    # oneDNN allocates the argument list of each call, and the emulator allocates fibers for each launch. Without AVX-512, one allocation
    # per step comes from code without a library name.
    is_named = has("avx512f") and not emulated
    assert grown.keys() <= ({"libdnnl.so.2"} if is_named else {"libdnnl.so.2", program.path.name}), grown
