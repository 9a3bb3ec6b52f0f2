"""Runs `mtc grad`, and computes the expected values of its models."""

from pathlib import Path

import numpy as np
from gradient_evaluator import GradientModel
from program import MTC, run


def gradient_model(model: Path, folder: Path, *flags, name: str = "gradient") -> GradientModel:
    path = folder / f"{name}.onnx"
    run([MTC, "grad", model, *flags, "-o", path], folder)
    return GradientModel(path)


def refused(model: Path, folder: Path, *flags) -> str:
    """Checks that `mtc grad` rejects a model or flag and writes no file; returns its message."""
    path = folder / "refused.onnx"
    text = run([MTC, "grad", model, *flags, "-o", path], folder, code=1).stderr
    assert not path.exists(), text
    return text


def central_differences(model: GradientModel, feeds: dict[str, np.ndarray], name: str, width: float = 1e-6) -> np.ndarray:
    """Returns the gradient of the loss of an f64 model with respect to an input, by central differences."""
    slopes = np.zeros_like(feeds[name])
    for place in np.ndindex(slopes.shape):
        sides = []
        for step in (width, -width):
            moved = feeds[name].copy()
            moved[place] += step
            sides.append(float(model.evaluate(feeds | {name: moved})["loss"]))
        slopes[place] = (sides[0] - sides[1]) / (2 * width)
    return slopes
