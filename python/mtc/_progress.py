"""Progress of an export, and errors of its steps."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from typing import TextIO

from mtc.errors import ExportError

_log = logging.getLogger("mtc")


class Progress:
    """Shows the current step of an export, and logs the duration of each step to the logger ``mtc`` with level INFO.

    Args:
        shown: Whether to write to the standard error; None if it is a terminal.
    """

    def __init__(self, shown: bool | None = None) -> None:
        self._stream: TextIO = sys.stderr
        self._shown = self._stream.isatty() if shown is None else shown
        self._start = time.monotonic()
        self._width = 0

    @contextlib.contextmanager
    def step(self, name: str, remedy: str) -> Iterator[None]:
        """Runs a step.

        Args:
            name: Description of the step, as a verb phrase.
            remedy: Suggestion for the user if the step fails.

        Raises:
            ExportError: If the step raises an exception, which is the cause.
        """
        begin = time.monotonic()
        self._show(f"mtc.export: {name} ({begin - self._start:.0f} s)")
        try:
            yield
        except ExportError:
            raise
        except Exception as error:
            lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
            raise ExportError(
                f"failed to {name}: {type(error).__name__}: {' '.join(lines[:3])[:500] or 'no message'}. {remedy}"
            ) from error
        finally:
            self._show("")
        _log.info("%s: %.1f s", name, time.monotonic() - begin)

    def _show(self, text: str) -> None:
        """Replaces the line on the terminal."""
        if self._shown:
            self._stream.write(f"\r{text:{self._width}}{'' if text else chr(13)}")
            self._stream.flush()
            self._width = len(text)
