"""Registers the operators of frontend/onnx/dialect/MicrosoftSchemas.inc in the package `onnx`, so that its checker accepts them."""

import atexit
import re
from pathlib import Path

# onnx.reference cannot be imported once two domains have operators of the same name.
import onnx.reference  # noqa: F401
from onnx import TensorProto, TypeProto, defs

TABLE = Path(__file__).resolve().parent.parent.parent / "frontend/onnx/dialect/MicrosoftSchemas.inc"
RECORD = re.compile(r'\{"([^"]*)", (\d+), false, "([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)"\},')
TYPES = {"f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16", "f8E4M3FN": "float8e4m3fn",
         "f8E5M2": "float8e5m2", "i4": "int4", "ui4": "uint4", "i8": "int8", "ui8": "uint8", "i16": "int16", "ui16": "uint16",
         "i32": "int32", "i64": "int64"}  # fmt: skip
FLOATS = "f32,f64,f16,bf16"  # type of a result that is the type of no operand


def formals(text: str) -> list[defs.OpSchema.FormalParameter]:
    options = defs.OpSchema.FormalParameterOption
    found = (word.split(":") for word in text.split())
    return [defs.OpSchema.FormalParameter(name.rstrip("?"), parameter, param_option=options.Optional if "?" in name else options.Single)
            for name, parameter in found]  # fmt: skip


def attributes(text: str) -> list[defs.OpSchema.Attribute]:
    found = (word.split(":") for word in text.split())
    return [defs.OpSchema.Attribute(name, getattr(defs.OpSchema.AttrType, kind.rstrip("!")), "", required=kind.endswith("!"))
            for name, kind in found]  # fmt: skip


def element_types(inputs, outputs):
    """Returns a function that infers the element types of results: those of the operands with the same type parameter, f32 for statistics
    (U), otherwise that of the first operand."""

    def infer(context):
        known = {}
        for i in range(context.get_num_inputs()):
            if context.has_input(i) and (found := context.get_input_type(i)) is not None:
                known.setdefault(inputs[i].type_str, found.tensor_type.elem_type)
        for i in range(context.get_num_outputs()):
            if context.has_output(i):
                parameter = outputs[i].type_str
                element = known.get(parameter, TensorProto.FLOAT if parameter == "U" else known[inputs[0].type_str])
                context.set_output_type(i, TypeProto(tensor_type=TypeProto.Tensor(elem_type=element)))

    return infer


def schemas() -> list[defs.OpSchema]:
    """Returns the schemas whose names the package lacks."""
    made = []
    for name, version, operands, results, types, kinds in RECORD.findall(TABLE.read_text()):
        domain, _, operator = name.rpartition("::")
        inputs, outputs = formals(operands), formals(results)
        allowed = dict(word.split("=") for word in types.split())
        for formal in outputs:
            allowed.setdefault(formal.type_str, FLOATS)
        constraints = [(name, [f"tensor({TYPES[t]})" for t in types.split(",")], "") for name, types in allowed.items()]
        if domain or not defs.has(operator):
            made.append(defs.OpSchema(operator, domain, int(version), inputs=inputs, outputs=outputs,
                                      type_constraints=constraints, attributes=attributes(kinds)))  # fmt: skip
            made[-1].set_type_and_shape_inference_function(element_types(inputs, outputs))
    assert made, TABLE
    return made


def register():
    for schema in schemas():
        if not defs.has(schema.name, domain=schema.domain):
            defs.register_schema(schema)
            # Otherwise the registry would call into Python after its shutdown.
            atexit.register(defs.deregister_schema, schema.name, schema.since_version, schema.domain)
