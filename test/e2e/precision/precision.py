# RUN: %python %s %t
"""Training in bf16 and in f16 on the CPU and on an emulated device: losses are as close to exact ones as those of torch.autocast, weights
in checkpoints and exported models are f32, resuming is bit-exact, and less memory is needed."""

import json
import os
from unittest.mock import patch

import numpy as np
import onnx
from models import DIGITS, GPT2, SMALL_GPT2
from onnx import numpy_helper
from program import MTC, compile_example, losses, own_folder, run
from pytorch import INPUTS, STEPS
from safetensors.numpy import load_file

folder = own_folder()
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11}
PRECISIONS = tuple(ROUNDING)
TARGETS = {"host": (), "device": ("--target", "cuda", "--emulate")}


def largest_error(found, exact) -> float:
    return float(np.abs(np.array(found) / exact - 1).max())


def check_losses(example):
    """The largest relative error of a loss is at most 4 times autocast's, or a quarter of the type's rounding if that is larger. Rounding
    differs from autocast's in each step, and mtc also rounds residuals."""
    expected = json.loads((INPUTS / f"{example.name}.json").read_text())
    for precision in PRECISIONS:
        for optimizer in example.rates:
            for target, flags in TARGETS.items():
                if target == "device" and example is GPT2 and optimizer == "sgd":
                    continue  # Fewer steps, because emulation is slow.
                steps = 8 if target == "device" and example is GPT2 else STEPS
                autocast, exact = expected[precision][optimizer][:steps], expected[optimizer][:steps]
                limit = max(4 * largest_error(autocast, exact), ROUNDING[precision] / 4)
                program = compile_example(example, folder, optimizer, STEPS * example.batch, "--precision", precision, *flags)
                error = largest_error(losses(program.train(steps)), exact)
                print(f"{example.name} {precision} {optimizer} {target}: largest error of a loss {error:.1e}, limit {limit:.1e}")
                assert 1e-7 < error < limit


def check_state(precision: str, example, flags):
    program = compile_example(example, folder, "adamw", 4 * example.batch, "--precision", precision, *flags, name="state")
    saved = folder / "saved"
    whole = program.exported("whole", "--steps", 4, "--no-shuffle")
    program.run("--steps", 2, "--no-shuffle", "--save", saved, "--overwrite")
    tensors = load_file(next(saved.glob("*.safetensors")))
    assert program.exported("resumed", "--steps", 4, "--resume", saved) == whole
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.ModelProto.FromString(whole).graph.initializer if i.name in tensors}
    assert len(weights) > 20 and all(w.dtype == tensors[n].dtype == np.float32 for n, w in weights.items())
    matrix = next(w for n, w in weights.items() if n.endswith("c_fc.weight"))
    assert (matrix.view(np.uint32) & 0xFFFF).any(), "the weights are those of bf16"
    # Training continues from the exported weights.
    again = folder / "again.onnx"
    run([program.path, "--weights", next(saved.glob("*.safetensors")), "--export", again], folder)
    exported = {i.name: numpy_helper.to_array(i) for i in onnx.load(again).graph.initializer}
    assert all(exported[n].tobytes() == tensors[n].tobytes() for n in weights)


def plan(*flags, **environment) -> dict:
    with patch.dict(os.environ, environment):
        return json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, "--json", *flags], folder).stdout)


for example in (DIGITS, GPT2):
    check_losses(example)
for precision in PRECISIONS:
    check_state(precision, GPT2, TARGETS["host"])
    check_state(precision, SMALL_GPT2, TARGETS["device"])
wide = plan("--precision", "f32")


def temporaries(plan: dict) -> int:
    return plan["categories"]["activations"] + plan["categories"]["activation_gradients"]


# With AMX, oneDNN multiplies packed copies of 16-bit operands, and the plan counts each copy as an activation.
WITHOUT_AMX = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}
for precision in PRECISIONS:
    for environment, bound in ((WITHOUT_AMX, 0.55), ({}, 0.6)):
        narrow = plan("--precision", precision, **environment)
        assert temporaries(narrow) < bound * temporaries(wide), (environment, narrow, wide)
    # Master weights in bf16 need no additional memory, and those in f16 only a 16-bit copy of the matrices.
    grown = narrow["categories"]["parameters"] / wide["categories"]["parameters"]
    assert grown < 1.01 if precision == "bf16" else 1.3 < grown <= 1.51, grown
