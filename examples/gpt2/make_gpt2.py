#!/usr/bin/env python3
"""Generates gpt2.onnx and its tokens. Requires torch, onnxscript, transformers and Python 3.11."""

import sys
from pathlib import Path

import numpy as np
import torch
from pydoc_data.topics import topics
from transformers import GPT2Config, GPT2LMHeadModel

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from export import export, separate  # noqa: E402

SEED = 0
HELD_OUT = 1 / 16  # training part of the text
MAGIC, VERSION, HEADER = 20240520, 1, 256  # the token file's header: 256 int32 words, then uint16 tokens


def write_tokens(path: Path, text: bytes) -> None:
    """Writes a text as tokens, one for each byte."""
    header = np.zeros(HEADER, np.int32)
    header[:3] = MAGIC, VERSION, len(text)
    path.write_bytes(header.tobytes() + np.frombuffer(text, np.uint8).astype(np.uint16).tobytes())


def main() -> None:
    text = "\n".join(topics[name] for name in sorted(topics)).encode("ascii", "ignore")
    split = int(len(text) * (1 - HELD_OUT))
    write_tokens(HERE / "train.bin", text[:split])
    write_tokens(HERE / "test.bin", text[split:])
    torch.manual_seed(SEED)
    config = GPT2Config(
        vocab_size=256, n_positions=128, n_embd=128, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).train()
    separate(model, SEED)
    dims = {"input_ids": {0: "batch", 1: "sequence"}}
    export(model, {"input_ids": torch.zeros(2, 64, dtype=torch.int64)}, dims, "logits", HERE / "gpt2.onnx")


if __name__ == "__main__":
    main()
