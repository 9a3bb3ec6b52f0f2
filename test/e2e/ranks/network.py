# RUN: %python %s %t
# REQUIRES: network-namespaces
"""Ranks on two hosts with a latency of 1 ms train bit-identically to one rank. If a rank on the other host is stopped, all ranks end, and
the message names the rank and its host. Checkpoints do not depend on whether the hosts share a folder."""

import json
import os
import signal
import subprocess
import time

from launcher import Comparison, check_equal, processes_of, state_of
from models import DIGITS
from program import Program, own_folder
from slow_network import SlowNetwork

TIMEOUT = 3
folder = own_folder()
clipped = Comparison(folder, "clipped", DIGITS, "--optimizer", "adamw", "--clip-norm", 0.05)
wanted = state_of(clipped.program(1))
with SlowNetwork(delay=1e-3) as network:
    for ranks, shard in ((1, 1), "none"), ((2, 1), "parameters"):
        path = clipped.program(sum(ranks), "--shard", shard).path
        program = Program(path, DIGITS.data(1000), network.launcher(folder, ranks))
        before = network.packets
        check_equal(state_of(program), wanted, (ranks, shard))
        assert network.packets - before > 200, "the ranks have not used the network"

    # Checkpoints are equal whether the remote rank writes its shards or sends them.
    saved = []
    for hides in False, True:
        checkpoint = path.parent / f"saved{hides:d}"
        checkpoint.mkdir()
        program = Program(path, DIGITS.data(1000), network.launcher(folder, ranks, checkpoint if hides else None))
        program.run("--steps", 2, "--save", checkpoint, "--quiet")
        manifest = json.loads((checkpoint / "manifest.json").read_text())
        saved.append(((checkpoint / manifest["file"]).read_bytes(), manifest["checksums"], manifest["piece_bytes"]))
    assert saved[0] == saved[1] and len(saved[0][2]) > 10, [s[1:] for s in saved]

    words = [str(w) for w in program.command("--steps", 10**9, "--timeout", TIMEOUT, "--quiet")]
    process = subprocess.Popen(words, cwd=program.folder, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + 60
    while not (pid := processes_of(path).get(2)):
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.05)
    time.sleep(2)
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    try:
        message = process.communicate(timeout=60)[1]
    finally:
        os.kill(pid, signal.SIGKILL) if processes_of(path).get(2) == pid else None
    assert process.returncode != 0 and time.monotonic() - begin < TIMEOUT + 10, message
    assert "from rank 2 (host " in message, message
