"""Compares 8-bit AdamW with bitsandbytes (0.50.2 from PyPI, on the CPU). The script is for developers, and needs PyTorch and bitsandbytes.
`PYTHON compare_bitsandbytes.py path/to/mtc`

1. The maps of quantized.py, and its codes and scales of ties, blocks of zeros and numbers of all magnitudes, equal those of
   bitsandbytes' portable implementation (`backends/default`), code for code. The only difference is the sign rule of its CUDA kernels,
   which the portable implementation lacks: a number below 0 never has the code of 0.
2. 50 steps of a program: codes and scales after each step equal those of quantized.py for the step's f32 moments, computed from the
   preceding state. bitsandbytes' AdamW8bit computes moments as b m + (1 - b) g, PyTorch and mtc as m + (1 - b) (g - m): the codes
   differ by one if a moment that differs in its last bit is at a boundary. For infinite gradients, the script reproduces bitsandbytes'
   CUDA kernels: the element's state is 0 and its parameter is unchanged.
3. The same steps in f32 by PyTorch's AdamW, which starts each step from the program's parameters and state: the mean difference of a
   step is less than 6e-5, and less than 6e-4 relative to the parameter, for gradients of 0.01 N(0, 1) and the shapes of
   bitsandbytes' own tests.
4. The difference between bitsandbytes' native CPU library and its own algorithm: the library looks codes up for numbers rounded to a
   grid of 65536 values, which does not contain 0.
"""

import ctypes
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from quantized import MAPS
from safetensors.numpy import load_file

STEPS, RATE, DECAY = 50, 1e-3, 1e-2
SHAPES = {"matrix": (96, 256), "odd": (67, 71), "rooted": (64, 80)}
F = np.float32
is_native = "--native" in sys.argv


def refuse_native(load):
    def refused(name, *rest):
        if "bitsandbytes" in str(name):
            raise OSError("the portable implementation is compared")
        return load(name, *rest)

    return refused


if not is_native:
    ctypes.cdll.LoadLibrary = refuse_native(ctypes.cdll.LoadLibrary)
import bitsandbytes as bnb  # noqa: E402
import bitsandbytes.functional  # noqa: E402
import torch  # noqa: E402


