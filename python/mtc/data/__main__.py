"""The command ``python -m mtc.data``."""

from __future__ import annotations

import sys

from mtc.data._convert import convert
from mtc.data._options import parse
from mtc.errors import DataError


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 for success, 1 for invalid input."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        report = convert(options)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; no files were written", file=sys.stderr)
        return 130
    if not options.quiet:
        print(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
