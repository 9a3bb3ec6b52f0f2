# RUN: %python %s %t
"""The samples at the end of an epoch run in a shape with a smaller batch: losses are those of a program of that batch, also of a loss that
cannot ignore samples, and with batch statistics. Without an exact shape, a loss that can ignore samples pads the smallest one."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, losses, own_folder, run

WIDTH, CLASSES = 6, 3
folder = own_folder()
random = np.random.default_rng(1)


def weights(*shape):
    return random.normal(0, 0.5, shape).astype(np.float32)


initializers = {
    "first": weights(WIDTH, 8), "second": weights(8, CLASSES), "scale": np.ones(8, np.float32), "bias": np.zeros(8, np.float32),
    "mean": np.zeros(8, np.float32), "variance": np.ones(8, np.float32),
}  # fmt: skip
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x", "first"], ["hidden"]),
        helper.make_node("BatchNormalization", ["hidden", "scale", "bias", "mean", "variance"], ["normal"]),
        helper.make_node("Relu", ["normal"], ["active"]),
        helper.make_node("MatMul", ["active", "second"], ["y"]),
    ],
    "model",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(value, name) for name, value in initializers.items()],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "model.onnx")


def program(name, batch, x, labels, loss):
    flags = ["--loss", loss, "--optimizer", "sgd", "--lr", 0.1, "--batch-norm", "train"]
    run([MTC, "compile", folder / "model.onnx", "--dim", f"batch={batch}", *flags, "-o", folder / name], folder)
    return Program(folder / name, {f"{name}-x": x, f"{name}-labels": labels})


def named(program, name):
    program.data_flags = [flag.replace(f"{name}-x=", "x=").replace(f"{name}-labels=", "labels=") for flag in program.data_flags]
    return program


for loss, rows, batches in (("mse", 10, "4,2"), ("cross-entropy", 10, "4,2"), ("mse", 11, "3,4,2")):
    x = random.normal(0, 1, (rows, WIDTH)).astype(np.float32)
    labels = random.integers(0, CLASSES, rows) if loss == "cross-entropy" else random.normal(0, 1, (rows, CLASSES)).astype(np.float32)
    name = f"{loss}-{rows}"
    several = named(program(name, batches, x, labels, loss), name)
    steps = -(-rows // 4)
    found = losses(several.train(2 * steps))
    rest = rows % 4
    full = named(program(f"{name}-full", 4, x[: rows - rest], labels[: rows - rest], loss), f"{name}-full")
    last = named(program(f"{name}-last", rest, x[rows - rest :], labels[rows - rest :], loss), f"{name}-last")
    wanted, start = [], []
    for epoch in range(2):
        for number, (part, count) in enumerate(((full, steps - 1), (last, 1))):
            file = f"{name}-{epoch}-{number}.safetensors"
            wanted += losses(part.train(count, *start, "--export-weights", file))
            start = ["--weights", file]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=name)
    shown = several.run("--evaluate").stdout.split()
    assert shown[shown.index("samples") + 1] == str(rows), shown

# Eleven samples are two batches of four, and three, for which there is no shape: the loss ignores a padding sample, or batches wrap.
x = random.normal(0, 1, (11, WIDTH)).astype(np.float32)
several = named(program("masked", "4,2", x, random.integers(0, CLASSES, 11), "cross-entropy"), "masked")
several.run("--epochs", 1, "--save", "masked-saved")
assert '"last_batch": "mask"' in (folder / "masked-saved" / "manifest.json").read_text()
several = named(program("wrapped", "4,2", x, random.normal(0, 1, (11, CLASSES)).astype(np.float32), "mse"), "wrapped")
shown = several.run("--epochs", 1, "--save", "wrapped-saved")
assert '"last_batch": "wrap"' in (folder / "wrapped-saved" / "manifest.json").read_text()
