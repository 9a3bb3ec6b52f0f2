"""Evaluates models of `mtc grad` with onnx's reference implementation, after onnx's checker has accepted them."""

import math
from pathlib import Path

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops._op import OpRunUnaryNum
from onnx.reference.ops.op_conv_transpose import ConvTranspose as UngroupedConvTranspose


class ConvTranspose(UngroupedConvTranspose):
    """The implementation in the package onnx uses the wrong weights for groups."""

    def _run(self, x, weights, group=1, **attributes):
        parts = zip(np.split(x, group, axis=1), np.split(weights, group))
        results = [super(ConvTranspose, self)._run(*part, group=1, **attributes)[0] for part in parts]
        return (np.concatenate(results, axis=1).astype(x.dtype),)


class Erf(OpRunUnaryNum):
    """The implementation in the package onnx rounds to f32."""

    def _run(self, x):
        return (np.vectorize(math.erf, otypes=[x.dtype])(x),)


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
        self.evaluator = ReferenceEvaluator(str(path), new_ops=[ConvTranspose, Erf])

    def evaluate(self, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        with np.errstate(all="ignore"):  # Branches that Where does not select may overflow.
            return dict(zip(self.outputs, self.evaluator.run(None, feeds), strict=True))

    def gradients(self, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the gradients by the names of the parameters."""
        suffix = ".gradient"
        return {name.removesuffix(suffix): a for name, a in self.evaluate(feeds).items() if name.endswith(suffix)}
