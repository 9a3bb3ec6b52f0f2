# RUN: %python %s %t
"""--ema keeps an average of the weights, which --use-ema evaluates and exports. Resuming is bit-exact, and metrics contain the norm of the
gradients if it is computed. The test runs on the CPU and on an emulated device."""

import numpy as np
import onnx
from models import DIGITS
from onnx import numpy_helper
from program import compile_example, own_folder, read_metrics, run, same_bits
from safetensors.numpy import load_file, save_file

STEPS, DECAY = 4, 0.75
folder = own_folder()


def weights_of(file: bytes) -> dict[str, np.ndarray]:
    return {i.name: numpy_helper.to_array(i) for i in onnx.ModelProto.FromString(file).graph.initializer}


def check(name: str, *flags):
    program = compile_example(DIGITS, folder, "adamw", 256, "--ema", DECAY, "--grad-norm", *flags, name=name)
    initial = weights_of(DIGITS.model.read_bytes())
    wanted = {n: a.astype(np.float64) for n, a in initial.items()}
    for step in range(1, STEPS + 1):
        now = weights_of(program.exported(f"step{step}", "--steps", step, "--no-shuffle"))
        wanted = {n: DECAY * wanted[n] + (1 - DECAY) * now[n] for n in wanted}
    log, saved = folder / f"{name}.jsonl", folder / f"{name}-saved"
    whole = program.exported("average", "--steps", STEPS, "--no-shuffle", "--use-ema", "--metrics", log)
    found = weights_of(whole)
    assert found.keys() == wanted.keys()
    for n in found:
        np.testing.assert_allclose(found[n], wanted[n], rtol=1e-5, atol=1e-7, err_msg=n)
        assert np.abs(found[n] - now[n]).max() > 1e-5, f"{n}: the average equals the weights"

    # Returns the norm of each step's gradients. The norm of the first step equals that of --gradients.
    norms = [line["grad_norm"] for line in read_metrics(log)]
    gradients = program.gradients(f"{name}-gradients")
    np.testing.assert_allclose(norms[0], np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in gradients.values())), rtol=1e-5)
    assert len(norms) == STEPS and len(set(norms)) == STEPS
    assert "  norm " in program.run("--steps", 1).stdout

    # Resuming is bit-exact, checkpoints store averages separately, and averages can be exported without training.
    program.run("--steps", 2, "--no-shuffle", "--save", saved)
    assert program.exported("resumed", "--steps", STEPS, "--resume", saved, "--save", saved, "--use-ema") == whole
    tensors = load_file(next(saved.glob("*.safetensors")))
    assert all((tensors[n] == now[n]).all() and (tensors[n + ".ema"] == found[n]).all() for n in found)
    export = folder / f"{name}-again.onnx"
    run([program.path, "--resume", saved, "--export", export, "--use-ema"], folder)
    assert export.read_bytes() == whole

    # The model that is exported with averages is the one that is evaluated with them.
    program.run("--evaluate", "--resume", saved, "--use-ema", "--metrics", log)
    averaged = read_metrics(log)[0]["loss"]
    program.run("--evaluate", "--resume", saved, "--metrics", log)
    assert averaged != read_metrics(log)[0]["loss"]
    file = folder / f"{name}-averages.safetensors"
    save_file(found, file)
    averages = program.outputs(f"{name}-averaged", "--resume", saved, "--use-ema")
    assert same_bits(averages, program.outputs(f"{name}-plain", "--weights", file))


check("host")
check("device", "--target", "cuda", "--emulate")

plain = compile_example(DIGITS, folder, "adamw", 64, name="plain")
assert "compile it with --ema" in plain.run("--use-ema", "--evaluate", code=1).stderr
assert "--use-ema: has no effect alone" in plain.run("--use-ema", code=1).stderr
assert "grad_norm" not in plain.train(1)[0]
