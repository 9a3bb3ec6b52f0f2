# RUN: %python %s %t
"""Settings of --lora beyond rank and alpha: losses of rslora and dora are PEFT's (test/support/record_adapters.py), gradients of dora equal
central differences, and dropout applies to the input of A in training only."""

import json

import lora
import numpy as np
import onnx
from models import DIGITS, GPT2
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, read_metrics, run
from pytorch import INPUTS
from safetensors.numpy import load_file, save_file

folder = own_folder()
data = GPT2.data(lora.STEPS * GPT2.batch)
flags = (*GPT2.flags, "--optimizer", "adamw", "--lr", repr(lora.RATE), "--weight-decay", "0.01")
expected = json.loads((INPUTS / "adapters.json").read_text())["variants"]
base = {tensor.name: np.ascontiguousarray(numpy_helper.to_array(tensor)) for tensor in onnx.load(GPT2.model).graph.initializer}
save_file({**base, **lora.initial()}, folder / "start.safetensors")


def check_variant(name: str) -> None:
    steps = len(expected[name]["losses"])
    program = compile(GPT2.model, folder, data, *flags, *lora.flags(name), name=name)
    saved, log, adapters, merged = (folder / f"{name}-{file}" for file in ("saved", "log", "adapters", "merged.onnx"))
    program.run("--weights", folder / "start.safetensors", "--steps", steps, "--no-shuffle", "--save", saved, "--metrics", log)
    errors = np.abs(np.array(losses(read_metrics(log))) / expected[name]["losses"] - 1)
    print(f"{name}: largest relative error {errors.max():.1e}")
    assert errors.max() < expected[name]["tolerance"], errors
    exports = ("--export", merged, "--export-adapters", adapters, "--adapter-base", "gpt2", "--adapter-task", "CAUSAL_LM")
    run([program.path, "--resume", saved, *exports], folder)
    config = json.loads((adapters / "adapter_config.json").read_text())
    assert (config["base_model_name_or_path"], config["task_type"]) == ("gpt2", "CAUSAL_LM")
    assert (config["use_rslora"], config["use_dora"]) == (name == "rslora", name == "dora"), config
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (8, 16, 0)
    found = load_file(adapters / "adapter_model.safetensors")
    magnitudes = {f"base_model.model.{module}.lora_magnitude_vector" for module in lora.modules()}
    assert magnitudes <= found.keys() if name == "dora" else not magnitudes & found.keys(), found.keys()
    # The merged model computes the trained model's outputs.
    program.run("--evaluate", "--resume", saved, "--metrics", folder / "adapted.jsonl")
    compile(merged, folder, data, *flags, name="plain").run("--evaluate", "--metrics", folder / "plain.jsonl")
    adapted, whole = (read_metrics(folder / f"{file}.jsonl")[-1]["loss"] for file in ("adapted", "plain"))
    assert abs(adapted / whole - 1) < 1e-5, (adapted, whole)


def check_gradients() -> None:
    """Compares gradients of dora with central differences in f64 at factors that are not zero. The norms are constant, as in PEFT."""
    rng = np.random.default_rng(3)
    w, x = rng.normal(size=(6, 5)), rng.normal(size=(4, 6))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "linear",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [4, 6])], [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [4, 5])],
        [numpy_helper.from_array(w, "w")])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "linear.onnx")
    target = rng.normal(size=(4, 5))
    settings = ("--loss", "mse", "--labels", "labels", "--lora", "w:rank=2,alpha=3,dora")
    program = compile(folder / "linear.onnx", folder, {"x": x, "labels": target}, *settings, name="linear")
    at = {"w.lora_A.weight": rng.normal(size=(2, 6)), "w.lora_B.weight": rng.normal(size=(5, 2)), "w.lora_magnitude_vector": rng.uniform(1, 2, 5)}
    save_file({"w": w, **at}, folder / "at.safetensors")
    program.run("--weights", folder / "at.safetensors", "--gradients", folder / "gradients.safetensors")
    found = load_file(folder / "gradients.safetensors")
    norms = np.linalg.norm(w + 1.5 * (at["w.lora_B.weight"] @ at["w.lora_A.weight"]).T, axis=0)

    def loss(values: dict[str, np.ndarray]) -> float:
        changed = w + 1.5 * (values["w.lora_B.weight"] @ values["w.lora_A.weight"]).T
        return float(np.mean((x @ (changed * values["w.lora_magnitude_vector"] / norms) - target) ** 2))

    for name, value in at.items():
        gradient = next(g for n, g in found.items() if n.startswith(name))
        for index in np.ndindex(value.shape):
            step = np.zeros_like(value)
            step[index] = 1e-6
            slope = (loss({**at, name: value + step}) - loss({**at, name: value - step})) / 2e-6
            assert abs(gradient[index] - slope) < 1e-7 * max(1, abs(slope)), (name, index, gradient[index], slope)


