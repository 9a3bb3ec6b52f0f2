"""Adds the evaluation mode of a module to its graph in training mode.

The graph in training mode computes most values of the evaluation mode too, if Dropout and BatchNormalization have their inference form.
Values that differ are replaced. The nodes that compute the replacements are added to the graph, although it does not use them, and
:attr:`ModuleFacts.inference` lists the replacement of each value.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from onnx import GraphProto, NodeProto, TensorProto

RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
FORWARDING = ("Dropout", "Identity")  # operators that return their operand in inference


class Numbering:
    """Numbers of values. Two values have the same number if they are computed in the same way, in one graph or in two.

    Nodes are numbered in inference form. Random nodes of one graph differ. The n-th of several equal random nodes of one graph equals the
    n-th of the other graph, since all draws of one distribution are interchangeable.
    """

    def __init__(self, tensors: Iterable[str]):
        """``tensors`` names the initializers that are tensors of the module; others are constants."""
        self.tensors = set(tensors)
        self.keys: dict[tuple, int] = {}

    def of(
        self, graph: GraphProto, replaced: Mapping[str, int] | None = None, own: dict[str, int] | None = None
    ) -> dict[str, int]:
        """Returns the number of each value of a graph, by name.

        Args:
            graph: The graph.
            replaced: Numbers that override those of nodes' results.
            own: Receives the numbers that these results would have.
        """
        replaced = replaced or {}
        own = {} if own is None else own
        numbers = {"": -1}
        draws: Counter[tuple] = Counter()
        for value in graph.input:
            numbers[value.name] = self._number("input", value.name)
        for tensor in graph.initializer:
            numbers[tensor.name] = self._number(*self._initializer(tensor))
        for node in graph.node:
            for index, output in enumerate(node.output):
                numbers[output] = self._result(node, index, numbers, draws)
                if output in replaced:
                    own[output], numbers[output] = numbers[output], replaced[output]
        return numbers

    def _result(self, node: NodeProto, index: int, numbers: Mapping[str, int], draws: Counter[tuple]) -> int:
        if node.op_type == "Identity" or (node.op_type == "Dropout" and index == 0):
            return numbers[node.input[0]]
        if node.op_type == "BatchNormalization" and index > 0:
            return numbers[node.input[3 if index % 2 else 4]]
        key = (*signature(node), index, *(numbers[name] for name in node.input))
        if node.op_type in RANDOM:
            draws[key] += 1
            return self._number(*key, draws[key])
        if has_graphs(node):  # Subgraphs refer to values by names, which differ between the graphs.
            return self._number("node", id(node), index)
        return self._number(*key)

    def _initializer(self, tensor: TensorProto) -> tuple:
        if tensor.name in self.tensors:
            return "tensor", tensor.name
        return "constant", tensor.data_type, tuple(tensor.dims), tensor.raw_data or tensor.SerializeToString()

    def _number(self, *key: object) -> int:
        return self.keys.setdefault(key, len(self.keys))


def signature(node: NodeProto) -> tuple:
    """Returns a key for the function that a node applies to its operands in inference form."""
    ignored = ("training_mode", "momentum") if node.op_type == "BatchNormalization" else ()
    attributes = sorted(a.SerializeToString() for a in node.attribute if a.name not in ignored)
    return node.domain, node.op_type, tuple(attributes)


def scope(node: NodeProto) -> str:
    """Returns the path of the submodule that computes a node; an empty string if it is unknown."""
    scopes = next((entry.value for entry in node.metadata_props if entry.key == "pkg.torch.onnx.name_scopes"), "")
    return scopes.rpartition(",")[0] or node.name.rpartition("/")[0]


def has_graphs(node: NodeProto) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


@dataclass(frozen=True)
class Addition:
    """Nodes and initializers to add to a graph, and the name of the replacement of each replaced value."""

    nodes: list[NodeProto]
    initializers: list[TensorProto]
    values: dict[str, str]


class Merger:
    """Finds the values of a graph that another graph, of the same module in evaluation mode, replaces."""

    def __init__(self, training: GraphProto, evaluation: GraphProto, tensors: Iterable[str]):
        self.training, self.evaluation = training, evaluation
        self.numbering = Numbering(tensors)
        self.ours, self.theirs = self.numbering.of(training), self.numbering.of(evaluation)
        self.makers = {name: node for node in training.node for name in node.output}
        self.their_makers = {name: node for node in evaluation.node for name in node.output}
        self.kinds = {name: signature(node) for name, node in self.makers.items()}
        self.their_kinds = {name: signature(node) for name, node in self.their_makers.items()}
        self.scopes = {name: scope(node) for name, node in self.makers.items()}
        self.their_scopes = {name: scope(node) for name, node in self.their_makers.items()}
        self.names: dict[int, str] = {}  # the first value of each number
        for name, number in self.ours.items():
            self.names.setdefault(number, name)
        self.outputs = [value.name for value in training.output if value.name in self.theirs]

    def near_differences(self) -> dict[str, str] | None:
        """Returns replacements of the first values in which the graphs differ; None if there are no such replacements.

        Maps values of the training graph to values of the evaluation graph.
        """
        found: dict[str, str] = {}
        if not all(self._match(name, name, found) for name in self.outputs):
            return None
        replaced = {name: self.theirs[other] for name, other in found.items()}
        numbers = self.numbering.of(self.training, replaced)
        if any(numbers[name] != self.theirs[name] for name in self.outputs):
            return None
        return self._used(found, numbers)

    def whole_outputs(self) -> dict[str, str]:
        """Returns replacements of all outputs that differ."""
        return {name: name for name in self.outputs if self.ours[name] != self.theirs[name]}

    def _match(self, name: str, other: str, found: dict[str, str]) -> bool:
        """Makes ``name`` equal to ``other`` by additions to ``found``; returns whether this is possible."""
        stack, visited = [(name, other)], set()
        while stack:
            pair = stack.pop()
            name, other = pair
            if pair in visited or self.ours[name] == self.theirs[other]:
                continue
            visited.add(pair)
            if name in found:
                if self.theirs[found[name]] != self.theirs[other]:
                    return False
                continue
            ours, theirs = self.makers.get(name), self.their_makers.get(other)
            if ours is None or ours.op_type == "Constant":
                return False
            if ours.op_type in FORWARDING:
                stack.append((ours.input[0], other))
                continue
            if theirs is not None and theirs.op_type in FORWARDING:
                stack.append((name, theirs.input[0]))
                continue
            if theirs is None or self.theirs[other] in self.names:
                found[name] = other
                continue
            # A node of the training mode only, such as the product of a value and a mask, resembles `other` less than its operands do.
            inner = max(self._near(ours), key=lambda value: self._likeness(value, other), default="")
            likeness = self._likeness(inner, other)
            if likeness > self._likeness(name, other):
                found[name] = other
                stack.append((inner, other))
            elif (
                [*ours.output].index(name) == [*theirs.output].index(other)
                and self._corresponds(ours, theirs)
                and (likeness == 0 or self.scopes[name] == self.their_scopes[other])
            ):
                stack += zip(ours.input, theirs.input, strict=True)
            else:
                found[name] = other
                stack += self._alike(ours, theirs)
        return True

    def _near(self, node: NodeProto) -> list[str]:
        """Returns the values from which a node is computed through at most three nodes, the nearest first."""
        found, layer = [], [node]
        for _ in range(3):
            names = [name for maker in layer for name in maker.input if name and name not in found]
            found += dict.fromkeys(names)
            layer = [self.makers[name] for name in dict.fromkeys(names) if name in self.makers]
        return found

    def _likeness(self, name: str, other: str, depth: int = 4) -> int:
        """Returns how many of the nearest nodes that compute two values are equal."""
        if not name or not other:
            return 0
        if self.ours[name] == self.theirs[other]:
            return 2
        ours, theirs = self.makers.get(name), self.their_makers.get(other)
        if ours is not None and ours.op_type in FORWARDING:
            return self._likeness(ours.input[0], other, depth)
        if theirs is not None and theirs.op_type in FORWARDING:
            return self._likeness(name, theirs.input[0], depth)
        if depth == 0 or ours is None or theirs is None:
            return 0
        if self.kinds[name] != self.their_kinds[other] or self.scopes[name] != self.their_scopes[other]:
            return 0
        pairs = itertools.islice(zip(ours.input, theirs.input, strict=False), 4)
        return 1 + sum(self._likeness(a, b, depth - 1) for a, b in pairs)

    def _alike(self, ours: NodeProto, theirs: NodeProto) -> list[tuple[str, str]]:
        """Returns pairs of operands of different nodes that resemble each other."""
        pairs = []
        for other in theirs.input:
            best = max((value for value in ours.input if value in self.makers), key=lambda a: self._likeness(a, other), default="")
            if self._likeness(best, other) > 2 and self.makers[best].op_type != "Constant":
                pairs.append((best, other))
        return pairs

    def _used(self, found: Mapping[str, str], numbers: Mapping[str, int]) -> dict[str, str]:
        """Returns the replacements that the outputs need, given the numbers that the replaced values must have."""
        names: dict[int, str] = {}
        for name, number in numbers.items():
            if name not in found:
                names.setdefault(number, name)
        used, visited = {}, set()
        ours, theirs = [*self.outputs], []
        while ours or theirs:
            if theirs:
                other = theirs.pop()
                if (name := names.get(self.theirs[other])) is not None:
                    ours.append(name)
                elif other in self.their_makers and other not in visited:
                    visited.add(other)
                    theirs += self.their_makers[other].input
                continue
            name = ours.pop()
            if name in found and name not in used:
                used[name] = found[name]
                theirs.append(found[name])
            elif name in self.makers and name not in visited and name not in found:
                visited.add(name)
                ours += self.makers[name].input
        return used

    def _corresponds(self, ours: NodeProto, theirs: NodeProto) -> bool:
        """Returns whether two nodes are equal if their operands are, and none of the differing operands is a constant."""
        if signature(ours) != signature(theirs) or len(ours.input) != len(theirs.input) or has_graphs(ours):
            return False
        if ours.op_type in RANDOM:
            return False
        differing = [a for a, b in zip(ours.input, theirs.input, strict=True) if self.ours[a] != self.theirs[b]]
        return all(name in self.makers and self.makers[name].op_type != "Constant" for name in differing)

    def added(self, replacements: Mapping[str, str]) -> Addition | None:
        """Returns the additional nodes that the replacements need; None if a value would depend on its own replacement.

        A replaced value that a replacement is computed from gets a second name.
        """
        taken, own = set(self.ours), {}
        view = self.numbering.of(self.training, {name: self.theirs[other] for name, other in replacements.items()}, own)
        names: dict[int, str] = {}
        for name, number in view.items():
            if name not in replacements:
                names.setdefault(number, name)
        second = {number: name for name, number in own.items() if number not in names}
        needed = self._needed(replacements.values(), {*names, *second})
        read = {self.theirs[name] for node in self.evaluation.node if not needed.isdisjoint(node.output) for name in node.input}
        names |= {number: self._keep(name, taken) for number, name in second.items() if number in read}
        addition = Addition([], [], {})
        for tensor in self.evaluation.initializer:
            if tensor.name in needed and self.theirs[tensor.name] not in names:
                keeps = tensor.name in self.numbering.tensors and tensor.name not in taken
                names[self.theirs[tensor.name]] = tensor.name if keeps else _fresh(tensor.name, taken)
                addition.initializers.append(_copied(tensor))
                addition.initializers[-1].name = names[self.theirs[tensor.name]]
        for node in self.evaluation.node:
            if needed.isdisjoint(node.output):
                continue
            copy = _copied(node)
            copy.name = node.name and f"{node.name}.eval"
            copy.input[:] = [names[self.theirs[name]] if name else "" for name in node.input]
            copy.output[:] = [_fresh(name, taken) if name else "" for name in node.output]
            for name, fresh in zip(node.output, copy.output, strict=True):
                names.setdefault(self.theirs[name], fresh)
            addition.nodes.append(copy)
        addition.values.update((name, names[self.theirs[other]]) for name, other in replacements.items())
        return addition if _is_acyclic([*self.training.node, *addition.nodes], addition.values) else None

    def _keep(self, name: str, taken: set[str]) -> str:
        """Returns a second name of a value; uses of this name are not replaced."""
        position = next(index for index, node in enumerate(self.training.node) if name in node.output)
        node = self.training.node[position]
        kept = _fresh(name, taken)
        node.output[[*node.output].index(name)] = kept
        self.training.node.insert(position + 1, NodeProto(op_type="Identity", name=kept, input=[kept], output=[name]))
        self.ours[kept] = self.ours[name]
        self.makers[kept], self.makers[name] = self.training.node[position], self.training.node[position + 1]
        self.kinds[kept], self.scopes[kept] = self.kinds[name], self.scopes[name]
        return kept

    def _needed(self, values: Iterable[str], known: set[int]) -> set[str]:
        """Returns the values of the evaluation graph that ``values`` need and whose numbers are not known."""
        needed, stack = set(), list(values)
        while stack:
            name = stack.pop()
            if not name or name in needed or self.theirs[name] in known:
                continue
            needed.add(name)
            if name in self.their_makers:
                stack += self.their_makers[name].input
                stack += captured(self.their_makers[name])
        return needed


def captured(node: NodeProto) -> set[str]:
    """Returns the names that the subgraphs of a node read."""
    graphs = [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs)]
    return {name for graph in graphs for inner in graph.node for name in (*inner.input, *captured(inner))}


def _is_acyclic(nodes: Iterable[NodeProto], replacements: Mapping[str, str]) -> bool:
    """Returns whether the graph stays acyclic if the users of each replaced value also depend on its replacement."""
    unsorted = {index: {*node.input, *captured(node)} for index, node in enumerate(nodes)}
    outputs = {index: [name for name in node.output if name] for index, node in enumerate(nodes)}
    pending = {name for names in outputs.values() for name in names}
    while unsorted:
        ready = [
            index
            for index, inputs in unsorted.items()
            if not any(name in pending or replacements.get(name) in pending for name in inputs)
        ]
        if not ready:
            return False
        for index in ready:
            del unsorted[index]
            pending.difference_update(outputs[index])
    return True


def _copied(message: Any) -> Any:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _fresh(name: str, taken: set[str]) -> str:
    """Returns an unused name, and marks it as used."""
    fresh = f"{name}.eval"
    while fresh in taken:
        fresh += "_"
    taken.add(fresh)
    return fresh
