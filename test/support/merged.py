"""Writes a model whose parameters an exporter merged: `merged.py dynamo|torchscript FILE.onnx` writes it.

PyTorch's newer exporter records the merge in metadata; the TorchScript-based exporter writes an Identity with the name of the parameter.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, CLASSES, BATCH = 8, 3, 16
SCALES, BIASES = ["a.weight", "b.weight"], ["a.bias", "b.bias", "fc.bias"]
random = np.random.default_rng(0)
DATA = {
    "x": random.standard_normal((BATCH, WIDTH), np.float32),
    "labels": random.integers(0, CLASSES, BATCH),
}
WEIGHTS = {
    "fc.weight": random.standard_normal((WIDTH, WIDTH), np.float32),
    "head.weight": random.standard_normal((WIDTH, CLASSES), np.float32),
    "a.weight": np.ones(WIDTH, np.float32),
    "a.bias": np.zeros(WIDTH, np.float32),
}


def add_metadata(message, **entries):
    for key, value in entries.items():
        message.metadata_props.add(key=key.replace("__", "."), value=value)


def build(exporter: str) -> onnx.ModelProto:
    """The model has a norm a, a linear layer fc, tanh, a norm b and a linear head. Parameters with equal initial values are stored once."""
    is_dynamo = exporter == "dynamo"
    scale_b, bias_b, bias_fc = ("a.weight", "a.bias", "a.bias") if is_dynamo else ("b.weight", "b.bias", "fc.bias")
    nodes = []

    def node(op, module, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=f"/{module}/{op}", **attributes))
        if is_dynamo:
            add_metadata(nodes[-1], pkg__torch__onnx__name_scopes=f"['', '{module}', 'op']")

    if not is_dynamo:
        for k, (name, source) in enumerate([("fc.bias", "a.bias"), ("b.bias", "a.bias"), ("b.weight", "a.weight")]):
            nodes.append(helper.make_node("Identity", [source], [name], name=f"Identity_{k}"))
    node("LayerNormalization", "a", ["x", "a.weight", "a.bias"], "n1", axis=-1)
    node("MatMul", "fc", ["n1", "fc.weight"], "m1")
    node("Add", "fc", [bias_fc, "m1"], "f1")
    node("Tanh", "act", ["f1"], "t1")
    node("LayerNormalization", "b", ["t1", scale_b, bias_b], "n2", axis=-1)
    node("MatMul", "head", ["n2", "head.weight"], "logits")
    infos = []
    if is_dynamo:
        for name, value in WEIGHTS.items():
            infos.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape))
            add_metadata(infos[-1], pkg__torch__export__graph_signature__InputSpec__kind="PARAMETER")
    graph = helper.make_graph(
        nodes, "main",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in WEIGHTS.items()], value_info=infos,
    )  # fmt: skip
    if is_dynamo:
        signature = "\n".join(f"p: PARAMETER target='{n}'" for n in ["fc.weight", "head.weight", *SCALES, *BIASES])
        add_metadata(graph, pkg__torch__export__ExportedProgram__graph_signature=signature)
    return helper.make_model(
        graph, producer_name="pytorch", ir_version=10, opset_imports=[helper.make_opsetid("", 18)]
    )


if __name__ == "__main__":
    onnx.save(build(sys.argv[1]), sys.argv[2])
