#!/usr/bin/env python3
"""Runs the examples of docs/guide/exporting.md, one section after the other: `guide.py --python PYTHON --mtc MTC`.

Blocks in Python run with a Python that has the packages of requirements.txt, blocks of the shell with mtc first on PATH. Each
section starts in an empty folder, and a block may read what the section's earlier blocks wrote.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from run import ROOT, environment

PAGE = ROOT / "docs/guide/exporting.md"
LEAST = 18  # blocks


def blocks_of(text: str) -> list[tuple[str, str]]:
    """Returns the languages and texts of the blocks in Python and of the shell."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for block in blocks if block[0] in ("python", "shell")]


def sections(text: str) -> dict[str, list[tuple[str, str]]]:
    """Maps headings to their blocks."""
    parts = re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]
    return {part.split("\n", 1)[0]: blocks_of(part) for part in parts}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--python", help="a Python with the packages of requirements.txt (default: build/exports-venv)")
    parser.add_argument("--only", default="", metavar="TEXT", help="sections whose heading contains it")
    options = parser.parse_args()
    python = environment(options.python)
    variables = os.environ | {
        "PATH": os.pathsep.join([str(options.mtc.resolve().parent), str(Path(python).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT / "python"),
    }
    count, failed = 0, 0
    for heading, blocks in sections(PAGE.read_text()).items():
        if options.only not in heading:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for language, text in blocks:
                command = [python, "-W", "ignore", "-c", text] if language == "python" else ["bash", "-ec", text]
                done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
                warned = language == "shell" and "warning:" in done.stderr
                count += 1
                if done.returncode or warned:
                    failed += 1
                    print(f"{heading}: block {count} in {language} {'warns' if warned else 'fails'}\n{text}\n{done.stderr[-2000:]}")
        print(f"{heading}: {len(blocks)} blocks", flush=True)
    print(f"{count} blocks, {failed} failed")
    return 1 if failed or (count < LEAST and not options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
