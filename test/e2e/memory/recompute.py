# RUN: %python %s %t
"""Recomputation is bit-exact. A budget is met, or the error reports the minimum peak."""

import json
import re

import numpy as np
import onnx
from models import GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, compile_example, own_folder, run
from residual_layers import BATCH, WIDTH, residual_layers

STEPS = 4
folder = own_folder()


def trained(program, name: str) -> tuple[bytes, list[str], int]:
    """Returns the weights after some steps, the losses as text, and the arena's bytes."""
    log, report = folder / f"{name}.jsonl", folder / f"{name}.json"
    weights = program.exported(name, "--steps", STEPS, "--metrics", log, "--memory-report", report)
    memory = json.loads(report.read_text())
    assert memory["planned_bytes"] == memory["arena_bytes"], memory
    return weights, re.findall(r'"loss":\s*[^,}]*', log.read_text()), memory["arena_bytes"]


def compare(name: str, compile_with, most: float, how: str = "all") -> None:
    """Compares training with and without recomputation; the arena is at most `most` times as large."""
    kept = trained(compile_with("--recompute", "none", name=f"{name}_kept"), f"{name}_kept")
    again = trained(compile_with("--recompute", how, name=f"{name}_again"), f"{name}_again")
    assert len(kept[1]) == STEPS and kept[:2] == again[:2], name
    assert again[2] <= most * kept[2], (name, kept[2], again[2])


def of_gpt2(*flags):
    return lambda *more, name: compile_example(GPT2, folder, "adamw", STEPS * GPT2.batch, *flags, *more, name=name)


compare("gpt2", of_gpt2(), most=0.95)
compare("bf16", of_gpt2("--precision", "bf16", "--optimizer-bits", "8"), most=0.95)
compare("f16", of_gpt2("--precision", "f16", "--clip-norm", "1"), most=0.95)
compare("emulated", of_gpt2("--target", "cuda", "--emulate"), most=0.95)
compare("segments", of_gpt2(), most=0.99, how="sqrt")


def dropout_chain(path) -> None:
    """Each contraction is followed by a dropout. Recomputed dropout drops the same elements."""
    layers, width, batch = 6, 32, 64
    numbers = np.random.default_rng(0)
    initializers = {"ratio": np.array(0.3, np.float32), "training": np.array(True)}
    nodes, x = [], "x"
    for i in range(layers):
        initializers[f"w{i}"] = (numbers.standard_normal((width, width)) / width**0.5).astype(np.float32)
        nodes += [helper.make_node("MatMul", [x, f"w{i}"], [f"m{i}"]),
                  helper.make_node("Dropout", [f"m{i}", "ratio", "training"], [f"d{i}"]),
                  helper.make_node("Tanh", [f"d{i}"], [f"t{i}"])]  # fmt: skip
        x = f"t{i}"
    shape = [batch, width]
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


dropout_chain(folder / "chain.onnx")
numbers = np.random.default_rng(1)
data = {name: numbers.standard_normal((STEPS * 64, 32)).astype(np.float32) for name in ("x", "labels")}
for name, how in {"chain": "all", "chain_segments": "sqrt"}.items():
    compare(name, lambda *more, name: compile(
        folder / "chain.onnx", folder, data, "--loss", "mse", "--optimizer", "sgd", "--lr", "0.1", *more, name=name),
        most=0.99, how=how)  # fmt: skip


# A call adds two values of its result's size: the contraction with the frozen matrix, and the residual. Which of the two is dead after the
# call, so that the call may overwrite it, depends on recomputation.
residual_layers(folder / "residual.onnx")
data = {name: numbers.standard_normal((STEPS * BATCH, WIDTH)).astype(np.float32) for name in ("x", "labels")}
for bits in "16", "4":
    compare(f"adapters{bits}", lambda *more, name: compile(
        folder / "residual.onnx", folder, data, "--loss", "mse", "--optimizer", "adagrad", "--lr", "0.01", "--lora", "*:rank=4,alpha=8",
        "--frozen-bits", bits, *more, name=name), most=0.6)  # fmt: skip


# Budgets between the peak without a budget and the minimum peak are met, and a smaller budget never takes less time.
def plan(*flags, code: int = 0) -> dict:
    return json.loads(run([MTC, "plan", GPT2.model, *GPT2.flags, "--tile", "none", "--json", *flags], folder, code).stdout)


kept, again = plan(), plan("--recompute", "all")
highest, lowest, floor = kept["peak_bytes"], again["peak_bytes"], kept["floor_bytes"]
assert lowest < 0.95 * highest, (lowest, highest)
# No plan is below the floor, which exceeds the bytes that outlive a step and does not depend on recomputation.
outlives = sum(kept["categories"][category] for category in ("parameters", "gradients", "optimizer", "data"))
assert outlives < floor <= lowest and again["floor_bytes"] == floor, (outlives, floor, again)
last = -1.0
for budget in np.linspace(highest, lowest, 9).astype(int):
    found = plan("--memory", budget, "--remarks", "remarks.txt", "--force")
    assert found["fits"] and floor == found["floor_bytes"] <= found["peak_bytes"] <= budget, (budget, floor, found)
    times = re.findall(r"values of micro_step, ([0-9.]+) % of its time", (folder / "remarks.txt").read_text())
    time = float(times[0]) if times else 0.0
    assert time >= last, (budget, time, last)
    last = time
assert last > 0

message = run([MTC, "plan", GPT2.model, *GPT2.flags, "--tile", "none", "--memory", lowest // 2], folder, code=1)
assert str(lowest) in message.stdout + message.stderr, message
message = run([MTC, "compile", GPT2.model, *GPT2.flags, "--tile", "none", "--memory", lowest // 2], folder, code=1).stderr
assert f"({lowest} bytes), but --memory is" in message, message
message = run([MTC, "compile", GPT2.model, *GPT2.flags, "--tile", "none", "--memory", floor - 1], folder, code=1).stderr
assert f"({floor} bytes): parameters, optimizer state" in message, message
# If flags prevent recomputation, the error suggests the unused technique.
message = run([MTC, "compile", GPT2.model, *GPT2.flags, "--tile", "none", "--memory", lowest, "--recompute", "none"], folder, code=1).stderr
assert f"({highest} bytes), but --memory is" in message and "--recompute auto" in message, message
