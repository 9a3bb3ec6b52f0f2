# RUN: %python %s %t
"""--frozen-bits stores frozen matrices in fewer bits. NF4 codes are bit-identical to those of bitsandbytes (test/support/record_nf4.py),
contractions read them directly, and exports contain the original values."""

import json

import lora
import ml_dtypes
import numpy as np
import onnx
from models import GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run
from pytorch import INPUTS
from safetensors.numpy import load_file, save_file

folder = own_folder()
recorded = load_file(INPUTS / "nf4.safetensors")
NAMES = sorted(name for name in recorded if "." not in name)
BLOCK = 64


def initializers(file: bytes) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.ModelProto.FromString(file).graph.initializer}


def linear(name: str, weight: np.ndarray, transposed: bool):
    """A layer has a weight [out, in], or its transpose. Contractions with unit vectors show the values that are read."""
    rows = max(weight.shape)
    given = np.ascontiguousarray(weight.T) if transposed else weight
    node = helper.make_node("Gemm", ["x", "layer.weight", "layer.bias"], ["y"], transB=0 if transposed else 1)
    graph = helper.make_graph(
        [node], name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, weight.shape[1]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, weight.shape[0]])],
        [numpy_helper.from_array(given, "layer.weight"), numpy_helper.from_array(np.zeros(len(weight), np.float32), "layer.bias")])  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    unit = np.eye(rows, weight.shape[1], dtype=np.float32)
    return path, given, {"x": unit, "labels": np.zeros((rows, weight.shape[0]), np.float32)}


def bf16(values: np.ndarray) -> np.ndarray:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


