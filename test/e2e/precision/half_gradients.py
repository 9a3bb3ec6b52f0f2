# RUN: %python %s %t
"""Training in f16 with gradients outside the range of f16. Small gradients underflow without a loss scale, but not with the default scale.
Large gradients halve the scale until they fit, and only the overflowing steps are skipped."""

import numpy as np
import onnx
from models import GPT2
from onnx import TensorProto, helper, numpy_helper
from program import compile, compile_example, losses, own_folder

ROWS, WIDTH, OUTPUTS = 8, 16, 4096
folder = own_folder()
random = np.random.default_rng(0)


def faint_model():
    """Two layers whose loss is a mean of many squares: with targets of about 1e-3, the cotangents of the first layer's result are about
    1e-8, less than half of the smallest f16."""
    weights = {"first": random.normal(0, 0.25, (WIDTH, WIDTH)), "second": random.normal(0, 1e-4, (WIDTH, OUTPUTS))}
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "first"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
         helper.make_node("MatMul", ["t", "second"], ["y"])],
        "faint", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, OUTPUTS])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )  # fmt: skip
    path = folder / "faint.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


model = faint_model()
data = {"x": random.normal(size=(ROWS, WIDTH)).astype(np.float32), "labels": random.normal(0, 1e-3, (ROWS, OUTPUTS)).astype(np.float32)}


def first_gradient(*flags) -> np.ndarray:
    program = compile(model, folder, data, "--loss", "mse", "--optimizer", "sgd", "--batch-input", "x", "--batch-input", "labels", *flags)
    return program.gradients("gradients")["first"]


wanted = first_gradient("--precision", "f32")
assert 1e-12 < np.abs(wanted).max() < 1e-7, np.abs(wanted).max()
for target in ((), ("--target", "cuda", "--emulate")):
    lost = first_gradient("--precision", "f16", "--loss-scale", "none", *target)
    kept = first_gradient("--precision", "f16", *target)
    largest = np.abs(wanted).max()
    assert np.abs(lost - wanted).max() > 0.5 * largest, "no gradient underflows without a scale, so nothing was tested"
    assert np.abs(kept - wanted).max() < 0.02 * largest, np.abs(kept - wanted).max() / largest

    if target:
        continue  # Fewer steps, because emulation is slow.
    # With a scale of 2^40, the first steps are skipped, and each of them halves the scale. The other steps equal those of a run without the
    # data of the skipped steps.
    steps = 30
    flags = ("--precision", "f16", "--clip-norm", "1", *target)
    program = compile_example(GPT2, folder, "adamw", steps * GPT2.batch, *flags, "--loss-scale", 2.0**40, name="large")
    log = program.train(steps)
    skipped = [record["skipped"] for record in log]
    count = skipped.index(False)
    assert 10 < count < 25 and not any(skipped[count:]), skipped
    assert [record["loss_scale"] for record in log] == [2.0 ** (40 - min(step, count)) for step in range(steps)]
    rest = {name: array[count * GPT2.batch :] for name, array in GPT2.data(steps * GPT2.batch).items()}
    usual = compile(GPT2.model, folder, rest, *GPT2.flags, "--optimizer", "adamw", "--lr", GPT2.rates["adamw"],
                    "--weight-decay", 0.01, *flags, name="usual")  # fmt: skip
    expected = losses(usual.train(steps - count))
    assert np.allclose(losses(log)[count:], expected, rtol=1e-3), (losses(log)[count:], expected)
