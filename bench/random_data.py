"""Random data for the inputs of a program. Needs only Python."""

import array
import math
import random
import re
import subprocess
import sys
from pathlib import Path

KINDS = {"f32": ("f4", "f"), "f64": ("f8", "d"), "i64": ("i8", "q"), "i32": ("i4", "i"), "bool": ("b1", "b")}


def write_npy(path: Path, kind: str, shape: tuple[int, ...], values: array.array) -> None:
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())


def random_data(program: Path, batch: int, folder: Path) -> None:
    """Writes a random batch for each input in the program's help: `x  f32 [rows, 64]`, `ids  i64 [rows, 8]  0 to 255`."""
    generator = random.Random(0)
    text = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=True).stdout
    for line in text.split("\nInputs:\n")[1].split("\n\n")[0].splitlines():
        name, kind, dims, rest = re.fullmatch(r"  (.*?)  (\w+) \[rows([^\]]*)\](.*)", line).groups()
        shape = (batch, *(int(d) for d in dims.split(",")[1:]))
        limits = re.search(r"(-?\d+) to (\d+)", rest)
        low, high = max(0, int(limits[1])) if limits else 0, int(limits[2]) if limits else 1
        if kind not in KINDS:
            sys.exit(f"{program}: input '{name}' is {kind}; random data is made for {', '.join(KINDS)}")
        descr, code = KINDS[kind]
        draw = generator.random if code in "fd" else lambda: generator.randint(low, high)
        write_npy(folder / f"{name}.npy", descr, shape, array.array(code, (draw() for _ in range(math.prod(shape)))))
