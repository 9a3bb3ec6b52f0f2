#!/usr/bin/env python3
"""Measures the connection between ranks, for `mtc plan --network FILE`.

    bench/network.py > network.txt                                     # two processes of this machine
    bench/network.py --launcher "mpirun -n 8 --hostfile hosts" > network.txt
    mtc plan model.onnx --ranks 8 --network network.txt

Needs mpicc. The program must exist on all machines, so use a shared --folder for several.
"""

import argparse
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "network/messages.c"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", default="mpirun -n 2", help="command prefix that starts the processes")
    parser.add_argument("--folder", type=Path, help="folder for the program (default: a temporary folder)")
    options = parser.parse_args()
    if os.geteuid() == 0:  # mpirun refuses root, who may be the only user of a container.
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as temporary:
        program = (options.folder or Path(temporary)) / "messages"
        subprocess.run(["mpicc", "-O2", "-o", program, SOURCE], check=True)
        print(f"# {options.launcher}")
        print(subprocess.run([*shlex.split(options.launcher), program], check=True, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
