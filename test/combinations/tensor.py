#!/usr/bin/env python3
"""Trains models whose layers and sequences are divided among ranks (`--tensor`, `--context`), with random combinations of data parallelism, sharding,
accumulation, precision, optimizers and clipping. The models have dropout, ignored labels and tied embeddings. Losses, gradient norms, weights and
optimizer state must be bit-identical to those of one rank with the same addends (`--tensor-chunks`, `--context-chunks`).

    test/combinations/tensor.py --mtc build/release/bin/mtc --count 60 --seed 7

Each combination is determined by the seed and its number. The last line has the counts; the exit code is 1 if anything failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
sys.path.append(str(HERE.parent / "random"))
from ranks import ACCUMULATED, PRECISIONS, SHARDS, Combination, Runner  # noqa: E402

TENSOR = 1, 2, 2, 4  # ranks that share each layer
CONTEXT = 1, 1, 2  # ranks that share each sequence
DATA = 1, 1, 2  # groups with samples of their own
OPTIMIZERS = "sgd", "adamw", "adamw", "lion", "muon", "adafactor"
STATES = (), (), (), ("--optimizer-bits", 8), ("--optimizer-bits", 4)
MORE = 1, 1, 2  # chunks of each rank
CLIPPED = (), ("--clip-norm", 0.05), ("--grad-norm",)
OTHERS = (), (), ("--ema", 0.9), ("--weight-decay", 0.1, "--no-decay-1d")
# A sum of all tokens is divided between layers, one of half of them is small.
VOCABULARY, WIDTH, HIDDEN, LENGTH, BATCH, HEADS = 64, 48, 64, 32, 4, 4
CHANNELS, INNER, SIDE, CLASSES = 16, 256, 8, 10


def attention(x: str, node, shapes: dict) -> list:
    """Returns the nodes of an attention of all tokens, whose result is `attended`. Projections have biases."""
    shapes |= {name: (WIDTH, WIDTH) for name in "qkvo"} | {f"{name}.bias": (WIDTH,) for name in "qkv"}
    nodes = []
    for name, order in ("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]):
        nodes += [
            node("MatMul", [x, name], [f"{name}.m"]), node("Add", [f"{name}.m", f"{name}.bias"], [f"{name}.b"]),
            node("Reshape", [f"{name}.b", "heads"], [f"{name}.r"]), node("Transpose", [f"{name}.r"], [f"{name}.t"], perm=order),
        ]  # fmt: skip
    return nodes + [
        node("MatMul", ["q.t", "k.t"], ["scores"]), node("Softmax", ["scores"], ["probabilities"]), node("MatMul", ["probabilities", "v.t"], ["mixed"]),
        node("Transpose", ["mixed"], ["mixed.t"], perm=[0, 2, 1, 3]), node("Reshape", ["mixed.t", "features"], ["mixed.r"]),
        node("MatMul", ["mixed.r", "o"], ["projected"]), node("Add", [x, "projected"], ["attended"]),
    ]  # fmt: skip


def tied_model(path: Path):
    """An embedding that is also the head, an attention, and residual layers with norms and dropout between them."""
    random, node = np.random.default_rng(3), helper.make_node
    shapes = {"table": (VOCABULARY, WIDTH)}
    nodes, value = [node("Gather", ["table", "ids"], ["embedded"]), *attention("embedded", node, shapes)], "attended"
    for i in range(2):
        shapes |= {f"up{i}": (WIDTH, HIDDEN), f"bias{i}": (HIDDEN,), f"down{i}": (HIDDEN, WIDTH), f"scale{i}": (WIDTH,), f"shift{i}": (WIDTH,)}
        nodes += [
            node("LayerNormalization", [value, f"scale{i}", f"shift{i}"], [f"n{i}"], axis=-1),
            node("MatMul", [f"n{i}", f"up{i}"], [f"m{i}"]), node("Add", [f"m{i}", f"bias{i}"], [f"b{i}"]),
            node("Gelu", [f"b{i}"], [f"g{i}"]), node("MatMul", [f"g{i}", f"down{i}"], [f"d{i}"]),
            node("Dropout", [f"d{i}", "ratio", "training"], [f"p{i}"]), node("Add", [value, f"p{i}"], [f"x{i + 1}"]),
        ]  # fmt: skip
        value = f"x{i + 1}"
    nodes += [node("Transpose", ["table"], ["head"], perm=[1, 0]), node("MatMul", [value, "head"], ["logits"])]
    weights = [numpy_helper.from_array((random.standard_normal(shape) / 4).astype(np.float32), name) for name, shape in shapes.items()]
    weights += [numpy_helper.from_array(np.array([0, 0, HEADS, -1]), "heads"), numpy_helper.from_array(np.array([0, 0, -1]), "features")]
    weights += [numpy_helper.from_array(np.float32(0.2), "ratio"), numpy_helper.from_array(np.array(True), "training")]
    shape = ("batch", LENGTH)
    graph = helper.make_graph(nodes, "tied", [helper.make_tensor_value_info("ids", TensorProto.INT64, shape)],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (*shape, VOCABULARY))], weights)  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def convolutional_model(path: Path):
    """A residual block with a depthwise convolution and two of 1 x 1, batch norms, and a head with a number of classes that 4 does not divide."""
    random, node = np.random.default_rng(3), helper.make_node
    shapes = {"stem": (CHANNELS, 3, 3, 3), "depthwise": (CHANNELS, 1, 3, 3), "expand": (INNER, CHANNELS, 1, 1), "project": (CHANNELS, INNER, 1, 1),
              "head": (CLASSES, CHANNELS), "bias": (CLASSES,)}  # fmt: skip
    weights = [numpy_helper.from_array((random.standard_normal(shape) / 4).astype(np.float32), name) for name, shape in shapes.items()]
    nodes = []

    def convolve(x: str, name: str, groups: int = 1) -> str:
        channels, padding = shapes[name][0], shapes[name][-1] // 2
        nodes.append(node("Conv", [x, name], [f"{name}.y"], pads=[padding] * 4, group=groups))
        norm = [f"{name}.{part}" for part in ("scale", "shift", "mean", "variance")]
        weights.extend(numpy_helper.from_array(np.full(channels, i % 3 == 0, np.float32), part) for i, part in enumerate(norm))
        nodes.append(node("BatchNormalization", [f"{name}.y", *norm], [f"{name}.z", f"{name}.m", f"{name}.v"], training_mode=1))
        return f"{name}.z"

    nodes.append(node("Relu", [convolve("x", "stem")], ["stem.r"]))
    convolve(convolve(convolve("stem.r", "depthwise", CHANNELS), "expand"), "project")
    nodes += [
        node("Add", ["stem.r", "project.z"], ["sum"]), node("Relu", ["sum"], ["r"]), node("ReduceMean", ["r", "axes"], ["pooled"], keepdims=0),
        node("Gemm", ["pooled", "head", "bias"], ["logits"], transB=1),
    ]  # fmt: skip
    weights.append(numpy_helper.from_array(np.array([2, 3]), "axes"))
    graph = helper.make_graph(nodes, "convolutions", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 3, SIDE, SIDE))],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ("batch", CLASSES))], weights)  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def images(rows: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {"x": random.standard_normal((rows, 3, SIDE, SIDE)).astype(np.float32), "labels": random.integers(0, CLASSES, rows)}


def tokens(rows: int) -> dict[str, np.ndarray]:
    """Returns sequences with labels of which a quarter is ignored."""
    random = np.random.default_rng(5)
    ids = random.integers(0, VOCABULARY, (rows, LENGTH))
    labels = (3 * ids + 1) % VOCABULARY
    return {"ids": ids, "labels": np.where(random.random(labels.shape) < 0.25, -100, labels)}


def draw(random: Random, models: list[str]) -> Combination:
    drawn = Combination(
        model=random.choice(models), ranks=random.choice(DATA), shard=random.choice(SHARDS), accumulated=random.choice(ACCUMULATED),
        precision=random.choice(PRECISIONS), optimizer=random.choice(OPTIMIZERS), state=random.choice(STATES), clipped=random.choice(CLIPPED),
        others=random.choice(OTHERS), tensor=random.choice(TENSOR), emulated=False, recomputed=random.choice(("none", "none", "all")),
        more=random.choice(MORE),
    )  # fmt: skip
    context = 1 if drawn.model in ("digits", "convolutions") else 2 if drawn.tensor == 1 else random.choice(CONTEXT)
    tensor = 2 if drawn.tensor * context == 1 else drawn.tensor
    return replace(drawn, context=context, tensor=tensor)


def check(runner: Runner, drawn: Combination):
    """Raises `AssertionError` if the ranks do not have the bits of one rank."""
    from launcher import check_equal

    if drawn.reference not in runner.known:
        runner.known[drawn.reference] = runner.state(drawn, 1)
    wanted = runner.known[drawn.reference]
    assert len(set(wanted[0].split("'loss': "))) > 3, "nothing is trained"
    found = runner.state(drawn, drawn.all_ranks, "--shard", drawn.shard, tensor=drawn.tensor, context=drawn.context)
    check_equal(found, wanted, str(drawn))


def run(models: dict, draw, check, first: int, count: int, seed: int, verbose: bool) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), models)
        for number in range(first, first + count):
            drawn = draw(Random(f"{seed} {number}"), sorted(models))
            result = "passed"
            try:
                check(runner, drawn)
            except (AssertionError, SystemExit, subprocess.TimeoutExpired) as error:  # The failing command has printed the reason.
                result = str(error)[-3000:]
                failed += 1
            if verbose or result != "passed":
                print(f"{number}: {drawn}: {result}", flush=True)
    print(f"{count} combinations of seed {seed}, {failed} failed")
    return 1 if failed else 0


def make_models(folder: Path) -> dict:
    """Writes the models to a folder."""
    from models import DIGITS, SMALL_GPT2, Example  # imported here, because the module needs the compiler's path

    tied, convolutions = folder / "tied.onnx", folder / "convolutions.onnx"
    tied_model(tied)
    convolutional_model(convolutions)
    flags = ("--dim", f"batch={BATCH}", "--labels", "labels", "--loss")
    return {
        "convolutions": Example("convolutions", convolutions, BATCH, images, (*flags, "cross-entropy"), {}), "digits": DIGITS,
        "gpt2": SMALL_GPT2, "tied": Example("tied", tied, BATCH, tokens, (*flags, "causal-lm"), {}),
    }  # fmt: skip


def main(description: str, draw, check) -> int:
    """Runs a command that draws combinations and checks each of them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mtc", type=Path, default=Path("build/release/bin/mtc"), help="compiler to test")
    parser.add_argument("--count", type=int, default=60, help="how many combinations")
    parser.add_argument("--first", type=int, default=0, help="number of the first combination")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print each combination")
    options = parser.parse_args()
    os.environ["MTC"] = str(options.mtc.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return run(make_models(Path(folder)), draw, check, options.first, options.count, options.seed, options.verbose)


if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], draw, check))
