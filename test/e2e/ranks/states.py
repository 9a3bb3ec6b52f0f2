# RUN: %python %s %t
"""Several ranks train bit-identically to one if the loss reads state whose updates depend only on variables: the vector of a power
iteration, and a counter. State whose updates depend on the data is rejected if a gradient depends on it."""

import json

import numpy as np
import onnx
from launcher import compare
from models import Example
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run
from safetensors.numpy import load_file

BATCH, INPUTS, OUTPUTS = 4, 5, 3
folder = own_folder()
random = np.random.default_rng(1)
WEIGHT = random.normal(0, 1, (INPUTS, OUTPUTS)).astype(np.float32)
VECTOR = np.float32([1, 0, 0])
STATES = {"u": VECTOR, "count": np.int64(3), "mean": np.zeros(OUTPUTS, np.float32), "var": np.ones(OUTPUTS, np.float32)}


def node(op: str, inputs: str, outputs: str, metadata: tuple = (), **attributes) -> onnx.NodeProto:
    made = helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)
    for key, value in metadata:
        made.metadata_props.add(key=key, value=value)
    return made


def normalized(value: str, result: str) -> list[onnx.NodeProto]:
    return [node("ReduceL2", value, f"{result}.norm", keepdims=1), node("Div", f"{value} {result}.norm", f"{result}.raw"),
            node("Identity", f"{result}.raw", result, (("mtc.detached", "true"),))]  # fmt: skip


def model(reads_mean: bool) -> onnx.ModelProto:
    """The model computes x @ weight / sigma * count, normalized over the batch. A step of the power iteration estimates sigma."""
    nodes = [
        node("MatMul", "weight u", "wu"), *normalized("wu", "v"),
        node("MatMul", "v weight", "vw"), *normalized("vw", "new"),
        node("Identity", "new", "u.next", (("mtc.update", "u"),)),
        node("MatMul", "weight new", "wn"), node("Mul", "v wn", "products"), node("ReduceSum", "products", "sigma", keepdims=0),
        node("Div", "weight sigma", "scaled"), node("MatMul", "x scaled", "h"),
        node("Cast", "count", "counted", to=TensorProto.FLOAT), node("Mul", "h counted", "counts"),
        node("Add", "count one", "more"), node("Identity", "more", "count.next", (("mtc.update", "count"),)),
        node("BatchNormalization", "counts gamma beta mean var", "n mean.next var.next", training_mode=1),
        node("Add", "n mean.next" if reads_mean else "n beta", "y"),
    ]  # fmt: skip
    values = {"weight": WEIGHT, "gamma": np.ones(OUTPUTS, np.float32), "beta": np.zeros(OUTPUTS, np.float32), "one": np.int64(1), **STATES}
    info, float32 = helper.make_tensor_value_info, TensorProto.FLOAT
    outputs = [info("y", float32, (BATCH, OUTPUTS)), info("u.next", float32, (OUTPUTS,)), info("count.next", TensorProto.INT64, ()),
               info("mean.next", float32, (OUTPUTS,)), info("var.next", float32, (OUTPUTS,))]  # fmt: skip
    graph = helper.make_graph(nodes, "states", [info("x", float32, (BATCH, INPUTS))], outputs,
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])  # fmt: skip
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)

    def entry(name: str) -> dict:
        array = np.asarray(values[name])
        return {"name": name, "shape": list(array.shape), "dtype": str(array.dtype)}

    parameters = [{**entry(name), "names": [name], "requires_grad": True} for name in ("weight", "gamma", "beta")]
    updates = {name: {"update": f"{name}.next"} for name in ("u", "count")}
    buffers = [{**entry(name), "persistent": True, **updates.get(name, {})} for name in STATES]
    facts = {"format": 1, "parameters": parameters, "buffers": buffers, "padding_idx": {}, "mode": "train", "stops": 2}
    result.metadata_props.add(key="mtc.module", value=json.dumps(facts))
    return result


def data(rows: int) -> dict[str, np.ndarray]:
    given = np.random.default_rng(2)
    return {"x": given.normal(0, 1, (rows, INPUTS)).astype(np.float32), "labels": given.normal(0, 1, (rows, OUTPUTS)).astype(np.float32)}


FLAGS = ("--loss", "mse", "--output", "y")
SGD = ("--optimizer", "sgd", "--lr", 0.01)
onnx.save(model(reads_mean=False), folder / "states.onnx")
STATE = Example("states", folder / "states.onnx", BATCH, data, FLAGS, {})
several = compare(folder, "states", STATE, *SGD, rows=100)
saved = load_file(next(several.folder.glob("ranks3.saved/*.safetensors")))
assert not np.allclose(saved["u"], VECTOR, atol=0.1) and not np.allclose(saved["mean"], 0, atol=1e-3), saved
assert int(saved["count"].reshape(())) == 3 + 6 * 6, saved["count"]  # the initial 3, and 1 for each micro-batch
compare(folder, "sharded", STATE, *SGD, "--shard", "parameters", ranks=(2,), rows=100)

onnx.save(model(reads_mean=True), folder / "refused.onnx")
said = run([MTC, "compile", folder / "refused.onnx", *FLAGS, *SGD, "--ranks", 2, "-o", "refused"], folder, code=1).stderr
assert "--ranks 2: node 'y' reads 'mean'" in said and "node 'n' updates" in said and "compile without --ranks" in said, said
run([MTC, "compile", folder / "refused.onnx", *FLAGS, *SGD, "-o", "alone"], folder)
