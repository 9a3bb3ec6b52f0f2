# RUN: %python %s %t
"""16-bit programs run on processors without 16-bit instructions, with equal results."""

import numpy as np
from models import GPT2
from program import compile_example, losses, own_folder

STEPS = 3
folder = own_folder()
for precision in ("bf16", "f16"):
    expected = None
    for cpu in ("x86-64-v3", "x86-64", "skylake-avx512"):
        with open("/proc/cpuinfo") as info:
            if "avx512" in cpu and "avx512bw" not in info.read():
                continue
        program = compile_example(GPT2, folder, "adamw", STEPS * GPT2.batch, "--precision", precision, "--cpu", cpu)
        found = losses(program.train(STEPS))
        expected = expected or found
        assert len(found) == STEPS and np.allclose(found, expected, rtol=1e-3), (precision, cpu, found, expected)
    host = losses(compile_example(GPT2, folder, "adamw", STEPS * GPT2.batch, "--precision", precision).train(STEPS))
    assert np.allclose(host, expected, rtol=1e-3), (precision, host, expected)
