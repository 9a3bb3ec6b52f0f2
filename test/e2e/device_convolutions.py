# RUN: %python %s %t
"""Convolutions by cuDNN on an emulated device, as by the CPU's library and as contractions of windows: forward and backward, of
lines, planes and volumes, with groups, strides, dilations and one-sided paddings, and with their biases and ReLU where operands
may be rounded. What a program says that lacks the library."""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

BATCH, STEPS, CLASSES = 4, 3, 5
EMULATED = ("--target", "cuda", "--emulate")
TF32 = (*EMULATED, "--precision", "tf32")
folder = own_folder()
random = np.random.default_rng(0)


def model(name: str, extents: list[int], first: dict, second: dict, transposed: dict) -> str:
    """Two convolutions and a transposed one with ReLU between, averaged over all positions."""
    rank, constants = len(extents), {}

    def parameter(parameter_name, *shape):
        constants[parameter_name] = random.normal(0, 0.4, shape).astype(np.float32)
        return parameter_name

    kernel, inputs = [3] * rank, 6 // second.get("group", 1)
    weights = (parameter("w0", 6, 3, *kernel), parameter("w1", 4, inputs, *kernel), parameter("w2", 4, CLASSES, *kernel))
    nodes = [
        helper.make_node("Conv", ["x", weights[0], parameter("b0", 6)], ["c0"], name="first", **first),
        helper.make_node("Relu", ["c0"], ["a0"], name="relu"),
        helper.make_node("Conv", ["a0", weights[1], parameter("b1", 4)], ["c1"], name="second", **second),
        helper.make_node("Relu", ["c1"], ["a1"], name="relu1"),
        helper.make_node("ConvTranspose", ["a1", weights[2]], ["c2"], name="third", **transposed),
        helper.make_node("GlobalAveragePool", ["c2"], ["p"], name="average"),
        helper.make_node("Flatten", ["p"], ["y"], name="flatten"),
    ]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, *extents])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(value, key) for key, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / f"{name}.onnx")
    return f"{name}.onnx"


flags = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", "0.1")
labels = random.integers(0, CLASSES, STEPS * BATCH)
cases = {
    "line": ([11], {"pads": [0, 2], "strides": [2]}, {"group": 2}, {"strides": [2], "output_padding": [1]}),
    "plane": ([9, 8], {"pads": [1, 0, 2, 1]}, {"group": 2, "dilations": [2, 1]}, {"strides": [1, 2], "pads": [1, 1, 0, 1]}),
    "volume": ([5, 6, 4], {"pads": [1] * 6, "strides": [1, 2, 1]}, {"auto_pad": "SAME_UPPER"}, {"strides": [2, 1, 1]}),
}
for name, (extents, *attributes) in cases.items():
    file = model(name, extents, *attributes)
    data = {"x": random.normal(0, 1, (STEPS * BATCH, 3, *extents)).astype(np.float32), "labels": labels}

    def calls(*more, file=file) -> set[str]:
        text = run([MTC, "compile", file, *flags, *more, "--emit=allocated"], folder).stdout
        return {line.split("#mtc.")[1].split("<")[0] for line in text.splitlines() if "mtc.call" in line}

    kinds = {"convolution", "transposed_convolution", "convolution_weight_gradient"}
    assert calls(*EMULATED) == kinds, calls(*EMULATED)
    assert not calls(*EMULATED, "--no-cudnn") & kinds, "convolutions without their library"

    def activated(*more, file=file) -> int:
        text = run([MTC, "compile", file, *flags, *more, "--emit=kernels"], folder).stdout
        step = text.split("@micro_step")[1].split("func.func")[0]
        calls = [line.split() for line in step.splitlines() if "mtc.fused_convolve" in line]
        return sum("bias" in words and words[words.index("then") + 1] == "relu" for words in calls)

    assert activated(*TF32) == 2, "both convolutions in front of ReLU"
    assert activated(*EMULATED) == activated() == 0, "in f32 ReLU stays exact, and oneDNN's keeps no NaN"

    host = compile(folder / file, folder, data, *flags, name=f"{name}_host")
    expected, gradients = losses(host.train(STEPS)), host.gradients(f"{name}_expected")
    for variant, more in (("cudnn", EMULATED), ("epilogues", TF32), ("windows", (*EMULATED, "--no-cudnn"))):
        device = compile(folder / file, folder, data, *flags, *more, name=f"{name}_{variant}")
        found = losses(device.train(STEPS))
        assert np.allclose(found, expected, rtol=2e-6), (name, variant, found, expected)
        for parameter, gradient in device.gradients(f"{name}_{variant}_gradients").items():
            error, scale = np.abs(gradient - gradients[parameter]).max(), np.abs(gradients[parameter]).max()
            assert error <= 5e-6 * scale, (name, variant, parameter, error, scale)
        os.environ["MTC_CUDNN"] = "0"
        result = device.run("--steps", 1, code=0 if variant == "windows" else 2)
        del os.environ["MTC_CUDNN"]
        if variant != "windows":
            wanted = "a convolution is computed by cuDNN, version 9.19 or later, which MTC_CUDNN=0 switches off"
            for words in ("first", wanted, "--no-cudnn"):
                assert words in result.stderr, (words, result.stderr)
            assert "step" not in result.stdout, result.stdout
