# RUN: %python %s %t
"""N ranks share the batches of `--evaluate`, `--outputs` and `--validate`: results and files are those of one process, for any number of
samples. A signal, an error, a full disk or a dead rank ends all ranks within a time limit."""

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
from launcher import Comparison, check_equal, end_of, launcher, processes_of, state_of
from models import DIGITS, EXAMPLES, GPT2, digits
from program import Program, own_folder, read_metrics, run
from safetensors.numpy import load_file

TIMEOUT, SILENCE = 10, 3  # seconds for --timeout; a failing rank reports its error within half of it, and then ends the other ranks
BATCH = DIGITS.batch
folder = own_folder()
SHARDS = (), ("--shard", "parameters")


def data_flags(name: str, data: dict[str, np.ndarray], flag="--data") -> list:
    """Writes a data set to files and returns its flags."""
    files = {}
    for key, array in data.items():
        files[key] = folder / f"{name}-{key}.npy"
        np.save(files[key], array)
    return [word for key, file in files.items() for word in (flag, f"{key}={file}")]


def with_data(program: Program, flags: list) -> Program:
    other = Program(program.path, {}, program.runner)
    other.data_flags = flags
    return other


def results(program: Program, *flags) -> tuple[str, str, list[dict], bytes]:
    """Returns a program's output for an evaluation, its metrics, and its file of outputs."""
    metrics, outputs = folder / "evaluated.jsonl", folder / "outputs.safetensors"
    for file in metrics, outputs:
        file.unlink(missing_ok=True)
    evaluated = program.run("--evaluate", "--metrics", metrics, *flags)
    program.run("--outputs", outputs, "--quiet", *flags)
    return evaluated.stdout, evaluated.stderr, read_metrics(metrics), outputs.read_bytes()


digits_programs = Comparison(folder, "digits", DIGITS, "--optimizer", "adamw", "--ema", 0.9)
one = digits_programs.program(1)
several = {(n, shard): digits_programs.program(n, *shard) for n in (2, 3) for shard in SHARDS}

# There are fewer batches than ranks, whole rounds, and incomplete last batches and rounds.
for rows in 1, BATCH + 1, 3 * BATCH, 7 * BATCH - 5:
    data = digits(rows)
    data["labels"] = np.where(np.arange(rows) % 5 == 3, -100, data["labels"])
    flags = data_flags("some", data)
    wanted = results(with_data(one, flags))
    assert f"samples {rows}\n" in wanted[0] and "macro_f1" in wanted[0], wanted[0]
    assert load_file(folder / "outputs.safetensors")["logits"].shape == (rows, 10)
    for key, program in several.items():
        assert results(with_data(program, flags)) == wanted, (rows, key)

# The data has no valid label, or causes a non-finite loss, which is in the second batch of rank 1 of 2.
data = digits(5 * BATCH)
unlabeled = data_flags("unlabeled", {"x": data["x"], "labels": np.full(5 * BATCH, -100)})
data["x"][3 * BATCH] = np.nan
not_finite = data_flags("not-finite", data)
for flags, message in (unlabeled, "every label is one to be ignored"), (not_finite, "samples 96 to 127 (from 0) are the first batch"):
    wanted = results(with_data(one, flags))
    assert message in wanted[1], wanted[1]
    for key, program in several.items():
        assert str(results(with_data(program, flags))) == str(wanted), key  # Compared by text, because NaN differs from itself.

# The weights of a checkpoint are evaluated, and their averages.
one.run("--steps", 4, "--save", folder / "saved", "--quiet")
averages = ("--resume", folder / "saved", "--use-ema")
wanted = results(one, *averages)
for key, program in several.items():
    assert results(program, *averages) == wanted, key

# One output consists of several chunks, and others have another layout in the arena.
language = Comparison(folder, "language", GPT2, "--optimizer", "adamw", rows=45)
wanted = results(language.program(1))
for shard in SHARDS:
    assert results(language.program(2, *shard)) == wanted, shard

# Validation sets fill neither a batch nor a round of all ranks. The best checkpoint and early stopping are those of one process.
test = {"x": np.load(EXAMPLES / "digits/test_x.npy"), "labels": np.load(EXAMPLES / "digits/test_labels.npy")}
for rows, more in (5, ("--keep-best", "loss", "--use-ema")), (4 * BATCH + 7, ("--lr", 0.5, "--early-stop", 1, "--keep-best", "accuracy")):
    validate = data_flags("held-out", {name: array[:rows] for name, array in test.items()}, "--validate")
    run_flags = (*validate, "--validate-every", 1, *more)
    wanted = state_of(one, *run_flags)
    assert wanted[0].count("validation_loss") > 1, wanted[0]
    for key, program in several.items():
        check_equal(state_of(program, *run_flags), wanted, (rows, key, more))

# The run is resumed at a step whose validation is due, with the best checkpoint in another folder.
interrupted = (*validate, "--validate-every", 1, "--keep-best", "loss")
one.run("--steps", 2, *interrupted, "--save", folder / "two", "--quiet")
for key, program in several.items():
    resumed = program.folder / "resumed"
    program.run("--steps", 2, "--resume", folder / "two", *interrupted, "--save", resumed, "--overwrite", "--quiet")
    program.run("--steps", 2, "--resume", folder / "two/best", *data_flags("few", digits(5), "--validate"), "--keep-best", "loss",
                "--validate-every", 1, "--save", resumed, "--overwrite", "--quiet")  # fmt: skip
    assert (resumed / "best/manifest.json").exists(), key

