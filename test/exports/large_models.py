#!/usr/bin/env python3
"""Runs docs/guide/large-models.md at tiny size: `PYTHON test/exports/large_models.py`, where PYTHON is an interpreter with the packages of
requirements.txt.

The blocks run in their order in one folder, with budgets below the state of the model, so that the programs use the disk. The trained folder has the
names and types of the given one, and other weights.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from guide import blocks_of
from safetensors.torch import load_file
from tasks import write_sentences
from transformers import LlamaConfig, LlamaForCausalLM

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/guide/large-models.md"
BUDGETS = {"6GiB": "24MiB", "11GiB": "56MiB"}  # A workspace of the GPU has 32 MiB.
CONFIG = LlamaConfig(vocab_size=4096, hidden_size=128, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                     max_position_embeddings=1024, bos_token_id=1, eos_token_id=2, pad_token_id=0, use_cache=False)  # fmt: skip
ENVIRONMENT = os.environ | {
    "PATH": os.pathsep.join([str(ROOT / "build/release/bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": str(ROOT / "python"),
}


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor for file in sorted(folder.glob("*.safetensors")) for name, tensor in load_file(file).items()}


def run(language: str, text: str, folder: Path) -> str:
    """Runs a block of the page, and returns its output."""
    for budget, tiny in BUDGETS.items():
        text = text.replace(f"--memory {budget}", f"--memory {tiny}")
    command = [sys.executable, "-W", "ignore", "-c", text] if language == "python" else ["bash", "-ec", text]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{text}\n{done.stdout}"
    assert language == "python" or "warning:" not in done.stdout, f"{text}\n{done.stdout}"
    return done.stdout


def main() -> None:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # Offloading refuses a file system in memory.
        folder = Path(name)
        write_sentences(folder, "llama")
        LlamaForCausalLM(CONFIG).to(torch.bfloat16).save_pretrained(folder / "llama", max_shard_size="1MB")
        blocks = blocks_of(PAGE.read_text())
        output = "".join(run(*block, folder) for block in blocks)
        planned = re.findall(r"^(Disk|Pinned memory) +([\d.]+) MiB", output, re.MULTILINE)
        assert [space for space, _ in planned] == ["Disk", "Pinned memory"], output
        given, trained = weights_of(folder / "llama"), weights_of(folder / "tuned")
        assert given.keys() == trained.keys() and all(given[key].dtype == trained[key].dtype for key in given), trained.keys()
        assert not any(torch.equal(given[key], trained[key]) for key in given if key.endswith("_proj.weight")), "weights are not trained"
        files = [{path.name for path in (folder / part).iterdir() if not path.name.startswith("model")} for part in ("llama", "tuned")]
        assert files[0] == files[1], files
        print(f"{len(blocks)} blocks")


if __name__ == "__main__":
    main()
