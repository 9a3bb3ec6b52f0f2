# RUN: %python %s %t
"""--lora trains adapters of frozen weights like PEFT: equal initial values, losses and factors. Factors are saved in checkpoints, merged
into an exported model, and exported separately in PEFT's format (test/support/record_adapters.py)."""

import json

import lora
import numpy as np
import onnx
from models import DIGITS, GPT2, sample
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, read_metrics, run
from pytorch import INPUTS
from safetensors.numpy import load_file, save_file

folder = own_folder()
data = GPT2.data(lora.STEPS * GPT2.batch)
flags = (*GPT2.flags, "--optimizer", "adamw", "--lr", repr(lora.RATE), "--weight-decay", "0.01")


def initializers(file: bytes) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.ModelProto.FromString(file).graph.initializer}


base = initializers(GPT2.model.read_bytes())
factors = lora.initial()
start = folder / "start.safetensors"
save_file({**{n: np.ascontiguousarray(w) for n, w in base.items()}, **factors}, start)


def check_losses(program, steps):
    expected = json.loads((INPUTS / "adapters.json").read_text())
    saved, log = folder / "saved", folder / "log.jsonl"
    program.run("--weights", start, "--steps", steps, "--no-shuffle", "--save", saved, "--metrics", log, "--overwrite")
    errors = np.abs(np.array(losses(read_metrics(log))) / expected["losses"][:steps] - 1)
    print(f"relative error of the first loss {errors[0]:.1e}, largest {errors.max():.1e}")
    assert errors[0] < 1e-5 and errors.max() < expected["tolerance"], errors
    trained = load_file(next(saved.glob("*.safetensors")))
    assert {n.removesuffix(".moment1").removesuffix(".moment2") for n in trained} == factors.keys(), trained.keys()
    for name, values in load_file(INPUTS / "adapters.safetensors").items() if steps == lora.STEPS else ():
        error = np.abs(sample(trained[name]) - values).max()
        assert error < expected["factors_tolerance"], f"{name}: off by {error:.1e}"
    return {name: trained[name] for name in factors}, saved


def check_exports(program, trained, saved):
    merged, adapters = folder / "merged.onnx", folder / "adapters"
    command = [program.path, "--resume", saved, "--export", merged, "--export-adapters", adapters]
    run(command, folder)
    # Names and layouts of the factors are PEFT's.
    found = load_file(adapters / "adapter_model.safetensors")
    assert found.keys() == {f"base_model.model.{name}" for name in trained}
    for name, values in trained.items():
        np.testing.assert_array_equal(found[f"base_model.model.{name}"], values, err_msg=name)
    config = json.loads((adapters / "adapter_config.json").read_text())
    assert config["target_modules"] == sorted(lora.modules()) and config["fan_in_fan_out"] is True
    assert (config["r"], config["lora_alpha"], config["lora_dropout"], config["peft_type"]) == (8, 16, 0, "LORA")
    others = {module: spec for module, spec in lora.modules().items() if spec != (8, 16)}
    assert config["rank_pattern"] == {module: rank for module, (rank, _) in others.items()}
    assert config["alpha_pattern"] == {module: alpha for module, (_, alpha) in others.items()}
    # Adapted weights are merged; all others are unchanged.
    values = initializers(merged.read_bytes())
    assert values.keys() == base.keys()
    for name, before in base.items():
        module = name.removesuffix(".weight")
        if module not in lora.modules():
            np.testing.assert_array_equal(values[name], before, err_msg=name)
            continue
        rank, alpha = lora.modules()[module]
        down, up = (trained[f"{module}.lora_{factor}.weight"].astype(np.float64) for factor in "AB")
        np.testing.assert_allclose(values[name], before + alpha / rank * (up @ down).T, rtol=1e-6, atol=1e-7, err_msg=name)
        assert np.abs(values[name] - before).max() > 1e-3
    # The merged model computes the trained model's outputs.
    program.run("--evaluate", "--resume", saved, "--metrics", folder / "adapted.jsonl")
    plain = compile(merged, folder, data, *flags, name="plain")
    plain.run("--evaluate", "--metrics", folder / "plain.jsonl")
    adapted, whole = (read_metrics(folder / f"{name}.jsonl")[-1]["loss"] for name in ("adapted", "plain"))
    assert abs(adapted / whole - 1) < 1e-5, (adapted, whole)


program = compile(GPT2.model, folder, data, *flags, *lora.FLAGS)
trained, saved = check_losses(program, lora.STEPS)
check_exports(program, trained, saved)
check_losses(compile(GPT2.model, folder, data, *flags, *lora.FLAGS, "--target", "cuda", "--emulate", name="device"), 3)

