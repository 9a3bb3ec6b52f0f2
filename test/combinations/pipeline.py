#!/usr/bin/env python3
"""Trains models in pipeline stages (`--pipeline`), with random combinations of stages, tensor groups, data parallelism, sharding, accumulation,
precision, optimizers, quantized state, clipping and recomputation. The models have dropout, ignored labels, batch norm and tied embeddings. Losses,
gradient norms, weights and optimizer state must be bit-identical to those of one rank with `--pipeline 1`, and each rank's arena must have the
planned size.

    test/combinations/pipeline.py --mtc build/release/bin/mtc --count 60 --seed 7

Each combination is determined by the seed and its number. The last line has the counts; the exit code is 1 if anything failed.
"""

import sys
from dataclasses import replace
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
sys.path.append(str(HERE.parent / "random"))
import tensor  # noqa: E402
from ranks import Combination, Runner  # noqa: E402

STAGES = 2, 2, 3, 4
TENSOR = 1, 1, 2  # ranks that share each layer
DATA = 1, 1, 2  # groups with samples of their own
ACCUMULATED = 2, 4, 5


def draw(random: Random, models: list[str]) -> Combination:
    drawn = tensor.draw(random, models)
    stages, data = random.choice(STAGES), random.choice(DATA)
    sharing = 1 if stages * data > 4 else random.choice(TENSOR)
    return replace(drawn, pipeline=stages, tensor=sharing, ranks=data, context=1, accumulated=random.choice(ACCUMULATED))


def check(runner: Runner, drawn: Combination):
    """Raises `AssertionError` if the stages do not have the bits of one rank."""
    from launcher import check_equal

    if drawn.reference not in runner.known:
        runner.known[drawn.reference] = runner.state(drawn, 1, pipeline=1)
    wanted = runner.known[drawn.reference]
    assert len(set(wanted[0].split("'loss': "))) > 3, "nothing is trained"
    found = runner.state(drawn, drawn.all_ranks, "--shard", drawn.shard, tensor=drawn.tensor, pipeline=drawn.pipeline)
    check_equal(found, wanted, str(drawn))


if __name__ == "__main__":
    sys.exit(tensor.main(__doc__.splitlines()[0], draw, check))
