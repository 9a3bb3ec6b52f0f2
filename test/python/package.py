# RUN: %python %s
"""The Python package has the compiler's version, lists all its modules, and needs no PyTorch until `export` is used."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent.parent / "python"
sys.path.insert(0, str(PACKAGE))
import mtc  # noqa: E402

project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
version = subprocess.run([os.environ.get("MTC", "mtc"), "--version"], capture_output=True, text=True, check=True).stdout
assert version.split() == ["mtc", project["project"]["version"]], version
folders = {str(path.parent.relative_to(PACKAGE)).replace("/", ".") for path in PACKAGE.glob("mtc/**/*.py")}
assert folders == set(project["tool"]["setuptools"]["packages"]), folders
assert (PACKAGE / project["project"]["readme"]).exists() and (PACKAGE / "mtc/py.typed").exists()

assert "torch" not in sys.modules and {"compile", "export", "plan", "Trainer"} <= set(mtc.__all__)
assert all(hasattr(mtc, name) for name in mtc.__all__ if name not in ("empty_weights", "export"))
if importlib.util.find_spec("torch") is None:
    try:
        mtc.export
        raise AssertionError("expected an error without PyTorch")
    except ModuleNotFoundError as error:
        assert "pip install" in str(error) and "torch" in str(error), error
try:
    mtc.exports
    raise AssertionError("expected an AttributeError")
except AttributeError as error:
    assert "exports" in str(error), error
