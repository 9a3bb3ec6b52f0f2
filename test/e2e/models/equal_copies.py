# RUN: %python %s %t
"""Optimizers and other exporters write tied weights as copies with separate names: an output layer as the transposed embedding, and a layer
that the module calls twice. --tie trains them like the file with the ties, and all files of a run contain each copy under its own name."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run, same_bits
from safetensors.numpy import load_file, save_file

random = np.random.default_rng(0)
BATCH, LENGTH, TOKENS, WIDTH, STEPS = 4, 6, 12, 8, 6
FLAGS = ("--loss", "cross-entropy", "--optimizer", "adamw", "--lr", "1e-2")
folder = own_folder()


def normal(*shape) -> np.ndarray:
    return (random.standard_normal(shape) * 0.4).astype(np.float32)


WEIGHTS = {"wte": normal(TOKENS, WIDTH), "h.0.weight": normal(WIDTH, WIDTH), "h.0.bias": normal(WIDTH), "h.0.shift": np.zeros(WIDTH, np.float32)}
COPIES = {"lm_head": ("wte", True), "h.1.weight": ("h.0.weight", False), "h.1.bias": ("h.0.bias", False), "h.1.shift": ("h.0.shift", False)}


def save(name: str, apart: bool) -> Path:
    """Saves a model of two layers with separate weights, or with the first layer's weights in both."""
    values = dict(WEIGHTS)
    nodes = [helper.make_node("Gather", ["wte", "ids"], ["x0"])]
    if apart:
        values |= {copy: WEIGHTS[kept].T.copy() if turned else WEIGHTS[kept] for copy, (kept, turned) in COPIES.items()}
    else:
        nodes.append(helper.make_node("Transpose", ["wte"], ["lm_head"], perm=[1, 0]))
    for layer in (0, 1):
        own = layer if apart else 0
        nodes += [
            helper.make_node("MatMul", [f"x{layer}", f"h.{own}.weight"], [f"m{layer}"]),
            helper.make_node("Add", [f"m{layer}", f"h.{own}.bias"], [f"b{layer}"]),
            helper.make_node("Add", [f"b{layer}", f"h.{own}.shift"], [f"s{layer}"]),
            helper.make_node("Tanh", [f"s{layer}"], [f"x{layer + 1}"]),
        ]
    nodes.append(helper.make_node("MatMul", ["x2", "lm_head"], ["logits"]))
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [BATCH, LENGTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [BATCH, LENGTH, TOKENS])],
        [numpy_helper.from_array(value, key) for key, value in values.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / f"{name}.onnx")
    return folder / f"{name}.onnx"


IDS = random.integers(0, TOKENS, (BATCH * STEPS, LENGTH))
DATA = {"ids": IDS, "labels": random.integers(0, TOKENS, (BATCH * STEPS, LENGTH))}
TIED, APART = save("tied", False), save("apart", True)
PAIRS = [word for copy, (kept, _) in COPIES.items() for word in ("--tie", f"{kept}={copy}")]


def initializers(file: bytes) -> dict[str, np.ndarray]:
    return {i.name: numpy_helper.to_array(i) for i in onnx.load_from_string(file).graph.initializer}


