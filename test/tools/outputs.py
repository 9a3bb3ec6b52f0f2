# RUN: %python %s %t
"""Outputs of the compiler never replace its inputs or devices, and replace the user's files only with --force; program, weights and remarks
are written together or not at all."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import numpy as np
import onnx
from models import DIGITS
from onnx.external_data_helper import convert_model_to_external_data
from program import MTC, own_folder, run
from safetensors.numpy import load_file, save_file

folder = own_folder()
flags = ["--dim", "batch=32", "--loss", "cross-entropy"]
refusals = 0


def compile(model, *words, code=0, inside=folder, environment=None):
    command = [MTC, "compile", model, *flags, *words]
    if environment:
        command = ["env", *(f"{name}={value}" for name, value in environment.items()), *command]
    return run(command, inside, code)


def content(inside: Path) -> dict:
    """Returns the bytes of each file, and the type of each other entry."""
    return {
        str(path.relative_to(inside)): path.read_bytes() if stat.S_ISREG(mode) else stat.S_IFMT(mode)
        for path in inside.rglob("*")
        if not stat.S_ISDIR(mode := path.stat().st_mode)
    }


def refused(model, *words, says, code=1, inside=folder, environment=None):
    """Checks that a command fails, and neither changes nor creates a file."""
    global refusals
    refusals += 1
    before = content(inside)
    result = compile(model, *words, code=code, inside=inside, environment=environment)
    for word in says:
        assert word in result.stderr, f"{words}: no '{word}' in\n{result.stderr}"
    assert content(inside) == before, f"{words} changed something"


# Without -o, the program is written next to Hugging Face's weights.
hub = folder / "hub"
hub.mkdir()
shutil.copy(DIGITS.model, hub / "model.onnx")
save_file({"mine": np.ones(3, np.float32)}, hub / "model.safetensors")
before = content(hub)
compile("model.onnx", inside=hub)
assert content(hub).keys() - before.keys() == {"model", "model.weights.safetensors"}
assert {name: content(hub)[name] for name in before} == before
assert len(load_file(hub / "model.weights.safetensors")) == 6
compile("model.onnx", "--lr", "0.5", inside=hub)  # mtc's own files are replaced
assert content(hub)["model"] != before

# The inputs of the compilation are the model, also through links, its data, the recipe, and a bound file.
own = folder / "own"
own.mkdir()
shutil.copy(DIGITS.model, own / "m.onnx")
(own / "soft").symlink_to("m.onnx")
os.link(own / "m.onnx", own / "hard")
for name in ("m.onnx", "soft", "hard", "../own/m.onnx"):
    for force in ([], ["--force"]):
        refused("m.onnx", "-o", name, *force, says=[f"-o {name}: is the model, an input of this run"], inside=own)
        refused("m.onnx", "--emit=forward", "-o", name, *force, says=["is the model"], inside=own)
        refused("m.onnx", "--remarks", name, "-o", "p", *force, says=[f"--remarks {name}: is the model"], inside=own)
(own / "r.toml").write_text("lr = 0.5\n")
refused("m.onnx", "--recipe", "r.toml", "-o", "r.toml", "--force", says=["-o r.toml: is the recipe"], inside=own)

outside = folder / "outside"
outside.mkdir()
for name in ("e", "e.weights.safetensors"):
    model = onnx.load(DIGITS.model)
    convert_model_to_external_data(model, location=name, size_threshold=0)
    onnx.save(model, outside / "m.onnx")
    for force in ([], ["--force"]):
        refused("m.onnx", "-o", "e", *force, says=["is external data of the model, an input of this run"], inside=outside)
    (outside / name).unlink()

bound = folder / "bound"
bound.mkdir()
shape = onnx.helper.make_tensor_value_info("size", onnx.TensorProto.INT64, [2])
model = onnx.helper.make_model(onnx.helper.make_graph(
    [onnx.helper.make_node("Mul", ["x", "w"], ["p"]), onnx.helper.make_node("Reshape", ["p", "size"], ["y"])], "g",
    [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 4]), shape],
    [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 4])],
    [onnx.numpy_helper.from_array(np.ones(4, np.float32), "w")]), opset_imports=[onnx.helper.make_opsetid("", 17)])  # fmt: skip
onnx.save(model, bound / "m.onnx")
np.save(bound / "size.npy", np.array([32, 4]))
command = [MTC, "compile", "m.onnx", "--dim", "batch=32", "--loss", "mse", "--bind", "size=size.npy"]
run([*command, "-o", "p"], bound)
before = content(bound)
message = run([*command, "-o", "size.npy", "--force"], bound, code=1).stderr
assert "is the value of --bind size" in message and content(bound) == before, message

# The user's files are replaced only with --force; an empty file is replaced.
users = folder / "users"
users.mkdir()
for name in ("notes", "n.weights.safetensors", "program"):
    (users / name).write_text("precious\n")
shutil.copy("/bin/true", users / "program")
refused(DIGITS.model, "-o", "notes", says=["-o notes: exists, and mtc did not write it", "--force"], inside=users)
refused(DIGITS.model, "-o", "program", says=["mtc did not write it"], inside=users)
refused(DIGITS.model, "-o", "n", says=["n.weights.safetensors", "mtc did not write it"], inside=users)
refused(DIGITS.model, "--emit=onnx", "-o", "notes", says=["mtc did not write it"], inside=users)
refused(DIGITS.model, "--emit=object", "-o", "notes", says=["mtc did not write it"], inside=users)
refused(DIGITS.model, "-o", "p", "--remarks", "notes", says=["--remarks notes: exists"], inside=users)
refused(DIGITS.model, "-o", "p", "--crash-reproducer", "notes", says=["--crash-reproducer notes: exists"], inside=users)
# A folder that is not writable is reported before any work.
refused(DIGITS.model, "-o", "p", "--crash-reproducer", "/proc/r.mlir",
        says=["error: --crash-reproducer /proc/r.mlir: cannot be written"], inside=users)  # fmt: skip
(users / "ir").mkdir()
(users / "ir/0000_onnx-infer-and-fold.mlir").write_text("precious\n")
compile(DIGITS.model, "-o", "p", "--print-ir-after-all", "other", inside=users)
first = min((users / "other").iterdir())
(users / "ir" / first.name).write_text("precious\n")
refused(DIGITS.model, "-o", "q", "--print-ir-after-all", "ir", says=[first.name, "did not write it"], inside=users)
compile(DIGITS.model, "-o", "n", "--force", inside=users)
compile(DIGITS.model, "-o", "notes", "--force", "--remarks", "program", inside=users)
(users / "empty").touch()
for words in (["-o", "notes"], ["-o", "n"], ["-o", "q", "--remarks", "program"], ["-o", "q", "--print-ir-after-all", "other"],
              ["-o", "empty"]):  # fmt: skip
    compile(DIGITS.model, *words, inside=users)
for stage in ("onnx", "forward", "training", "kernels", "allocated", "llvm", "object"):
    for _ in range(2):
        compile(DIGITS.model, f"--emit={stage}", "-o", f"{stage}.text", inside=users)

# Only regular files are replaced; a stream is written to.
kinds = folder / "kinds"
kinds.mkdir()
os.mkfifo(kinds / "pipe")
(kinds / "directory").mkdir()
if os.geteuid() == 0:
    os.mknod(kinds / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    refused(DIGITS.model, "-o", "device", "--force", says=["-o device: is a device or a pipe"], inside=kinds)
refused(DIGITS.model, "-o", "pipe", "--force", says=["-o pipe: is a device or a pipe"], inside=kinds)
refused(DIGITS.model, "-o", "directory", says=["-o directory: is a folder"], inside=kinds)
refused(DIGITS.model, "-o", "new/", says=["-o new/"], inside=kinds)
refused(DIGITS.model, "-o", "nowhere/p", says=["-o nowhere/p: cannot be written: No such file"], inside=kinds)
(kinds / "dangling").symlink_to("nothing")
assert "is a broken symbolic link" in compile(DIGITS.model, "-o", "dangling", code=1, inside=kinds).stderr
(kinds / "dangling").unlink()
assert "mtc." in compile(DIGITS.model, "--emit=forward", "-o", "/dev/stdout", inside=kinds).stdout
assert compile(DIGITS.model, "-o", "p", "--remarks", "/dev/stdout", inside=kinds).stdout.startswith("# written by mtc\n")
with open(kinds / "log", "w+") as log:  # a file that the shell has opened is not replaced
    subprocess.run([MTC, "plan", DIGITS.model, "--remarks", "/dev/stdout"], stdout=log, check=True)
    text = (kinds / "log").read_text()
    assert text.startswith("# written by mtc\n") and "\nPeak memory " in text and os.path.samestat(os.fstat(log.fileno()), (kinds / "log").stat()), text

# A link is followed: its target is replaced, with the weights next to the target.
(kinds / "place").mkdir()
compile(DIGITS.model, "-o", "place/p", inside=kinds)
(kinds / "link").symlink_to("place/p")
old = (kinds / "place/p").read_bytes()
compile(DIGITS.model, "-o", "link", "--lr", "0.25", inside=kinds)
assert (kinds / "link").is_symlink() and (kinds / "place/p").read_bytes() != old
assert not (kinds / "link.weights.safetensors").exists()

# Two outputs must be two different files.
refused(DIGITS.model, "-o", "new", "--remarks", "./new", says=["is the same file as"])
refused(DIGITS.model, "-o", "new", "--remarks", "new.weights.safetensors", says=["is the same file as --remarks"])

# If a compilation fails, program and weights stay unchanged, and no other file is left.
together = folder / "together"
together.mkdir()
compile(DIGITS.model, "-o", "p", inside=together)
other = onnx.load(DIGITS.model)
for tensor in other.graph.initializer:
    if tensor.data_type == onnx.TensorProto.FLOAT:
        tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor) * 2, tensor.name))
onnx.save(other, folder / "other.onnx")
refused(folder / "other.onnx", "-o", "p", "--remarks", "r", says=["-o p: cannot create a file like"], code=2,
        inside=together, environment={"TMPDIR": str(folder / "absent")})  # fmt: skip

# A program rejects changed initial weights by their digest; --weights accepts them.
data = [word for name, array in DIGITS.data(32).items() for word in ("--data", f"{name}={folder / name}.npy")]
for name, array in DIGITS.data(32).items():
    np.save(folder / f"{name}.npy", array)
first = (together / "p.weights.safetensors").read_bytes()
train = [together / "p", *data, "--steps", "1"]
run(train, together)
compile(folder / "other.onnx", "-o", "p", inside=together)
run(train, together)
(together / "p.weights.safetensors").write_bytes(first)
message = run(train, together, code=1).stderr
assert "these are not the weights that the program was compiled with" in message and "--weights" in message, message
run([*train, "--weights", together / "p.weights.safetensors"], together)
(together / "p.weights.safetensors").unlink()
assert "p.weights.safetensors" in run(train, together, code=1).stderr
assert refusals > 40
