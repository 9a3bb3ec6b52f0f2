# REQUIRES: mounts
# RUN: %python %s %t
"""A static program needs no other file: it trains in a folder that contains nothing else. Its losses equal those of the program with oneDNN
up to rounding, and are bit-identical for any number of threads."""

import shutil
import struct

import convolution_models
import numpy as np
from models import DIGITS, GPT2
from program import MTC, compile, compile_example, losses, own_folder, run, same_bits

STEPS, INTERPRETER, DYNAMIC = 4, 3, 2
folder = own_folder()


def segments(path) -> set[int]:
    """Returns the types of an ELF file's segments."""
    content = path.read_bytes()
    offset, size, count = struct.unpack_from("<Q14xHH", content, 32)
    return {struct.unpack_from("<I", content, offset + i * size)[0] for i in range(count)}


# The system provides only the Linux kernel.
program = compile_example(DIGITS, folder, "adamw", STEPS * DIGITS.batch, "--static", name="digits")
assert not segments(program.path) & {INTERPRETER, DYNAMIC}, segments(program.path)
empty = folder / "empty"
empty.mkdir()
for name in ("digits", "digits.weights.safetensors", "x.npy", "labels.npy"):
    shutil.copy(folder / name, empty / name)
inside = ("unshare", "-r", "chroot", empty, "/digits", "--data", "x=/x.npy", "--data", "labels=/labels.npy")
run((*inside, "--steps", STEPS, "--no-shuffle", "--save", "/saved", "--metrics", "/log.jsonl", "--export", "/trained.onnx"), folder)
run((*inside, "--resume", "/saved", "--evaluate"), folder)
assert (empty / "log.jsonl").read_text().count('"loss"') == STEPS and (empty / "trained.onnx").stat().st_size > 1000

# The losses of both programs are equal.
for example, optimizer in ((DIGITS, "adamw"), (GPT2, "adamw")):
    for precision, tolerance in (("f32", 2e-5), ("bf16", 2e-3), ("f16", 2e-3)):
        flags = ("--precision", precision)
        name = f"{example.name}_{precision}"
        expected = losses(compile_example(example, folder, optimizer, STEPS * example.batch, *flags).train(STEPS))
        static = compile_example(example, folder, optimizer, STEPS * example.batch, *flags, "--static", "--threads", 4, name=name)
        found = [losses(static.train(STEPS, "--threads", threads)) for threads in (1, 2, 3, 4)]
        assert np.allclose(found[0], expected, rtol=tolerance), (name, found, expected)
        assert all(other == found[0] for other in found), (name, found)

# The runtime computes convolutions itself, except those in f64 and depthwise ones.
random = np.random.default_rng(0)
for case in convolution_models.CASES:
    model, data = convolution_models.model(folder, case, random), convolution_models.data(case, random)
    text = run([MTC, "compile", model, *convolution_models.FLAGS, "--no-onednn", "--emit=allocated"], folder).stdout
    for kind in ("convolution", "transposed_convolution", "convolution_weight_gradient"):
        assert f"#mtc.{kind}<" in text, (case, kind)
    for precision, tolerance in (("f32", 5e-6), ("bf16", 2e-2), ("f16", 2e-3)):
        flags = (*convolution_models.FLAGS, "--precision", precision)
        expected = compile(model, folder, data, *flags, name="dynamic")
        static = compile(model, folder, data, *flags, "--static", "--threads", 3, name="static")
        assert np.allclose(losses(static.train(3)), losses(expected.train(3)), rtol=tolerance), (case, precision)
        gradients, same = (static.gradients(f"g{threads}", "--threads", threads) for threads in (1, 3))
        assert same_bits(gradients, same), (case, precision)
        for name, gradient in expected.gradients("expected").items():
            error, scale = np.abs(gradient - gradients[name]).max(), np.abs(gradient).max()
            assert error <= 2 * tolerance * scale, (case, precision, name, error, scale)
