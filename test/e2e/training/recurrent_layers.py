# RUN: %python %s %t
"""Recurrent layers that one call computes, on the CPU and on an emulated GPU, match layers that are unrolled into core operations. 4096
steps compile about as fast as 8."""

import resource

import numpy as np
import onnx
from onnx import helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

LAYERS = {
    "lstm": ("LSTM", 4, {}),
    "gru": ("GRU", 3, {}),
    "gru_reset_after": ("GRU", 3, {"linear_before_reset": 1}),
    "tanh": ("RNN", 1, {}),
    "relu": ("RNN", 1, {"activations": ["Relu", "Relu"]}),
}
BATCH, INPUTS, HIDDEN, STEPS, LONG = 3, 4, 7, 3, 4096
# Layers with clipping are unrolled. The limit of the clipping is never reached.
UNROLLED = {"clip": 1e6}
EMULATED = ("--target", "cuda", "--emulate")
FLAGS = ("--dim", f"batch={BATCH}", "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1")
folder = own_folder()


def model(name: str, cell: str, length: int, width: type = np.float32, **more) -> tuple:
    """Writes a bidirectional layer, or a forward layer for long sequences, with weights that do not depend on its attributes. Returns the
    file and its data."""
    operator, gates, attributes = LAYERS[cell]
    random = np.random.default_rng(3)
    directions = 2 if length < LONG else 1
    if directions == 1 and "activations" in attributes:
        attributes = {"activations": ["Relu"]}
    shapes = {"w": (directions, gates * HIDDEN, INPUTS), "r": (directions, gates * HIDDEN, HIDDEN), "b": (directions, 2 * gates * HIDDEN)}
    weights = {key: random.uniform(-0.5, 0.5, shape).astype(width) / 2 for key, shape in shapes.items()}
    node = helper.make_node(
        operator, ["x", "w", "r", "b"], ["y"], hidden_size=HIDDEN, layout=1,
        direction="bidirectional" if directions == 2 else "forward", **attributes, **more)  # fmt: skip
    element = helper.np_dtype_to_tensor_dtype(np.dtype(width))
    shape = ["batch", length, directions, HIDDEN]
    graph = helper.make_graph(
        [node], name, [helper.make_tensor_value_info("x", element, ["batch", length, INPUTS])],
        [helper.make_tensor_value_info("y", element, shape)],
        [numpy_helper.from_array(value, key) for key, value in weights.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / f"{name}.onnx")
    samples = {"x": random.normal(0, 1, (BATCH, length, INPUTS)).astype(width),
               "labels": random.normal(0, 1, (BATCH, *shape[1:])).astype(width)}  # fmt: skip
    return folder / f"{name}.onnx", samples


def calls(file, *flags) -> set[str]:
    """Returns the kinds of a program's calls, without contractions."""
    text = run([MTC, "compile", file, *FLAGS, *flags, "--emit=allocated"], folder).stdout
    return {line.split("#mtc.")[1].split("<")[0] for line in text.splitlines() if "mtc.call" in line} - {"contraction"}


for cell in LAYERS:
    for width in np.float32, np.float64:
        name = f"{cell}_{np.dtype(width).name}"
        unrolled, samples = model(f"{name}_unrolled", cell, 5, width, **UNROLLED)
        whole, _ = model(name, cell, 5, width)
        steps = compile(unrolled, folder, samples, *FLAGS, name=f"{name}_unrolled")
        expected, gradients = losses(steps.train(STEPS)), steps.gradients(f"{name}_expected")
        assert not calls(unrolled), "the reference layer is not unrolled"
        for target in (), EMULATED:
            assert calls(whole, *target) == {"recurrence", "recurrence_gradient"}, (name, target, calls(whole, *target))
            program = compile(whole, folder, samples, *FLAGS, *target, name=name)
            found = losses(program.train(STEPS))
            assert np.allclose(found, expected, rtol=2e-6), (name, target, found, expected)
            for parameter, gradient in program.gradients(f"{name}_found").items():
                error, scale = np.abs(gradient - gradients[parameter]).max(), np.abs(gradients[parameter]).max()
                assert error <= 5e-6 * scale, (name, target, parameter, error, scale)


def seconds(file, *flags) -> float:
    """Returns the CPU time of a compilation, the minimum of two."""
    times = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run([MTC, "compile", file, *FLAGS, *flags, "--tune", "off", "-o", folder / "timed"], folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


for cell in LAYERS:
    few, _ = model(f"{cell}_few", cell, 8)
    many, samples = model(f"{cell}_many", cell, LONG)
    host = compile(many, folder, samples, *FLAGS, name=f"{cell}_host")
    device = compile(many, folder, samples, *FLAGS, *EMULATED, name=f"{cell}_device")
    expected, found = losses(host.train(STEPS)), losses(device.train(STEPS))
    assert expected[-1] < expected[0] and np.allclose(found, expected, rtol=2e-6), (cell, found, expected)
    if cell == "gru":
        for target in (), EMULATED:
            took, short = seconds(many, *target), seconds(few, *target)
            assert took < 2 * short, f"{LONG} steps take {took:.2f} s to compile, 8 steps {short:.2f} s"