# The default initialization is repeatable: A is uniform within its bound and B is zero, so that the first loss is that of the model without
# adapters.
first = program.train(1, "--save", folder / "first", name="first")[0]["loss"]
assert first == compile(GPT2.model, folder, data, *flags, name="unadapted").train(1, name="unadapted")[0]["loss"]
run([program.path, "--export-adapters", folder / "fresh"], folder)
run([program.path, "--export-adapters", folder / "again"], folder)
fresh, again = (load_file(folder / name / "adapter_model.safetensors") for name in ("fresh", "again"))
for name, values in fresh.items():
    np.testing.assert_array_equal(values, again[name])
    if "lora_B" in name:
        assert not values.any()
        continue
    bound = values.shape[1] ** -0.5
    assert np.abs(values).max() <= bound and np.abs(values).max() > 0.99 * bound
    assert abs(values.std() / (bound / 3**0.5) - 1) < 0.1 and abs(values.mean()) < 0.1 * bound
assert len({values.tobytes() for name, values in fresh.items() if "lora_A" in name}) == len(lora.modules())

# Resuming is bit-exact.
straight, halves = folder / "straight", folder / "halves"
program.run("--steps", 4, "--no-shuffle", "--save", straight)
program.run("--steps", 2, "--no-shuffle", "--save", halves)
program.run("--steps", 4, "--resume", halves, "--save", halves)
one, other = (load_file(next(each.glob("*.safetensors"))) for each in (straight, halves))
assert all((one[name] == other[name]).all() for name in one) and one.keys() == other.keys()

# The plan has gradients and optimizer state for the adapters only.
categories = json.loads(run([MTC, "plan", GPT2.model, *flags, *lora.FLAGS, "--json"], folder).stdout)["categories"]
bytes_of = sum(values.nbytes for values in factors.values())
assert categories["optimizer"] == 2 * bytes_of and categories["gradients"] <= bytes_of, categories

# The text of each stage contains the adapters.
model_flags, training_flags = GPT2.flags[:4], (*GPT2.flags[4:], *flags[len(GPT2.flags) :])
curve = losses(program.train(2, name="whole"))
for stage, early in (("onnx", ()), ("forward", ()), ("training", training_flags)):
    text = folder / f"{stage}.mlir"
    run([MTC, "compile", GPT2.model, *model_flags, *lora.FLAGS, *early, f"--emit={stage}", "-o", text], folder)
    onward = compile(text, folder, data, *(training_flags if not early else ()), name=f"from-{stage}")
    assert losses(onward.train(2, name=stage)) == curve, stage

# --train trains the named parameters in addition to the adapters.
text = run([MTC, "compile", GPT2.model, *flags, *lora.FLAGS, "--train", "*.ln_?.bias", "--emit=training"], folder).stdout
assert text.count(" parameter @") == 2 * len(lora.modules()) + 5

# PEFT stores modules that are trained in addition to the adapters as whole modules.
tuned = compile(GPT2.model, folder, data, *flags, *lora.FLAGS, "--train", "*.ln_?.bias", "--train", "*.mlp.c_fc.*", name="tuned")
tuned.run("--steps", 3, "--no-shuffle", "--export-adapters", folder / "tuned-adapters", "--export-weights", folder / "tuned.safetensors")
whole = load_file(folder / "tuned.safetensors")
stored = {name.removeprefix("base_model.model."): values for name, values in load_file(folder / "tuned-adapters/adapter_model.safetensors").items()}
others = stored.keys() - factors.keys()
assert others == {name for name in whole if name.endswith((".ln_1.bias", ".ln_2.bias", ".ln_f.bias")) or ".mlp.c_fc." in name}, others
for name in others:
    np.testing.assert_array_equal(stored[name], whole[name], err_msg=name)
    assert np.abs(stored[name] - base.get(name, 0)).max() > 0, name
config = json.loads((folder / "tuned-adapters/adapter_config.json").read_text())
assert config["modules_to_save"] == sorted({name.rpartition(".")[0] for name in others}), config
assert json.loads((folder / "fresh/adapter_config.json").read_text())["modules_to_save"] is None

