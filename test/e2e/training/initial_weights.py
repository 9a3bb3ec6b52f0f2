# RUN: %python %s %t
"""`mtc compile --init` draws initial weights by the layers that parameters belong to, with the bounds and deviations of PyTorch's modules. They are a
function of the seed, equal for every target and number of ranks. Parameters of no known layer are refused unless a pattern initializes them."""

import os
import sys
from pathlib import Path

import numpy as np
import onnx
from launcher import launcher
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, own_folder, run
from safetensors.numpy import load_file

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
import mtc  # noqa: E402

os.environ["MTC"] = MTC
folder = own_folder()
rng = np.random.default_rng(0)
LENGTH, IDS, WIDTH, UNITS, CHANNELS, CLASSES = 6, 300, 24, 40, 32, 50


def save(name: str, nodes: list, inputs: list, values: dict):
    graph = helper.make_graph(
        nodes, name, inputs, [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(np.asarray(value), key) for key, value in values.items()])  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def zeros(*shape: int) -> np.ndarray:
    """Values of the file, which no drawn weight keeps."""
    return np.full(shape, 7, np.float32)


node = helper.make_node
images = save(
    "images",
    [node("Conv", ["x", "conv.weight", "conv.bias"], ["c"], pads=[1, 1, 1, 1]),
     node("BatchNormalization", ["c", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"], ["b", "m", "v"], training_mode=1),
     node("Relu", ["b"], ["r"]),
     node("Conv", ["r", "depthwise.weight"], ["d"], group=CHANNELS, pads=[1, 1, 1, 1]),
     node("ConvTranspose", ["d", "up.weight", "up.bias"], ["u"], strides=[2, 2]),
     node("Flatten", ["u"], ["f"]),
     node("Gemm", ["f", "fc.weight", "fc.bias"], ["h"], transB=1),
     node("LayerNormalization", ["h", "ln.weight", "ln.bias"], ["n"]),
     node("MatMul", ["n", "head.weight"], ["logits"])],
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 8, 8])],
    {"conv.weight": zeros(CHANNELS, 3, 3, 3), "conv.bias": zeros(CHANNELS), "bn.weight": zeros(CHANNELS), "bn.bias": zeros(CHANNELS),
     "bn.running_mean": zeros(CHANNELS), "bn.running_var": zeros(CHANNELS), "depthwise.weight": zeros(CHANNELS, 1, 3, 3),
     "up.weight": zeros(CHANNELS, 4, 2, 2), "up.bias": zeros(4), "fc.weight": zeros(UNITS, 1024), "fc.bias": zeros(UNITS), "ln.weight": zeros(UNITS),
     "ln.bias": zeros(UNITS), "head.weight": zeros(UNITS, CLASSES)})  # fmt: skip


def sequences(name: str, *extra: str):
    """Writes an embedding, an LSTM, a GRU, and an output layer that is tied to a second embedding, with further parameters."""
    values = {"emb.weight": zeros(IDS, WIDTH), "tied.weight": zeros(CLASSES, WIDTH), "squeezed": [1], "last": [LENGTH - 1], "axis": [0],
              "lstm.w": zeros(1, 4 * UNITS, WIDTH), "lstm.r": zeros(1, 4 * UNITS, UNITS), "lstm.b": zeros(1, 8 * UNITS),
              "gru.w": zeros(1, 3 * WIDTH, UNITS), "gru.r": zeros(1, 3 * WIDTH, WIDTH), "gru.b": zeros(1, 6 * WIDTH)}  # fmt: skip
    nodes = [node("Gather", ["emb.weight", "ids"], ["e1"]), node("Gather", ["tied.weight", "kinds"], ["e2"]), node("Add", ["e1", "e2"], ["e"])]
    rows = "e"
    for each in extra:
        values[each] = zeros(1, LENGTH, WIDTH)
        nodes.append(node("Add", [rows, each], [f"{each}.sum"]))
        rows = f"{each}.sum"
    nodes += [
        node("Transpose", [rows], ["t"], perm=[1, 0, 2]),
        node("LSTM", ["t", "lstm.w", "lstm.r", "lstm.b"], ["hs"], hidden_size=UNITS), node("Squeeze", ["hs", "squeezed"], ["h"]),
        node("GRU", ["h", "gru.w", "gru.r", "gru.b"], ["gs"], hidden_size=WIDTH, linear_before_reset=1), node("Squeeze", ["gs", "squeezed"], ["g"]),
        node("Gather", ["g", "last"], ["picked"]), node("Squeeze", ["picked", "axis"], ["p"]),
        node("Transpose", ["tied.weight"], ["output"], perm=[1, 0]), node("MatMul", ["p", "output"], ["logits"])]  # fmt: skip
    ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", LENGTH]) for n in ("ids", "kinds")]
    return save(name, nodes, ids, values)


