"""Which operations of an allocated step may run at the same time."""

import re
from pathlib import Path

TO_GPU, FROM_GPU, ON_HOST, RESULTS_TO_GPU = "1", "2", "4", "5"  # stream numbers


def steps(allocated: Path) -> dict[str, list[str]]:
    """Returns the lines of each step of an allocated module (`--emit allocated`)."""
    lines = re.sub(r" loc\(.*\)", "", allocated.read_text()).splitlines()
    begins = {re.search(r"@(\w+)", line)[1]: i for i, line in enumerate(lines) if "mtc.step @" in line}
    return {name: lines[i + 1 : lines.index("  }", i)] for name, i in begins.items()}


def concurrent(step: list[str]) -> set[tuple[str, str]]:
    """Returns the sorted kinds of each two operations of which neither waits for the other: the number of a stream, `launch`, `call` or
    `copy`."""
    before: list[set[int]] = []  # the operations that have ended when each operation starts
    kinds, tokens, last = [], {}, {}
    ended: set[int] = set()  # as seen by the operations without a stream
    for number, line in enumerate(step):
        stream = re.search(r" stream (\d+)", line)
        kind = stream[1] if stream else re.match(r"\s*mtc\.(\w+)", line)[1]
        waits = re.search(r" after ((?:%\w+(?:, )?)+)", line)
        own = set(ended)
        for other in [tokens[name] for name in waits[1].split(", ")] if waits else []:
            own |= before[other] | {other}
        if stream:
            if kind in last:
                own |= before[last[kind]] | {last[kind]}
            last[kind] = number
            tokens[re.match(r"\s*(%\w+) = ", line)[1]] = number
        else:
            ended = own | {number}
        before.append(own)
        kinds.append(kind)
    return {
        (min(kinds[one], kinds[two]), max(kinds[one], kinds[two]))
        for two in range(len(step))
        for one in range(two)
        if one not in before[two]
    }
