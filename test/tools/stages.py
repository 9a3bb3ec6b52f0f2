# RUN: %python %s %t
"""The text of each stage is complete: `mtc compile STAGE.mlir` writes the same program and weights, byte for byte, as the model does, for
each target."""

import pty
import subprocess

from models import EXAMPLES
from program import MTC, TIMEOUT, own_folder

FOLDER = own_folder()
STAGES = ["onnx", "forward", "training", "kernels", "allocated"]
PIPELINES = [("onnx", "forward", ["--onnx-undo-exporters", "--convert-onnx-to-mtc", "--mtc-forward-pipeline={skipped}"]),
             ("forward", "training", ["--mtc-training-pipeline={recipe}", "--mtc-choose-batch-axis"]),
             ("training", "kernels", ["--mtc-kernel-pipeline={skipped}"]),
             ("kernels", "allocated", ["--mtc-allocation-pipeline"])]  # fmt: skip
TARGETS = [[], ["--target", "cuda:sm_90", "--emulate"]]
# For each model, the flags of the import, those of training, and the skipped passes before kernels.
MODELS = {
    "digits": (["--dim", "batch=16", "--freeze", "layers.0.bias"],
               ["--loss", "cross-entropy", "--lr", "2e-3", "--schedule", "cosine", "--warmup", "7"], []),
    "gpt2": (["--dim", "batch=2", "--dim", "sequence=16"],
             ["--optimizer", "sgd", "--clip-norm", "1", "--init", "normal=0.02", "--accumulate", "3"],
             ["mtc-fuse-kernels", "mtc-fuse-update"]),
}


def mtc(*arguments):
    run = subprocess.run([MTC, "compile", *arguments], capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 0, (arguments, run.stderr)
    return run


def program(folder, *arguments):
    """Returns the bytes of a program and of its weights. Both always have the same name, because programs contain it."""
    folder.mkdir(parents=True)
    mtc(*arguments, "-o", folder / "train")
    files = [folder / name for name in ("train", "train.weights.safetensors")]
    return [file.read_bytes() for file in files if file.exists()]


def on_terminal(*arguments):
    """Returns the output of `mtc` on a terminal, and its messages."""
    master, slave = pty.openpty()
    with open(slave, "w") as terminal, open(master, "rb", buffering=0) as screen:
        run = subprocess.Popen([MTC, "compile", *arguments], stdout=terminal, stderr=subprocess.PIPE, text=True)
        terminal.close()
        shown = b""
        try:
            while tile := screen.read(65536):
                shown += tile
        except OSError:  # end of the terminal's output
            pass
        said = run.stderr.read()
        assert run.wait(TIMEOUT) == 0, said
    return shown.decode().replace("\r\n", "\n"), said


for name, (reading, training, skipped) in MODELS.items():
    model = EXAMPLES / name / f"{name}.onnx"
    for target in TARGETS:
        flags = [*reading, *target, "--threads", "2"]
        folder = FOLDER / f"{name}-{'emulated' if target else 'cpu'}"
        skips = [word for name in skipped for word in ("--skip-pass", name)]
        expected = program(folder / "model", model, *flags, *training, *skips)
        for stage in STAGES:
            text = folder / f"{stage}.mlir"
            mtc(model, *flags, *training, *skips, "--emit", stage, "-o", text)
            rest = training if stage in ("onnx", "forward") else []
            rest = rest + (skips if stage in ("onnx", "forward", "training") else [])
            assert program(folder / stage, text, *rest) == expected, f"{folder.name}: different bytes from {stage}"
            # The texts of later stages are equal, too.
            later = folder / f"{stage}.placed.mlir"
            mtc(text, *rest, "--emit", "allocated", "-o", later)
        # Passes depend only on the module: they have the same effect in mtc-opt as in mtc.
        recipe = " ".join(f"{flag[2:]}={value}" for flag, value in zip(training[::2], training[1::2]))
        for before, after, passes in PIPELINES:
            passes = [text.format(recipe=recipe, skipped="skip-pass=" + ",".join(skipped)) for text in passes]
            run = subprocess.run(["mtc-opt", folder / f"{before}.mlir", "--mlir-print-debuginfo", *passes],
                                 capture_output=True, text=True, timeout=TIMEOUT)  # fmt: skip
            mark, _, text = (folder / f"{after}.mlir").read_text().partition("\n")
            text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
            assert run.stdout.strip() == text, f"{folder.name}: mtc-opt writes a different {after}: {run.stderr}"
        texts = {(folder / f"{stage}.placed.mlir").read_text() for stage in STAGES}
        assert len(texts) == 1, f"{folder.name}: the text differs between stages"

# A terminal shows an abbreviated text, and `mtc compile` rejects it as incomplete.
shown, said = on_terminal(EXAMPLES / "gpt2/gpt2.onnx", *MODELS["gpt2"][0], "--emit", "onnx")
assert "dense_resource<__elided__>" in shown and "loc(" not in shown, shown[:2000]
assert "use -o FILE" in said, said
abridged = FOLDER / "abridged.mlir"
abridged.write_text(shown)
run = subprocess.run([MTC, "compile", abridged], capture_output=True, text=True, timeout=TIMEOUT)
assert run.returncode == 1 and "abridged.mlir:" in run.stderr and "the text omits elements" in run.stderr, run.stderr
