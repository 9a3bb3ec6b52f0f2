#!/usr/bin/env python3
"""Writes frontend/onnx/dialect/Schemas.inc: the signatures of ONNX's operators, from the package `onnx` of build/venv.

    build/venv/bin/python3 tools/scripts/onnx_schemas.py            # writes the file
    build/venv/bin/python3 tools/scripts/onnx_schemas.py --check    # exits with 1 if the file is out of date

The file has one record for each definition that models of the oldest supported opset or a later one can use. Its element types are those
that this definition or a later one permits, because exporters write bf16 before a definition permits it.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from onnx import defs

FILE = Path(__file__).resolve().parent.parent.parent / "frontend/onnx/dialect/Schemas.inc"
OLDEST_OPSET, NEWEST_OPSET = 7, 27
# Operators of other domains that have a record.
OTHER_DOMAINS = {
    "ai.onnx.ml": {"ArrayFeatureExtractor", "Binarizer", "Imputer", "Normalizer", "Scaler"},
    "ai.onnx.preview": {"FlexAttention"},
}

# The text in MLIR of the element type `tensor(KEY)`. ElementTypes.cpp has the same table.
ELEMENTS = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "float8e4m3fn": "f8E4M3FN",
    "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2", "float8e5m2fnuz": "f8E5M2FNUZ",
    "float8e8m0": "f8E8M0FNU", "float4e2m1": "f4E2M1FN", "bool": "i1", "complex64": "complex<f32>",
    "complex128": "complex<f64>", **{f"int{n}": f"i{n}" for n in (2, 4, 8, 16, 32, 64)},
    **{f"uint{n}": f"ui{n}" for n in (2, 4, 8, 16, 32, 64)},
}  # fmt: skip

HEADER = """\
//===- Schemas.inc - The signatures of ONNX's operators ---------------------------------------===//
//
// Written by tools/scripts/onnx_schemas.py. Schema.h says what the fields are.
//
//===------------------------------------------------------------------------------------------===//

"""


def element_types(types) -> set[str]:
    """Returns the element types of tensors; strings have none in MLIR."""
    names = (text.removeprefix("tensor(").removesuffix(")") for text in types if text.startswith("tensor("))
    return {ELEMENTS[name] for name in names if name in ELEMENTS}


def parameter(schema: defs.OpSchema, formal) -> tuple[str, set[str]]:
    """Returns the type parameter of an operand or result (a separate one if its type is fixed), and the permitted types."""
    for constraint in schema.type_constraints:
        if constraint.type_param_str == formal.type_str:
            return formal.type_str, element_types(constraint.allowed_type_strs)
    return formal.type_str, element_types([formal.type_str])


def formals(schema: defs.OpSchema, which: str) -> str:
    """Returns `NAME:PARAMETER` for each operand or result, with `?` if it is optional, and `...` if it repeats, with one type or with any
    types."""
    words = []
    for formal in getattr(schema, which):
        option = {
            defs.OpSchema.FormalParameterOption.Single: "",
            defs.OpSchema.FormalParameterOption.Optional: "?",
            defs.OpSchema.FormalParameterOption.Variadic: "...",
        }[formal.option]
        if option == "..." and formal.min_arity == 0:
            option += "?"
        name = parameter(schema, formal)[0]
        name = name if name.isidentifier() else ELEMENTS.get(name.removeprefix("tensor(").removesuffix(")"), "any")
        words.append(f"{formal.name}{option}:{'any' if not formal.is_homogeneous else name}")
    return " ".join(words)


def constraints(history: list[defs.OpSchema], first: int) -> str:
    """Returns `PARAMETER=TYPE,TYPE` for each type parameter of the operands, including the types of later definitions."""
    allowed = defaultdict(set)
    schema = history[first]
    for index, formal in enumerate(schema.inputs):
        name, types = parameter(schema, formal)
        if not types or not formal.is_homogeneous:
            continue
        for later in history[first:]:
            if index < len(later.inputs) and later.inputs[index].name == formal.name:
                types |= parameter(later, later.inputs[index])[1]
        key = name if name.isidentifier() else ELEMENTS[name.removeprefix("tensor(").removesuffix(")")]
        allowed[key] |= types
    order = list(ELEMENTS.values())
    return " ".join(f"{name}={','.join(sorted(types, key=order.index))}" for name, types in allowed.items())


def attributes(schema: defs.OpSchema) -> str:
    """Returns `NAME:KIND` for each attribute, with `!` if it is required."""
    return " ".join(f"{name}:{attribute.type.name}{'!' if attribute.required else ''}"
                    for name, attribute in sorted(schema.attributes.items()))


def records() -> str:
    histories = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST_OPSET:
            histories[schema.name].append(schema)
        elif schema.name in OTHER_DOMAINS.get(schema.domain, ()):
            histories[f"{schema.domain}::{schema.name}"].append(schema)
    lines = []
    for name, history in sorted(histories.items()):
        history.sort(key=lambda schema: schema.since_version)
        previous = None
        for i, schema in enumerate(history):
            if "::" not in name and i + 1 < len(history) and history[i + 1].since_version <= OLDEST_OPSET:
                continue
            fields = ["true", '""', '""', '""', '""']
            # GroupNormalization 18 is deprecated too, but only because of its own later definition.
            if not (schema.deprecated and i + 1 == len(history)):
                texts = formals(schema, "inputs"), formals(schema, "outputs"), constraints(history, i), attributes(schema)
                fields = ["false", *(f'"{text}"' for text in texts)]
            if fields != previous:
                lines.append(f'{{"{name}", {schema.since_version}, {", ".join(fields)}}},')
            previous = fields
    return HEADER + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    text = records()
    if not options.check:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        print(f"{FILE} is out of date: run build/venv/bin/python3 tools/scripts/onnx_schemas.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
