"""Functions of the `mtc` dialect in MLIR's generic form (`-mlir-print-op-generic -mlir-print-local-scope`), for tests that change them."""

import re
from dataclasses import dataclass, field


def split_list(text: str) -> list[str]:
    """Splits a list at the commas outside of brackets."""
    items, depth, start = [], 0, 0
    for i, letter in enumerate(text.replace("->", "  ")):
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    return [item for item in [*items, text[start:].strip()] if item]


@dataclass
class Op:
    results: list[str]
    name: str
    operands: list[str]
    attributes: str  # properties and discardable attributes
    operand_types: list[str]
    result_types: list[str]

    pattern = re.compile(r'\s*(?:(%[^=]*?) = )?"([\w.]+)"\((.*?)\)((?: <\{.*\}>)?(?: \{.*\})?) : \((.*)\) -> (.*)')

    @staticmethod
    def parse(line: str) -> "Op":
        results, name, operands, attributes, operand_types, result_types = Op.pattern.fullmatch(line).groups()
        results = split_list(results or "")
        if len(results) == 1 and ":" in results[0]:
            base, count = results[0].split(":")
            results = [f"{base}#{i}" for i in range(int(count))]
        if result_types.startswith("("):
            result_types = result_types[1:-1]
        return Op(results, name, split_list(operands), attributes, split_list(operand_types), split_list(result_types))

    def __str__(self) -> str:
        results = self.results[0].split("#")[0] + (f":{len(self.results)}" if len(self.results) > 1 else "") + " = " if self.results else ""
        return (f'{results}"{self.name}"({", ".join(self.operands)}){self.attributes} : ({", ".join(self.operand_types)}) '
                f"-> ({', '.join(self.result_types)})")  # fmt: skip


@dataclass
class Body:
    """A module with one function. `before` and `after` are the lines around the function's operations."""

    before: list[str]
    ops: list[Op]
    after: list[str]
    new: int = field(default=0)

    @staticmethod
    def parse(text: str) -> "Body":
        lines = text.splitlines()
        first = next(i for i, line in enumerate(lines) if re.match(r"\s*\^bb0", line)) + 1
        last = next(i for i, line in enumerate(lines) if '"func.return"' in line) + 1
        return Body(lines[:first], [Op.parse(line) for line in lines[first:last]], lines[last:])

    def __str__(self) -> str:
        return "\n".join([*self.before, *map(str, self.ops), *self.after])

    def named(self, *names: str) -> list[Op]:
        return [op for op in self.ops if op.name in [f"mtc.{name}" for name in names]]

    def users(self, value: str) -> list[Op]:
        return [op for op in self.ops if value in op.operands]

    def definition(self, value: str) -> Op:
        return next(op for op in self.ops if value in op.results)

    def replace(self, value: str, other: str, kind: str | None = None):
        """Replaces the uses of a value; `kind` is the type of the other value if it differs."""
        for op in self.users(value):
            for i, operand in enumerate(op.operands):
                if operand == value:
                    op.operands[i] = other
                    op.operand_types[i] = kind or op.operand_types[i]

    def insert(self, place: Op, name: str, operands: list[str], operand_types: list[str], result_type: str, attributes="", after=True) -> str:
        """Adds an operation next to `place` and returns its result."""
        self.new += 1
        op = Op([f"%new{self.new}"], f"mtc.{name}", operands, attributes, operand_types, [result_type])
        self.ops.insert(self.ops.index(place) + after, op)
        return op.results[0]
