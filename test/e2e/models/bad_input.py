# RUN: %python %s %t
"""Each kind of invalid input results in exit code 1 and one message that names the input, and leaves no partial file."""

import shutil

import numpy as np
from models import DIGITS
from program import MTC, compile_example, own_folder, run

folder = own_folder()
program = compile_example(DIGITS, folder, "sgd", 64)
x, labels = folder / "x.npy", folder / "labels.npy"


def refused(command, *words):
    """Checks that the command fails, and that its message contains all of these words."""
    before = sorted(folder.rglob("*"))
    result = run(command, folder, code=1)
    for word in words:
        assert word in result.stderr, f"{command}\nno '{word}' in\n{result.stderr}"
    assert len(result.stderr.splitlines()) <= 12, result.stderr
    assert sorted(folder.rglob("*")) == before, "something was left behind"


def data(**files):
    return [flag for name, file in files.items() for flag in ("--data", f"{name}={file}")]


np.save(folder / "wide.npy", np.zeros((64, 65), np.float32))
np.save(folder / "large.npy", np.full((64, 64), 1e39))
np.save(folder / "short.npy", np.zeros((63, 64), np.float32))
np.save(folder / "eleven.npy", np.full(64, 11))
(folder / "empty.npy").write_bytes(b"")
(folder / "broken.npy").write_bytes(x.read_bytes()[:-8])

train = [program.path, "--steps", 2]
refused([*train], "x")
refused([*train, *data(x=x)], "labels")
refused([*train, *data(x=x, labels=folder / "none.npy")], "none.npy")
refused([*train, *data(x=x, labels=labels, z=x)], "z")
refused([*train, *data(x=folder / "wide.npy", labels=labels)], "wide.npy", "65", "64")
refused([*train, *data(x=folder / "large.npy", labels=labels)], "large.npy", "1e+39", "f32")
refused([*train, *data(x=folder / "short.npy", labels=labels)], "63", "64")
refused([*train, *data(x=folder / "empty.npy", labels=labels)], "empty.npy")
refused([*train, *data(x=folder / "broken.npy", labels=labels)], "broken.npy")
refused([*train, *data(x=x, labels=folder / "eleven.npy")], "11")
refused([*train, *data(x=x, labels=labels), "--no-such-flag"], "--no-such-flag")
refused([program.path, *data(x=x, labels=labels), "--steps", "-3"], "--steps")
refused([*train, *data(x=x, labels=labels), "--resume", folder / "nowhere"], "nowhere")
shutil.copy(program.path.with_name("train.weights.safetensors"), folder / "kept")
program.path.with_name("train.weights.safetensors").write_bytes((folder / "kept").read_bytes()[:-4])
refused([*train, *data(x=x, labels=labels)], "train.weights.safetensors")
damaged = bytearray((folder / "kept").read_bytes())
damaged[-1000] ^= 0x40
program.path.with_name("train.weights.safetensors").write_bytes(damaged)
refused([*train, *data(x=x, labels=labels)], "train.weights.safetensors", "is damaged")
shutil.move(folder / "kept", program.path.with_name("train.weights.safetensors"))
program.run("--steps", 2)

compile = [MTC, "compile", "-o", folder / "other"]
(folder / "no.onnx").write_bytes(b"this is no model")
(folder / "half.onnx").write_bytes(DIGITS.model.read_bytes()[:100_000])
refused([*compile, folder / "absent.onnx"], "absent.onnx")
refused([*compile, folder / "no.onnx"], "no.onnx")
refused([*compile, folder / "half.onnx"], "half.onnx")
refused([*compile, DIGITS.model, "--loss", "hinge"], "hinge")
refused([*compile, DIGITS.model, "--dim", "bathc=8"], "bathc")
refused([*compile, DIGITS.model, "--dim", "batch=0"], "batch")
refused([*compile, DIGITS.model, "--optimizer", "sdg"], "sdg")
refused([*compile, DIGITS.model, "--lr", "fast"], "fast")
refused([*compile, DIGITS.model, "--output", "scores"], "scores", "logits")
