"""Exchange of values between ranks that the reference interpreter (`interpret.py`) executes in one process."""

import math
import re

import numpy as np


class Mismatch(Exception):
    """The error of ranks that wait for different exchanges."""


class Exchange:
    """A collective that a rank has reached, with its value."""

    pattern = re.compile(r"(?P<target>%\w+) = mtc.(?P<kind>all_gather|all_to_all|own_piece) (?P<value>%[\w#]+)(?: pieces \[(?P<piece>\d+)\])?"
                         r"(?: ranks (?P<ranks>\d+))?(?: stride (?P<stride>\d+))?(?: \{mtc.addends\})? : tensor<[^>]*> -> tensor<(?P<type>[^>]*)>")

    def __init__(self, match, value):
        self.kind, self.value = match["kind"], value.reshape(-1)
        self.shape = tuple(int(extent) for extent in match["type"].split("x")[:-1])
        self.ranks, self.stride = int(match["ranks"] or self.shape[0]), int(match["stride"] or 1)
        self.piece = int(match["piece"] or (value.size if self.kind == "all_gather" else math.prod(self.shape)))

    def same(self, other):
        return all(getattr(self, key) == getattr(other, key) for key in ("kind", "shape", "ranks", "stride", "piece"))

    def pieces(self):
        """Returns the pieces of this rank's value by their owner, padded with zeros."""
        return np.pad(self.value, (0, self.ranks * self.piece - self.value.size)).reshape(self.ranks, self.piece)

    def group(self, rank):
        """Returns the ranks of a rank's group."""
        first = rank - rank // self.stride % self.ranks * self.stride
        return [first + i * self.stride for i in range(self.ranks)]

    def receive(self, rank, exchanges):
        """Returns what a rank receives."""
        group = [exchanges[other] for other in self.group(rank)]
        number = rank // self.stride % self.ranks
        if self.kind == "all_gather":
            gathered = np.concatenate([each.value for each in group])
            return gathered[: math.prod(self.shape)].reshape(self.shape)
        if self.kind == "all_to_all":
            return np.stack([each.pieces()[number] for each in group])
        return self.pieces()[number].reshape(self.shape)


def run_on_ranks(functions, arguments):
    """Executes one function for each rank, with the rank's arguments, and exchanges values between them. Returns the results of each rank."""
    ranks = [function.steps(*own) for function, own in zip(functions, arguments, strict=True)]
    results, replies = [None] * len(ranks), [None] * len(ranks)
    while True:
        exchanges = []
        for i, rank in enumerate(ranks):
            try:
                exchanges.append(rank.send(replies[i]))
            except StopIteration as end:
                results[i] = end.value
        if not exchanges:
            return results
        if len(exchanges) < len(ranks) or not all(each.same(exchanges[0]) for each in exchanges):
            raise Mismatch("ranks have reached different exchanges")
        if any(other >= len(ranks) for other in exchanges[0].group(len(ranks) - 1)):
            raise Mismatch(f"{len(ranks)} ranks have reached an exchange of ranks {exchanges[0].group(len(ranks) - 1)}")
        replies = [each.receive(i, exchanges) for i, each in enumerate(exchanges)]
