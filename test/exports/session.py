#!/usr/bin/env python3
"""A session of ten lines fine-tunes BERT of transformers. Run `PYTHON test/exports/session.py`, where PYTHON is an interpreter with the
packages of requirements.txt.

`--base` trains BERT base in place of a small configuration.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
import mtc  # noqa: E402

folder = Path(tempfile.mkdtemp())
torch.manual_seed(0)
BASE = "--base" in sys.argv
EPOCHS, RATE = (5, 5e-5) if BASE else (10, 5e-4)
SIZES = {} if BASE else {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
                         "vocab_size": 1000}  # fmt: skip
random = np.random.default_rng(0)
ids = random.integers(1, 1000, (32, 48))
labels = (ids[:, 0] < 500).astype(np.int64)
mask = np.ones_like(ids)
mask[::2, 40:] = 0

# The session.
model = BertForSequenceClassification(BertConfig(num_labels=2, **SIZES))
example = {"input_ids": torch.from_numpy(ids[:8]), "attention_mask": torch.from_numpy(mask[:8])}
mtc.export(model, example, folder / "bert.onnx")
plan = mtc.plan(folder / "bert.onnx", dims={"batch": 8}, loss="cross-entropy")
library = mtc.compile(folder / "bert.onnx", dims={"batch": 8}, loss="cross-entropy", lr=RATE)
trainer = mtc.Trainer(library)
history = trainer.fit({"input_ids": ids, "attention_mask": mask, "labels": labels}, epochs=EPOCHS)
model.load_state_dict({name: torch.from_numpy(value) for name, value in trainer.state_dict().items()})
logits = trainer.infer({"input_ids": ids[:8], "attention_mask": mask[:8]})["logits"]

with torch.no_grad():
    expected = model.eval()(**example).logits.numpy()
distance = float(np.max(np.abs(logits - expected)))
print(f"{plan.peak_bytes} bytes planned, {history.steps[-1].step} steps, loss {history.losses[0]:.4f} to {history.losses[-1]:.4f}, "
      f"outputs {distance:.1e} apart")  # fmt: skip
assert plan.peak_bytes == library.plan.peak_bytes
assert history.losses[-1] < history.losses[0]
assert distance < 1e-4 * max(1.0, float(np.max(np.abs(expected))))
