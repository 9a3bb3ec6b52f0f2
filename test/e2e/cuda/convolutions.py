# RUN: %python %s %t
"""Convolutions by cuDNN on an emulated device match the CPU's library and contractions of windows, forward and backward. The models have
1-D, 2-D and 3-D convolutions with groups, strides, dilations, one-sided padding and biases, and with fused ReLU in tf32. A program that
needs cuDNN and does not find it reports this."""

import os

import numpy as np
from convolution_models import CASES, FLAGS, STEPS, data, model
from program import MTC, compile, losses, own_folder, run

EMULATED = ("--target", "cuda", "--emulate")
TF32 = (*EMULATED, "--precision", "tf32")
folder = own_folder()
random = np.random.default_rng(0)


for name in CASES:
    file = model(folder, name, random)
    samples = data(name, random)

    def calls(*more, file=file) -> set[str]:
        text = run([MTC, "compile", file, *FLAGS, *more, "--emit=allocated"], folder).stdout
        return {line.split("#mtc.")[1].split("<")[0] for line in text.splitlines() if "mtc.call" in line}

    kinds = {"convolution", "transposed_convolution", "convolution_weight_gradient"}
    assert calls(*EMULATED) == kinds, calls(*EMULATED)
    assert not calls(*EMULATED, "--no-cudnn") & kinds, "convolution calls despite --no-cudnn"

    def activated(*more, file=file) -> int:
        text = run([MTC, "compile", file, *FLAGS, *more, "--emit=kernels"], folder).stdout
        step = text.split("@micro_step")[1].split("func.func")[0]
        calls = [line.split() for line in step.splitlines() if "mtc.fused_convolve" in line]
        return sum("bias" in words and words[words.index("then") + 1] == "relu" for words in calls)

    assert activated(*TF32) == 2, "expected ReLU fused into both convolutions"
    assert activated(*EMULATED) == activated() == 0, "expected no fused ReLU: exact results in f32, and oneDNN's ReLU drops NaN"

    host = compile(file, folder, samples, *FLAGS, name=f"{name}_host")
    expected, gradients = losses(host.train(STEPS)), host.gradients(f"{name}_expected")
    for variant, more in (("cudnn", EMULATED), ("epilogues", TF32), ("windows", (*EMULATED, "--no-cudnn"))):
        device = compile(file, folder, samples, *FLAGS, *more, name=f"{name}_{variant}")
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
