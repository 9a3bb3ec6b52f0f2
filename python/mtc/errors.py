"""The errors of this package."""


class ExportError(RuntimeError):
    """A module cannot be exported without losing part of its training behavior.

    The message names the parameter, submodule or argument, states what would be lost, and suggests a fix.
    """


class ExportWarning(UserWarning):
    """An exported file computes what the module computes only for data like the example inputs."""


class FactsError(ValueError):
    """The module facts of an ONNX file are missing or malformed."""


class CompileError(RuntimeError):
    """The compiler rejected a model or a flag. The message is the compiler's."""


class TrainerError(RuntimeError):
    """A call of a compiled library failed. The message is the library's."""


class DataError(ValueError):
    """Data cannot be converted. The message names the file or column, the problem, and what is expected."""
