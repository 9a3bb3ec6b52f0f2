# RUN: %python %s %t
"""Several ranks train bit-identically to one rank with random operators, batch normalization and steps without valid targets."""

import batch_norm
import numpy as np
import onnx
from launcher import compare, launcher, ranks_program, state_of
from models import DIGITS, Example, digits
from onnx import helper, numpy_helper
from program import MTC, Program, own_folder, read_metrics, run, same_bits
from safetensors.numpy import load_file

folder = own_folder()

# Dropout and noise depend on the micro-batch, not on the rank.
model = onnx.load(DIGITS.model)
nodes = list(model.graph.node)
last = next(i for i, node in enumerate(nodes) if node.input[0] == "relu_1")
nodes[last].input[0] = "noisy"
nodes[last:last] = [
    helper.make_node("Dropout", ["relu_1", "ratio", "training"], ["dropped"]),
    helper.make_node("RandomNormalLike", ["dropped"], ["noise"], scale=0.1),
    helper.make_node("Add", ["dropped", "noise"], ["noisy"]),
]
del model.graph.node[:]
model.graph.node.extend(nodes)
for name, value in ("ratio", np.float32(0.3)), ("training", np.bool_(True)):
    model.graph.initializer.append(numpy_helper.from_array(np.array(value), name))
onnx.save(model, folder / "random.onnx")
RANDOM = Example("random", folder / "random.onnx", DIGITS.batch, digits, DIGITS.flags, DIGITS.rates)
several = compare(folder, "random", RANDOM, "--optimizer", "sgd", "--lr", 0.1, rows=1000)
assert state_of(several, "--seed", 1)[0] != state_of(several, "--seed", 2)[0], "the loss does not depend on random numbers"

# Batch normalization uses the statistics of a micro-batch. All ranks' micro-batches update its running statistics, in order.


def images(rows: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {"x": random.normal(0.5, 2, (rows, 2, 3, 3)).astype(np.float32), "labels": random.integers(0, 3, rows)}


flags = ("--dim", f"batch={batch_norm.BATCH}", "--loss", "cross-entropy", "--labels", "labels")
for opset in 11, 17:  # Before opset 14, the node also returns the batch statistics.
    onnx.save(batch_norm.model(True, opset=opset, dropout=0.2), folder / f"norm{opset}.onnx")
    NORM = Example("norm", folder / f"norm{opset}.onnx", batch_norm.BATCH, images, flags, {})
    several = compare(folder, f"norm{opset}", NORM, "--optimizer", "sgd", "--lr", 0.1, rows=100)
moved = load_file(next(several.folder.glob("ranks3.saved/*.safetensors")))
for name in "norm.running_mean", "norm.running_var":
    assert not np.allclose(moved[name], batch_norm.weights()[name], rtol=0.2), name
# Nodes with shared statistics update them one after the other, in 16 bits too.
shared = onnx.load(folder / "norm17.onnx")
(node,) = (node for node in shared.graph.node if node.op_type == "BatchNormalization")
again = onnx.NodeProto()
again.CopyFrom(node)
node.output[0] = again.input[0] = "once"
del again.output[1:]
again.output.extend(["again_mean", "again_variance"])
shared.graph.node.insert(list(shared.graph.node).index(node) + 1, again)
onnx.save(shared, folder / "shared.onnx")
SHARED = Example("shared", folder / "shared.onnx", batch_norm.BATCH, images, flags, {})
compare(folder, "shared", SHARED, "--precision", "bf16", "--optimizer", "sgd", "--lr", 0.1, rows=100, ranks=(2,))

# --batch-norm sync normalizes with the statistics of all ranks, as one rank with the whole batch does.
onnx.save(batch_norm.model(True, opset=17), folder / "sync.onnx")
sizes = {}
for ranks in 1, 2:
    batch = 2 * batch_norm.BATCH // ranks
    given = ("--dim", f"batch={batch}", "--loss", "cross-entropy", "--labels", "labels", "--optimizer", "sgd", "--lr", 0.1)
    SYNC = Example("sync", folder / "sync.onnx", batch, images, given, {})
    each = ranks_program(
        folder, SYNC, ranks, "--batch-norm", "sync", rows=100, name="sync", micro_batches=3 * ranks, file=f"sync{ranks}-"
    )
    state_of(each, "--no-shuffle")
    run_of = each.folder / each.path.name
    sizes[ranks] = load_file(next(run_of.with_suffix(".saved").glob("*.safetensors"))), read_metrics(run_of.with_suffix(".jsonl"))
for name, value in sizes[1][0].items():
    assert np.allclose(value, sizes[2][0][name], rtol=1e-4, atol=1e-6), (name, value, sizes[2][0][name])
losses = [[line["loss"] for line in metrics] for _, metrics in sizes.values()]
assert np.allclose(*losses, rtol=1e-5), losses
said = run([MTC, "compile", folder / "sync.onnx", *given, "--batch-norm", "sync", "-o", "refused"], folder, code=1).stderr
assert "--batch-norm sync: needs --ranks; without ranks, use --batch-norm train" in said, said


# Ranks without valid targets take part in the step: here, rank 1 of 2 has none in the first step.
def untargeted(rows: int) -> dict[str, np.ndarray]:
    data = digits(rows)
    for micro_batch in 1, 3, 5:
        data["labels"][32 * micro_batch : 32 * (micro_batch + 1)] = -100
    return data


UNTARGETED = Example("untargeted", DIGITS.model, DIGITS.batch, untargeted, DIGITS.flags, DIGITS.rates)
sgd = ("--optimizer", "sgd", "--lr", 0.1)
compare(folder, "untargeted", UNTARGETED, *sgd, rows=1000, run=("--no-shuffle",))

# If a step has no valid target, all ranks stop with the same error, or continue with --on-nan continue; with loss scaling they continue by
# default. Such a step changes no weight.
nothing = digits(1000)
nothing["labels"][: 32 * 6] = -100
for name, flags, going_on in ("untargeted", (), ("--on-nan", "continue")), ("untargeted-f16", ("--precision", "f16"), ()):
    states = []
    for ranks, words in (1, ()), (2, launcher(2)):
        path = ranks_program(folder, UNTARGETED, ranks, *sgd, *flags, rows=1000, name=name).path
        each = Program(path, nothing, words)
        if going_on:
            said = each.run("--no-shuffle", "--steps", 2, code=2).stderr
            assert said.count("the loss of step 1 is nan") == 1, said
        metrics = each.folder / "nothing.jsonl"
        losses = {}
        for steps in 1, 2:
            metrics.unlink(missing_ok=True)
            files = ("--metrics", metrics, "--export-weights", f"nothing{steps}.safetensors")
            said = each.run("--no-shuffle", "--steps", steps, *going_on, *files).stderr
            assert said.count("warning: the loss of step 1 is nan") == said.count("warning:") == 1, said
            losses[steps] = [line["loss"] for line in read_metrics(metrics)]
        assert losses[1] == [None] and losses[2][1] > 0, losses
        first, second = (load_file(each.folder / f"nothing{steps}.safetensors") for steps in (1, 2))
        initial = load_file(path.with_suffix(".weights.safetensors"))
        assert same_bits(first, {n: initial[n] for n in first}) and not same_bits(first, second), name
        assert all(np.isfinite(a).all() for a in second.values()), name
        states.append((losses, {n: a.tobytes() for n, a in second.items()}))
    assert str(states[0]) == str(states[1]), [losses for losses, _ in states]