def theirs(x: np.ndarray, signed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns bitsandbytes' codes and scales. An incomplete last block is padded with zeros, as in its CUDA kernels."""
    filled = np.concatenate([x, np.zeros(-x.size % 256, F)])
    codes, scales = torch.ops.bitsandbytes.quantize_blockwise(
        torch.from_numpy(filled), torch.from_numpy(MAPS[8, signed].values), 256
    )
    return codes.numpy()[: x.size], scales.numpy()


def compare_quantization() -> None:
    random = np.random.default_rng(0)
    for signed in True, False:
        map = MAPS[8, signed]
        np.testing.assert_array_equal(bnb.functional.create_dynamic_map(signed).numpy(), map.values)
        ties = np.append((map.values[:-1] + map.values[1:]) / F(2), F(1))
        cases = {
            "ties": ties, "neighbours of ties": np.nextafter(ties, F(2)), "zeros": np.zeros(512, F), "tiny": np.full(300, F(1e-42)),
            "normal": random.normal(size=1 << 20).astype(F),
            "all sizes": (random.normal(size=1 << 20) * np.exp(5 * random.normal(size=1 << 20))).astype(F),
        }  # fmt: skip
        for name, x in cases.items():
            x = x if signed else np.abs(x)
            (codes, scales), (wanted, wanted_scales) = map.quantize(x), theirs(x, signed)
            other = codes != wanted
            if is_native:
                print(f"  {'signed' if signed else 'unsigned'} {name}: {other.mean():.2%} of codes differ")
                continue
            np.testing.assert_array_equal(scales, wanted_scales)
            assert (x[other] < 0).all() and (codes[other] == 126).all() and (wanted[other] == 127).all(), name
            print(f"  {'signed' if signed else 'unsigned'} {name}: equal except for {other.sum()} preserved signs")


def model(path: Path) -> None:
    random = np.random.default_rng(0)
    weights = {name: (0.1 * random.normal(size=shape)).astype(F) for name, shape in SHAPES.items()}
    weights["rooted"] = np.abs(weights["rooted"]) + F(0.5)
    weights["rooted"].reshape(-1)[::5] = 0
    nodes = [helper.make_node("Sqrt", ["rooted"], ["roots"])]
    for name in SHAPES:
        nodes.append(helper.make_node("Mul", ["roots" if name == "rooted" else name, "x_" + name], [name + "_t"]))
        nodes.append(helper.make_node("ReduceSum", [name + "_t"], [name + "_s"], keepdims=0))
    nodes.append(helper.make_node("Sum", [name + "_s" for name in SHAPES], ["loss"]))
    inputs = [helper.make_tensor_value_info("x_" + name, TensorProto.FLOAT, shape) for name, shape in SHAPES.items()]
    graph = helper.make_graph(nodes, "sums", inputs, [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def update(before: dict, name: str, g: np.ndarray, step: int) -> dict:
    """Updates a parameter and its state as AdamW8bit does."""
    bad = ~np.isfinite(g)
    parameter = torch.nn.Parameter(torch.from_numpy(before[name].reshape(-1).copy()))
    optimizer = bnb.optim.AdamW8bit([parameter], lr=RATE, weight_decay=DECAY)
    parameter.grad = torch.from_numpy(np.where(bad, F(0), g))
    state = optimizer.state[parameter]
    optimizer.init_state(optimizer.param_groups[0], parameter, 0, 0)
    state["step"] = step
    for i, (suffix, zero) in enumerate([("moment1", 127), ("moment2", 0)], start=1):
        codes = np.where(bad, np.uint8(zero), before[f"{name}.{suffix}.codes"])
        state[f"state{i}"].copy_(torch.from_numpy(codes))
        state[f"absmax{i}"].copy_(torch.from_numpy(before[f"{name}.{suffix}.scales"]))
    optimizer.step()
    after = parameter.detach().numpy()
    after[bad] = before[name].reshape(-1)[bad]
    result = {name: after}
    for i, suffix in enumerate(["moment1", "moment2"], start=1):
        result[f"{name}.{suffix}.codes"] = state[f"state{i}"].numpy()
        result[f"{name}.{suffix}.scales"] = state[f"absmax{i}"].numpy()
    return result


def compare_steps(mtc: str, folder: Path) -> None:
    random = np.random.default_rng(1)
    data, flags = {}, []
    for name, shape in SHAPES.items():
        sizes = np.exp(2 * random.normal(size=shape)) if name != "rooted" else 1
        x = 0.01 * random.normal(size=(STEPS, *shape)) * sizes
        lines = x.reshape(STEPS, -1)
        lines[:, 1024:1280] = 0
        lines[::3, ::13] = 0
        data[name] = x.astype(F)
        np.save(folder / f"{name}.npy", data[name])
        flags += ["--data", f"x_{name}={folder / name}.npy"]
    model(folder / "model.onnx")

    def run(*command) -> None:
        subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=folder)

    run(mtc, "compile", folder / "model.onnx", "--loss", "output", "--batch-input", "none", "--optimizer", "adamw", "--lr", RATE,
        "--weight-decay", DECAY, "--optimizer-bits", 8, "-o", folder / "train")  # fmt: skip
    before, counts, elements = {}, {"codes": 0, "signs": 0}, 0
    for step in range(1, STEPS + 1):  # The first step only creates the state from which the others start.
        checkpoint = folder / f"step{step}"
        resume = ("--resume", folder / f"step{step - 1}") if before else ()
        run(folder / "train", *flags, "--steps", step, "--no-shuffle", "--quiet", "--save", checkpoint, *resume)
        after = load_file(next(checkpoint.glob("*.safetensors")))
        for name in SHAPES if before else ():
            g = data[name][step - 1].reshape(-1)
            if name == "rooted":
                with np.errstate(divide="ignore", invalid="ignore"):
                    g = g / (np.sqrt(before[name].reshape(-1)) * F(2))
            states = {s: MAPS[8, s == "moment1"].dequantize(before[f"{name}.{s}.codes"], before[f"{name}.{s}.scales"])
                      for s in ("moment1", "moment2")}  # fmt: skip
            with np.errstate(invalid="ignore"):
                moments = {"moment1": states["moment1"] + (g - states["moment1"]) * F(1 - 0.9),
                           "moment2": states["moment2"] * F(0.999) + g * g * F(1 - 0.999)}  # fmt: skip
            exists = np.isfinite(moments["moment1"]) & np.isfinite(moments["moment2"])
            others = update(before, name, g, step - 1)
            np.testing.assert_allclose(after[name].reshape(-1), others[name], rtol=2e-5, atol=1e-7)
            for suffix, moment in moments.items():
                key, signed = f"{name}.{suffix}", suffix == "moment1"
                moment = np.where(exists, moment, F(0))
                codes, scales = MAPS[8, signed].quantize(moment)
                np.testing.assert_array_equal(after[key + ".codes"], codes, err_msg=f"{key} after step {step}")
                np.testing.assert_array_equal(after[key + ".scales"], scales, err_msg=f"{key} after step {step}")
                np.testing.assert_allclose(others[key + ".scales"], scales, rtol=1e-6, atol=1e-38)
                distance = codes.astype(int) - others[key + ".codes"]
                kept = (distance == -1) & (codes == 126) & (moment < 0) & signed
                assert np.abs(distance).max() <= 1, f"{key} after step {step}"
                counts["signs"] += kept.sum()
                counts["codes"] += (distance[~kept] != 0).sum()
                elements += codes.size
        before = after
    assert counts["codes"] <= elements * 1e-4, counts
    print(f"  {elements} codes equal quantized.py's for mtc's moments; for bitsandbytes' own moments, {counts['codes']} codes "
          f"differ by one, and {counts['signs']} signs are preserved")  # fmt: skip


def compare_drift(mtc: str, folder: Path) -> None:
    random = np.random.default_rng(2)
    for columns in 32, 1024, 4097:
        weights = (0.1 * random.normal(size=(1024, columns))).astype(F)
        gradients = np.lib.format.open_memmap(folder / "g.npy", "w+", F, (STEPS, 1024, columns))
        for step in range(STEPS):
            gradients[step] = 0.01 * random.normal(size=(1024, columns))
        gradients.flush()
        graph = helper.make_graph(
            [helper.make_node("Mul", ["w", "g"], ["t"]), helper.make_node("ReduceSum", ["t"], ["loss"], keepdims=0)], "sum",
            [helper.make_tensor_value_info("g", TensorProto.FLOAT, [1024, columns])],
            [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], [numpy_helper.from_array(weights, "w")])  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "drift.onnx")
        command = [mtc, "compile", "drift.onnx", "--loss", "output", "--batch-input", "none", "--optimizer", "adamw", "--lr", RATE,
                   "--weight-decay", DECAY, "--optimizer-bits", 8, "-o", "drift", "--force"]  # fmt: skip
        subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=folder)
        parameter = torch.nn.Parameter(torch.from_numpy(weights.copy()))
        optimizer = torch.optim.AdamW([parameter], lr=RATE, weight_decay=DECAY)
        absolute = relative = 0.0
        for step in range(1, STEPS + 1):
            resume = ["--resume", f"drift{step - 1}"] if step > 1 else []
            command = ["./drift", "--data", "g=g.npy", "--steps", step, "--no-shuffle", "--quiet", "--save", f"drift{step}", *resume]
            subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=folder)
            (file,) = (folder / f"drift{step}").glob("*.safetensors")
            saved = load_file(file)
            ours = torch.from_numpy(saved["w"])
            shutil.rmtree(folder / f"drift{step - 1}", ignore_errors=True)
            parameter.grad = torch.from_numpy(gradients[step - 1].copy())
            optimizer.step()
            distance = (ours - parameter.detach()).abs()
            absolute = max(absolute, distance.mean().item())
            relative = max(relative, (distance / (parameter.detach().abs() + 1e-9)).mean().item())
            parameter.data.copy_(ours)
            for state, name in ("exp_avg", "moment1"), ("exp_avg_sq", "moment2"):
                moment = MAPS[8, name == "moment1"].dequantize(saved[f"w.{name}.codes"], saved[f"w.{name}.scales"])
                optimizer.state[parameter][state].copy_(torch.from_numpy(moment.reshape(1024, columns)))
        shutil.rmtree(folder / f"drift{STEPS}")
        print(f"  1024 x {columns}: a step differs from f32 by {absolute:.1e} at most in the mean, {relative:.1e} of the parameter")
        assert absolute < 6e-5 and relative < 6e-4, (absolute, relative)


print(f"bitsandbytes {importlib.metadata.version('bitsandbytes')}, {'native library' if is_native else 'portable'}", flush=True)
compare_quantization()
if not is_native:
    with tempfile.TemporaryDirectory() as folder:
        compare_steps(os.path.abspath(sys.argv[1]), Path(folder))
        compare_drift(os.path.abspath(sys.argv[1]), Path(folder))
    subprocess.run([sys.executable, __file__, "--native"], check=True, stderr=subprocess.DEVNULL)
