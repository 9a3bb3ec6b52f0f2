# RUN: %python %s %t
"""--offload auto meets a budget that a named kind meets, in a step that is not slower: adapters of a decoder with so many layers that the effort
of the step-by-step search ends before the frozen parameters are offloaded."""

import json
import sys
from pathlib import Path

from program import MTC, own_folder, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent.parent / "bench"))
from scaling import Decoder, Model  # noqa: E402

LAYERS, WIDTH, BUDGET = 48, 512, "240MiB"
FLAGS = ("--loss", "causal-lm", "--init", "normal:0.02", "--optimizer", "adamw", "--precision", "bf16", "--lora", "layer*.weight:rank=4",
         "--frozen-bits", "16", "--target", "cuda:sm_89", "--cost-model", "rtx-4090", "--offload-window", "64KiB", "--quiet", "--json")  # fmt: skip
folder = own_folder()
model = folder / "model.onnx"
Decoder(Model("small", LAYERS, WIDTH, 4, 4096, 128, hidden=3 * WIDTH, groups=2), LAYERS, samples=1).save(model)


def plan(*flags) -> dict:
    return json.loads(run([MTC, "plan", model, *FLAGS, "--memory", BUDGET, *flags], folder).stdout)


named, found = plan("--offload", "parameters"), plan("--offload", "auto")
assert named["fits"] and found["fits"], (named["peak_bytes"], found["peak_bytes"])
assert found["step_seconds"] <= 1.01 * named["step_seconds"], (named["step_seconds"], found["step_seconds"])
assert "offload-parameters" in [each["name"] for each in found["lowered_by"]], found["lowered_by"]
