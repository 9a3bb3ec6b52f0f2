"""Optional packages, imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

from mtc.errors import DataError


def require(module: str, purpose: str) -> Any:
    """Imports a module of an optional package.

    Args:
        module: The module, such as ``"pyarrow.csv"``.
        purpose: What needs the package, for the message.

    Raises:
        DataError: If the package is missing; the message has the command that installs it.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        package = {"PIL": "pillow"}.get(package, package)
        raise DataError(f"{purpose} needs the package {package}: pip install {package} (or mtc[data])") from None