FLAGS = ("--dim", "batch=8", "--loss", "cross-entropy", "--optimizer", "sgd")
IMAGES = {"x": rng.standard_normal((16, 3, 8, 8), np.float32), "labels": rng.integers(0, CLASSES, 16)}
TOKENS = {"ids": rng.integers(0, IDS, (16, LENGTH)), "kinds": rng.integers(0, CLASSES, (16, LENGTH)), "labels": rng.integers(0, CLASSES, 16)}


def drawn(program: Program, *flags) -> dict[str, np.ndarray]:
    """Returns the initial weights: those after a step with the learning rate 0. Training changes the running statistics."""
    file = folder / "drawn.safetensors"
    program.run("--steps", 1, "--lr", 0, "--no-shuffle", "--export-weights", file, *flags)
    return {name: array for name, array in load_file(file).items() if "running" not in name}


def uniform(values: np.ndarray, bound: float, name: str) -> None:
    """Checks the range, mean and deviation: each by 5 standard errors of a uniform distribution."""
    count = values.size
    assert np.abs(values).max() <= bound * (1 + 1e-6), (name, np.abs(values).max(), bound)
    assert np.abs(values).max() >= bound * (1 - 12 / count), (name, np.abs(values).max(), bound)
    assert abs(values.mean()) <= 5 * bound / np.sqrt(3 * count), (name, values.mean())
    assert abs(values.std() / bound * np.sqrt(3) - 1) <= 5 * np.sqrt(0.2 / count), (name, values.std(), bound)


def normal(values: np.ndarray, deviation: float, name: str) -> None:
    count = values.size
    assert abs(values.mean()) <= 5 * deviation / np.sqrt(count), (name, values.mean())
    assert abs(values.std() / deviation - 1) <= 5 * np.sqrt(0.5 / count), (name, values.std())
    assert 2.5 * deviation <= np.abs(values).max() <= 6 * deviation or count < 500, (name, np.abs(values).max())


# The defaults of PyTorch's modules: 1 / sqrt(fan in), of a transposed convolution by its second axis.
one = compile(images, folder, IMAGES, *FLAGS, "--init", "pytorch", name="images")
weights = drawn(one)
for name, fan in (("conv.weight", 27), ("conv.bias", 27), ("depthwise.weight", 9), ("up.weight", 16), ("fc.weight", 1024), ("fc.bias", 1024),
                  ("head.weight", UNITS)):  # fmt: skip
    uniform(weights[name], fan**-0.5, name)
assert np.abs(weights["up.bias"]).max() <= 16**-0.5
for name in ("bn.weight", "ln.weight"):
    assert (weights[name] == 1).all(), name
for name in ("bn.bias", "ln.bias"):
    assert (weights[name] == 0).all(), name

library = mtc.compile(images, folder / "library", dims={"batch": 8}, loss="cross-entropy", optimizer="sgd", init="pytorch")
state = mtc.Trainer(library).state_dict()
assert (state["bn.running_mean"] == 0).all() and (state["bn.running_var"] == 1).all()
assert all(np.array_equal(state[name], weights[name]) for name in weights)
assert not np.array_equal(mtc.Trainer(library, seed=5).state_dict()["fc.weight"], state["fc.weight"])

two = compile(sequences("sequences"), folder, TOKENS, *FLAGS, "--init", "pytorch", name="sequences")
recurrent = drawn(two)
normal(recurrent["emb.weight"], 1, "emb.weight")
normal(recurrent["tied.weight"], 1, "tied.weight")
for name, units in (("lstm", UNITS), ("gru", WIDTH)):
    for each in ("w", "r", "b"):
        uniform(recurrent[f"{name}.{each}"], units**-0.5, f"{name}.{each}")

# Weights are a function of the seed: another seed, the same again, a resumed run, another target, and several ranks.
other = drawn(one, "--seed", 7)
assert not np.array_equal(other["fc.weight"], weights["fc.weight"])
uniform(other["fc.weight"], 1024**-0.5, "another seed")
assert all(np.array_equal(drawn(one, "--seed", 7)[name], other[name]) for name in other)
for name, flags, runner in (("cuda", ("--target", "cuda", "--emulate"), ()), ("ranks", ("--ranks", "2", "--threads", "1"), launcher(2))):
    program = Program(compile(images, folder, IMAGES, *FLAGS, *flags, "--init", "pytorch", name=name).path, IMAGES, runner)
    found = drawn(program, "--seed", 7)
    assert all(np.array_equal(found[each], other[each]) for each in other), name
