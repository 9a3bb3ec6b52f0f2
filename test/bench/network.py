# RUN: %python %s %t
"""bench/network.py writes a network that `mtc plan --network` reads; malformed networks are rejected with the reason."""

import json
import subprocess
import sys
from pathlib import Path

from launcher import SETTINGS  # noqa: F401  settings of mpirun
from models import DIGITS
from program import MTC, own_folder, run

folder = own_folder()
BENCH = Path(__file__).resolve().parent.parent.parent / "bench"
measured = subprocess.run([sys.executable, BENCH / "network.py"], capture_output=True, text=True, check=True).stdout
(folder / "network.txt").write_text(measured)


def transfers(network: str) -> dict:
    flags = ("--ranks", 8, "--network", network, "--json")
    return json.loads(run([MTC, "plan", DIGITS.model, *DIGITS.flags, *flags], folder).stdout)["ranks"]


def seconds(network: str) -> float:
    return sum(each["seconds"] for each in transfers(network)["traffic"].values())


assert 0 < seconds("network.txt"), measured
assert transfers("network.txt")["network"] == measured.splitlines()[1]
# A message takes half the time with twice the bandwidth and half the latency.
assert abs(seconds("30us,1.1GB/s") - seconds("10gbe")) < 1e-12
assert abs(seconds("15us, 17.6 Gbit/s") - seconds("10gbe") / 2) < 1e-9
# Messages to 7 other ranks take one latency if all are concurrent, and two if 4 are concurrent.
bytes_only = seconds("1ns,1.1GB/s,7")
assert abs((seconds("30us,1.1GB/s,7") - bytes_only) * 7 - (seconds("30us,1.1GB/s") - bytes_only)) < 1e-6
assert abs((seconds("30us,1.1GB/s,4") - bytes_only) * 7 - (seconds("30us,1.1GB/s") - bytes_only) * 2) < 1e-6
# Nodes of 8 ranks use their own connection. With nodes of 4 ranks, 4 of 7 messages cross nodes, concurrently with those inside a node.
assert abs(seconds("30us,1.1GB/s; nodes of 8: 15us,2.2GB/s") - seconds("15us,2.2GB/s")) < 1e-12
assert abs(seconds("30us,1.1GB/s; nodes of 4: 1us,99GB/s") - seconds("30us,1.1GB/s") * 4 / 7) < 1e-9
assert abs(seconds("1us,99GB/s; nodes of 4: 30us,1.1GB/s") - seconds("30us,1.1GB/s") * 3 / 7) < 1e-9

(folder / "wrong.txt").write_text("# a comment\nfast\n")
(folder / "empty.txt").write_text("# a comment\n")
for network, message in (
    ("fast", "--network fast: expected shm (shared memory of one machine), 10gbe"),
    ("30us,0GB/s", "--network 30us,0GB/s: expected shm"),
    ("30us,1GB/s,0", "--network 30us,1GB/s,0: expected shm"),
    ("30us,1GB/s; nodes of 1: 1us,1GB/s", "--network 30us,1GB/s; nodes of 1: 1us,1GB/s: expected shm"),
    ("30us,1GB/s;", "--network 30us,1GB/s;: expected shm"),
    ("wrong.txt", "--network wrong.txt: 'fast' is no network; expected shm"),
    ("empty.txt", "--network empty.txt: the file has no line; expected shm"),
):
    said = run([MTC, "plan", DIGITS.model, *DIGITS.flags, "--ranks", 8, "--network", network], folder, code=1).stderr
    assert message in said, (network, said)