def with_copies(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return values | {copy: np.ascontiguousarray(values[kept].T) if turned else values[kept] for copy, (kept, turned) in COPIES.items()}


reference = compile(TIED, folder, DATA, *FLAGS, name="reference")
expected = losses(reference.train(STEPS))
trained = initializers(reference.exported("reference-trained", "--steps", STEPS, "--no-shuffle"))
assert all(np.abs(trained[name] - value).max() > 1e-3 for name, value in WEIGHTS.items())

# Without a flag, the copies are trained separately, and a message suggests --tie.
plain = compile(APART, folder, DATA, *FLAGS, name="plain")
assert abs(losses(plain.train(STEPS))[-1] - expected[-1]) > 1e-3
for command in (("inspect", APART), ("compile", APART, *FLAGS, "-o", "plain", "--force")):
    told = run([MTC, *command], folder).stderr
    assert "'wte' and 'lm_head': equal elements, one transposed, trained separately" in told and "use --tie wte=lm_head" in told, told
    assert "2 parameters equal others: 'h.1.weight' = 'h.0.weight', 'h.1.bias' = 'h.0.bias'" in told and "Use --tie equal" in told, told

# Equal zeros are no evidence of a tie.
told = run([MTC, "inspect", APART, "--tie", "equal"], folder)
assert "not tied, because parameters of one value, such as zeros, may be equal by chance: 'h.1.shift'" in told.stderr, told.stderr
assert "Tied        wte = lm_head, transposed" in told.stdout, told.stdout
assert "warning" not in told.stderr and "equal others" not in told.stderr, told.stderr
told = run([MTC, "inspect", APART, "--tie", "h.0.shift=h.1.shift"], folder).stderr
assert "initial values differ" not in told, told

recipe = folder / "recipe.toml"
recipe.write_text('tie = ["equal", "h.0.shift=h.1.shift"]\n')
stage = folder / "stage.mlir"
run([MTC, "compile", APART, *FLAGS, *PAIRS, "--emit", "forward", "-o", stage], folder)
for name, model, flags in (
    ("equal", APART, ("--tie", "equal", "--tie", "h.0.shift=h.1.shift")),
    ("pairs", APART, PAIRS),
    ("recipe", APART, ("--recipe", recipe)),
    ("stage", stage, ()),
):
    program = compile(model, folder, DATA, *(FLAGS if model == APART else FLAGS[2:]), *flags, name=name)
    saved, weights = folder / f"{name}-saved", folder / f"{name}.trained.safetensors"
    assert losses(program.train(STEPS, "--save", saved, "--overwrite", "--export-weights", weights)) == expected, name
    file = initializers(program.exported(f"{name}-trained", "--steps", STEPS, "--no-shuffle"))
    assert same_bits(file, with_copies(trained)), f"{name}: --export"
    assert same_bits(load_file(weights), with_copies(trained)), f"{name}: --export-weights"
    held = load_file(saved / json.loads((saved / "manifest.json").read_text())["file"])
    assert not held.keys() & COPIES.keys() and held.keys() >= WEIGHTS.keys(), (name, held.keys())
    assert same_bits(program.gradients("gradients"), reference.gradients("reference-gradients")), f"{name}: gradients"

# Flags accept either name of the weight.
for pattern in ("lm_head", "wte"):
    frozen = compile(APART, folder, DATA, *FLAGS, *PAIRS, "--freeze", pattern, name="frozen")
    values = initializers(frozen.exported("frozen-trained", "--steps", 2, "--no-shuffle"))
    assert (values["lm_head"] == WEIGHTS["wte"].T).all() and (values["wte"] == WEIGHTS["wte"]).all()
    assert (values["h.1.bias"] != WEIGHTS["h.0.bias"]).any()

# The file of --weights needs only one of the names, in the layout of the model file.
other = normal(WIDTH, TOKENS)
save_file({name: value for name, value in WEIGHTS.items() if name != "wte"} | {"lm_head": other}, folder / "other.safetensors")
still = compile(APART, folder, DATA, *FLAGS[:2], "--optimizer", "sgd", "--lr", "1e-30", *PAIRS, name="still")
values = initializers(still.exported("other", "--steps", 1, "--weights", folder / "other.safetensors"))
assert (values["lm_head"] == other).all() and (values["wte"] == other.T).all()

# Exceptions from `equal`.
told = run([MTC, "inspect", APART, "--tie", "equal", "--untie", "lm_head"], folder)
assert "lm_head, transposed" not in told.stdout and "h.0.bias = h.1.bias" in told.stdout, told.stdout
wrong = run([MTC, "compile", APART, *FLAGS, "--tie", "all"], folder, code=1).stderr
assert "--tie all: expected A=B, two parameter names, or equal" in wrong, wrong
