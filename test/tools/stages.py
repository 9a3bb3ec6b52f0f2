# RUN: %python %s %t
"""Each stage's text is complete: `mtc compile STAGE.mlir` makes the same program and weights, to the byte, as the
model does, for each target."""

import subprocess

from models import EXAMPLES
from program import MTC, TIMEOUT, own_folder

FOLDER = own_folder()
STAGES = ["onnx", "forward", "training", "kernels", "placed"]
TARGETS = [[], ["--target", "cuda:sm_90", "--emulate"]]
# Of each model the flags that reading it decides, and those that decide how it is trained.
MODELS = {
    "digits": (["--dim", "batch=16", "--freeze", "layers.0.bias"],
               ["--loss", "cross-entropy", "--lr", "2e-3", "--schedule", "cosine", "--warmup", "7"]),
    "gpt2": (["--dim", "batch=2", "--dim", "sequence=16"], ["--optimizer", "sgd", "--clip-norm", "1"]),
}


def mtc(*arguments):
    run = subprocess.run([MTC, "compile", *arguments], capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 0, (arguments, run.stderr)
    return run


def program(folder, *arguments):
    """The bytes of a program and of its weights; both have the same name wherever they lie, since it is in them."""
    folder.mkdir(parents=True)
    mtc(*arguments, "-o", folder / "train")
    return [(folder / name).read_bytes() for name in ("train", "train.weights.safetensors")]


for name, (reading, training) in MODELS.items():
    model = EXAMPLES / name / f"{name}.onnx"
    for target in TARGETS:
        flags = [*reading, *target, "--threads", "2"]
        folder = FOLDER / f"{name}-{'emulated' if target else 'cpu'}"
        expected = program(folder / "model", model, *flags, *training)
        for stage in STAGES:
            text = folder / f"{stage}.mlir"
            mtc(model, *flags, *training, "--emit", stage, "-o", text)
            rest = training if stage in ("onnx", "forward") else []
            assert program(folder / stage, text, *rest) == expected, f"{folder.name}: other bytes from {stage}"
            # The text of a later stage is the same, too.
            later = folder / f"{stage}.placed.mlir"
            mtc(text, *rest, "--emit", "placed", "-o", later)
        texts = {(folder / f"{stage}.placed.mlir").read_text() for stage in STAGES}
        assert len(texts) == 1, f"{folder.name}: other text from other stages"
