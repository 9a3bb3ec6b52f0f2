"""Compares the training of an example with PyTorch's."""

import json
from pathlib import Path

import numpy as np
from models import sample
from program import compile_example, losses
from safetensors.numpy import load_file

INPUTS = Path(__file__).resolve().parent.parent / "e2e/inputs"
STEPS = 20


def matches_pytorch(example, folder: Path) -> None:
    """Compares 20 steps of SGD and of AdamW, and every gradient of the first batch."""
    expected = json.loads((INPUTS / f"{example.name}.json").read_text())
    programs = {o: compile_example(example, folder, o, STEPS * example.batch, name=o) for o in example.rates}
    for optimizer, program in programs.items():
        metrics = program.train(STEPS)
        assert [record["step"] for record in metrics] == list(range(1, STEPS + 1)), metrics
        assert np.allclose([record["lr"] for record in metrics], example.rates[optimizer], rtol=1e-6), metrics
        errors = np.abs(np.array(losses(metrics)) / expected[optimizer] - 1)
        print(f"{optimizer}: relative error of the first loss {errors[0]:.1e}, largest {errors.max():.1e}")
        assert errors[0] < 1e-5 and errors.max() < expected["tolerance"][optimizer], (metrics, expected[optimizer])

    found = programs["sgd"].gradients("gradients")
    wanted = load_file(INPUTS / f"{example.name}.safetensors")
    assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    for name, gradient in wanted.items():
        norm = np.linalg.norm(found[name].astype(np.float64))
        assert abs(norm / expected["gradient_norms"][name] - 1) < 1e-4, (name, norm, expected["gradient_norms"][name])
        limit = 1e-4 * np.abs(gradient).max() + expected["tolerance"]["gradients"]
        error = np.abs(sample(found[name]) - gradient).max()
        assert error < limit, f"{name}: off by {error:.1e}, limit {limit:.1e}"
