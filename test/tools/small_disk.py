# REQUIRES: mounts
# RUN: unshare -rm %python %s %t
"""If a disk is too small, the exit code is 2, the message names the file, and existing files do not change."""

import shutil
import subprocess

import numpy as np
from models import DIGITS
from program import MTC, own_folder, run

folder = own_folder()
disk = folder / "disk"
disk.mkdir()
flags = [DIGITS.model, "--dim", "batch=32", "--loss", "cross-entropy"]
run([MTC, "compile", *flags, "-o", folder / "program"], folder)
program, weights = ((folder / name).stat().st_size for name in ("program", "program.weights.safetensors"))


def mount(bytes: int):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={bytes}", "none", disk], check=True)


def fails(*words):
    before = {path: path.read_bytes() for path in disk.iterdir() if path.is_file()}
    message = run([MTC, *words], folder, code=2).stderr
    assert "No space left on device" in message and str(disk) in message and "LLVM ERROR" not in message, message
    assert {path: path.read_bytes() for path in disk.iterdir() if path.is_file()} == before, "the file has changed"


# The disk is too small for the second program, which is written next to the first one. Wherever the write fails, the first program is kept.
data = []
for name, array in DIGITS.data(32).items():
    np.save(folder / f"{name}.npy", array)
    data += ["--data", f"{name}={folder / name}.npy"]
for room in (weights // 2, program // 2, program, program + weights // 2):
    mount(program + weights + room)
    for name in ("program", "program.weights.safetensors"):
        shutil.copy(folder / name, disk / name)
    fails("compile", *flags, "--lr", "0.5", "-o", disk / "program")
    run([disk / "program", *data, "--steps", "1"], folder)
    run(["umount", disk], folder)

mount(16 << 10)
fails("compile", *flags, "-o", disk / "program")
fails("compile", *flags, "--emit=object", "-o", disk / "object")
fails("plan", *flags, "--print-ir-after-all", disk / "ir")
run(["umount", disk], folder)
mount(4 << 10)
(disk / "rest").write_bytes(b"x" * 4096)
fails("plan", *flags, "--remarks", disk / "remarks")
fails("compile", *flags, "--emit=forward", "-o", disk / "forward")
