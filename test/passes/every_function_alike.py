# RUN: %python %s

"""Passes keep no state between functions. Copies of a function are equal after all function passes, although one pass object processes all
of them, and values of later copies may have the addresses of earlier values."""

import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

COPIES = 30
PASSES = ("mtc-compact-scatter", "mtc-recompute-elementwise", "mtc-prepare-calls", "mtc-form-kernels", "mtc-fuse-kernels",
          "cse", "mtc-fuse-epilogues", "mtc-fuse-activations", "mtc-fuse-column-sums", "mtc-fuse-bias-gradients",
          "canonicalize", "cse")  # fmt: skip


def model() -> onnx.ModelProto:
    """The model has an embedding, norms and activations, so that there are values to recompute, producers to inline and sums to fuse. A
    pass before recomputation rewrites the scatter in its forward pass."""
    names = {"table": (64, 8), "w": (8, 8), "scale": (8,), "bias": (8,)}
    parameters = [helper.make_tensor(name, TensorProto.FLOAT, shape, [0.5] * math.prod(shape))
                  for name, shape in names.items()]  # fmt: skip
    nodes = [helper.make_node("Gather", ["table", "ids"], ["v0"])]
    for i in range(3):
        nodes += [helper.make_node("MatMul", [f"v{i}", "w"], [f"m{i}"]),
                  helper.make_node("Gelu", [f"m{i}"], [f"g{i}"]),
                  helper.make_node("LayerNormalization", [f"g{i}", "scale", "bias"], [f"v{i + 1}"])]  # fmt: skip
    parameters += [helper.make_tensor("places", TensorProto.INT64, (4, 1, 2), [1, 0, 0, 1, 3, 3, 2, 4]),
                   helper.make_tensor("updates", TensorProto.FLOAT, (4, 1, 7, 5), [0.25] * 140)]  # fmt: skip
    nodes += [helper.make_node("ScatterND", ["x", "places", "updates"], ["s"]),
              helper.make_node("ReduceMean", ["v3"], ["mean"], keepdims=0),
              helper.make_node("Add", ["s", "mean"], ["y"])]  # fmt: skip
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, [8, 3]),
              helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 13, 7, 5])]  # fmt: skip
    graph = helper.make_graph(nodes, "model", inputs,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 13, 7, 5])], parameters)  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def training_text(folder: Path) -> str:
    onnx.save(model(), folder / "model.onnx")
    text = subprocess.run(["mtc", "compile", folder / "model.onnx", "--loss", "bce-with-logits", "--emit", "training"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    return subprocess.run(["mtc-opt"], input=text, capture_output=True, text=True, check=True).stdout  # no locations


def functions(text: str) -> dict[str, str]:
    """Returns each function's text by its name, without the name; attributes are printed in full."""
    found = re.findall(r"^  func\.func @(\w+)(.*?^  })$", text, re.MULTILINE | re.DOTALL)
    return {name: body for name, body in found}


def main():
    with tempfile.TemporaryDirectory() as name:
        text = training_text(Path(name))
        body = functions(text)["micro_step"]
        copies = "".join(f"  func.func @copy{i}{body}\n" for i in range(COPIES))
        end = text.rindex("}")
        pipeline = f"builtin.module(func.func({','.join(PASSES)}))"
        result = subprocess.run(["mtc-opt", "-", "--mlir-disable-threading", "--mlir-print-local-scope",
                                 f"--pass-pipeline={pipeline}"],
                                input=text[:end] + copies + text[end:], capture_output=True, text=True)  # fmt: skip
    if result.returncode:
        sys.exit(result.stderr[:3000])
    made = functions(result.stdout)
    assert made.keys() >= {f"copy{i}" for i in range(COPIES)}, made.keys()
    assert "mtc.kernel" in made["copy0"] and "mtc.recomputed" in made["copy0"], made["copy0"]
    first = made["micro_step"]
    different = [name for name, text in made.items() if name.startswith("copy") and text != first]
    assert not different, f"these functions differ from the first: {different}"


main()
