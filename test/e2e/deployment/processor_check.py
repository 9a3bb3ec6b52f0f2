# RUN: %python %s %t
"""On a processor that lacks features, a program exits with an error that names them; on other processors it trains."""

import numpy as np
from models import DIGITS
from program import compile_example, losses, own_folder

STEPS = 3
folder = own_folder()


def compile_for(cpu: str):
    return compile_example(DIGITS, folder, "adamw", STEPS * DIGITS.batch, "--cpu", cpu, name=cpu)


old = ("qemu-x86_64", "-cpu", "Nehalem")  # x86-64-v2
recent = ("qemu-x86_64", "-cpu", "Haswell")  # x86-64-v3

program = compile_for("x86-64-v3")
expected = losses(program.train(STEPS))
program.runner = old
refused = program.run("--steps", STEPS, code=2)
assert refused.stderr == (
    "error: the program uses AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT and MOVBE, which this processor lacks; it was compiled with "
    "--cpu x86-64-v3. Compile it with --cpu x86-64-v2\n"
), refused.stderr
assert "--data" in program.run("--help").stdout and "compiled by mtc" in program.run("--version").stdout
program.runner = recent
assert np.allclose(losses(program.train(STEPS)), expected, rtol=1e-5)

program = compile_for("x86-64-v2")
program.runner = old
assert np.allclose(losses(program.train(STEPS)), expected, rtol=1e-5)
program = compile_for("x86-64")
program.runner = ("qemu-x86_64", "-cpu", "qemu64,-sse3,-sse4a,-popcnt,-cx16,-lahf-lm")
assert np.allclose(losses(program.train(STEPS)), expected, rtol=1e-5)