# A weight of layout [out, in] is adapted along its other axis. A message lists the weights that are not adapted.
said = run([MTC, "plan", GPT2.model, *flags, *lora.FLAGS], folder).stderr
total = sum(values.size for name, values in base.items() if "." in name)  # without constants
assert f"training adapters of 4 weights, 10240 elements; the parameters of the model, {total} elements, are frozen" in said, said
assert "parameters trained" not in said, said
said = run([MTC, "plan", GPT2.model, *flags, *lora.FLAGS, "--train", "*.ln_?.bias"], folder).stderr
assert "training adapters of 4 weights, 10240 elements, and 5 of " in said and f", 640 of {total} elements" in said, said
digits = compile(DIGITS.model, folder, DIGITS.data(64), *DIGITS.flags, "--lora", "layers.*", name="digits")
run([digits.path, "--export-adapters", folder / "digits-adapters"], folder)
shapes = {name: values.shape for name, values in load_file(folder / "digits-adapters/adapter_model.safetensors").items()}
assert shapes["base_model.model.layers.0.lora_A.weight"] == (8, 64) and shapes["base_model.model.layers.0.lora_B.weight"] == (256, 8)
assert json.loads((folder / "digits-adapters/adapter_config.json").read_text())["fan_in_fan_out"] is False
curve = losses(digits.train(10, name="digits"))
assert curve[8] < curve[0], curve  # Step 9 reads the samples of step 1.

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 8, 8])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])
convolution = helper.make_graph(
    [helper.make_node("Conv", ["x", "conv.weight"], ["c"]), helper.make_node("GlobalAveragePool", ["c"], ["p"]),
     helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("Gemm", ["f", "fc.weight"], ["y"])],
    "convolution", [x], [y],
    [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in [("conv.weight", (8, 3, 3, 3)), ("fc.weight", (8, 4))]])  # fmt: skip
onnx.save(helper.make_model(convolution, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "convolution.onnx")
plan = [MTC, "plan", folder / "convolution.onnx", "--loss", "mse"]
said = run([*plan, "--lora", "*:rank=2"], folder).stderr
assert "--lora: convolution weights are not adapted and stay frozen: conv.weight" in said, said
for pattern, message in [
    ("conv.*", "--lora conv.*: adapts nothing; expected matrices used only by contractions, got 'conv.weight' ("),
    ("absent", "--lora absent: no parameter matches; expected PATTERN or PATTERN:rank=16,alpha=32 with a pattern of whole names such as 'fc.weight'"),
    ("c:4", "--lora c:4: no parameter matches; expected PATTERN or PATTERN:rank=16,alpha=32 with a pattern of whole names, such as '*c*'"),
    ("*:rank=5", "--lora *:rank=5: 'fc.weight' is tensor<8x4xf32>, whose rank is at most 4"),
    ("*:rank=0", "--lora *:rank=0: rank: expected a whole number of at least 1, got '0'"),
    ("*:alpha=none", "alpha: expected a number greater than 0, got 'none'"),
    ("*:dropout=1", "--lora *:dropout=1: dropout: expected a probability of at least 0 and less than 1, got '1'"),
    ("*:rank=2,decay=1", "unknown setting 'decay'; expected rank, alpha, dropout, rslora or dora"),
    ("*:rslora=maybe", "rslora: expected"),
    ("*:5", "--lora *:5: 'fc.weight' is tensor<8x4xf32>, whose rank is at most 4"),
    ("16", "--lora 16: a rank without a pattern; expected PATTERN:rank=16,alpha=16, such as '*:rank=16'"),
    (":rank=2", "expected PATTERN or PATTERN:rank=8,alpha=16"),
]:  # fmt: skip
    said = run([*plan, "--lora", pattern], folder, code=1).stderr
    assert message in said, said
said = run([*plan, "--lora", "f?:2"], folder).stderr  # The path of a layer, and a rank.
assert "training adapters of 1 weight, 24 elements" in said, said
said = run([*plan, "--lora", "fc.*:rank=2", "--train", "fc.*"], folder, code=1).stderr
assert "--lora fc.*:rank=2: 'fc.weight' is trained itself" in said, said
unadapted = compile(DIGITS.model, folder, DIGITS.data(64), *DIGITS.flags, name="unadapted-digits")
assert "compile it with --lora" in unadapted.run("--export-adapters", "here", code=1).stderr
with_bias = compile(DIGITS.model, folder, DIGITS.data(64), *DIGITS.flags, "--lora", "layers.0.weight", "--train", "layers.0.bias", name="with_bias")
said = with_bias.run("--export-adapters", "here", code=1).stderr
assert "cannot do so here: 'layers.0' would replace the adapter of 'layers.0'; omit it from --train, or write the merged model" in said, said
(folder / "file").write_text("")
assert "is a file; expected the name of a folder" in digits.run("--export-adapters", folder / "file", code=1).stderr
