# RUN: %python %s %t
"""--output accepts any value of the graph, and outputs that mtc cannot compute do not prevent training the others."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

ROWS, WIDTH, CLASSES = 8, 6, 3
folder = own_folder()
rng = np.random.default_rng(0)
w = rng.standard_normal((WIDTH, CLASSES)).astype(np.float32)
x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
labels = rng.integers(0, CLASSES, ROWS)
names = numpy_helper.from_array(np.array([b"cat", b"dog", b"owl"], dtype=object), "names")
tensor, sequence = helper.make_tensor_value_info, helper.make_tensor_sequence_value_info
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["hidden/scores"]),
     helper.make_node("Tanh", ["hidden/scores"], ["scale"]),
     helper.make_node("Mul", ["hidden/scores", "scale"], ["y"]),
     helper.make_node("ArgMax", ["y"], ["index"], axis=1, keepdims=0),
     helper.make_node("Gather", ["names", "index"], ["label"]),
     helper.make_node("NonZero", ["y"], ["places"]),
     helper.make_node("SequenceConstruct", ["y", "y"], ["twice"]),
     helper.make_node("Mine", ["y"], ["mine"], domain="my.domain")],
    "several", [tensor("x", TensorProto.FLOAT, ["batch", WIDTH])],
    [tensor("label", TensorProto.STRING, ["batch"]), tensor("y", TensorProto.FLOAT, ["batch", CLASSES]),
     tensor("places", TensorProto.INT64, [2, None]), sequence("twice", TensorProto.FLOAT, None),
     tensor("mine", TensorProto.INT32, None)],
    [numpy_helper.from_array(w, "w"), names])  # fmt: skip
model = folder / "model.onnx"
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), model)

flags = ("--dim", f"batch={ROWS}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", "0.1")
data = {"x": x, "labels": labels}


def cross_entropy(z):
    z = z - z.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[range(ROWS), labels].mean()


scores = x @ w
inspected = run([MTC, "inspect", model, "--dim", f"batch={ROWS}"], folder)
for output in ("label", "places", "twice", "mine"):
    assert f"the output '{output}' is omitted: " in inspected.stderr, inspected.stderr
for name, chosen, expected in (("file", (), {"y"}), ("named", ("--output", "y"), {"y"}),
                               ("inner", ("--output", "hidden/scores"), {"y", "hidden/scores"})):  # fmt: skip
    program = compile(model, folder, data, *flags, *chosen, name=name)
    outputs = program.outputs(f"{name}-outputs")
    assert outputs.keys() == expected, outputs.keys()
    np.testing.assert_allclose(outputs["y"], scores * np.tanh(scores), rtol=1e-5)
    reference = cross_entropy(scores if name == "inner" else scores * np.tanh(scores))
    found = losses(program.train(3, "--export", folder / f"{name}-trained.onnx"))
    np.testing.assert_allclose(found[0], reference, rtol=1e-5)
    assert found[-1] < found[0], found
    # The export is the whole model, including the outputs that the program omits.
    exported, source = onnx.load(folder / f"{name}-trained.onnx"), onnx.load(model)
    assert [n.op_type for n in exported.graph.node] == [n.op_type for n in source.graph.node]
    assert [o.name for o in exported.graph.output] == [o.name for o in source.graph.output]
    trained = {tensor.name: numpy_helper.to_array(tensor) for tensor in exported.graph.initializer}
    assert (trained["names"] == numpy_helper.to_array(names)).all() and not np.array_equal(trained["w"], w)

# A missing value that the loss needs is an error. Several problems are reported at once.
for chosen, words in (
        (("--output", "places"), ("NonZero", "must be known at compile time")),
        (("--output", "label"), ("label", "STRING")), (("--output", "mine"), ("operator my.domain.Mine", "is unknown")),
        (("--output", "scores", "--dim", "bach=3"), ("no value of this name; did you mean 'hidden/scores'", "--dim bach=3")),
        (("--output", "index"), ("output 'index' is tensor<8xi64>; expected a floating-point output",))):  # fmt: skip
    result = run([MTC, "plan", model, *flags, *chosen], folder, code=1)
    assert all(word in result.stderr for word in words), f"{chosen}\n{result.stderr}"
