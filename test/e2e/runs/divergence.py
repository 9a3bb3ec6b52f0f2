# RUN: %python %s %t
"""A run that diverges stops and keeps the last finite checkpoint, even if it is killed at any moment: on the CPU, and on an emulated
device, which reports a loss one step late.

`--rounds N` sets the number of killed runs on each target.
"""

import json
import random
import shutil
import subprocess
import time

import numpy as np
from models import DIGITS
from program import compile, compile_example, losses, own_folder, read_metrics, rounds, run
from safetensors.numpy import load_file

BAD = 40  # the step whose batch is not finite
ROWS = 2 * BAD * DIGITS.batch
folder = own_folder()
moments = random.Random(0)


def check_checkpoint(saved, before: int = BAD):
    """Checks that there is a checkpoint, from an earlier step, and that it is finite."""
    manifest = json.loads((saved / "manifest.json").read_text())
    assert 0 < manifest["step"] < before, manifest["step"]
    for name, tensor in load_file(saved / manifest["file"]).items():
        assert np.isfinite(tensor).all(), (manifest["step"], name)


for name, flags in ("host", ()), ("device", ("--target", "cuda", "--emulate")):
    program = compile_example(DIGITS, folder, "adamw", ROWS, *flags, name=name)
    x = np.load(folder / "x.npy")
    x[(BAD - 1) * DIGITS.batch + 3, 5] = np.nan
    np.save(folder / "x.npy", x)
    saved, export, log = folder / f"{name}-saved", folder / f"{name}.onnx", folder / f"{name}.jsonl"
    train = ("--no-shuffle", "--steps", 2 * BAD, "--save", saved, "--threads", 1)

    # Whatever the interval of checkpoints, the step with the non-finite batch is not saved.
    seconds = {}
    for every in 1, 3, BAD - 1, BAD:
        start = time.perf_counter()
        result = program.run(*train, "--save-every", every, "--export", export, "--metrics", log, code=2)
        seconds[every] = time.perf_counter() - start
        assert f"the loss of step {BAD} is nan" in result.stderr and "--on-nan continue" in result.stderr, result.stderr
        assert not export.exists()
        found = losses(read_metrics(log))
        assert len(found) == BAD and found[-1] is None and np.isfinite(found[:-1]).all(), found
        if every < BAD:
            check_checkpoint(saved)
            last = (BAD - 1) // every * every
            assert f"the checkpoint of step {last} is in {saved}" in result.stderr, result.stderr
        shutil.rmtree(saved, ignore_errors=every == BAD)

    killed = 0
    for _ in range(rounds(10)):
        resume = ("--resume", saved) if (saved / "manifest.json").exists() else ()
        try:
            run(program.command(*train, "--save-every", 1, *resume), folder, 2, timeout=moments.uniform(0.05, 1) * seconds[1])
        except subprocess.TimeoutExpired:
            killed += 1
            if (saved / "manifest.json").exists():
                check_checkpoint(saved)
                run([program.path, "--resume", saved, "--export", export], folder)
                export.unlink()
            continue
        check_checkpoint(saved)
        shutil.rmtree(saved)
    assert killed > 0, "no run was killed, so nothing was tested"
    shutil.rmtree(saved, ignore_errors=True)

    # With --on-nan continue, training goes on.
    result = program.run(*train, "--export", export, "--on-nan", "continue")
    assert result.stderr.count("warning:") == 1 and f"the loss of step {BAD} is nan" in result.stderr, result.stderr
    assert export.exists() and (saved / "manifest.json").exists()
    shutil.rmtree(saved)

    # With a learning rate that is too large, losses grow until they, or the weights before them, are not finite.
    rate = ("--optimizer", "adamw", "--lr", "1e30")
    wild = compile(DIGITS.model, folder, DIGITS.data(ROWS), *DIGITS.flags, *rate, *flags, name=f"wild-{name}")
    export = folder / f"wild-{name}.onnx"
    result = wild.run("--steps", 200, "--save", saved, "--save-every", 1, "--export", export, code=2)
    assert "so training was stopped" in result.stderr, result.stderr
    assert not export.exists()
    if saved.exists():
        check_checkpoint(saved, 200)
        shutil.rmtree(saved)
    print(f"{name}: {killed} runs were killed")