def check_dropout() -> None:
    """With A = 1 and B = 0, the first update of B by SGD on one sample is an outer product with the input of A."""
    sample = DIGITS.data(1)
    settings = ("--dim", "batch=1", "--optimizer", "sgd", "--lr", "1", "--lora")
    plain, dropped = (
        compile(DIGITS.model, folder, sample, *settings, f"layers.0.weight:rank=64{more}", name=name)
        for name, more in (("kept", ""), ("dropped", ",dropout=0.25"))
    )
    weights = {t.name: np.ascontiguousarray(numpy_helper.to_array(t)) for t in onnx.load(DIGITS.model).graph.initializer}
    identity = {"layers.0.lora_A.weight": np.eye(64, dtype=np.float32), "layers.0.lora_B.weight": np.zeros((256, 64), np.float32)}
    save_file({**weights, **identity}, folder / "identity.safetensors")

    def update(program, name: str, *more) -> np.ndarray:
        program.run("--weights", folder / "identity.safetensors", "--steps", 1, "--export-adapters", folder / name, *more)
        return load_file(folder / name / "adapter_model.safetensors")["base_model.model.layers.0.lora_B.weight"]

    whole, seeds = update(plain, "whole"), [update(dropped, f"seed{seed}", "--seed", seed) for seed in (1, 2, 1)]
    rows, columns = np.abs(whole).sum(axis=1) > 0, np.abs(whole).sum(axis=0) > 0
    for change in seeds:
        factors = change[rows][:, columns] / whole[rows][:, columns]
        kept = factors[0] > 0.5
        np.testing.assert_allclose(factors, np.broadcast_to(np.where(kept, 4 / 3, 0), factors.shape), rtol=1e-4)
        assert 0.4 < kept.mean() < 1, kept.mean()
    assert (seeds[0] == seeds[2]).all() and (seeds[0] != seeds[1]).any()
    config = json.loads((folder / "seed1/adapter_config.json").read_text())
    assert config["lora_dropout"] == 0.25, config
    # Evaluation drops nothing.
    results = []
    for program in (plain, dropped):
        rng = np.random.default_rng(5)
        save_file({**weights, **identity, "layers.0.lora_B.weight": rng.normal(0, 0.1, (256, 64)).astype(np.float32)}, folder / "random.safetensors")
        program.run("--evaluate", "--weights", folder / "random.safetensors", "--metrics", folder / f"{program.path.name}.jsonl")
        results.append(read_metrics(folder / f"{program.path.name}.jsonl")[0]["loss"])
    assert results[0] == results[1], results


check_variant("rslora")
check_variant("dora")
check_gradients()
check_dropout()
both = compile(GPT2.model, folder, data, *flags, *lora.flags("dora", "dropout=0.5"), name="both").train(10, name="both")
assert losses(both)[9] < losses(both)[0], losses(both)

# PEFT's format has one rule for the scale and for magnitudes.
mixed = compile(DIGITS.model, folder, DIGITS.data(64), *DIGITS.flags, "--lora", "layers.*:rank=4", "--lora", "layers.0.*:rank=4,rslora", name="mixed")
run([mixed.path, "--export-adapters", folder / "mixed-adapters"], folder)
config = json.loads((folder / "mixed-adapters/adapter_config.json").read_text())
assert config["use_rslora"] is False and sorted([config["lora_alpha"], *config["alpha_pattern"].values()])[-1] == 16, config
partly = compile(DIGITS.model, folder, DIGITS.data(64), *DIGITS.flags, "--lora", "layers.*", "--lora", "layers.0.*:dora", name="partly")
said = run([partly.path, "--export-adapters", "here"], folder, code=1).stderr
assert "some adapters have a magnitude (dora) and others do not" in said, said
said = partly.run("--adapter-base", "gpt2", code=1).stderr
assert "--adapter-base: has no effect alone; expected --export-adapters" in said, said
said = run([mixed.path, "--export-adapters", "here", "--adapter-task", "LM"], folder, code=1).stderr
assert "--adapter-task LM: expected CAUSAL_LM," in said, said
said = run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--lora", "layers.*:dora", "--frozen-bits", "4"], folder, code=1).stderr
assert "--frozen-bits 4: 'layers.0.weight' has an adapter with dora" in said, said
