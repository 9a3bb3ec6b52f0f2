"""Compiles and runs one case, and compares its results."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from case import STEPS, Case
from comparison import Expectation
from gradient_evaluator import GradientModel
from safetensors.numpy import load_file

TIMEOUT = 240  # time limit of one command in seconds
EMULATED = ["--target", "cuda", "--emulate"]
FOUND = {"gradients": ".safetensors", "outputs": ".outputs", "metrics": ".jsonl", "memory": ".json", "model": ".onnx"}


@dataclass
class Failure:
    """A failure; `kind` is the same for a reduced case with the same error."""

    kind: str
    text: str
    command: list[str]


class Failed(Exception):
    def __init__(self, kind: str, text: str, command=()):
        super().__init__(text)
        self.failure = Failure(kind, text, [str(word) for word in command])


def optional_passes(mtc: Path) -> list[str]:
    """Returns the passes that --skip-pass accepts, from --help-all."""
    help = subprocess.run([mtc, "compile", "--help-all"], capture_output=True, text=True, timeout=TIMEOUT).stdout
    found = re.search(r"--skip-pass .*\n((?: +mtc-[\w-]+ .*\n)+)", help)
    if not found:
        raise RuntimeError("`mtc compile --help-all` lists no passes at --skip-pass")
    return re.findall(r"^ +(mtc-[\w-]+)", found[1], re.MULTILINE)


def summary(text: str) -> str:
    """Returns the first error without names, numbers and types, so that reduced models have the same summary."""
    lines = [line for line in text.splitlines() if re.search(r"error|assert|LLVM ERROR|Stack dump", line, re.IGNORECASE)]
    line = lines[0] if lines else (text.splitlines() or [""])[-1]
    return re.sub(r"'[^']*'|\"[^\"]*\"|tensor<[^>]*>|[\w./]*\d[\w./]*", "_", line)[-160:]


def first_batch(case: Case, name: str, rows: np.ndarray) -> np.ndarray:
    """Returns the part of an output that belongs to the first batch. An output per batch has the batch's number as its first axis."""
    dims = next(o.type.tensor_type.shape.dim for o in case.model.graph.output if o.name == name)
    has_rows = len(dims) > 0 and (dims[0].dim_value or case.batch) == (case.batch if case.data else 1)
    return rows[: case.batch if case.data else 1] if has_rows else rows[0]


