"""Every operator that mtc converts, with its evaluation in the arithmetic of the reference, and its generator.

A family's module registers its operators:

    @operator("Softplus", propose_unary)
    def softplus(node, x):
        return tape.softplus(x)

Operators of a domain other than ai.onnx are named `domain::operator`.

`evaluate(node, *operands)` returns the result or a list of results; an absent operand is None. `propose(graph, name)` adds the operator and
its operands to a graph under construction (generator.py), or raises `Rejected`.
"""

from dataclasses import dataclass
from functools import cache
from typing import Callable

import onnx
from onnx import helper
from tape import Value

OPERATORS: dict[str, "Operator"] = {}
INFERENCE = "in inference: "  # prefix of a node's doc_string, before the value that replaces the node in inference


@dataclass
class Operator:
    name: str
    evaluate: Callable
    propose: Callable


def operator(name: str, propose: Callable):
    def register(evaluate):
        OPERATORS[name] = Operator(name, evaluate, propose)
        return evaluate

    return register


def name_of(node: onnx.NodeProto) -> str:
    """The operator's name in OPERATORS."""
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


def split_name(name: str) -> tuple[str, str]:
    """Returns the domain and the operator."""
    domain, _, operator = name.rpartition("::")
    return domain, operator


@cache
def schema(name: str, opset: int):
    """Returns the operator's definition in an opset; None if the operator is missing or deprecated there. Other domains have version 1."""
    domain, operator = split_name(name)
    try:
        found = onnx.defs.get_schema(operator, max_inclusive_version=1 if domain else opset, domain=domain)
    except onnx.defs.SchemaError:
        return None
    return None if found.deprecated else found


class Node:
    """A node with its attributes, for evaluation in a training step or in inference."""

    def __init__(self, proto: onnx.NodeProto, opset: int, is_inference: bool):
        self.is_inference = is_inference
        self.op, self.outputs = name_of(proto), list(proto.output)
        self.inputs = list(proto.input)
        self.metadata = {entry.key: entry.value for entry in proto.metadata_props}
        self.attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}
        found = schema(self.op, opset)
        if found is None:
            raise ValueError(f"operator {self.op} is not in opset {opset}")
        self.version = found.since_version

    def attribute(self, name: str, default=None):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def argument(self, name: str, operand: Value | None, default=None):
        """Returns an argument that is an attribute in one version of the operator and an operand in another."""
        if operand is not None:
            return operand.data.tolist()
        return self.attribute(name, default)


def evaluate(proto: onnx.NodeProto, opset: int, operands: list[Value | None], is_inference: bool = False) -> list[Value]:
    results = OPERATORS[name_of(proto)].evaluate(Node(proto, opset, is_inference), *operands)
    return results if isinstance(results, list) else [results]


from operators import (  # noqa: E402, F401
    activation, attention, binary, blocks, contraction, control_flow, convolution, determinant, dropout, elementwise, folded, fourier, indexing, logic,
    loss, microsoft, movement, normalization, pooling, quantization, recurrent, reduction, regions, resize, sampling, scatter,
    selection, shape,
)  # fmt: skip
