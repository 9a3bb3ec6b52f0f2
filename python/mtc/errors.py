"""The errors of this package."""


class ExportError(RuntimeError):
    """A module cannot be exported without losing part of its training behavior.

    The message names the parameter, the submodule or the argument, what is lost, and what to do.
    """


class FactsError(ValueError):
    """The module facts of an ONNX file are missing or malformed."""