sharded = Program(compile(images, folder, IMAGES, *FLAGS, "--ranks", "2", "--shard", "parameters", "--threads", "1", "--init", "pytorch",
                          name="sharded").path, IMAGES, launcher(2))  # fmt: skip
found = drawn(sharded, "--seed", 7)
assert all(np.array_equal(found[each], other[each]) for each in other)

# Other forms: of weights, and of the parameters that a pattern names.
found = drawn(compile(images, folder, IMAGES, *FLAGS, "--init", "normal=0.02", name="normal"))
for name in ("conv.weight", "depthwise.weight", "up.weight", "fc.weight", "head.weight"):
    normal(found[name], 0.02, name)
for name in ("conv.bias", "up.bias", "fc.bias", "bn.bias", "ln.bias"):
    assert (found[name] == 0).all(), name
assert (found["bn.weight"] == 1).all() and (found["ln.weight"] == 1).all()
fans = {"conv.weight": (27, 288), "fc.weight": (1024, UNITS), "head.weight": (UNITS, CLASSES)}
for form, check, number in (("xavier-uniform", uniform, lambda i, o: (6 / (i + o)) ** 0.5), ("xavier-normal", normal, lambda i, o: (2 / (i + o)) ** 0.5),
                            ("kaiming-uniform", uniform, lambda i, o: (6 / i) ** 0.5), ("kaiming-normal", normal, lambda i, o: (2 / i) ** 0.5)):  # fmt: skip
    found = drawn(compile(images, folder, IMAGES, *FLAGS, "--init", form, name=form))
    for name, (fan_in, fan_out) in fans.items():
        check(found[name], number(fan_in, fan_out), f"{form} {name}")
    assert (found["fc.bias"] == 0).all()
found = drawn(compile(images, folder, IMAGES, *FLAGS, "--init", "pytorch", "--init", "fc.*:uniform=0.5", "--init", "fc.bias:constant=-2",
                      "--init", "conv.weight:kaiming-normal", name="patterns"))  # fmt: skip
uniform(found["fc.weight"], 0.5, "fc.weight")
normal(found["conv.weight"], (2 / 27) ** 0.5, "conv.weight")
assert (found["fc.bias"] == -2).all() and np.array_equal(found["head.weight"], weights["head.weight"])
kept = drawn(compile(images, folder, IMAGES, *FLAGS, "--init", "fc.weight:pytorch", name="partial"))
assert np.array_equal(kept["fc.weight"], weights["fc.weight"]) and (kept["head.weight"] == 7).all()

# A parameter of no known layer is refused, by name, until a pattern initializes it.
path = sequences("positions", "position")
shown = run([MTC, "compile", path, *FLAGS, "--init", "pytorch", "-o", folder / "positions"], folder, code=1).stderr
assert "--init pytorch: no layer is known to which these parameters belong: 'position' (tensor<1x6x24xf32>); specify" in shown, shown
found = drawn(compile(path, folder, TOKENS, *FLAGS, "--init", "pytorch", "--init", "position:normal=0.02", name="positions"))
normal(found["position"], 0.02, "position")
for init, problem in (
    (["normal"], "--init normal: normal: expected normal=N with the standard deviation"),
    (["normal=-1"], "--init normal=-1: normal=-1: expected"),
    (["orthogonal"], "--init orthogonal: 'orthogonal': invalid form; expected one of pytorch, normal=N"),
    (["pytorch=1"], "--init pytorch=1: pytorch: takes no number"),
    (["constant=0"], "--init constant=0: constant=0: needs a pattern, such as '*:constant=0'"),
    (["pytorch", "normal=1"], "has two forms without a pattern"),
    (["pytorch", "nothing.*:normal=1"], "--init nothing.*:normal=1: no parameter has a name that matches"),
    (["pytorch", "fc.bias:xavier-normal"], "--init fc.bias:xavier-normal: parameter 'fc.bias' (tensor<40xf32>) is not the weight of a layer"),
):
    flags = [word for each in init for word in ("--init", each)]
    shown = run([MTC, "compile", images, *FLAGS, *flags, "-o", folder / "refused"], folder, code=1).stderr
    assert problem in shown, (init, shown)