# Each rank reads its own samples: an invalid label is reported once, by the rank of its batch.
for batch, key in (4, (3, ())), (3, (2, SHARDS[1])):
    ranks = key[0]
    data = digits(6 * BATCH)
    data["labels"][batch * BATCH + 3] = 77
    wrong = data_flags("wrong", data)
    for flags in ("--evaluate",), ("--outputs", folder / "wrong.safetensors"):
        said = with_data(several[key], wrong).run(*flags, "--timeout", TIMEOUT, code=1).stderr
        assert said.count("row 3") <= 1 and said.count("holds 77 ") == 1, said
        assert f"error: rank {batch % ranks} (host " in said and said.count("error:") == 1 and "all ranks end" in said, said
    assert not (folder / "wrong.safetensors").exists()
    validate = [*data_flags("wrong", data, "--validate"), "--validate-every", 1, "--use-ema"]
    said = several[key].run("--steps", 3, *validate, "--timeout", TIMEOUT, code=1).stderr
    assert f"error: rank {batch % ranks} (host " in said and said.count("error:") == 1, said

# Ranks with contradicting flags end before the first batch.
two = several[2, ()]
words = [*launcher(1), *two.command()[3:], "--evaluate", ":", "-n", 1, *two.command()[3:], "--outputs", "o.safetensors"]
said = run(words, folder, code=1).stderr
assert "rank 1 (host " in said and "kind of run --outputs, expected --evaluate as on rank 0" in said, said

# Runs that would take minutes are interrupted.
endless = {name: np.tile(array, (1000, 1)) for name, array in GPT2.data(45).items()}


def computing(pids: dict[int, int]) -> bool:
    """Returns whether all ranks handle signals, as they do during a run."""
    for pid in pids.values():
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
        if not caught >> (signal.SIGTERM - 1) & 1:
            return False
    return True


def interrupted_run(program: Program, *flags, act, begun: Path | None = None, timeout=TIMEOUT) -> tuple[int, str, float]:
    """Returns the exit code and messages of a run after `act` was called with its processes, and the seconds until it ended. The run fills
    the file `begun` before `act` is called."""
    command = [str(w) for w in program.command(*flags, "--timeout", timeout, "--quiet")]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    pids: dict[int, int] = {}
    while len(pids) < int(program.runner[-1]) or not computing(pids) or (begun and not (begun.exists() and begun.stat().st_size)):
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.05)
        pids = processes_of(program.path)
    time.sleep(0.7)
    return end_of(process, pids, lambda: act(pids))


for key in (2, ()), (3, SHARDS[1]):
    whole = language.program(key[0], *key[1])
    program = with_data(whole, data_flags("endless", endless))
    for victim, flags in (0, ("--evaluate",)), (1, ("--evaluate",)), (1, ("--outputs", "stopped.safetensors")):
        code, message, seconds = interrupted_run(program, *flags, act=lambda pids, v=victim: os.kill(pids[v], signal.SIGTERM))
        assert code == 128 + signal.SIGTERM and seconds < TIMEOUT + 10, (key, victim, flags, code, message, seconds)
        assert message.count("SIGTERM: stopped; nothing was written\n") == 1 and "error" not in message, message
    assert not (folder / "stopped.safetensors").exists()

    # The interruption is during the validation after the first step, whose metrics are already written.
    log = folder / "stopped.jsonl"
    log.unlink(missing_ok=True)
    validating = [*data_flags("endless", endless, "--validate"), "--validate-every", 1, "--save", folder / "stopped", "--overwrite"]
    interrupt = lambda pids: os.kill(pids[1], signal.SIGINT)  # noqa: E731
    code, message, seconds = interrupted_run(whole, "--steps", 9, *validating, "--metrics", log, act=interrupt, begun=log)
    assert code == 128 + signal.SIGINT and seconds < TIMEOUT + 10, (key, code, message, seconds)
    assert message.count("SIGINT: stopped after step 1 of 9; go on with --resume") == 1 and "error" not in message, message

    code, message, seconds = interrupted_run(program, "--evaluate", act=lambda pids: os.kill(pids[1], signal.SIGKILL))
    assert code != 0 and "process rank 1 " in message and "signal 9" in message and seconds < TIMEOUT + 10, (key, code, message, seconds)

    code, message, seconds = interrupted_run(program, "--evaluate", timeout=SILENCE, act=lambda pids: os.kill(pids[1], signal.SIGSTOP))
    assert code != 0 and seconds < SILENCE + 10, (key, code, message, seconds)
    assert "error: rank 0 (host " in message and f"no answer for {SILENCE} s from rank 1 (host " in message, message
    assert " in batch " in message and "--timeout sets the limit" in message, message

    # The disk of rank 0 is full.
    def fill(pids):
        resource.prlimit(pids[0], resource.RLIMIT_FSIZE, (4096, 4096))

    code, message, seconds = interrupted_run(program, "--outputs", "full.safetensors", act=fill)
    assert code == 2 and "error: full.safetensors" in message and message.count("error:") == 1, (key, code, message, seconds)
    assert seconds < TIMEOUT + 10 and not (folder / "full.safetensors").exists(), seconds
