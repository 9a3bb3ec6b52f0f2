# RUN: %python %s %t
"""Casts of floats to integers truncate toward 0, modulo 2^bits, with equal results on all processors, for values in the range that
docs/reference/onnx.md states."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, own_folder

SOURCES = {"FLOAT16": np.float16, "BFLOAT16": np.float32, "FLOAT": np.float32, "DOUBLE": np.float64}
TARGETS = {"UINT2": 2, "INT2": 2, "UINT4": 4, "INT4": 4, "UINT8": 8, "INT8": 8, "UINT16": 16, "INT16": 16,
           "UINT32": 32, "INT32": 32, "UINT64": 64, "INT64": 64}  # fmt: skip
SMALL = [-3.0, -2.5, -1.0, -0.75, 0.0, 0.75, 1.0, 3.5, 4.0, 100.0, 127.0, 128.0, -128.0, -130.0, 254.0, 256.0, 260.0]
# The values need more than 16 bits and are exact in bf16.
LARGE = [-40960.0, 65536.0, 2.0**31 - 2**24, -(2.0**31)]
HUGE = [2.0**31, 2.0**32, -(2.0**40), 2.0**62, -(2.0**62)]


def values(source: str, target: str) -> list[float]:
    found = [*SMALL]
    if source != "FLOAT16":
        found += LARGE
        if TARGETS[target] == 64 or target == "UINT32":
            found += HUGE
        if target == "UINT64":
            found += [2.0**63, 2.0**64 - 2.0**56]
    return found * 3  # An extent that exercises vectors and the scalar remainder.


def wrap(x: float, target: str) -> int:
    bits = TARGETS[target]
    whole = math.trunc(x) % 2**bits
    return whole - 2**bits if target.startswith("INT") and whole >= 2 ** (bits - 1) else whole


folder = own_folder()
inputs, nodes, outputs, data, expected = [], [], [], {}, {}
for source, stored in SOURCES.items():
    for target, bits in TARGETS.items():
        name = f"{source}-{target}"
        numbers = values(source, target)
        data[f"x-{name}"] = np.array([numbers], SOURCES[source])
        expected[name] = [wrap(x, target) for x in numbers]
        shape = ["batch", len(numbers)]
        inputs.append(helper.make_tensor_value_info(f"x-{name}", helper.np_dtype_to_tensor_dtype(np.dtype(stored)), shape))
        read = f"x-{name}"
        if source == "BFLOAT16":
            nodes.append(helper.make_node("Cast", [read], [f"narrow-{name}"], to=TensorProto.BFLOAT16))
            read = f"narrow-{name}"
        # Types of less than 8 bits are written as 8 bits.
        last = target if bits >= 8 else f"{target.rstrip('24')}8"
        nodes.append(helper.make_node("Cast", [read], [f"whole-{name}"], to=getattr(TensorProto, target)))
        nodes.append(helper.make_node("Cast", [f"whole-{name}"], [name], to=getattr(TensorProto, last)))
        outputs.append(helper.make_tensor_value_info(name, getattr(TensorProto, last), shape))
# The parameter exists only because a program must train something.
inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1]))
nodes.append(helper.make_node("Mul", ["x", "weight"], ["trained"]))
outputs.append(helper.make_tensor_value_info("trained", TensorProto.FLOAT, ["batch", 1]))
graph = helper.make_graph(nodes, "casts", inputs, outputs, [numpy_helper.from_array(np.ones(1, np.float32), "weight")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11), folder / "casts.onnx")
data["x"] = data["labels"] = np.zeros((1, 1), np.float32)

program = compile(folder / "casts.onnx", folder, data, "--dim", "batch=1", "--output", "trained", "--loss", "mse")
found = program.outputs("values")
for name, numbers in expected.items():
    result = found[name][0].tolist()
    wrong = [f"{x} -> {y}, expected {z}" for x, y, z in zip(data[f"x-{name}"][0], result, numbers, strict=True) if y != z]
    assert not wrong, f"{name}: {wrong}"
assert len(expected) == 48
