# REQUIRES: aarch64-runtime
# RUN: %python %s %t
"""Programs for 64-bit Arm processors train under emulation with the losses of x86-64, bit for bit if both use fused multiply-add, and with
the same checkpoints and exports. A program exits with an error on a processor that lacks required features."""

import re
import shutil

import convolution_models
import numpy as np
from models import DIGITS, EXAMPLES, SMALL_GPT2
from program import MTC, compile, compile_example, losses, own_folder, run

STEPS = 3
ARM = ("--cpu", "aarch64")
X86 = ("--cpu", "x86-64-v3", "--static")  # this level has fused multiply-add, like NEON
ANY = ("qemu-aarch64", "-cpu", "cortex-a53")
folder = own_folder()


def pair(build, *flags):
    arm, x86 = build(*ARM, *flags, name="arm"), build(*X86, *flags, name="x86")
    arm.runner = ANY
    return arm, x86


def example(which):
    return lambda *flags, name: compile_example(which, folder, "adamw", STEPS * which.batch, *flags, name=name)


arm, x86 = pair(example(DIGITS), "--threads", 2)
saved = folder / "saved"
found = losses(arm.train(STEPS, "--save", saved, "--threads", 2))
assert np.allclose(found, losses(x86.train(STEPS)), rtol=1e-6), found
assert losses(arm.train(STEPS, "--threads", 1)) == found
# Checkpoints are portable between processors.
assert np.allclose(
    losses(arm.train(2 * STEPS, "--resume", saved)), losses(x86.train(2 * STEPS, "--resume", saved)), rtol=1e-6
)
assert len(arm.exported("arm")) == len(x86.exported("x86")) > 1000

for precision, tolerance in (("f32", 1e-6), ("bf16", 1e-3), ("f16", 1e-3)):
    arm, x86 = pair(example(SMALL_GPT2), "--precision", precision)
    found, expected = losses(arm.train(STEPS)), losses(x86.train(STEPS))
    assert np.allclose(found, expected, rtol=tolerance), (precision, found, expected)

random = np.random.default_rng(0)
model, data = convolution_models.model(folder, "plane", random), convolution_models.data("plane", random)
arm, x86 = pair(lambda *flags, name: compile(model, folder, data, *flags, *convolution_models.FLAGS, name=name))
assert np.allclose(losses(arm.train(STEPS)), losses(x86.train(STEPS)), rtol=1e-6)

recent = compile_example(DIGITS, folder, "adamw", STEPS * DIGITS.batch, "--cpu", "neoverse-n1", name="recent")
recent.runner = ANY
message = recent.run("--steps", STEPS, code=2).stderr
assert "DotProd" in message and message.endswith("it was compiled with --cpu neoverse-n1. Compile it with --cpu aarch64\n"), message
recent.runner = ("qemu-aarch64", "-cpu", "neoverse-n1")
recent.train(STEPS)

# A library, linked to a C program.
model, flags = EXAMPLES / "digits/digits.onnx", ("--dim", "batch=32", "--lr", "2e-3")
for source in ("train.c", "digits_data.h"):
    shutil.copy(EXAMPLES / "embedding" / source, folder)
found = {}
for name, cpu, target in (("arm", ARM, ("--target=aarch64-linux-gnu",)), ("x86", X86, ())):
    run([MTC, "compile", model, *flags, *cpu, "--emit", "library", "-o", folder / "libdigits.a"], folder)
    clang = shutil.which("clang-22") or "clang"
    run([clang, *target, "-fuse-ld=lld", "-static", "train.c", "libdigits.a", "-lstdc++", "-lm", "-lpthread", "-o", name], folder)
    runner = ANY if name == "arm" else ()
    found[name] = float(re.search(r"loss (\S+)", run([*runner, folder / name, EXAMPLES / "digits", 1, folder / "w"], folder).stdout)[1])
assert np.isclose(found["arm"], found["x86"], rtol=1e-5), found
