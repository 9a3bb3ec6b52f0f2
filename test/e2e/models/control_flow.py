# RUN: %python %s %t
"""A model with control flow trains like an equivalent model without control flow: losses and weights are bit-identical. Weights inside
subgraphs are trained, and exported in their subgraphs."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from program import MTC, compile, losses, own_folder, run, same_bits

ROWS, WIDTH, CLASSES, STEPS = 8, 6, 3, 4
FLAGS = ["--dim", f"batch={ROWS}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", 0.5]
random = np.random.default_rng(0)
DATA = {
    "x": random.standard_normal((ROWS, STEPS, WIDTH)).astype(np.float32),
    "labels": random.integers(0, CLASSES, ROWS),
}
WEIGHTS = {
    "w": random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 2,
    "scale": random.standard_normal(WIDTH).astype(np.float32),
    "head": random.standard_normal((WIDTH, CLASSES)).astype(np.float32) / 2,
}


def node(op: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    """Names separated by spaces; `-` omits an operand."""
    names = [[name.replace("-", "") for name in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, name=outputs.split()[0].replace("-", "") or op, **attributes)


def initializers(names) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(WEIGHTS[name], name) for name in names]


def integers(**values) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(np.array(value), name) for name, value in values.items()]


def value(name: str, kind: int = TensorProto.FLOAT, shape=None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def subgraph(name: str, nodes, inputs, outputs, weights=()) -> onnx.GraphProto:
    return helper.make_graph(nodes, name, inputs, [value(output) for output in outputs], weights)


def save(path, nodes, constants, weights):
    inputs = [value("x", shape=["batch", STEPS, WIDTH])]
    outputs = [value("logits", shape=["batch", CLASSES])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [*initializers(weights), *constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def write_plain(path):
    """h = tanh((x_t + h) w) for each t, then relu(h), scaled if the width is that of the scale."""
    nodes = [node("Gather", "x zero", "h0", axis=1)]
    for t in range(STEPS):
        nodes += [node("Gather", f"x t{t}", f"x{t}", axis=1), node("Add", f"x{t} h{t}", f"s{t}"),
                  node("MatMul", f"s{t} w", f"m{t}"), node("Tanh", f"m{t}", f"h{t + 1}")]
    nodes += [node("Mul", f"h{STEPS} scale", "r"), node("MatMul", "r head", "logits")]
    save(path, nodes, integers(zero=0, **{f"t{t}": t for t in range(STEPS)}), WEIGHTS)


def write_loop(path):
    """The same function as a Loop whose trip count is an extent, and an If on shapes whose branch contains the scale."""
    body = subgraph("body", [node("Gather", "x i", "xi", axis=1), node("Add", "xi h", "s"), node("MatMul", "s w", "m"),
                             node("Tanh", "m", "h_next"), node("Identity", "goes", "go_on")],
                    [value("i", TensorProto.INT64, []), value("goes", TensorProto.BOOL, []), value("h")],
                    ["go_on", "h_next"])
    body.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    scaled = subgraph("scaled", [node("Mul", "last scale", "a")], [], ["a"], initializers(["scale"]))
    other = subgraph("other", [node("Relu", "last", "b")], [], ["b"])
    nodes = [
        node("Gather", "x zero", "first", axis=1),
        node("Shape", "x", "shape"), node("Gather", "shape one", "length"),
        node("Loop", "length go first", "last", body=body),
        node("Gather", "shape two", "width"), node("Equal", "width six", "fits"),
        node("If", "fits", "r", then_branch=scaled, else_branch=other),
        node("MatMul", "r head", "logits"),
    ]
    save(path, nodes, integers(zero=0, one=1, two=2, six=WIDTH, go=True), ["w", "head"])


def write_scan(path):
    """The same function as a Scan whose body contains the weight."""
    body = subgraph("body", [node("Add", "xi h", "s"), node("MatMul", "s w", "m"), node("Tanh", "m", "h_next")],
                    [value("h"), value("xi")], ["h_next"], initializers(["w"]))
    nodes = [
        node("Gather", "x zero", "first", axis=1), node("Transpose", "x", "steps", perm=[1, 0, 2]),
        node("Scan", "first steps", "last", body=body, num_scan_inputs=1),
        node("Mul", "last scale", "r"), node("MatMul", "r head", "logits"),
    ]
    save(path, nodes, integers(zero=0), ["scale", "head"])


def write_sequence(path):
    """The same function as a sequence of slices."""
    nodes = [node("SplitToSequence", "x", "slices", axis=1, keepdims=0), node("SequenceAt", "slices t0", "h0")]
    for t in range(STEPS):
        nodes += [node("SequenceAt", f"slices t{t}", f"x{t}"), node("Add", f"x{t} h{t}", f"s{t}"),
                  node("MatMul", f"s{t} w", f"m{t}"), node("Tanh", f"m{t}", f"h{t + 1}")]
    nodes += [node("Mul", f"h{STEPS} scale", "r"), node("MatMul", "r head", "logits")]
    save(path, nodes, integers(**{f"t{t}": t for t in range(STEPS)}), WEIGHTS)


def weights_of(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """The result includes the weights of subgraphs."""
    found = {i.name: numpy_helper.to_array(i) for i in graph.initializer if i.data_type == TensorProto.FLOAT}
    for each in graph.node:
        for attribute in each.attribute:
            found |= weights_of(attribute.g)
    return found


folder = own_folder()
results = {}
for name, write in {"plain": write_plain, "loop": write_loop, "scan": write_scan, "sequence": write_sequence}.items():
    file = folder / f"{name}.onnx"
    write(file)
    inspected = run([MTC, "inspect", file, "--dim", f"batch={ROWS}", "--json"], folder)
    rows = {row["name"]: row for row in json.loads(inspected.stdout)["initializers"]}
    assert rows.keys() == WEIGHTS.keys() and all(row["role"] == "parameter" for row in rows.values()), rows
    assert "warning" not in inspected.stderr, inspected.stderr

    program = compile(file, folder, DATA, *FLAGS, name=f"{name}-program")
    history = losses(program.train(12))
    program.exported(f"{name}-trained", "--steps", 12, "--no-shuffle", "--save", folder / f"{name}-saved")
    trained = onnx.load(folder / f"{name}-trained.onnx")
    onnx.checker.check_model(trained)
    outputs = program.outputs("outputs", "--resume", folder / f"{name}-saved")
    (expected,) = ReferenceEvaluator(trained).run(None, {"x": DATA["x"]})
    np.testing.assert_allclose(outputs["logits"], expected, rtol=1e-4, atol=1e-5, err_msg=name)

    # Only the weights differ from the compiled file.
    original = onnx.load(file)
    before, after = weights_of(original.graph), weights_of(trained.graph)
    assert before.keys() == after.keys() == WEIGHTS.keys(), after.keys()
    assert all(np.abs(after[n] - before[n]).max() > 1e-3 for n in before), "a weight was not trained"
    for graph in (original.graph, trained.graph):
        del graph.initializer[:]
        for each in graph.node:
            for attribute in each.attribute:
                del attribute.g.initializer[:]
    assert original.graph == trained.graph
    results[name] = history, after

assert results["plain"][0][-1] < 0.5 * results["plain"][0][0], results["plain"][0]
for name, (history, weights) in results.items():
    assert history == results["plain"][0], (name, history)
    assert same_bits(weights, results["plain"][1]), name

# A branch selected by --bind, and a condition that depends on the data.
WEIGHTS["other"] = WEIGHTS["w"] + 1
branches = {key: subgraph(key, [node("MatMul", f"x {weight}", key)], [], [key], initializers([weight]))
            for key, weight in {"a": "w", "b": "other"}.items()}
nodes = [node("If", "flag", "h", then_branch=branches["a"], else_branch=branches["b"]),
         node("ReduceMean", "h", "r", axes=[1], keepdims=0), node("MatMul", "r head", "logits")]
graph = helper.make_graph(nodes, "g", [value("x", shape=["batch", STEPS, WIDTH]), value("flag", TensorProto.BOOL, [])],
                          [value("logits", shape=["batch", CLASSES])], initializers(["head"]))
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, folder / "bound.onnx")
for flag, weight in (("true", "w"), ("false", "other")):
    program = compile(folder / "bound.onnx", folder, DATA, *FLAGS, "--bind", f"flag={flag}", name=f"bound-{flag}")
    assert program.gradients("gradients").keys() == {weight, "head"}

# If the condition depends on the data, both branches are computed. The branch that is not taken contributes no gradient, even if its own
# gradient would be NaN: the logarithm of an element that is 0.
WEIGHTS["taken"] = random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 2
WEIGHTS["untaken"] = WEIGHTS["taken"] - WEIGHTS["taken"][:1]
plain = [node("MatMul", "x taken", "h"), node("Tanh", "h", "t"), node("ReduceMean", "t", "r", axes=[1], keepdims=0),
         node("MatMul", "r head", "logits")]
branches = {"a": subgraph("a", plain[:2], [], ["t"], initializers(["taken"])),
            "b": subgraph("b", [node("MatMul", "x untaken", "h2"), node("Mul", "h2 zeros", "z"), node("Log", "z", "l")],
                          [], ["l"], initializers(["untaken"]))}
peak = [node("ReduceMax", "x", "peak", keepdims=0), node("Greater", "peak half", "high")]
choice = [node("If", "high", "t", then_branch=branches["a"], else_branch=branches["b"])]
swapped = [node("Not", "high", "low"), node("If", "low", "t", then_branch=branches["b"], else_branch=branches["a"])]
constants = [numpy_helper.from_array(np.float32(0.5), "half")]
zeros = node("Constant", "", "zeros", value=numpy_helper.from_array(np.zeros(WIDTH, np.float32)))
save(folder / "tanh.onnx", plain, [], ["taken", "head"])
save(folder / "choice.onnx", [zeros, *peak, *choice, *plain[2:]], constants, ["head"])
save(folder / "swapped.onnx", [zeros, *peak, *swapped, *plain[2:]], constants, ["head"])
expected = None
for name in ("tanh", "choice", "swapped"):
    program = compile(folder / f"{name}.onnx", folder, DATA, *FLAGS, name=f"{name}-program")
    history, gradients = losses(program.train(12)), program.gradients(f"{name}-gradients")
    expected = expected or (history, gradients)
    np.testing.assert_allclose(history, expected[0], rtol=1e-5, err_msg=name)
    if name != "tanh":
        assert not gradients.pop("untaken").any(), name
    assert gradients.keys() == expected[1].keys(), gradients.keys()
    for weight, gradient in expected[1].items():
        np.testing.assert_allclose(gradients[weight], gradient, rtol=1e-4, atol=1e-6, err_msg=f"{name}: {weight}")
program.exported("swapped-trained", "--steps", 4, "--no-shuffle", "--save", folder / "swapped-saved")
trained = onnx.load(folder / "swapped-trained.onnx")
onnx.checker.check_model(trained)
outputs = program.outputs("outputs", "--resume", folder / "swapped-saved")
(expected,) = ReferenceEvaluator(trained).run(None, {"x": DATA["x"]})
np.testing.assert_allclose(outputs["logits"], expected, rtol=1e-4, atol=1e-5)

# A Loop ends as soon as the state is small, after at most as many iterations as there are steps.
body = subgraph("body", [node("MatMul", "h w", "m"), node("Tanh", "m", "h_next"), node("Abs", "h_next", "a"),
                         node("ReduceMax", "a", "top", keepdims=0), node("Greater", "top limit", "go_on")],
                [value("i", TensorProto.INT64, []), value("goes", TensorProto.BOOL, []), value("h")], ["go_on", "h_next"])
body.output[0].type.tensor_type.elem_type = TensorProto.BOOL
tail = [node("MatMul", "last head", "logits")]
first = [node("ReduceMean", "x", "first", axes=[1], keepdims=0)]
states = [np.mean(DATA["x"], axis=1)]
for _ in range(STEPS):
    states.append(np.tanh(states[-1] @ WEIGHTS["w"]))
tops = [np.abs(state).max() for state in states[1:]]
for count in range(1, STEPS + 1):  # The loop ends after `count` iterations.
    limit = (tops[count - 1] + min(tops[:count - 1], default=2)) / 2 if count < STEPS else 0.0
    if count < STEPS and limit <= tops[count - 1]:
        continue  # The state grows.
    constants = [*integers(steps=STEPS, go=True), numpy_helper.from_array(np.float32(limit), "limit")]
    save(folder / "until.onnx", [*first, node("Loop", "steps go first", "last", body=body), *tail], constants, ["w", "head"])
    unrolled, name = [*first], "first"
    for t in range(count):
        unrolled += [node("MatMul", f"{name} w", f"m{t}"), node("Tanh", f"m{t}", f"h{t}")]
        name = f"h{t}"
    save(folder / "unrolled.onnx", [*unrolled, node("MatMul", f"{name} head", "logits")], [], ["w", "head"])
    results = [compile(folder / f"{kind}.onnx", folder, DATA, *FLAGS, name=f"{kind}-{count}").gradients(f"{kind}-{count}")
               for kind in ("until", "unrolled")]
    for weight, expected in results[1].items():
        np.testing.assert_allclose(results[0][weight], expected, rtol=1e-4, atol=1e-6, err_msg=f"{count} iterations: {weight}")

# Branches with different types are rejected.
ragged = subgraph("ragged", [node("ReduceMean", "x", "b", axes=[1], keepdims=0)], [], ["b"])
nodes = [*peak, node("If", "high", "t", then_branch=ragged, else_branch=branches["a"]), *plain[2:]]
save(folder / "ragged.onnx", nodes, [numpy_helper.from_array(np.float32(0.5), "half")], ["head"])
refused = run([MTC, "compile", folder / "ragged.onnx", *FLAGS, "-o", "refused"], folder, code=1)
assert f"node 't': If version 17: result 0 is tensor<{ROWS}x{WIDTH}xf32> or tensor<{ROWS}x{STEPS}x{WIDTH}xf32>, expected " \
       "equal types because the condition depends on data" in refused.stderr, refused.stderr
assert "no output depends" not in refused.stderr, refused.stderr

# Two parameters share one initializer. The operand of the Loop is one of these parameters, whatever its body reads.
FX_NODE = "pkg.torch.onnx.fx_node"
body = subgraph("body", [node("Gather", "x i", "xi", axis=1), node("Add", "xi h", "s"), node("Add", "s b", "sb"),
                         node("MatMul", "sb w", "m"), node("Tanh", "m", "h_next"), node("Neg", "b", "b_next"),
                         node("Identity", "goes", "go_on")],
                [value("i", TensorProto.INT64, []), value("goes", TensorProto.BOOL, []), value("h"), value("b")],
                ["go_on", "h_next", "b_next"])
body.output[0].type.tensor_type.elem_type = TensorProto.BOOL
body.node[3].metadata_props.add(key=FX_NODE, value="%m : [target=torch.ops.aten.mm](args = (%sb, %p_w))")
nodes = [node("Gather", "x zero", "first", axis=1), node("Loop", "length go first bias", "last rest", body=body),
         node("Add", "last bias", "r"), node("MatMul", "r head", "logits")]
WEIGHTS["bias"] = np.zeros(WIDTH, np.float32)
save(folder / "merged.onnx", nodes, integers(zero=0, length=STEPS, go=True), ["w", "head", "bias"])
model = onnx.load(folder / "merged.onnx")
model.producer_name = "pytorch"
signature = "".join(f"p_{name}: PARAMETER target='{name}'\n" for name in ("w", "head", "bias", "offset"))
model.graph.metadata_props.add(key="pkg.torch.export.ExportedProgram.graph_signature", value=signature)
model.graph.node[2].metadata_props.add(key=FX_NODE,
                                       value="%r : [target=torch.ops.aten.add.Tensor](args = (%last, %p_bias))")
onnx.save(model, folder / "merged.onnx")
program = compile(folder / "merged.onnx", folder, DATA, *FLAGS, name="merged-program")
assert program.gradients("gradients").keys() == {"w", "head", "bias", "offset"}
program.exported("merged-trained", "--steps", 4, "--no-shuffle", "--save", folder / "merged-saved")
trained = onnx.load(folder / "merged-trained.onnx")
onnx.checker.check_model(trained)
weights = weights_of(trained.graph)
assert not same_bits({"": weights["bias"]}, {"": weights["offset"]})
outputs = program.outputs("outputs", "--resume", folder / "merged-saved")
(expected,) = ReferenceEvaluator(trained).run(None, {"x": DATA["x"]})
np.testing.assert_allclose(outputs["logits"], expected, rtol=1e-4, atol=1e-5)
assert [*trained.graph.node[1].input] == ["length", "go", "first", "offset"], trained.graph.node[1].input
assert trained.graph.node[1].attribute[0].g == body

# Optional outputs with control flow or sequences that are unknown at compile time are omitted, each with its own reason.
unknown = subgraph("unknown", [helper.make_node("Foo", ["last"], ["a"], domain="bar")], [], ["a"])
known = subgraph("known", [node("Relu", "last", "b")], [], ["b"])
row = subgraph("row", [node("ReduceMax", "last", "r", keepdims=0)], [], ["r"])
ragged = subgraph("ragged", [node("Split", "last sizes", "p q", axis=1), node("SequenceConstruct", "p q", "pq"),
                             node("ConcatFromSequence", "pq", "c", axis=0)], [], ["c"])
nodes = [node("Gather", "x zero", "last", axis=1), node("MatMul", "last head", "logits"),
         node("ReduceMax", "x", "peak", keepdims=0), node("Greater", "peak half", "high"),
         node("If", "high", "undecided", then_branch=known, else_branch=row),
         node("If", "go", "foreign", then_branch=unknown, else_branch=known),
         node("If", "go", "uneven", then_branch=ragged, else_branch=known),
         node("SplitToSequence", "last", "list", axis=0)]
constants = [*integers(zero=0, sizes=[1, WIDTH - 1], go=True), numpy_helper.from_array(np.float32(0.5), "half")]
save(folder / "optional.onnx", nodes[:2], constants, ["head"])
model = onnx.load(folder / "optional.onnx")
model.opset_import.append(helper.make_opsetid("bar", 1))
model.graph.node.extend(nodes[2:])
model.graph.output.extend([value("undecided"), value("foreign"), value("uneven")])
model.graph.output.add(name="list")
onnx.save(model, folder / "optional.onnx")
compiled = run([MTC, "compile", folder / "optional.onnx", *FLAGS, "--output", "logits", "-o", "optional"], folder)
for output, reason in {"undecided": "expected equal types because the condition depends on data", "foreign": "operator bar.Foo version 1 is unknown",
                       "uneven": "Concat", "list": "is a sequence, expected a tensor"}.items():
    assert f"the output '{output}' is omitted: " in compiled.stderr and reason in compiled.stderr, compiled.stderr
