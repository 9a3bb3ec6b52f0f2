# RUN: %python %s %t
"""The checks of the GPU kit pass with emulated device code, and the kit reports deviations."""

import json
import subprocess
import sys
from pathlib import Path

from program import MTC, own_folder, run

ROOT = Path(__file__).resolve().parents[3]
folder = own_folder()
kit = folder / "kit"
run([sys.executable, ROOT / "tools/gpu_kit/make.py", "--out", kit, "--mtc", MTC, "--emulate", "--examples", "digits,convolutions,recurrence"], folder)
table = run([sys.executable, kit / "run.py", "--no-torch"], folder).stdout
assert "22 right, 0 wrong" in table, table
assert table.count("| ok |") == 22, table

# The kit reports a wrong loss and exits with 1. One example suffices.
recorded = json.loads((kit / "kit.json").read_text())
del recorded["examples"][1:]
recorded["examples"][0]["losses"]["sgd"][7] += 0.01
(kit / "kit.json").write_text(json.dumps(recorded))
wrong = subprocess.run([sys.executable, kit / "run.py", "--no-torch"], capture_output=True, text=True)
right = wrong.stdout.count("| ok |")
assert wrong.returncode == 1 and right > 4 and f"{right} right, 1 wrong" in wrong.stdout, wrong.stdout
