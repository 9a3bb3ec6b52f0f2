"""The command ``python -m mtc.export``."""

from __future__ import annotations

import sys

from mtc._export_options import parse
from mtc.errors import ExportError

PACKAGES = ("torch", "onnxscript", "transformers")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 for success, 1 for invalid input."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        from mtc._configuration import export

        summary = export(options)
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        print(f"error: python -m mtc.export needs {error.name}: pip install {' '.join(PACKAGES)}", file=sys.stderr)
        return 1
    except ExportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; no file was written", file=sys.stderr)
        return 130
    if not options.quiet:
        print(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# An import of this module would otherwise replace the function `mtc.export`.
from mtc.exporter import export  # noqa: E402

sys.modules[__name__] = export  # type: ignore[assignment]
