"""A test case: a model, the data of its inputs, and the settings of training."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from operators import INFERENCE

STEPS = 3


@dataclass
class Case:
    model: onnx.ModelProto
    data: dict[str, np.ndarray]  # inputs and labels: samples for all steps
    batch: int
    loss: str
    output: str
    optimizer: str
    numbers: dict[str, float]  # settings of the optimizer: lr, weight-decay, ...
    frozen: list[str] = field(default_factory=list)
    dims: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)  # names of skipped passes
    emulated: bool = False

    @property
    def is_double(self) -> bool:
        return self.model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE

    def drops(self) -> bool:
        """Whether the model has dropout that is active in training only."""
        return any(node.doc_string.startswith(INFERENCE) for node in self.model.graph.node)

    @property
    def opset(self) -> int:
        return self.model.opset_import[0].version

    def trained(self) -> dict[str, np.ndarray]:
        arrays = {i.name: onnx.numpy_helper.to_array(i) for i in self.model.graph.initializer}
        return {name: a for name, a in arrays.items() if a.dtype.kind == "f" and name not in self.frozen}

    def rows(self, step: int) -> dict[str, np.ndarray]:
        """Returns the batch of a step. Steps count from 0."""
        return {name: array[step * self.batch : (step + 1) * self.batch] for name, array in self.data.items()}

    def flags(self) -> list[str]:
        """Flags of `mtc compile` and `mtc plan`."""
        flags = ["--optimizer", self.optimizer]
        for name, value in self.numbers.items():
            flags += ["--" + name, repr(value) if isinstance(value, float) else str(value)]
        return flags + self.loss_flags()

    def loss_flags(self) -> list[str]:
        """Flags of `mtc grad`: those of the model and of the loss."""
        flags = ["--loss", self.loss, "--output", self.output, "--shared-initializers", "keep"]
        for name, size in self.dims.items():
            flags += ["--dim", f"{name}={size}"]
        for name in self.frozen:
            flags += ["--freeze", name]
        # Parameters are selected by name, because scalars, and parameters that are less than half of a file's weights, are not trained by
        # default.
        flags += [word for name in self.trained() for word in ("--train", name)]
        return flags

    def skip_flags(self) -> list[str]:
        return [word for name in self.skipped for word in ("--skip-pass", name)]

    def data_flags(self) -> list[str]:
        return [word for name in self.data for word in ("--data", f"{name}={name}.npy")]

    def write(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, folder / "model.onnx")
        for name, array in self.data.items():
            np.save(folder / f"{name}.npy", array)
