"""Export PyTorch modules for training with the mtc compiler.

    import mtc

    mtc.export(module, example_inputs, "model.onnx")

:func:`mtc.export` requires PyTorch. :mod:`mtc.facts` reads and writes the module facts of an ONNX file and requires only ``onnx``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mtc.errors import ExportError, FactsError

if TYPE_CHECKING:
    from mtc.exporter import export

__all__ = ["ExportError", "FactsError", "export"]


def __getattr__(name: str) -> Any:
    """Defers the import of PyTorch to the first use of :func:`export`."""
    if name == "export":
        try:
            from mtc.exporter import export
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "onnxscript"):
                raise
            raise ModuleNotFoundError(
                f"mtc.export needs {error.name}: pip install torch onnxscript", name=error.name
            ) from None
        return export
    raise AttributeError(f"module 'mtc' has no attribute {name!r}")
