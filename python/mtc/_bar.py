"""The progress of a training run in a terminal or a notebook."""

from __future__ import annotations

import shutil
import sys
from typing import Any


def _in_notebook() -> bool:
    """Returns whether the code runs in a notebook, whose kernel shows outputs of other types than text."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class Bar:
    """Shows lines, and a bar that replaces the previous bar.

    Args:
        shown: Whether to show them; ``None`` if the standard error is a terminal, or in a notebook. The standard error receives lines
            without a bar if it is no terminal.
    """

    def __init__(self, shown: bool | None) -> None:
        self._notebook: Any = None
        self._is_drawn = False
        in_notebook = _in_notebook()
        is_terminal = sys.stderr.isatty()
        self.shown = in_notebook or is_terminal if shown is None else shown
        self.columns = 120 if in_notebook else shutil.get_terminal_size().columns - 1 if is_terminal else 0
        self._is_notebook = in_notebook

    def show(self, text: str, is_bar: bool) -> None:
        """Shows a line, or replaces the bar."""
        if self._is_notebook:
            self._show_in_notebook(text, is_bar)
            return
        clear = "\r\x1b[K" if self._is_drawn else ""
        self._is_drawn = is_bar
        sys.stderr.write(clear + text + ("" if is_bar else "\n"))
        sys.stderr.flush()

    def _show_in_notebook(self, text: str, is_bar: bool) -> None:
        display = sys.modules["IPython"].display.display
        if not is_bar:
            print(text)
        elif self._notebook is None:
            self._notebook = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._notebook.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        """Keeps the last bar on the screen; later output starts on the next line."""
        if self._is_drawn:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._is_drawn = False
