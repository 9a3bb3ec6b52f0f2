"""Compiles and runs programs in a test's own folder, with errors that show the command."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

MTC = os.environ.get("MTC", "mtc")
TIMEOUT = 300  # time limit of one command in seconds


def own_folder() -> Path:
    """Creates an empty folder at the path that the test's RUN line passes (%t)."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def rounds(least: int) -> int:
    """Returns the number of random trials: that of `--rounds N`, or the default."""
    return int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else least


def run(command, folder: Path, code: int = 0, timeout: float = TIMEOUT) -> subprocess.CompletedProcess:
    """Runs a command in `folder`; kills it after `timeout` seconds. Exits the test if its exit code is not `code`."""
    command = [str(word) for word in command]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout)
    if result.returncode != code:
        print(f"{' '.join(command)}\nexit code {result.returncode}, expected {code}\n{result.stdout}\n{result.stderr}")
        sys.exit(1)
    return result


class Program:
    """A compiled program and its data; `runner` is a command prefix, such as an emulator."""

    def __init__(self, path: Path, data: dict[str, np.ndarray], runner: tuple = ()):
        self.path = path
        self.runner = runner
        self.folder = path.parent
        self.data_flags = []
        for name, array in data.items():
            file = self.folder / f"{name}.npy"
            np.save(file, array)
            self.data_flags += ["--data", f"{name}={file}"]

    def command(self, *flags) -> list:
        return [*self.runner, self.path, *self.data_flags, *flags]

    def run(self, *flags, code: int = 0) -> subprocess.CompletedProcess:
        return run(self.command(*flags), self.folder, code)

    def run_with_kills(self, *flags, kills: int, after: tuple[float, float]) -> int:
        """Runs the program with a checkpoint after each step. The first `kills` starts are killed at a random moment within `after` seconds
        unless they end before, and each start resumes from the latest checkpoint. Returns the number of killed starts, at least one."""
        moments = random.Random(0)
        checkpoint = self.folder / "checkpoint"
        killed = 0
        for start in range(kills + 1):
            resume = ("--resume", checkpoint) if (checkpoint / "manifest.json").exists() else ()
            command = self.command(*flags, "--save", checkpoint, "--save-every", 1, *resume)
            try:
                run(command, self.folder, timeout=moments.uniform(*after) if start < kills else TIMEOUT)
                break
            except subprocess.TimeoutExpired:
                assert start < kills, f"a run did not end within {TIMEOUT} seconds"
                killed += 1
        assert killed > 0, "no run was killed, so nothing was tested"
        return killed

    def train(self, steps: int, *flags, name: str = "log") -> list[dict]:
        """Returns the metrics of `steps` steps, one record per step."""
        metrics = self.folder / f"{name}.jsonl"
        metrics.unlink(missing_ok=True)
        self.run("--steps", steps, "--no-shuffle", "--metrics", metrics, *flags)
        return read_metrics(metrics)

    def evaluation(self, *flags) -> dict[str, float]:
        """Returns the metrics that `--evaluate` prints before the table of classes."""
        words = self.run("--evaluate", *flags).stdout.partition("\nclass ")[0].split()
        return dict(zip(words[::2], map(float, words[1::2]), strict=True))

    def gradients(self, name: str, *flags) -> dict[str, np.ndarray]:
        """Returns the gradients of the first batch."""
        return self.written("--gradients", name, "--no-shuffle", *flags)

    def outputs(self, name: str, *flags) -> dict[str, np.ndarray]:
        """Returns the graph's outputs for all samples."""
        return self.written("--outputs", name, *flags)

    def written(self, flag: str, name: str, *flags) -> dict[str, np.ndarray]:
        file = self.folder / f"{name}.safetensors"
        file.unlink(missing_ok=True)
        self.run(flag, file, *flags)
        return load_file(file)

    def exported(self, name: str, *flags) -> bytes:
        """Returns the ONNX file after a run, for bit-exact comparisons that do not depend on a checkpoint's layout."""
        file = self.folder / f"{name}.onnx"
        file.unlink(missing_ok=True)
        self.run("--export", file, *flags)
        return file.read_bytes()

    def losses_and_weights(self, name: str, steps: int, *flags) -> tuple[list[float], bytes]:
        """Returns the losses of a run, and the ONNX file after it."""
        log = self.folder / f"{name}.jsonl"
        log.unlink(missing_ok=True)
        weights = self.exported(name, "--steps", steps, "--metrics", log, *flags)
        return losses(read_metrics(log)), weights


def compile(model: Path, folder: Path, data: dict[str, np.ndarray], *flags, name: str = "train") -> Program:
    path = folder / name
    run([MTC, "compile", model, *flags, "-o", path], folder)
    return Program(path, data)


def compile_example(example, folder: Path, optimizer: str, rows: int, *flags, name: str = "train") -> Program:
    """Compiles an example of models.py, with the recorded optimizer settings."""
    decay = ("--weight-decay", "0.01") if optimizer == "adamw" else ()
    rate = ("--optimizer", optimizer, "--lr", repr(example.rates[optimizer]), *decay)
    return compile(example.model, folder, example.data(rows), *example.flags, *rate, *flags, name=name)


def read_metrics(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def losses(metrics: list[dict]) -> list[float]:
    return [record["loss"] for record in metrics]


def same_bits(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        one[n].dtype == other[n].dtype and one[n].shape == other[n].shape and one[n].tobytes() == other[n].tobytes()
        for n in one
    )
