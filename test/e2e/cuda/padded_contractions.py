# RUN: %python %s %t
"""Contractions with padded rows, on the emulated device: a classifier with 2049 classes has the same losses and gradients as without
padding, and a budget that is too small for padding is met."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

BATCH, WIDTH, CLASSES, STEPS = 64, 256, 2049, 3
UNPADDED = ("--skip-pass", "mtc-pad-contractions")
folder = own_folder()
random = np.random.default_rng(0)
weight = random.normal(0, 0.05, (CLASSES, WIDTH)).astype(np.float32)
bias = random.normal(0, 0.05, CLASSES).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("Gemm", ["x", "weight", "bias"], ["y"], name="classify", transB=1)],
    "classes",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(bias, "bias")],
)
model = folder / "classes.onnx"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
x = random.normal(0, 1, (BATCH * STEPS, WIDTH)).astype(np.float32)
labels = random.integers(0, CLASSES, BATCH * STEPS)
flags = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "adamw", "--lr", "1e-3", "--label-smoothing", "0.1")

for precision, limit in (("bf16", 1e-2), ("tf32", 1e-5)):
    target = ("--target", "cuda", "--emulate", "--precision", precision)
    padded, plain = (compile(model, folder, {"x": x, "labels": labels}, *flags, *target, *more, name=name)
                     for name, more in (("padded", ()), ("plain", UNPADDED)))  # fmt: skip
    text = run([MTC, "compile", model, *flags, *target, "--emit=kernels"], folder).stdout
    extent = CLASSES + 7 if precision == "bf16" else CLASSES + 3
    assert text.count(f"-> tensor<{BATCH}x{extent}x") >= 2, "expected padding in training and evaluation"
    found, expected = losses(padded.train(STEPS)), losses(plain.train(STEPS))
    assert len(found) == STEPS and np.allclose(found, expected, rtol=limit), (precision, found, expected)
    gradients = plain.gradients("plain_gradients")
    assert {"weight", "bias"} == gradients.keys(), gradients.keys()
    for name, gradient in padded.gradients("padded_gradients").items():
        error = np.abs(gradient - gradients[name]).max()
        assert gradient.shape == gradients[name].shape and error <= limit * np.abs(gradients[name]).max(), (name, error)
    # Logits are not padded if the program writes them.
    outputs = padded.outputs("outputs")["y"]
    assert outputs.shape[1:] == (CLASSES,) and np.isfinite(outputs).all(), outputs.shape


def plan(*more, status=0) -> tuple[int, str]:
    """Returns the peak and the notes."""
    target = ("--target", "cuda:sm_90", "--precision", "bf16", "--recompute", "none", "--tile", "none", "--offload", "none")
    found = run([MTC, "plan", model, *flags, *target, *more, "--json"], folder, status)
    return json.loads(found.stdout)["peak_bytes"], found.stderr


# Padding needs memory, so with a budget it is used only if it fits.
(most, _), (least, _) = plan(), plan(*UNPADDED)
assert least < most, (least, most)
peak, notes = plan("--memory", most)
assert peak == most and "--memory" not in notes, (peak, notes)
peak, notes = plan("--memory", most - 1)
assert peak == least and "--memory: selected --skip-pass mtc-pad-contractions (sums in another order)" in notes, (peak, notes)
peak, notes = plan("--memory", least - 1, status=1)
expected = (
    "--memory: no plan meets the budget; continuing with --skip-pass mtc-pad-contractions (sums in another order), "
    "which has the lowest peak. --allow permits more changes\n"
)
assert peak == least and expected in notes, (peak, notes)
