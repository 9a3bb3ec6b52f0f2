"""Transfers weights in both directions: the module loads the program's exports, and the program starts from the module's state_dict.
The script is run manually, because it needs torch, torchvision and transformers:

    python test/exports/state_dict.py FOLDER [MODEL ...]

For each model and exporter, the program trains some steps. After `load_state_dict(strict=True)` of its --export-weights and of its
checkpoint, the module has the program's outputs. The state_dict of a module with other weights, saved by save_file (save_model for tied
weights) and by save_pretrained, is loaded by --weights; the program then has that module's outputs."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from safetensors.torch import load_file, save_file, save_model

warnings.filterwarnings("ignore")
MTC = os.environ.get("MTC", "mtc")
BATCH, LENGTH, VOCABULARY = 2, 8, 64


@dataclass
class Model:
    build: Callable[[], torch.nn.Module]
    inputs: dict[str, torch.Tensor]
    exporters: tuple[str, ...]
    output: str = "y"

    @property
    def is_text(self) -> bool:
        return "input_ids" in self.inputs

    def flags(self) -> list[str]:
        return ["--dim", f"batch={BATCH}", *(["--dim", f"sequence={LENGTH}"] if self.is_text else [])]


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(6, 8, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def tokens() -> torch.Tensor:
    return torch.randint(2, VOCABULARY, (BATCH, LENGTH))


def bert() -> torch.nn.Module:
    from transformers import BertConfig, BertForMaskedLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    return BertForMaskedLM(BertConfig(vocab_size=VOCABULARY, max_position_embeddings=16, attn_implementation="eager", **sizes))


def gpt2() -> torch.nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 16}
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, use_cache=False, attn_implementation="eager", **sizes))


def llama() -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48}
    return LlamaForCausalLM(LlamaConfig(vocab_size=VOCABULARY, use_cache=False, attn_implementation="eager", **sizes))


def t5() -> torch.nn.Module:
    from transformers import T5Config, T5ForConditionalGeneration

    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 48, "num_layers": 2, "num_heads": 2}
    return T5ForConditionalGeneration(T5Config(vocab_size=VOCABULARY, use_cache=False, decoder_start_token_id=0, **sizes))


def resnet() -> torch.nn.Module:
    from torchvision.models import resnet18

    return resnet18(num_classes=5)


EXPORTERS = ("dynamo", "legacy", "unoptimized")
IDS = {"input_ids": tokens()}
MASKED = {**IDS, "attention_mask": torch.ones(BATCH, LENGTH, dtype=torch.int64)}
MODELS = {
    "bert": Model(bert, IDS, EXPORTERS),
    "gpt2": Model(gpt2, MASKED, EXPORTERS),
    "llama": Model(llama, MASKED, EXPORTERS),
    "t5": Model(t5, {"input_ids": tokens(), "decoder_input_ids": tokens()}, ("legacy",)),
    "resnet18": Model(resnet, {"x": torch.randn(BATCH, 3, 32, 32)}, ("training", "unoptimized")),
    "lstm": Model(Recurrent, {"x": torch.randn(BATCH, LENGTH, 6)}, EXPORTERS),
}


def run(command, folder: Path) -> subprocess.CompletedProcess:
    result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result


def export(module: torch.nn.Module, model: Model, exporter: str, path: Path) -> None:
    named = {"input_names": list(model.inputs), "output_names": [model.output]}
    # If extents are fixed, the exporter folds tables of positions into the part that the model reads.
    dims = {key: {0: "batch", 1: "sequence"} if model.is_text else {0: "batch"} for key in model.inputs}
    if exporter in ("dynamo", "unoptimized"):
        named |= {"dynamic_shapes": dims, "optimize": exporter == "dynamo", "verbose": False}
        torch.onnx.export(module, (), path, kwargs=model.inputs, dynamo=True, **named)
    else:
        mode = torch.onnx.TrainingMode.TRAINING if exporter == "training" else torch.onnx.TrainingMode.EVAL
        folds = exporter != "training"
        torch.onnx.export(module, (model.inputs,), path, dynamo=False, dynamic_axes=dims, training=mode, do_constant_folding=folds, **named)


def changed(module: torch.nn.Module) -> torch.nn.Module:
    """Returns the module with other weights and running statistics. Tied weights stay tied, and variances stay positive."""
    with torch.no_grad():
        for value in {v.data_ptr(): v for v in module.state_dict().values() if v.is_floating_point()}.values():
            value.add_(torch.randn_like(value) * 0.02)
    return module


class Check:
    def __init__(self, name: str, exporter: str, folder: Path):
        self.model = MODELS[name]
        self.folder = folder / f"{name}-{exporter}"
        self.folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)
        self.defaults: dict[str, torch.Tensor] = {}
        # No two tensors are equal, as with trained weights.
        module = changed(self.fresh())
        export(module, self.model, exporter, self.folder / "m.onnx")
        # The older exporter turns default arguments into inputs.
        given = {value.name for value in onnx.load(self.folder / "m.onnx", load_external_data=False).graph.input}
        self.defaults = {name: torch.tensor(0) for name in sorted(given - set(self.model.inputs))}
        binds = [word for name in self.defaults for word in ("--bind", f"{name}=0")]
        self.data = []
        for key, value in self.model.inputs.items():
            np.save(self.folder / f"{key}.npy", value.numpy())
            self.data += ["--data", f"{key}={key}.npy"]
        target = torch.randn_like(self.outputs(module))
        np.save(self.folder / "target.npy", target.numpy())
        self.data += ["--data", "target=target.npy"]
        # The targets have the shape of the outputs, so that one loss trains every model.
        flags = [*binds, "--loss", "mse", "--labels", "target", "--output", self.model.output, "--optimizer", "sgd", "--lr", "1e-4"]
        run([MTC, "compile", "m.onnx", *self.model.flags(), *flags, "-o", "t", "--force"], self.folder)

    def fresh(self) -> torch.nn.Module:
        return self.model.build().eval()

    def outputs(self, module: torch.nn.Module) -> torch.Tensor:
        with torch.no_grad():
            found = module.eval()(**self.model.inputs, **self.defaults)
            return found if isinstance(found, torch.Tensor) else found[0]

    def program(self, *flags) -> torch.Tensor:
        run(["./t", *self.data, *flags, "--outputs", "out.safetensors"], self.folder)
        return load_file(self.folder / "out.safetensors")[self.model.output]

    def same(self, what: str, found: torch.Tensor, expected: torch.Tensor) -> None:
        error = (found - expected).abs().max().item() / max(expected.abs().max().item(), 1e-6)
        assert error < 1e-4, f"{what}: outputs are off by {error:.1e}"

    def forth(self) -> None:
        flags = ["--steps", "3", "--no-shuffle", "--export-weights", "w.safetensors", "--save", "out", "--overwrite"]
        run(["./t", *self.data, *flags], self.folder)
        expected = self.program("--resume", "out")
        module = changed(self.fresh())
        module.load_state_dict(load_file(self.folder / "w.safetensors"), strict=True)
        self.same("--export-weights", self.outputs(module), expected)
        module = changed(self.fresh())
        manifest = json.loads((self.folder / "out/manifest.json").read_text())
        tensors = load_file(self.folder / "out" / manifest["file"])
        names = {n: module.state_dict()[n].data_ptr() for n in module.state_dict()}
        held = {names[n] for n in tensors if n in names}
        lost = [n for n, at in names.items() if at not in held and not n.endswith("num_batches_tracked")]
        assert not lost, f"the checkpoint lacks {lost}"
        module.load_state_dict({n: t for n, t in tensors.items() if n in names}, strict=False)
        self.same("checkpoint", self.outputs(module), expected)

    def back(self) -> None:
        module = changed(self.fresh())
        expected = self.outputs(module)
        save_model(module, str(self.folder / "state.safetensors"))
        self.same("save_model", self.program("--weights", "state.safetensors"), expected)
        clones = {name: value.clone() for name, value in module.state_dict().items()}
        save_file(clones, self.folder / "clones.safetensors")
        self.same("save_file", self.program("--weights", "clones.safetensors"), expected)
        if hasattr(module, "save_pretrained"):
            module.save_pretrained(self.folder / "pretrained", max_shard_size="20KB")
            self.same("save_pretrained", self.program("--weights", "pretrained"), expected)


def main() -> int:
    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    failures = 0
    for name in chosen:
        for exporter in MODELS[name].exporters:
            try:
                check = Check(name, exporter, folder)
                check.forth()
                check.back()
                print(f"{name:10} {exporter:12} equal", flush=True)
            except (RuntimeError, AssertionError) as error:
                failures += 1
                print(f"{name:10} {exporter:12} {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
