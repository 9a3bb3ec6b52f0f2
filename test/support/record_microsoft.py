"""Writes test/e2e/inputs/microsoft.json: results of onnxruntime for the nodes of microsoft_cases.py.

    python3 test/support/record_microsoft.py        # needs onnxruntime 1.32
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime
from microsoft_cases import cases, imports
from onnx import helper

FILE = Path(__file__).resolve().parent.parent / "e2e/inputs/microsoft.json"


def results(case) -> dict[str, list]:
    nodes, initializers = case.nodes_and_initializers(np.float32)
    outputs = case.output_infos(np.float32)
    names = [output.name for output in outputs]
    graph = helper.make_graph(nodes, case.name, [], outputs, initializers)
    model = helper.make_model(graph, opset_imports=imports(), ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {})))


records = {}
for case in cases():
    for name, array in results(case).items() if case.runs else ():
        records[name] = {"shape": list(array.shape), "values": [float(f"{value:.6g}") for value in array.ravel().tolist()]}
lines = [f'  "{name}": {json.dumps(record)}' for name, record in records.items()]
FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{len(records)} results of onnxruntime {onnxruntime.__version__}")
