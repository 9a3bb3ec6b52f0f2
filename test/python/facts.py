# RUN: %python %s %t
"""The metadata of an ONNX file preserves the facts about a module. Malformed facts are rejected with the name of the entry."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import own_folder

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
import mtc  # noqa: E402
from mtc import facts  # noqa: E402

FACTS = facts.ModuleFacts(
    parameters=(
        facts.Parameter("embed.weight", ("embed.weight", "head.weight"), (4, 3), "float32", True, "torch.nn.Embedding"),
        facts.Parameter(
            "half", ("half",), (3,), "float16", False, "__main__.Module",
            (facts.PretrainedTensor("first", (1,), (facts.Part(0, 0, (1,), (1,), (1,)),)),
             facts.PretrainedTensor("rest", (2,), (facts.Part(1, 0, (2,), (1,), (1,)),))),
        ),
    ),
    buffers=(
        facts.Buffer("table", (3,), "float32", False),
        facts.Buffer("norm.num_batches_tracked", (), "int64", True, (7,)),
        facts.Buffer("mask", (2,), "float32", False, (0.5, float("-inf"))),
        facts.Buffer("average", (3,), "float32", True, update="average.next", pretrained=(facts.PretrainedTensor("mean", (3,)),)),
    ),
    padding_idx={"embed.weight": 1},
    mode="train",
    inference={"y": "rows"},
    stops=2,
)


def model() -> onnx.ModelProto:
    values = {"embed.weight": np.ones((4, 3), np.float32), "half": np.ones(3, np.float16), "table": np.ones(3, np.float32)}
    nodes = [helper.make_node("Gather", ["embed.weight", "ids"], ["rows"]), helper.make_node("Add", ["rows", "table"], ["y"])]
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3])]
    graph = helper.make_graph(nodes, "lookup", inputs, outputs, [numpy_helper.from_array(x, n) for n, x in values.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def refused(act, *words: str) -> None:
    try:
        act()
    except mtc.FactsError as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, f"the message does not contain {missing}: {error}"
        return
    raise AssertionError(f"expected an error with {words}")


def changed(**entries) -> str:
    return json.dumps(json.loads(FACTS.to_json()) | entries)


folder = own_folder()
file = model()
refused(lambda: facts.read(file), "0 metadata entries", facts.KEY, "mtc.export")
facts.write(file, FACTS)
facts.write(file, FACTS)  # replaces the first
onnx.checker.check_model(file, full_check=True)
onnx.save(file, folder / "model.onnx")
assert facts.read(folder / "model.onnx") == FACTS == facts.read(str(folder / "model.onnx"))
assert facts.read(file) == FACTS
content = json.loads(file.metadata_props[0].value)
assert content["format"] == 1 and content["mode"] == "train" and content["padding_idx"] == {"embed.weight": 1}, content
assert content["parameters"][0]["names"] == ["embed.weight", "head.weight"], content
assert "value" not in content["buffers"][0] and content["buffers"][1]["value"] == [7], content
assert content["buffers"][2]["value"] == [0.5, "-inf"], content

assert "pretrained" not in content["parameters"][0] and "pretrained" not in content["buffers"][0], content
assert content["buffers"][3]["pretrained"] == [{"name": "mean", "shape": [3]}], content
for wrong in ([0, 0, [1], [1]], [0, 0, [1], [1], ["1"]], [0.5, 0, [1], [1], [1]], {}):
    entry = content["parameters"][1] | {"pretrained": [{"name": "x", "shape": [1], "parts": [wrong]}]}
    refused(lambda entry=entry: facts.ModuleFacts.from_json(changed(parameters=[entry])), "'parts'", "three lists of integers")

other = model()
other.graph.initializer[0].name = "other"
refused(lambda: facts.write(other, FACTS), "'embed.weight'", "no initializer")
other = model()
other.graph.initializer[0].dims[:] = [3, 4]
refused(lambda: facts.write(other, FACTS), "'embed.weight'", "[4, 3]", "[3, 4]")
other = model()
other.graph.initializer[1].data_type = TensorProto.BFLOAT16
refused(lambda: facts.write(other, FACTS), "'half'", "float16", "bfloat16")

read = facts.ModuleFacts.from_json
refused(lambda: read("{"), facts.KEY, "not JSON")
refused(lambda: read("[]"), facts.KEY, "expected an object", "list")
refused(lambda: read(changed(format=2)), "unknown format 2", "expected 1")
refused(lambda: read(changed(mode="test")), "invalid mode 'test'", "train, eval")
refused(lambda: read(changed(padding_idx={"e": "0"})), "padding_idx of 'e'", "'0'")
refused(lambda: read(changed(buffers=[{"name": "b"}])), "buffers", "missing entry 'shape'")
refused(lambda: read(changed(buffers=[json.loads(FACTS.to_json())["buffers"][1] | {"value": ["x"]}])), "'x'", "numbers")
refused(lambda: read(changed(parameters=[3])), "parameters", "expected an object", "int")
refused(lambda: read(changed(parameters=None)), "'parameters'", "expected list", "null")
