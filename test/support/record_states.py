"""Records modules whose exported files store weights in another form, for test/e2e/models/module_states.py:

    python test/support/record_states.py

For each module and exporter, there is the ONNX file, and a safetensors file with the input `x`, the module's state_dict with other weights
(`state.NAME`, with every name of a tied weight), and the output `y` for these weights. The script is run manually, because it needs torch
2.15.
"""

import io
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import torch
from safetensors.torch import save_file

warnings.filterwarnings("ignore")
INPUTS = Path(__file__).resolve().parent.parent / "e2e/inputs/states"


class Recurrent(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = kind(3, 4, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


class Tied(torch.nn.Module):
    """One output layer shares the embedding's matrix, and one has a square matrix."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(7, 4)
        self.norm = torch.nn.LayerNorm(4)
        self.square = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(torch.relu(self.square(self.norm(self.embed(x)))))


MODULES = {
    "lstm": (lambda: Recurrent(torch.nn.LSTM), torch.randn(2, 3, 3)),
    "gru": (lambda: Recurrent(torch.nn.GRU), torch.randn(2, 3, 3)),
    "tied": (Tied, torch.randint(7, (2, 3))),
}


def changed(module: torch.nn.Module) -> torch.nn.Module:
    with torch.no_grad():
        for value in module.parameters():
            value.add_(torch.rand_like(value) * 0.5)
    return module


def main() -> None:
    INPUTS.mkdir(parents=True, exist_ok=True)
    for name, (build, x) in MODULES.items():
        for exporter in ("dynamo", "legacy"):
            torch.manual_seed(1)
            module = changed(build().eval())
            named = {"input_names": ["x"], "output_names": ["y"]}
            if exporter == "dynamo":
                named |= {"dynamo": True, "verbose": False, "external_data": False}
            else:
                named |= {"dynamo": False}
            with redirect_stdout(io.StringIO()):
                torch.onnx.export(module, (x,), INPUTS / f"{name}-{exporter}.onnx", **named)
            with torch.no_grad():
                y = changed(module)(x)
            state = {f"state.{key}": value.detach().clone() for key, value in module.state_dict().items()}
            save_file({"x": x, "y": y, **state}, INPUTS / f"{name}-{exporter}.safetensors")


if __name__ == "__main__":
    main()
