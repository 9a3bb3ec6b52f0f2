#!/usr/bin/env python3
"""Trains models on several ranks with random combinations of tensor groups, sharding, optimizers, clipping, parameter groups and
averages. Losses, gradient norms, weights, running statistics and optimizer state must be bit-identical to those of one rank with as many
micro-batches, and each rank's arena must have the planned size. Some combinations run on emulated GPUs.

    test/combinations/ranks.py --mtc build/release/bin/mtc --count 150 --seed 7

Each combination is determined by the seed and its number. The last line has the counts; the exit code is 1 if anything failed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
sys.path.append(str(HERE.parent / "random"))
from reference import OPTIMIZERS  # noqa: E402

RANKS = 2, 3, 4, 7  # with samples of their own
TENSOR = 1, 1, 1, 2  # ranks that share each layer
SHARDS = "none", "optimizer", "gradients", "parameters"
ACCUMULATED = 1, 3
PRECISIONS = "f32", "bf16", "f16"
RECOMPUTED = "none", "none", "sqrt", "all"
# Quantized state has blocks of 256 or 128 elements.
STATES = (), (), (), ("--optimizer-bits", 8), ("--optimizer-bits", 4)
CLIPPED = (
    ("--clip-norm", 1), ("--clip-norm", 0.05), ("--grad-norm",), ("--clip-value", 0.01), ("--clip-norm", 0.1, "--clip-value", 0.02), (),
)  # fmt: skip
OTHERS = (), (), ("--ema", 0.9), ("--group", "match=*bias* lr=1e-3 weight-decay=0"), ("--schedule", "cosine", "--warmup", 2)
STEPS = 10


@dataclass(frozen=True)
class Combination:
    model: str
    ranks: int
    shard: str
    accumulated: int
    precision: str
    optimizer: str
    state: tuple
    clipped: tuple
    others: tuple
    tensor: int
    emulated: bool
    recomputed: str
    context: int = 1
    more: int = 1  # chunks of each rank of a tensor group
    pipeline: int = 0  # stages

    @property
    def chunks(self) -> int:
        return self.tensor * self.more

    @property
    def flags(self) -> tuple:
        target = ("--target", "cuda", "--emulate") if self.emulated else ()
        update = ("--optimizer", self.optimizer, *self.state, *self.clipped, *self.others)
        chunks = ("--tensor-chunks", self.chunks) if self.chunks > 1 else ()
        chunks += ("--context-chunks", self.context) if self.context > 1 else ()
        return ("--precision", self.precision, *update, "--recompute", self.recomputed, *target, *chunks)

    @property
    def all_ranks(self) -> int:
        return self.ranks * self.tensor * self.context * max(self.pipeline, 1)

    @property
    def reference(self) -> str:
        """Returns the program of one rank with which several combinations are compared."""
        target = "cuda" if self.emulated else "cpu"
        update = (self.optimizer, *self.state, *self.clipped, *self.others)
        parts = (self.model, target, self.ranks * self.accumulated, self.precision, self.recomputed, self.chunks, self.context, *update)
        return re.sub(r"[^\w.]+", "-", "-".join(map(str, parts)))

    def __str__(self) -> str:
        groups = ("--ranks", self.all_ranks, "--tensor", self.tensor, "--context", self.context)
        groups += ("--pipeline", self.pipeline) if self.pipeline else ()
        words = (*groups, "--shard", self.shard, "--accumulate", self.accumulated, *self.flags)
        return f"{self.model}: {' '.join(map(str, words))}"


def draw(random: Random, models: list[str]) -> Combination:
    choices = (models, RANKS, SHARDS, ACCUMULATED, PRECISIONS, OPTIMIZERS, STATES, CLIPPED, OTHERS, TENSOR)
    return Combination(*(random.choice(list(each)) for each in choices), emulated=random.random() < 0.08, recomputed=random.choice(RECOMPUTED))


class Runner:
    """Compiles and runs combinations in a folder, and each program of one rank only once."""

    def __init__(self, folder: Path, models: dict):
        self.folder, self.models = folder, models
        self.known: dict[str, tuple] = {}

    def state(self, drawn: Combination, ranks: int, *flags, tensor=1, context=1, pipeline=0) -> tuple:
        from launcher import ranks_program, state_of

        program = ranks_program(
            self.folder, self.models[drawn.model], ranks, *drawn.flags, *flags, rows=200, name=drawn.reference,
            micro_batches=drawn.ranks * drawn.accumulated, file=f"ranks-{drawn.shard}-", tensor=tensor, context=context,
            pipeline=pipeline,
        )  # fmt: skip
        state = state_of(program, "--memory-report", "memory.json", steps=STEPS)
        memory = json.loads((program.folder / "memory.json").read_text())
        arenas = [each["arena_bytes"] for each in memory.get("ranks", [memory])]
        # The stages of a pipeline differ, and the plan has the largest.
        assert max(arenas) == memory["planned_bytes"] and (pipeline > 1 or len(set(arenas)) == 1), f"{arenas}, planned: {memory['planned_bytes']}"
        for path in program.folder.glob(f"{program.path.name}*"):  # Programs are deleted, because hundreds of them would fill a disk.
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return state

    def check(self, drawn: Combination):
        from launcher import check_equal

        if drawn.reference not in self.known:
            self.known[drawn.reference] = self.state(drawn, 1)
        wanted = self.known[drawn.reference]
        assert wanted[0].count("'loss'") == STEPS and len(set(wanted[0].split("'loss': "))) > 2, "nothing is trained"
        found = self.state(drawn, drawn.all_ranks, "--shard", drawn.shard, tensor=drawn.tensor)
        check_equal(found, wanted, str(drawn))


def run(models: dict, count: int, seed: int, verbose: bool) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), models)
        for number in range(count):
            drawn = draw(Random(f"{seed} {number}"), sorted(models))
            problem = ""
            try:
                runner.check(drawn)
            except (AssertionError, SystemExit, subprocess.TimeoutExpired) as error:  # The failing command has printed the reason.
                problem = str(error)
                failed += 1
            if problem or verbose:
                print(f"{number}: {drawn}: {problem[-3000:] or 'passed'}", flush=True)
    print(f"{count} combinations of seed {seed}, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=Path("build/release/bin/mtc"), help="compiler to test")
    parser.add_argument("--count", type=int, default=150, help="how many combinations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print each combination")
    options = parser.parse_args()
    os.environ["MTC"] = str(options.mtc.resolve())
    from many_layers import many_layers  # imported here, because the module needs the compiler's path
    from models import DIGITS, GPT2

    with tempfile.TemporaryDirectory() as folder:
        models = {"digits": DIGITS, "gpt2": GPT2, "layers": many_layers(Path(folder) / "layers.onnx")}
        return run(models, options.count, options.seed, options.verbose)


if __name__ == "__main__":
    sys.exit(main())
