"""The compiler that belongs to this package, or one on PATH."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtc.errors import CompileError

BUNDLED = Path(__file__).parent / "_compiler" / "bin" / "mtc"


def find() -> str:
    """Returns the path of the compiler: $MTC, the one inside the package, or ``mtc`` on PATH."""
    chosen = os.environ.get("MTC") or (str(BUNDLED) if BUNDLED.exists() else shutil.which("mtc"))
    if not chosen:
        raise CompileError(
            "the compiler mtc is not installed: this package was installed from source, without a compiler; "
            "install its wheel, add mtc to PATH, or set the environment variable MTC to its path"
        )
    return chosen


def _joined(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def flags(options: Mapping[str, Any]) -> list[str]:
    """Returns keyword arguments as flags of the command line.

    ``weight_decay=0.1`` becomes ``--weight-decay 0.1``; ``True`` becomes a switch; ``None`` and ``False`` are omitted; a sequence
    becomes one flag per element; a mapping becomes one ``--name KEY=VALUE`` per element, with sequences as lists.
    """
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            words += [f"{flag}={key}={_joined(one)}" for key, one in value.items()]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            words += [f"{flag}={one}" for one in value]
        else:
            words.append(f"{flag}={value}")
    return words


def run(arguments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Runs a command of the compiler with ``--json``; returns its output and its warnings.

    Raises:
        CompileError: If the command fails.
    """
    command = [find(), *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    messages = done.stderr.strip().splitlines()
    if not done.stdout.startswith("{"):
        raise CompileError("\n".join(messages) or f"{command[0]} failed with status {done.returncode}")
    return json.loads(done.stdout), messages
