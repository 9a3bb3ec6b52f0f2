# RUN: %python %s %t
"""A model exported in f16 or bf16 trains bit-identically to the f32 model with the same weights, and is exported in its own types, with the
trained weights rounded. This also holds in any precision, and with frozen weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, losses, own_folder

ROWS, STEPS = 16, 6
TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f32": TensorProto.FLOAT}
folder = own_folder()
random = np.random.default_rng(0)
shapes = {"first": (32, 48), "bias": (48,), "second": (48, 10)}
# All three types represent these weights exactly.
weights = {name: (random.normal(0, 0.2, shape) * 128).round().astype(np.float32) / 128 for name, shape in shapes.items()}
data = {"x": random.normal(size=(STEPS * ROWS, 32)).astype(np.float32), "labels": random.integers(0, 10, STEPS * ROWS)}


def tensor(name: str, value: np.ndarray, kind: str) -> onnx.TensorProto:
    if kind == "bf16":
        bits = (value.view(np.uint32) >> 16).astype(np.uint16)
        assert not (value.view(np.uint32) & 0xFFFF).any()
        return helper.make_tensor(name, TYPES[kind], value.shape, bits.tobytes(), raw=True)
    return numpy_helper.from_array(value.astype({"f16": np.float16, "f32": np.float32}[kind]), name)


def model_of(kind: str):
    nodes = [
        helper.make_node("Cast", ["x"], ["narrow"], to=TYPES[kind]), helper.make_node("MatMul", ["narrow", "first"], ["m"]),
        helper.make_node("Add", ["m", "bias"], ["a"]), helper.make_node("Tanh", ["a"], ["t"]),
        helper.make_node("MatMul", ["t", "second"], ["y"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "half", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 32])],
        [helper.make_tensor_value_info("y", TYPES[kind], ["batch", 10])],
        [tensor(name, value, kind) for name, value in weights.items()],
    )  # fmt: skip
    path = folder / f"{kind}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), path)
    return path


def floats(initializer: onnx.TensorProto) -> np.ndarray:
    if initializer.data_type == TensorProto.BFLOAT16:
        bits = np.frombuffer(initializer.raw_data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(initializer.dims)
    return numpy_helper.to_array(initializer)


models = {kind: model_of(kind) for kind in TYPES}
half = {"f16": 2.0**-11, "bf16": 2.0**-8}
for flags in ((), ("--precision", "bf16"), ("--precision", "f16"), ("--freeze", "first"), ("--freeze", "first", "--precision", "bf16")):
    curves, exports = {}, {}
    for kind, model in models.items():
        program = compile(model, folder, data, "--dim", f"batch={ROWS}", "--loss", "cross-entropy", "--lr", "1e-2", *flags, name=kind)
        curves[kind] = losses(program.train(STEPS))
        file = onnx.ModelProto.FromString(program.exported(kind + "-trained", "--steps", STEPS, "--no-shuffle"))
        assert all(i.data_type == TYPES[kind] for i in file.graph.initializer)
        exports[kind] = {i.name: floats(i) for i in file.graph.initializer}
    for kind, rounding in half.items():
        assert curves[kind] == curves["f32"], (flags, kind, curves)
        for name, wanted in exports["f32"].items():
            moved = np.abs(wanted - weights[name]).max()
            assert moved == 0 if name == "first" and "--freeze" in flags else moved > 1e-3, (flags, name, moved)
            error = np.abs(exports[kind][name] - wanted).max()
            assert error <= rounding * np.abs(wanted).max(), (flags, kind, name, error)
