#!/usr/bin/env python3
"""Records PEFT's losses and factors for adapters of the GPT-2 example, in test/e2e/inputs/adapters.*.

The script is run manually, because it needs torch, transformers and peft. Losses are computed in f64; `tolerance` is the effect of rounding
alone.
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from peft import LoraConfig, get_peft_model
from safetensors.numpy import save_file

sys.path.append(str(Path(__file__).resolve().parent))
import lora
from models import GPT2, sample
from record_expectations import INPUTS, gpt2, loss


def train(model, batches) -> list[float]:
    update = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lora.RATE, weight_decay=0.01)
    losses = []
    for inputs, labels in batches:
        update.zero_grad()
        value = loss(model, inputs, labels)
        value.backward()
        update.step()
        losses.append(value.item())
    return losses


def adapted(**options):
    """Returns the example with adapters that have the initial values of the tests."""
    base = gpt2().train()
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(GPT2.model).graph.initializer}
    with torch.no_grad():
        for name, parameter in base.named_parameters(remove_duplicate=False):
            if name in weights:
                parameter.copy_(torch.tensor(weights[name]))
    config = LoraConfig(
        target_modules=list(lora.SPECS), fan_in_fan_out=True,
        r=8, lora_alpha=16, rank_pattern={r"attn\.c_proj": 4}, alpha_pattern={r"attn\.c_proj": 4}, **options,
    )  # fmt: skip
    model = get_peft_model(base, config)
    start = lora.initial()
    for name, parameter in trained(model).items():
        if name in start:
            parameter.data.copy_(torch.tensor(start.pop(name)))
    assert not start, start.keys()
    return model


def trained(model) -> dict[str, torch.nn.Parameter]:
    """Returns the trained parameters by their names in programs."""
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
    return {n.removeprefix("base_model.model.").replace(".default", ""): p for n, p in parameters.items()}


def record(model, batches) -> tuple[torch.nn.Module, dict]:
    """Trains the model in f32 and f64. Returns the latter, with its losses and the effect of rounding."""
    exact = copy.deepcopy(model).double()
    curve, wide = train(model, batches), train(exact, batches)
    spread = max(abs(a - b) / abs(b) for a, b in zip(curve, wide))
    print(f"{wide[0]:.4f} .. {wide[-1]:.4f}, spread {spread:.1e}")
    return exact, {"losses": wide, "tolerance": max(1e-4, 20 * spread)}


def main():
    data = {name: torch.tensor(array) for name, array in GPT2.data(lora.STEPS * GPT2.batch).items()}
    rows = [slice(k * GPT2.batch, (k + 1) * GPT2.batch) for k in range(lora.STEPS)]
    batches = [({"input_ids": data["input_ids"][r]}, data["labels"][r]) for r in rows]
    model = adapted()
    exact, expected = record(model, batches)
    factors = {n: p.detach().numpy() for n, p in trained(exact).items()}
    noise = max(float(np.abs(factors[n] - p.detach().numpy()).max()) for n, p in trained(model).items())
    expected["factors_tolerance"] = max(1e-5, 20 * noise)
    expected["variants"] = {name: record(adapted(**{option: True}), batches[:10])[1] for name, option in lora.VARIANTS.items()}
    (INPUTS / "adapters.json").write_text(json.dumps(expected, indent=1) + "\n")
    save_file({n: sample(f).astype(np.float32) for n, f in factors.items()}, INPUTS / "adapters.safetensors")


if __name__ == "__main__":
    main()
