#!/usr/bin/env python3
"""Records PyTorch's losses and gradients for training the examples, in test/e2e/inputs/.

The script is run manually, because it needs torch, onnx, safetensors and transformers. The module loads its weights from the .onnx file, so
that the values are those of training the file.

NAME.json contains the losses of 20 steps in f64, their `tolerance`, which is the effect of rounding alone, and the losses with
torch.autocast in bf16 and in f16, the latter with a GradScaler. NAME.safetensors contains at most 512 elements of each parameter's gradient
for the first batch (see `sample` below).
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES, INPUTS = ROOT / "examples", ROOT / "test/e2e/inputs"
sys.path += [str(EXAMPLES / "digits"), str(EXAMPLES), str(Path(__file__).resolve().parent)]
from models import DIGITS, GPT2, sample  # noqa: E402

STEPS = 20


def digits():
    from make_digits import Digits

    return Digits()


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=256, n_positions=128, n_embd=128, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False,
    )  # fmt: skip
    return GPT2LMHeadModel(config)


def loss(model, inputs, labels):
    result = model(**inputs)
    scores = result if isinstance(result, torch.Tensor) else result.logits
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten())


def train(model, batches, optimizer, lr, narrow=None):
    parameters = model.parameters()
    scaler = torch.amp.GradScaler("cpu", enabled=narrow == torch.float16)
    update = torch.optim.SGD(parameters, lr) if optimizer == "sgd" else torch.optim.AdamW(parameters, lr, weight_decay=0.01)
    losses = []
    for inputs, labels in batches:
        update.zero_grad()
        with torch.autocast("cpu", narrow, enabled=narrow is not None):
            value = loss(model, inputs, labels)
        scaler.scale(value).backward()
        scaler.step(update)
        scaler.update()
        losses.append(value.item())
    return losses


def main():
    for example, make in ((DIGITS, digits), (GPT2, gpt2)):
        model = make().train()
        weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(example.model).graph.initializer}
        with torch.no_grad():
            for name, parameter in model.named_parameters(remove_duplicate=False):
                if name in weights:
                    parameter.copy_(torch.tensor(weights[name]))
        names = [n for n, _ in model.named_parameters(remove_duplicate=False) if n in weights]
        data = {name: torch.tensor(array) for name, array in example.data(STEPS * example.batch).items()}
        rows = [slice(k * example.batch, (k + 1) * example.batch) for k in range(STEPS)]
        batches = [({n: x[r] for n, x in data.items() if n != "labels"}, data["labels"][r]) for r in rows]

        expected = {"tolerance": {}}
        wide = [({n: x.double() if x.is_floating_point() else x for n, x in i.items()}, y) for i, y in batches]
        for optimizer, lr in example.rates.items():
            curve = train(copy.deepcopy(model), batches, optimizer, lr)
            exact = train(copy.deepcopy(model).double(), wide, optimizer, lr)
            spread = max(abs(a - b) / abs(b) for a, b in zip(curve, exact))
            expected[optimizer] = exact
            expected["tolerance"][optimizer] = max(1e-4, 20 * spread)
            for name, narrow in (("bf16", torch.bfloat16), ("f16", torch.float16)):
                expected.setdefault(name, {})[optimizer] = train(copy.deepcopy(model), batches, optimizer, lr, narrow)
            print(example.name, optimizer, f"{exact[0]:.4f} .. {exact[-1]:.4f}, spread {spread:.1e}")
        exact = copy.deepcopy(model).double()
        loss(exact, *wide[0]).backward()
        loss(model, *batches[0]).backward()
        gradients = {n: exact.get_parameter(n).grad.numpy() for n in names}
        noise = max(float(np.abs(gradients[n] - model.get_parameter(n).grad.numpy()).max()) for n in names)
        expected["tolerance"]["gradients"] = max(1e-7, 10 * noise)
        expected["gradient_norms"] = {n: float(np.linalg.norm(g)) for n, g in gradients.items()}
        print(example.name, f"gradients: noise {noise:.1e}")
        (INPUTS / f"{example.name}.json").write_text(json.dumps(expected, indent=1) + "\n")
        save_file({n: sample(g).astype(np.float32) for n, g in gradients.items()}, INPUTS / f"{example.name}.safetensors")


if __name__ == "__main__":
    main()
