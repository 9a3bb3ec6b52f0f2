# RUN: %python %s %t
"""Frozen vectors, such as biases, have the values of --weights, not those of the model's file. Scalars are constants, which the compiler compares
with those of --weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, losses, own_folder, read_metrics, run
from safetensors.numpy import save_file

WIDTH, ROWS, LAYERS = 16, 32, 3
folder = own_folder()
random = np.random.default_rng(0)


def values_of() -> dict[str, np.ndarray]:
    values = {}
    for i in range(LAYERS):
        values[f"layers.{i}.weight"] = (random.standard_normal((WIDTH, WIDTH)) / 4).astype(np.float32)
        values[f"layers.{i}.bias"] = random.standard_normal(WIDTH).astype(np.float32)
    return values


def write_model(name: str, values: dict[str, np.ndarray], scale: float | None = None):
    nodes, value = [], "x"
    if scale is not None:
        values = values | {"scale": np.asarray(scale, np.float32)}
        nodes.append(helper.make_node("Mul", ["x", "scale"], ["scaled"]))
        value = "scaled"
    for i in range(LAYERS):
        nodes.append(helper.make_node("MatMul", [value, f"layers.{i}.weight"], [f"m{i}"]))
        nodes.append(helper.make_node("Add", [f"m{i}", f"layers.{i}.bias"], [f"a{i}"]))
        value = f"a{i}"
        if i + 1 < LAYERS:
            nodes.append(helper.make_node("Tanh", [value], [f"t{i}"]))
            value = f"t{i}"
    # Resize needs the values of its scales.
    nodes += [
        helper.make_node("Unsqueeze", [value, "axis"], ["images"]),
        helper.make_node("Resize", ["images", "", "scales"], ["larger"], mode="nearest"),
        helper.make_node("ReduceMean", ["larger", "axis"], ["y"], keepdims=0),
    ]
    values = values | {"axis": np.asarray([1]), "scales": np.asarray([1, 2, 1], np.float32)}
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", WIDTH])],
        [numpy_helper.from_array(value, key) for key, value in values.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / name)
    return folder / name


DATA = {"x": random.standard_normal((ROWS, WIDTH)).astype(np.float32), "labels": random.standard_normal((ROWS, WIDTH)).astype(np.float32)}
FLAGS = ("--dim", "batch=8", "--loss", "mse", "--optimizer", "adamw", "--lr", "1e-2")
given, other = values_of(), values_of()
save_file(given, folder / "given.safetensors")
expected_model, model = write_model("expected.onnx", given), write_model("model.onnx", other)


def losses_of(program: Program) -> list[float]:
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    said = program.run("--steps", 4, "--no-shuffle", "--metrics", log).stderr
    assert "ignored" not in said, said
    return losses(read_metrics(log))


for i, flags in enumerate([("--lora", "*:rank=2", "--freeze", "*"), ("--lora", "layers.*.weight:rank=2"), ("--freeze", "*.bias"),
                           ("--train", "layers.0.weight"), ("--lora", "*:rank=2", "--freeze", "*", "--frozen-bits", "4")]):  # fmt: skip
    expected = losses_of(compile(expected_model, folder, DATA, *FLAGS, *flags, name=f"expected{i}"))
    found = losses_of(compile(model, folder, DATA, *FLAGS, *flags, "--weights", folder / "given.safetensors", name=f"found{i}"))
    assert found == expected, (flags, found, expected)
    assert losses_of(compile(model, folder, DATA, *FLAGS, *flags, name=f"own{i}")) != expected

# The text of a stage that was made without the flag has the vectors as constants.
FROZEN = ("--lora", "*:rank=2", "--freeze", "*")
run([MTC, "compile", model, *FLAGS, *FROZEN, "--emit=training", "-o", folder / "training.mlir"], folder)
said = run([MTC, "compile", folder / "training.mlir", "--weights", folder / "given.safetensors", "-o", folder / "x"], folder, code=1).stderr
assert said.count("is a constant of the program, with another value in the model's file") == LAYERS and not (folder / "x").exists(), said

# A frozen number stays a constant, which may be an attribute of an operator.
scaled = write_model("scaled.onnx", given, scale=2)
for scale, code in ((2, 0), (3, 1)):
    save_file(given | {"scale": np.asarray(scale, np.float32)}, folder / "scaled.safetensors")
    said = run([MTC, "compile", scaled, *FLAGS, *FROZEN, "--weights", folder / "scaled.safetensors", "-o", folder / f"scaled{scale}"], folder, code=code).stderr
    assert ("tensor 'scale' is a constant of the program, with another value" in said) == bool(code), said
