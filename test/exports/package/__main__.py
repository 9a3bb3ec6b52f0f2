"""Tests of mtc.export that need PyTorch. Run `PYTHON test/exports/package [REGEX]`, where PYTHON is an interpreter with the packages of
requirements.txt.

Every file is also compared with its module by mtc.export itself: parameters to the bit, outputs for the example inputs.
"""

import importlib
import re
import sys
import time
from pathlib import Path

import torch
from harness import PATH, TESTS


def main() -> None:
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(file.stem)
    pattern = sys.argv[1] if len(sys.argv) > 1 else ".*"
    chosen = {name: function for name, function in TESTS.items() if re.fullmatch(pattern, name)}
    if not chosen:
        sys.exit(f"{pattern}: no test has such a name")
    for name, function in chosen.items():
        torch.manual_seed(0)
        PATH.unlink(missing_ok=True)
        start = time.monotonic()
        function()
        print(f"{name}: passed ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(chosen)} passed")


if __name__ == "__main__":
    main()