for name in NAMES:
    weight, read = recorded[name], recorded[f"{name}.values"]
    for transposed in (False, True):
        model, given, data = linear(f"{name}{transposed}", weight, transposed)
        flags = ("--loss", "mse", "--freeze", "layer.weight", "--optimizer", "sgd", "--lr", "0.1")
        for bits, expected in (("4", read), ("16", bf16(weight))):
            program = compile(model, folder, data, *flags, "--frozen-bits", bits, name=f"{name}{transposed}{bits}")
            found = program.outputs(program.path.name)["y"][: weight.shape[1]].T
            assert (found == expected).all(), (name, transposed, bits, np.abs(found - expected).max())
            plan = json.loads(run([MTC, "plan", model, *flags, "--frozen-bits", bits, "--json"], folder).stdout)
            elements = weight.size
            stored = -(-elements // 128) * 64 + -(-elements // BLOCK) * 4 if bits == "4" else 2 * elements
            padded = sum(64 * -(-size // 64) for size in (stored, 4 * len(weight), 8))
            assert plan["categories"]["parameters"] <= padded + 64 * 4, (plan, padded)
            # Exports contain the original values, not the decoded ones.
            file = folder / "exported.onnx"
            run([program.path, "--export", file], folder)
            np.testing.assert_array_equal(initializers(file.read_bytes())["layer.weight"], given)

# Training with adapters has the losses of f32 weights that are rounded to the same values.
values = initializers(GPT2.model.read_bytes())
language = (*GPT2.flags, "--optimizer", "adamw", "--lr", repr(lora.RATE), "--weight-decay", "0.01", *lora.FLAGS)
data = GPT2.data(32)
stored = compile(GPT2.model, folder, data, *language, "--frozen-bits", "4", name="stored")
text = run([MTC, "compile", GPT2.model, *language, "--frozen-bits", "4", "--emit=training"], folder).stdout
matrices, embeddings = ([line.split("@")[1].split(" ")[0] for line in text.splitlines() if f"#mtc.stored<{kind}" in line] for kind in ("nf4", "bf16"))
assert len(matrices) == 8 and all(".h." in name for name in matrices), matrices
assert embeddings == ["lm_head.weight", "transformer.wpe.weight"], embeddings


def rounded(matrix: np.ndarray) -> np.ndarray:
    """Rounds a layer's weight, which is [out, in], as bitsandbytes does."""
    codes = np.array([-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                      -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                      0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1], np.float32)  # fmt: skip
    blocks = matrix.T.reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1, keepdims=True)
    scaled = np.clip(blocks * (np.float32(1) / scales), -1, 1)
    return np.ascontiguousarray((codes[np.searchsorted((codes[:-1] + codes[1:]) / 2, scaled)] * scales).reshape(matrix.T.shape).T)


def stored_value(name: str, value: np.ndarray) -> np.ndarray:
    if name in embeddings:
        return value.astype(ml_dtypes.bfloat16).astype(np.float32)
    return rounded(value) if name in matrices else value


factors = lora.initial()
save_file({**values, **factors}, folder / "given.safetensors")
save_file({**{name: stored_value(name, value) for name, value in values.items()}, **factors}, folder / "rounded.safetensors")
whole = compile(GPT2.model, folder, data, *language, name="whole")
found = losses(stored.train(6, "--weights", folder / "given.safetensors", name="stored"))
expected = losses(whole.train(6, "--weights", folder / "rounded.safetensors", name="whole"))
plain = losses(whole.train(6, "--weights", folder / "given.safetensors", name="plain"))
print("stored", found, "rounded", expected, "as they are", plain)
np.testing.assert_allclose(found, expected, rtol=1e-5)
assert np.abs(np.array(plain) / expected - 1).max() > 1e-4, "rounding changed no value, so nothing was tested"
assert np.abs(np.array(plain) / expected - 1).max() < 0.05

# The plan contains the compressed matrices and no f32 copy.
def categories(*flags) -> dict:
    found = json.loads(run([MTC, "plan", GPT2.model, *language, *flags, "--json"], folder).stdout)["categories"]
    return found | {"temporaries": found["activations"] + found["activation_gradients"]}


elements = sum(values[name].size for name in matrices)
full, half, quarter = categories(), categories("--frozen-bits", "16"), categories("--frozen-bits", "4")
saved_by_bf16 = sum(2 * values[name].size for name in embeddings)
assert full["parameters"] - quarter["parameters"] == 4 * elements - (elements // 2 + elements // BLOCK * 4) + saved_by_bf16
assert half["parameters"] < 0.6 * full["parameters"] and half["optimizer"] == quarter["optimizer"] == full["optimizer"]
assert quarter["temporaries"] <= full["temporaries"], (quarter, full)

# Resuming is bit-exact. A merged export is the sum of the original weights and the trained update.
saved = folder / "saved"
stored.run("--steps", 2, "--no-shuffle", "--save", saved)
straight = stored.exported("straight", "--steps", 4, "--no-shuffle")
assert stored.exported("resumed", "--steps", 4, "--resume", saved, "--save", saved) == straight
stored.run("--resume", saved, "--export-adapters", folder / "adapters")
learned = load_file(folder / "adapters/adapter_model.safetensors")
for name, value in initializers(straight).items():
    module = name.removesuffix(".weight")
    expected = values[name]
    if module in lora.modules():
        rank, alpha = lora.modules()[module]
        down, up = (learned[f"base_model.model.{module}.lora_{factor}.weight"].astype(np.float64) for factor in "AB")
        expected = expected + alpha / rank * (up @ down).T
    np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-7, err_msg=name)

# If the target's library does not read codes, a kernel decodes a matrix for one contraction, with memory for one matrix.
for bits in ("16", "4"):
    device = (*language, "--frozen-bits", bits, "--target", "cuda", "--emulate")
    program = compile(GPT2.model, folder, data, *device, name=f"device{bits}")
    host = stored if bits == "4" else compile(GPT2.model, folder, data, *language, "--frozen-bits", bits, name="host")
    np.testing.assert_allclose(losses(program.train(2, name="device")), losses(host.train(2, name="host")), rtol=1e-5)
    whole_plan, plan = (categories("--target", "cuda", "--emulate", *more) for more in ((), ("--frozen-bits", bits)))
    assert plan["temporaries"] <= whole_plan["temporaries"] + 4 * max(values[name].size for name in matrices), (plan, whole_plan)
said = run([MTC, "plan", GPT2.model, *GPT2.flags, "--frozen-bits", "4"], folder).stderr
assert "--frozen-bits 4 has no effect" in said, said
said = run([MTC, "plan", GPT2.model, *GPT2.flags, "--frozen-bits", "8"], folder, code=1).stderr
assert "--frozen-bits 8: invalid value; expected one of: 32, 16, 4" in said, said
