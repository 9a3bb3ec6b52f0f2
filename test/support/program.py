"""Compiling and running programs from the tests: a folder of the test's own, and failures that show what was run."""

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
TIMEOUT = 300  # seconds, for one command


def own_folder() -> Path:
    """The folder that the test's RUN line gives it (%t), made anew."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def rounds(least: int) -> int:
    """How often a test repeats what it does at random moments: `--rounds N`, or as few as the gate has time for."""
    return int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else least


def run(command, folder: Path, code: int = 0, timeout: float = TIMEOUT) -> subprocess.CompletedProcess:
    """Runs a command in `folder`; kills it after `timeout` seconds. Exits the test where its exit code is not `code`."""
    command = [str(word) for word in command]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout)
    if result.returncode != code:
        print(f"{' '.join(command)}\nexit code {result.returncode}, expected {code}\n{result.stdout}\n{result.stderr}")
        sys.exit(1)
    return result


class Program:
    """A compiled program and the data it is run on; `runner` are the words before it, such as an emulator."""

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
        """Runs with a checkpoint after each step. The first `kills` starts are killed at a random moment of so many
        seconds, unless they end before, and each start resumes from the checkpoint that is there. Says how many were
        killed: at least one."""
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
                assert start < kills, f"a run was not done in {TIMEOUT} seconds"
                killed += 1
        assert killed > 0, "no run was killed: the test says nothing"
        return killed

    def train(self, steps: int, *flags, name: str = "log") -> list[dict]:
        """The metrics of `steps` steps, one record a step."""
        metrics = self.folder / f"{name}.jsonl"
        metrics.unlink(missing_ok=True)
        self.run("--steps", steps, "--no-shuffle", "--metrics", metrics, *flags)
        return read_metrics(metrics)

    def gradients(self, name: str, *flags) -> dict[str, np.ndarray]:
        """Those of the first batch."""
        return self.written("--gradients", name, "--no-shuffle", *flags)

    def outputs(self, name: str, *flags) -> dict[str, np.ndarray]:
        """The graph's outputs for all rows."""
        return self.written("--outputs", name, *flags)

    def written(self, flag: str, name: str, *flags) -> dict[str, np.ndarray]:
        file = self.folder / f"{name}.safetensors"
        file.unlink(missing_ok=True)
        self.run(flag, file, *flags)
        return load_file(file)

    def exported(self, name: str, *flags) -> bytes:
        """The ONNX file after a run: the weights to the bit, whatever a checkpoint's layout."""
        file = self.folder / f"{name}.onnx"
        file.unlink(missing_ok=True)
        self.run("--export", file, *flags)
        return file.read_bytes()


def compile(model: Path, folder: Path, data: dict[str, np.ndarray], *flags, name: str = "train") -> Program:
    path = folder / name
    run([MTC, "compile", model, *flags, "-o", path], folder)
    return Program(path, data)


def compile_example(example, folder: Path, optimizer: str, rows: int, *flags, name: str = "train") -> Program:
    """An example of models.py, with the optimizer as it was recorded with."""
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
