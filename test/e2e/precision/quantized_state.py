# RUN: %python %s %t
"""Optimizer state in 8 and 4 bits: after each step, codes and scales are bit-identical to those of the numpy reference for the preceding
state. Elements with infinite gradients restart with zero state, and their parameters are unchanged. The plan has the exact bytes of the
state, resumed runs are bit-exact, and 50 steps of 8-bit AdamW stay near those in f32.

Numbers at and next to the boundaries of codes have the reference's codes, on processors with different lookup instructions.

The reference agrees with bitsandbytes: test/support/compare_bitsandbytes.py.
"""

import json
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from models import GPT2, SMALL_GPT2
from program import MTC, compile, own_folder, run
from quantized import MAPS, pack, unpack
from safetensors.numpy import load_file

F = np.float32
RATE, STEPS = 0.01, 4
# The parameters have whole blocks of 128 and 256 elements, an incomplete last block, and too few elements to quantize; `rooted` has
# infinite gradients.
SHAPES = {"whole": (64, 96), "part": (67, 71), "line": (4097,), "small": (40,), "rooted": (80, 64)}
folder = own_folder()


def model(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The loss is the sum of each parameter times its own input; for `rooted`, the square roots of its elements are multiplied."""
    nodes = []
    for name in weights:
        factor = name
        if name == "rooted":
            nodes.append(helper.make_node("Sqrt", [name], [factor := "roots"]))
        nodes.append(helper.make_node("Mul", [factor, "x_" + name], [name + "_terms"]))
        nodes.append(helper.make_node("ReduceSum", [name + "_terms"], [name + "_sum"], keepdims=0))
    nodes.append(helper.make_node("Sum", [name + "_sum" for name in weights], ["loss"]))
    inputs = [helper.make_tensor_value_info("x_" + name, TensorProto.FLOAT, w.shape) for name, w in weights.items()]
    graph = helper.make_graph(
        nodes, "sums", inputs, [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    result = {name: random.normal(size=shape).astype(F) for name, shape in SHAPES.items()}
    result["rooted"] = np.abs(result["rooted"]) + F(0.5)
    result["rooted"].reshape(-1)[::7] = 0
    return result


def data(steps: int, scale: float) -> dict[str, np.ndarray]:
    """Returns gradients of all magnitudes, with blocks of zeros, and with elements that are 0 in all steps."""
    random = np.random.default_rng(1)
    columns = {}
    for name, shape in SHAPES.items():
        # `rooted` has elements of equal magnitude. Otherwise the second moments of small elements would be quantized to 0, but not their
        # first moments, and steps would be large.
        sizes = np.exp(3 * random.normal(size=shape)) if name != "rooted" else 1
        x = random.normal(size=(steps, *shape)) * scale * sizes
        lines = x.reshape(steps, -1)
        lines[:, 1024:1536] = 0
        lines[0, 2048:2304] = 0
        lines[:, ::11] = 0
        columns["x_" + name] = x.astype(F)
    return columns


def adamw(s: dict, g: np.ndarray, p: np.ndarray) -> dict:
    return {"moment1": s["moment1"] + (g - s["moment1"]) * F(1 - 0.9),
            "moment2": s["moment2"] * F(0.999) + g * g * F(1 - 0.999)}  # fmt: skip


def lion(s: dict, g: np.ndarray, p: np.ndarray) -> dict:
    return {"moment1": s["moment1"] * F(0.99) + g * F(1 - 0.99)}


def momentum(s: dict, g: np.ndarray, p: np.ndarray) -> dict:
    return {"velocity": s["velocity"] * F(0.9) + g}


def rmsprop(s: dict, g: np.ndarray, p: np.ndarray) -> dict:
    return {"moment2": s["moment2"] * F(0.99) + g * g * F(1 - 0.99),
            "moment1": s["moment1"] + (g - s["moment1"]) * F(1 - 0.99)}  # fmt: skip


def adagrad(s: dict, g: np.ndarray, p: np.ndarray) -> dict:
    return {"sum": s["sum"] + g * g}


def muon(s: dict, g: np.ndarray, p: np.ndarray) -> dict:
    return {"moment1": s["moment1"] + (g - s["moment1"]) * F(1 - 0.95)}


# Each entry has an optimizer, its flags, its states, and the parameters that it updates.
CASES = [
    (adamw, (), SHAPES),
    (lion, (), SHAPES),
    (momentum, ("--nesterov", "true"), SHAPES),
    (rmsprop, ("--centered", "true"), SHAPES),
    (adagrad, ("--initial-accumulator-value", "0.25"), SHAPES),
    (muon, ("--group", "match=* optimizer=adamw", "--group", "match=whole match=part optimizer=muon"), ("whole", "part")),
]


def state_of(tensors: dict, name: str, suffix: str, bits: int) -> np.ndarray:
    """Returns a state as f32 numbers."""
    key = f"{name}.{suffix}"
    if key in tensors:
        return tensors[key].reshape(-1)
    if key + ".codes" not in tensors:  # The state before the first step.
        return np.full(tensors[name].size, 0.25 if suffix == "sum" else 0, F)
    codes = tensors[key + ".codes"]
    map = MAPS[bits, suffix not in ("moment2", "sum")]
    return map.dequantize(unpack(codes) if bits == 4 else codes, tensors[key + ".scales"])


def check_step(step, before: dict, after: dict, gradients: dict, parameters, bits: int) -> None:
    for name in parameters:
        g = gradients[name].reshape(-1)
        is_quantized = g.size >= 4096 and (bits == 8 or g.size % 128 == 0)
        old, new = before[name].reshape(-1), after[name].reshape(-1)
        states = [suffix for suffix in ("moment1", "moment2", "velocity", "sum")
                  if any(key.startswith(f"{name}.{suffix}") for key in after)]  # fmt: skip
        with np.errstate(invalid="ignore", over="ignore"):
            wanted = step({s: state_of(before, name, s, bits) for s in states}, g, old)
        exists = np.all([np.isfinite(wanted[s]) for s in states], axis=0)
        if is_quantized:
            np.testing.assert_array_equal(new[~exists], old[~exists])
        for suffix in states:
            key, value = f"{name}.{suffix}", wanted[suffix]
            assert (key + ".codes" in after) == is_quantized, key
            if not is_quantized:
                np.testing.assert_array_equal(after[key].reshape(-1), value, err_msg=key)
                continue
            map = MAPS[bits, suffix not in ("moment2", "sum")]
            codes, scales = map.quantize(np.where(exists, value, F(0)))
            np.testing.assert_array_equal(after[key + ".scales"], scales, err_msg=key)
            np.testing.assert_array_equal(after[key + ".codes"], pack(codes) if bits == 4 else codes, err_msg=key)


def padded(size: int) -> int:
    return (size + 63) // 64 * 64


def check(case, bits: int, target: tuple = ()) -> None:
    step, flags, parameters = case
    name = f"{step.__name__}-{bits}" + "".join(target)
    values = data(STEPS, 0.01)
    recipe = ["--loss", "output", "--batch-input", "none", "--optimizer", step.__name__, "--lr", RATE, "--optimizer-bits", bits,
              *flags, *target]  # fmt: skip
    program = compile(folder / "model.onnx", folder, values, *recipe, name=name)
    tensors = [weights()]
    for i in range(1, STEPS + 1):
        checkpoint = folder / f"{name}-{i}"
        resume = ("--resume", folder / f"{name}-{i - 1}") if i > 1 else ()
        program.run("--steps", i, "--no-shuffle", "--save", checkpoint, *resume)
        tensors.append(load_file(next(checkpoint.glob("*.safetensors"))))
    for i in range(STEPS):
        gradients = {n: values["x_" + n][i] for n in SHAPES}
        with np.errstate(divide="ignore", invalid="ignore"):
            gradients["rooted"] = gradients["rooted"] / (np.sqrt(tensors[i]["rooted"]) * F(2))
        check_step(step, tensors[i], tensors[i + 1], gradients, parameters, bits)
    program.run("--steps", STEPS, "--no-shuffle", "--save", folder / f"{name}-whole")
    whole = load_file(next((folder / f"{name}-whole").glob("*.safetensors")))
    for key, value in whole.items():
        np.testing.assert_array_equal(value, tensors[-1][key], err_msg=key)
    plan = json.loads(run([MTC, "plan", folder / "model.onnx", *recipe, "--json"], folder).stdout)
    assert plan["categories"]["optimizer"] == sum(padded(t.nbytes) for n, t in whole.items() if n not in SHAPES), name


def runs(cpu: str) -> bool:
    """Returns whether this machine can run programs for a processor."""
    if platform.machine() != "x86_64":
        return False
    flags = {"x86-64": "sse2", "x86-64-v3": "avx2", "skylake-avx512": "avx512bw"}
    return flags[cpu] in Path("/proc/cpuinfo").read_text()


def near_bounds(signed: bool) -> np.ndarray:
    """Returns blocks that contain 1, all floats up to three steps from a boundary of the map, and numbers of all magnitudes."""
    values = MAPS[8, signed].values
    bounds = (values[:-1] + values[1:]) / F(2)
    steps = np.arange(-3, 4, dtype=np.int32)
    found = (bounds.view(np.int32)[:, None] + steps).reshape(-1).view(F)
    random = np.random.default_rng(3)
    sizes = 10.0 ** random.uniform(-9, 0, 4000) * (random.choice([-1, 1], 4000) if signed else 1)
    ends = [0, 1e-38, 1e-45, -1e-45 if signed else 0, -1 if signed else 1]
    x = np.concatenate([found, sizes.astype(F), np.array(ends, F)])
    rows = np.ones((-(-x.size // 255), 256), F)
    rows[:, 1:] = np.resize(x, (len(rows), 255))
    return rows


def check_bounds(*target) -> None:
    """Checks the codes of numbers at and near all boundaries. The state is the gradient or its square."""
    for signed, recipe in (True, ("momentum", "--momentum", 0)), (False, ("rmsprop", "--alpha", 0)):
        x = near_bounds(signed)
        gradients = x if signed else np.sqrt(x)
        state = gradients if signed else gradients * gradients
        path, name = folder / "bounds.onnx", f"{recipe[0]}-bounds" + "".join(target)
        onnx.save(model({"w": np.zeros(x.shape, F)}), path)
        program = compile(path, folder, {"x_w": gradients[None]}, "--loss", "output", "--batch-input", "none", "--optimizer",
                          *recipe, "--lr", RATE, "--optimizer-bits", 8, *target, name=name)  # fmt: skip
        program.run("--steps", 1, "--save", folder / f"{name}-end")
        tensors = load_file(next((folder / f"{name}-end").glob("*.safetensors")))
        codes, scales = MAPS[8, signed].quantize(state)
        key = "w.velocity" if signed else "w.moment2"
        np.testing.assert_array_equal(tensors[key + ".scales"], scales, err_msg=name)
        np.testing.assert_array_equal(tensors[key + ".codes"], codes, err_msg=name)


def check_closeness() -> None:
    """50 steps of 8-bit AdamW: from the preceding state, each step's parameters equal those of a step in f32; after all steps, they are
    near those of an f32 run."""
    steps, recipe = 50, ("--loss", "output", "--batch-input", "none", "--optimizer", "adamw", "--weight-decay", 0)
    random = np.random.default_rng(2)
    shapes = {"narrow": (1024, 32), "odd": (1024, 33)}
    starts = {n: (0.1 * random.normal(size=s)).astype(F) for n, s in shapes.items()}
    values = {"x_" + n: (0.01 * random.normal(size=(steps, *s))).astype(F) for n, s in shapes.items()}
    path = folder / "drift.onnx"
    onnx.save(model(starts), path)
    programs = {bits: compile(path, folder, values, *recipe, "--optimizer-bits", bits, name=f"drift-{bits}") for bits in (32, 8)}
    before = starts
    for i in range(1, steps + 1):
        resume = ("--resume", folder / "drift") if i > 1 else ()
        programs[8].run("--steps", i, "--no-shuffle", "--save", folder / "drift", *resume)
        after = load_file(next((folder / "drift").glob("*.safetensors")))
        for n in shapes:
            g, old = values["x_" + n][i - 1].reshape(-1).astype(np.float64), before[n].reshape(-1)
            m = 0.9 * state_of(before, n, "moment1", 8) + 0.1 * g
            v = 0.999 * state_of(before, n, "moment2", 8) + 0.001 * g * g
            wanted = old - 1e-3 * (m / (1 - 0.9**i)) / (np.sqrt(v / (1 - 0.999**i)) + 1e-8)
            error = np.abs(after[n].reshape(-1) - wanted)
            assert error.mean() < 6e-5 and (error / np.maximum(np.abs(wanted), 1e-9)).mean() < 6e-4, (n, i, error.mean())
        before = after
    found = {b: onnx.ModelProto.FromString(p.exported("end", "--steps", steps, "--no-shuffle")) for b, p in programs.items()}
    ends = {b: {i.name: numpy_helper.to_array(i) for i in found[b].graph.initializer} for b in found}
    for n in shapes:
        drift, distance = np.abs(ends[8][n] - ends[32][n]).mean(), np.abs(ends[32][n] - starts[n]).mean()
        assert 0 < drift < 0.05 * distance, (n, drift, way)


def check_curve() -> None:
    """Compares the first 20 losses of the GPT-2 example."""
    curves = {}
    for bits in 32, 8:
        recipe = (*GPT2.flags, "--optimizer", "adamw", "--lr", GPT2.rates["adamw"], "--optimizer-bits", bits)
        program = compile(GPT2.model, folder, GPT2.data(20 * GPT2.batch), *recipe, name=f"gpt2-{bits}")
        curves[bits] = np.array([record["loss"] for record in program.train(20)])
    np.testing.assert_allclose(curves[8], curves[32], rtol=0.01)
    assert (curves[8] != curves[32]).any()


def check_parts(bits: int, *target) -> None:
    """Blocks of parameters that ranks can divide have fewer elements, so that no part divides a block. After the first step, the state
    is that of the program with 32 bits, quantized."""
    recipe = (*SMALL_GPT2.flags, "--optimizer", "adamw", "--ranks", 1, "--tensor-chunks", 4, *target)
    saved = {}
    for each in bits, 32:
        program = compile(SMALL_GPT2.model, folder, SMALL_GPT2.data(10), *recipe, "--optimizer-bits", each, name=f"parts-{each}" + "".join(target))
        path = folder / f"{program.path.name}-end"
        program.run("--steps", 1, "--save", path, "--overwrite")
        saved[each] = load_file(next(path.glob("*.safetensors")))
    sizes = set()
    for key, codes in saved[bits].items():
        if not key.endswith(".codes"):
            continue
        state = saved[32][key.removesuffix(".codes")].reshape(-1)
        scales = saved[bits][key.replace(".codes", ".scales")]
        map = replace(MAPS[bits, "moment2" not in key], block=state.size // scales.size)
        wanted, wanted_scales = map.quantize(state)
        np.testing.assert_array_equal(scales, wanted_scales, err_msg=key)
        np.testing.assert_array_equal(codes, pack(wanted, map.block) if bits == 4 else wanted, err_msg=key)
        sizes.add(map.block)
    assert min(sizes) < 128, sizes


onnx.save(model(weights()), folder / "model.onnx")
for bits in 8, 4:
    for case in CASES:
        check(case, bits)
check(CASES[0], 8, ("--target", "cuda", "--emulate"))
check(CASES[0], 4, ("--target", "cuda", "--emulate"))
for target in (), ("--cpu", "x86-64"), ("--cpu", "x86-64-v3"), ("--cpu", "skylake-avx512"), ("--target", "cuda", "--emulate"):
    if "--cpu" not in target or runs(target[1]):
        check_bounds(*target)
for bits in 8, 4:
    check_parts(bits)
check_parts(8, "--target", "cuda", "--emulate")
check_closeness()
check_curve()
