"""A progress line on a terminal."""

from __future__ import annotations

import shutil
import sys
import time

WIDTH = 24
INTERVAL = 0.1  # seconds between updates


class Progress:
    """Shows the share of a pass that is done, on the standard error if it is a terminal."""

    def __init__(self, is_quiet: bool = False) -> None:
        self._shown = sys.stderr.isatty() and not is_quiet
        self._label = ""
        self._begin = self._last = 0.0

    def start(self, label: str) -> None:
        """Starts a pass."""
        self.finish()
        self._label, self._begin, self._last = label, time.monotonic(), 0.0

    def show(self, fraction: float | None, rows: int) -> None:
        """Shows the share that is done, None if it is unknown, and the number of rows."""
        now = time.monotonic()
        if not self._shown or now - self._last < INTERVAL:
            return
        self._last = now
        bar = ""
        if fraction is not None:
            done = round(WIDTH * min(1.0, fraction))
            bar = f"  {'█' * done}{'░' * (WIDTH - done)} {fraction:4.0%}"
        rate = rows / max(now - self._begin, 1e-3)
        line = f"{self._label}{bar}  {rows:,} rows, {rate:,.0f} a second"
        sys.stderr.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()

    def finish(self) -> None:
        """Clears the line."""
        if self._shown and self._label:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._label = ""