@dataclass
class Checker:
    """Compiles and runs cases in a separate folder."""

    mtc: Path
    folder: Path
    races: bool = True  # whether the emulator checks device memory for races
    cached: bool = True  # whether to use mtc's kernel cache
    messages: str = ""  # that the last command wrote to standard error

    @staticmethod
    def builds(case: Case) -> list[tuple[str, Case]]:
        """Returns the variants of the case: with all passes, without some, and on the emulated device."""
        builds = [("", replace(case, skipped=[], emulated=False))]
        if case.skipped:
            builds.append((" without passes", replace(case, emulated=False)))
        if case.emulated:
            builds.append((" emulated", replace(case, skipped=[])))
        return builds

    def build_of(self, case: Case, failure: Failure) -> Case:
        """Returns the variant that has the failure."""
        return next(build for name, build in reversed(self.builds(case)) if name in failure.kind)

    def failures(self, case: Case, expectation: Expectation | None) -> list[Failure]:
        """Returns all failures of a case, at most one per variant. A case without an expectation is only compiled."""
        case.write(self.folder)
        found = []
        for name, build in self.builds(case):
            try:
                self.check(build, expectation, name)
            except Failed as failed:
                found.append(failed.failure)
        return found

    def run(self, command, kind: str, **environment) -> str:
        command = [str(word) for word in command]
        try:
            result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
                                    env=os.environ | environment)  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{kind}: timeout", f"not done in {TIMEOUT} s", command) from error
        if result.returncode != 0:
            text = result.stderr.strip() or result.stdout.strip()
            raise Failed(f"{kind}: exit {result.returncode}: {summary(text)}", text[-3000:], command)
        self.messages = result.stderr
        return result.stdout

    def check(self, case: Case, expectation: Expectation | None, name: str):
        flags = case.flags() + case.skip_flags() + (EMULATED if case.emulated else [])
        compile = [self.mtc, "compile", "model.onnx", *flags, "--json"]
        for old in self.folder.glob("program*"):
            old.unlink()
        printed = self.run([*compile, *([] if self.cached else ["--no-cache"]), "-o", "program"], "compile" + name)
        if expectation is None:
            return
        environment = {"MTC_EMULATED_RACES": "1"} if case.emulated and self.races else {}
        one = self.measure(case, 1, name, environment)
        if not case.emulated:
            two = self.measure(case, 2, name, {})
            for what in one.keys() - {"memory", "losses"}:
                self.same_bits(what, one[what], two[what], name, compile)
        self.compare("gradients" + name, expectation.check_gradients(one["gradients"]), compile)
        if not name and not case.drops():  # the gradient model uses the inference form of dropout
            self.check_gradient_model(case, expectation)
        self.compare("outputs" + name, expectation.check_outputs(one["outputs"]), compile)
        self.compare("losses" + name, expectation.check_losses(one["losses"]), compile)
        self.compare("weights" + name, expectation.check_weights(one["weights"]), compile)
        memory = one["memory"]
        planned = json.loads(printed)["peak_bytes"]
        if not planned == memory["planned_bytes"] == memory["arena_bytes"]:
            text = f"mtc compile says {planned} bytes, the program {memory}"
            raise Failed("memory" + name, text, compile)

    def check_gradient_model(self, case: Case, expectation: Expectation):
        """Compares the gradients of the first batch by `mtc grad`."""
        file = self.folder / "gradient.onnx"
        file.unlink(missing_ok=True)
        command = [self.mtc, "grad", "model.onnx", *case.loss_flags(), "-o", file]
        self.run(command, "mtc grad")
        model = GradientModel(file)
        found = model.gradients({name: np.ascontiguousarray(rows) for name, rows in case.rows(0).items()})
        self.compare("gradient model", expectation.check_gradients(found), command)

    def measure(self, case: Case, threads: int, name: str, environment: dict[str, str]) -> dict:
        """Returns gradients of the first batch, then losses, weights and memory of the steps."""
        program = [self.folder / "program", *case.data_flags(), "--no-shuffle", "--quiet", "--threads", threads]
        files = {key: self.folder / f"found{threads}{suffix}" for key, suffix in FOUND.items()}
        for file in files.values():
            file.unlink(missing_ok=True)
        self.run([*program, "--gradients", files["gradients"]], "gradients run" + name, **environment)
        written = ["--metrics", files["metrics"], "--memory-report", files["memory"], "--export", files["model"]]
        self.run([*program, "--steps", STEPS, *written], "training run" + name, **environment)
        weights = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(files["model"]).graph.initializer}
        metrics = [json.loads(line) for line in files["metrics"].read_text().splitlines()]
        self.run([*program, "--outputs", files["outputs"]], "outputs run" + name, **environment)
        outputs = {key: first_batch(case, key, a) for key, a in load_file(files["outputs"]).items()}
        return {"gradients": load_file(files["gradients"]), "outputs": outputs, "losses": [line["loss"] for line in metrics],
                "weights": weights, "memory": json.loads(files["memory"].read_text())}  # fmt: skip

    def compare(self, kind: str, found: list[str], command):
        if found:
            raise Failed(kind, "\n".join(found), command)

    def same_bits(self, what: str, one: dict, two: dict, name: str, command):
        other = [n for n in one if n not in two or np.asarray(one[n]).tobytes() != np.asarray(two[n]).tobytes()]
        if other or one.keys() != two.keys():
            raise Failed(f"threads{name}", f"{what} {other} have other bits with 2 threads", command)
