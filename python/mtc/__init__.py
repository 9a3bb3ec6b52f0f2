"""Training of PyTorch modules and ONNX models with the mtc compiler.

    import mtc

    mtc.export(module, example_inputs, "model.onnx")
    print(mtc.plan("model.onnx", dims={"batch": 32}).peak_bytes)
    trainer = mtc.Trainer(mtc.compile("model.onnx", dims={"batch": 32}))
    trainer.fit({"x": x, "labels": labels}, epochs=3)

Only :func:`mtc.export` and :func:`mtc.empty_weights` require PyTorch. :mod:`mtc.facts` reads and writes the module facts of an ONNX file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mtc.compiler import Library, Plan, compile, plan
from mtc.errors import CompileError, ExportError, ExportWarning, FactsError, TrainerError
from mtc._results import Evaluation, History, Step, TensorInfo
from mtc.trainer import Trainer, memory_bytes

if TYPE_CHECKING:
    from mtc._weightless import empty_weights
    from mtc.exporter import export

__all__ = [
    "CompileError",
    "Evaluation",
    "ExportError",
    "ExportWarning",
    "FactsError",
    "History",
    "Library",
    "Plan",
    "Step",
    "TensorInfo",
    "Trainer",
    "TrainerError",
    "compile",
    "empty_weights",
    "export",
    "memory_bytes",
    "plan",
]


def __getattr__(name: str) -> Any:
    """Defers the import of PyTorch to the first use of a function that needs it."""
    if name in ("empty_weights", "export"):
        try:
            from mtc._weightless import empty_weights
            from mtc.exporter import export
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "onnxscript"):
                raise
            raise ModuleNotFoundError(
                f"mtc.{name} needs {error.name}: pip install torch onnxscript", name=error.name
            ) from None
        return export if name == "export" else empty_weights
    raise AttributeError(f"module 'mtc' has no attribute {name!r}")
