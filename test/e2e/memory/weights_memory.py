# RUN: %python %s %t
"""Reading and writing weights and checkpoints takes at most 64 MiB of memory in addition to the planned one, for f32 and bf16 files, matrices
that are transposed or parts of another in the file, NF4 and adapters. A killed read changes nothing, and a killed write leaves the previous
folder whole."""

import json
import random
import signal
import subprocess
import time

import numpy as np
import onnx
from module_images import Image, Part, everything, stage_with, transposed
from onnx import TensorProto, helper
from pretrained import BF16, read_file, read_folder, write_folder
from program import Program, compile, own_folder, rounds

LAYERS, WIDTH, BATCH = 4, 4096, 2
LIMIT = 64 << 20
folder = own_folder()
generator = np.random.default_rng(0)


def matrix() -> np.ndarray:
    """Rows of a few random values: elements of their own would take most of the test's time."""
    value = np.tile(generator.standard_normal((WIDTH, 64), np.float32) * 0.02, WIDTH // 64)
    return value.astype(BF16)


names = [f"w{i}" for i in range(LAYERS)]
weights = {name: matrix() for name in names}
write_folder(folder / "bf16", weights, files=2)
of_module = {f"layers.{i}.weight": value for i, value in enumerate(weights.values())}
write_folder(folder / "module", of_module, files=2)
nodes = [helper.make_node("MatMul", [f"h{i}" if i else "x", name], [f"h{i + 1}"]) for i, name in enumerate(names)]
shape = ["batch", WIDTH]
graph = helper.make_graph(
    nodes, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
    [helper.make_tensor_value_info(f"h{LAYERS}", TensorProto.FLOAT, shape)],
)  # fmt: skip
for name in names:  # Weights without data, as of modules on the meta device.
    tensor = graph.initializer.add(name=name, data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "absent.data"), ("offset", str(names.index(name) << 26)), ("length", str(WIDTH * WIDTH * 4))):
        tensor.external_data.add(key=key, value=value)
model = folder / "model.onnx"
model.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString())
DATA = {"x": np.ones((4, WIDTH), np.float32), "labels": np.zeros((4, WIDTH), np.float32)}
DIM = ("--dim", f"batch={BATCH}")
FLAGS = ("--loss", "mse", "--labels", "labels", "--optimizer", "sgd", "--lr", "1e-5")


def measure(what: str, program: Program, *flags) -> None:
    """Compares the maximum resident size at the end of a run with the planned memory."""
    report = folder / "report.json"
    program.run("--memory-report", report, *flags)
    memory = json.loads(report.read_text())
    excess = memory["process_peak_bytes"] - memory["arena_bytes"]
    print(f"{what}: {memory['arena_bytes'] >> 20} MiB planned, {excess / 2**20:.1f} MiB more")
    assert excess <= LIMIT, what


def check(what: str, program: Program, expected: dict[str, np.ndarray]) -> None:
    target = folder / f"{what}-out"
    measure(f"{what}: load", program, "--steps", 1)
    measure(f"{what}: save", program, "--steps", 1, "--export-weights", target)
    found = read_folder(target)
    assert found.keys() == expected.keys() and {value.dtype for value in found.values()} == {BF16}


adapters = ("--lora", "*:rank=4", "--freeze", "*")
plain = ("--weights", folder / "bf16")
check("plain", compile(model, folder, DATA, *DIM, *FLAGS, *plain, name="plain"), weights)
check("lora", compile(model, folder, DATA, *DIM, *FLAGS, *plain, *adapters, name="lora"), weights)
check("nf4", compile(model, folder, DATA, *DIM, *FLAGS, *plain, *adapters, "--frozen-bits", "4", name="nf4"), weights)
images = {name: [transposed(of, (WIDTH, WIDTH))] for name, of in zip(names, of_module, strict=True)}
turned = ("--weights", folder / "module")
text = stage_with(model, folder, (*DIM, *adapters), images, {}, "")
check("turned", compile(text, folder, DATA, *FLAGS, *turned, name="turned"), of_module)
check("turned-nf4", compile(text, folder, DATA, *FLAGS, *turned, "--frozen-bits", "4", name="turned-nf4"), of_module)

# Nothing is trained with a rate of 0: the values that were read are those that are written.
text = stage_with(model, folder, DIM, images, {}, "")
STILL = (*FLAGS[:-2], "--lr", "0")
still = compile(text, folder, DATA, *STILL, *turned, name="still")


def check_checkpoints(what: str, program: Program, expected: dict[str, np.ndarray]) -> None:
    """Checkpoints have the layout of the module, and take no more memory than other files."""
    saved, resumed = folder / f"{what}-saved", folder / f"{what}-resumed"
    measure(f"{what}: checkpoint", program, "--steps", 1, "--save", saved)
    (file,) = saved.glob("step-*.safetensors")
    found = read_file(file)
    assert all(np.array_equal(found[name], value.astype(np.float32)) for name, value in expected.items()), what
    measure(f"{what}: resume", program, "--steps", 2, "--resume", saved, "--export-weights", resumed)
    found = read_folder(resumed)
    assert all(np.array_equal(found[name].view(np.uint16), value.view(np.uint16)) for name, value in expected.items()), what
    data = bytearray(file.read_bytes())
    data[-WIDTH] ^= 1
    file.write_bytes(data)
    said = program.run("--steps", 2, "--resume", saved, code=1).stderr
    assert "is damaged: its checksum is " in said, said


check_checkpoints("still", still, of_module)
# Two matrices of the program are one of the module, as query and key of some attention layers.
joined = {"layers.both.weight": np.concatenate([of_module["layers.0.weight"], of_module["layers.1.weight"]])}
joined |= {name: of_module[name] for name in ("layers.2.weight", "layers.3.weight")}
write_folder(folder / "joined", joined)
halves = [Part(everything(2), (slice(i * WIDTH, (i + 1) * WIDTH), slice(None)), (1, 0)) for i in range(2)]
for i, half in enumerate(halves):
    images[f"w{i}"] = [Image("layers.both.weight", (2 * WIDTH, WIDTH), (half,))]
for what, more in [("joined-f32", ()), ("joined-split", ("--precision", "bf16"))]:
    text = stage_with(model, folder, (*DIM, *more), images, {}, "")
    check_checkpoints(what, compile(text, folder, DATA, *STILL, "--weights", folder / "joined", name=what), joined)
target = folder / "still-out"
start = time.monotonic()
still.run("--steps", 1, "--export-weights", target)
duration = time.monotonic() - start


def check_whole() -> None:
    found = read_folder(target)
    assert all(np.array_equal(found[name].view(np.uint16), value.view(np.uint16)) for name, value in of_module.items())


check_whole()
moments = random.Random(0)
killed = 0
for _ in range(rounds(20)):
    command = [str(word) for word in still.command("--steps", 1, "--export-weights", target)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(moments.uniform(0, duration))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        killed += 1
    process.wait()
    assert {path.name for path in target.iterdir()} == {"config.json", "vocab.txt", "model.safetensors"}
check_whole()
assert killed > 5, killed
still.run("--steps", 1, "--export-weights", target)
assert not list(folder.glob(".*.tmp")), "temporary folders of killed runs remain"
