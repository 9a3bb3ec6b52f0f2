"""Models that `mtc grad` writes: valid for onnx's checker, of standard operators, evaluated by onnx's reference implementation."""

from pathlib import Path

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops.op_conv_transpose import ConvTranspose as UngroupedConvTranspose
from program import MTC, run


class ConvTranspose(UngroupedConvTranspose):
    """The package's own takes the wrong weights for groups."""

    def _run(self, x, weights, group=1, **attributes):
        parts = zip(np.split(x, group, axis=1), np.split(weights, group))
        results = [super(ConvTranspose, self)._run(*part, group=1, **attributes)[0] for part in parts]
        return (np.concatenate(results, axis=1).astype(x.dtype),)


class GradientModel:
    def __init__(self, path: Path):
        onnx.checker.check_model(str(path), full_check=True)
        self.path = path
        self.model = onnx.load(path)
        assert {(entry.domain, entry.version) for entry in self.model.opset_import} == {("", 18)}, self.model.opset_import
        assert all(node.domain == "" for node in self.model.graph.node)
        names = [node.name for node in self.model.graph.node]
        assert all(names) and len(set(names)) == len(names), names
        graph = self.model.graph
        self.inputs = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in graph.input}
        self.outputs = [value.name for value in graph.output]
        self.initializers = {tensor.name: onnx.numpy_helper.to_array(tensor, str(path.parent)) for tensor in graph.initializer}
        self.operators = {node.op_type for node in graph.node}
        self.evaluator = ReferenceEvaluator(str(path), new_ops=[ConvTranspose])

    def evaluate(self, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        with np.errstate(all="ignore"):  # Branches that Where does not select.
            return dict(zip(self.outputs, self.evaluator.run(None, feeds), strict=True))

    def gradients(self, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """By the names of the parameters."""
        suffix = ".gradient"
        return {name.removesuffix(suffix): a for name, a in self.evaluate(feeds).items() if name.endswith(suffix)}


def gradient_model(model: Path, folder: Path, *flags, name: str = "gradient") -> GradientModel:
    path = folder / f"{name}.onnx"
    run([MTC, "grad", model, *flags, "-o", path], folder)
    return GradientModel(path)


def refused(model: Path, folder: Path, *flags) -> str:
    """The message of a model or flag that `mtc grad` does not accept; no file is written."""
    path = folder / "refused.onnx"
    text = run([MTC, "grad", model, *flags, "-o", path], folder, code=1).stderr
    assert not path.exists(), text
    return text


def central_differences(model: GradientModel, feeds: dict[str, np.ndarray], name: str, width: float = 1e-6) -> np.ndarray:
    """The gradient of the loss of a model in f64 with respect to an input."""
    slopes = np.zeros_like(feeds[name])
    for place in np.ndindex(slopes.shape):
        sides = []
        for step in (width, -width):
            moved = feeds[name].copy()
            moved[place] += step
            sides.append(float(model.evaluate(feeds | {name: moved})["loss"]))
        slopes[place] = (sides[0] - sides[1]) / (2 * width)
    return slopes
