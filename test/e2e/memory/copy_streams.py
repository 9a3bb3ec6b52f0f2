# RUN: %python %s %t
"""Copies to the GPU and from it are on two streams, so that both directions run at the same time, and while the GPU computes."""

from models import SMALL_GPT2
from program import MTC, own_folder, run
from streams import FROM_GPU, TO_GPU, concurrent, steps

folder = own_folder()
FLAGS = ("--target", "cuda:sm_90", "--optimizer", "adamw", "--offload-window", "16KiB")

# Updates in windows, with the norm of the gradients and without, and parameters and activations.
for function, flags in (
    ("micro_step", ("--offload", "optimizer")),
    ("update", ("--offload", "optimizer", "--clip-norm", "1")),
    ("micro_step", ("--offload", "activations,parameters,optimizer")),
):
    file = folder / "allocated.mlir"
    run([MTC, "compile", SMALL_GPT2.model, *SMALL_GPT2.flags, *FLAGS, *flags, "--emit", "allocated", "-o", file, "--force"], folder)
    pairs = concurrent(steps(file)[function])
    assert (TO_GPU, FROM_GPU) in pairs, (flags, pairs)
    assert (TO_GPU, "launch") in pairs and (FROM_GPU, "launch") in pairs, (flags, pairs)
