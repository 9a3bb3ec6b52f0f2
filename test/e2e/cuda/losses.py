# RUN: %python %s %t
"""Device code in the emulator, which checks every access, trains like the CPU's code, with and without optimizations."""

import os

import numpy as np
from models import DIGITS, GPT2, passages
from program import compile, compile_example, losses, own_folder, same_bits

STEPS = 4
OPTIONAL = ["mtc-fuse-update", "mtc-recompute-elementwise", "mtc-fuse-kernels", "mtc-compact-scatter",
            "mtc-fuse-epilogues", "mtc-fuse-activations", "mtc-fuse-column-sums", "mtc-fuse-bias-gradients"]  # fmt: skip
EMULATED = ("--target", "cuda", "--emulate")

folder = own_folder()
for example in DIGITS, GPT2:
    for optimizer in "adamw", "sgd":
        host, device = (
            compile_example(example, folder, optimizer, STEPS * example.batch, *flags, name=name)
            for name, flags in (("host", ()), ("device", EMULATED))
        )
        expected, found = losses(host.train(STEPS)), losses(device.train(STEPS))
        assert len(found) == STEPS and np.allclose(found, expected, rtol=2e-6), (example.name, found, expected)
    gradients = host.gradients("expected")
    for name, gradient in device.gradients("found").items():
        scale = np.abs(gradients[name]).max()
        assert np.abs(gradient - gradients[name]).max() <= 1e-4 * scale + 1e-8, (example.name, name)
    # Results are bit-identical if blocks run one after another (to find races), on several host threads, or with threads in another order.
    trained = device.exported("forward", "--steps", STEPS, "--no-shuffle")
    os.environ["MTC_EMULATED_RACES"] = "0"
    assert same_bits(*(device.gradients(f"threads{n}", "--threads", n) for n in (1, 2)))
    for order in "forward", "reversed":
        os.environ["MTC_EMULATED_ORDER"] = order
        assert device.exported("checked", "--steps", STEPS, "--no-shuffle") == trained, order
    os.environ |= {"MTC_EMULATED_RACES": "1", "MTC_EMULATED_ORDER": "forward"}

# The kernels are also compiled without optimizations, and run with extents that are not multiples of their tiles.
plain = [word for name in OPTIONAL for word in ("--skip-pass", name)]
device = compile_example(GPT2, folder, "sgd", STEPS * GPT2.batch, *EMULATED, *plain, name="plain")
assert np.allclose(losses(device.train(STEPS)), expected, rtol=2e-6)
for flags in (), plain:
    odd = ("--dim", "batch=3", "--dim", "sequence=61", *flags)
    host, device = (
        compile(GPT2.model, folder, passages(6, 61), "--loss", "causal-lm", "--labels", "labels", *odd, *target)
        for target in ((), EMULATED)
    )
    assert np.allclose(losses(device.train(2)), losses(host.train(2)), rtol=2e-6), flags
