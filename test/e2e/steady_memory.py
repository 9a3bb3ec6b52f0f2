# RUN: %python %s %t %build/lib/test/libmtc_allocations.so
"""Once the first steps have run, a program allocates nothing, and what its libraries allocate in passing they free."""

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
    """How often the program and each library allocated, and the bytes and mappings that it has."""
    count = folder / "count"
    for file in count, folder / "metrics.jsonl":  # A run reads the metrics of the one before it.
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
    ("staged", DIGITS, ("--dim", "batch=320", "--loss", "cross-entropy")),  # a batch is read on a thread of its own
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
    assert few[program.path.name] > 0, "nothing was counted"
    # The emulator's fibers run at the same time by chance; elsewhere a name may be longer.
    assert many_sums["peak"] <= few_sums["peak"] + (64 << 10 if emulated else 200), f"{name}: steps need more and more memory"
    assert many_sums["left"] <= few_sums["left"] + 200, f"{name}: steps keep memory"
    assert many_sums["mappings"] == few_sums["mappings"], f"{name}: steps map pages"
    # Of each call oneDNN lists the arguments, and the emulator makes fibers of each launch. Below AVX-512 one
    # allocation a step comes from code of no library's name.
    is_named = has("avx512f") and not emulated
    assert grown.keys() <= ({"libdnnl.so.2"} if is_named else {"libdnnl.so.2", program.path.name}), grown
