# RUN: %python %s %t
"""Settings of --lora beyond rank and alpha: losses with rslora are PEFT's (test/support/record_adapters.py), and dropout applies to the
input of A in training only."""

import json

import lora
import numpy as np
import onnx
from models import DIGITS, GPT2
from onnx import numpy_helper
from program import compile, losses, own_folder, read_metrics, run
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
    # The file has the alpha of the same scale without rslora.
    assert config["r"] == 8 and abs(config["lora_alpha"] - 16 * 8**0.5) < 1e-12, config
    assert set(config["alpha_pattern"].values()) == {8} and "use_rslora" not in config, config
    # The merged model computes the trained model's outputs.
    program.run("--evaluate", "--resume", saved, "--metrics", folder / "adapted.jsonl")
    compile(merged, folder, data, *flags, name="plain").run("--evaluate", "--metrics", folder / "plain.jsonl")
    adapted, whole = (read_metrics(folder / f"{file}.jsonl")[-1]["loss"] for file in ("adapted", "plain"))
    assert abs(adapted / whole - 1) < 1e-5, (adapted, whole)


def check_dropout() -> None:
    """With A = 1 and B = 0, the first update of B by SGD on one sample is an outer product with the input of A."""
    sample = DIGITS.data(1)
    plain, dropped = (
        compile(DIGITS.model, folder, sample, "--dim", "batch=1", "--optimizer", "sgd", "--lr", "1", "--lora", f"layers.0.weight:rank=64{more}", name=name)
        for name, more in (("kept", ""), ("dropped", ",dropout=0.25"))
    )  # fmt: skip
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
    assert json.loads((folder / "seed1/adapter_config.json").read_text())["lora_dropout"] == 0
    # Evaluation drops nothing.
    results = []
    for program in (plain, dropped):
        rng = np.random.default_rng(5)
        save_file({**weights, **identity, "layers.0.lora_B.weight": rng.normal(0, 0.1, (256, 64)).astype(np.float32)}, folder / "random.safetensors")
        program.run("--evaluate", "--weights", folder / "random.safetensors", "--metrics", folder / f"{program.path.name}.jsonl")
        results.append(read_metrics(folder / f"{program.path.name}.jsonl")[0]["loss"])
    assert results[0] == results[1], results


check_variant("rslora")
check_dropout()

digits = compile(DIGITS.model, folder, DIGITS.data(64), *DIGITS.flags, "--lora", "layers.*:4,dropout=0.1", name="digits")
said = digits.run("--adapter-base", "gpt2", code=1).stderr
assert "--adapter-base: has no effect alone; expected --export-adapters" in said, said
said = run([digits.path, "--export-adapters", "here", "--adapter-task", "LM"], folder, code=1).stderr
assert "--adapter-task LM: expected CAUSAL_LM," in said, said
