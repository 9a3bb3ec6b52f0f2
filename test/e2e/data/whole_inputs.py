# RUN: %python %s %t
"""Inputs without a batch axis are read as a whole: the same value at each step, or one entry per step.

A graph network sums messages along edges; a mixing matrix and a scalar apply to all rows of a batch. The losses equal those of numpy, and
errors name the flag that resolves an ambiguous file.
"""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, losses, own_folder, read_metrics, run

NODES, EDGES, WIDTH, OUT, GRAPHS, RATE = 10, 30, 4, 3, 6, 0.05
folder = own_folder()
random = np.random.default_rng(0)
weight = random.normal(0, 1, (WIDTH, OUT)).astype(np.float32)
flags = ("--loss", "mse", "--optimizer", "sgd", "--lr", str(RATE))


def save(name, nodes, inputs, output, constants=()):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(n, t, shape) for n, t, shape in inputs],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
        [numpy_helper.from_array(weight, "weight"), *constants],
    )  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def graph_network(name, nodes, edges):
    """y[n] = the sum over edges (m, n) of x[m] · weight."""
    steps = [
        helper.make_node("Split", ["edges"], ["from", "to"], axis=0, num_outputs=2),
        helper.make_node("Squeeze", ["from", "first"], ["sender"]),
        helper.make_node("Transpose", ["to"], ["receiver"], perm=[1, 0]),
        helper.make_node("MatMul", ["nodes", "weight"], ["sent"]),
        helper.make_node("Gather", ["sent", "sender"], ["messages"], axis=0),
        helper.make_node("Mul", ["sent", "zero"], ["empty"]),
        helper.make_node("ScatterND", ["empty", "receiver", "messages"], ["y"], reduction="add"),
    ]
    constants = (numpy_helper.from_array(np.array([0]), "first"), numpy_helper.from_array(np.float32(0), "zero"))
    inputs = [("nodes", TensorProto.FLOAT, [nodes, WIDTH]), ("edges", TensorProto.INT64, [2, edges])]
    return save(name, steps, inputs, [nodes, OUT], constants)


x = random.normal(0, 1, (GRAPHS, NODES, WIDTH)).astype(np.float32)
edges = random.integers(0, NODES, (GRAPHS, 2, EDGES))
labels = random.normal(0, 1, (GRAPHS, NODES, OUT)).astype(np.float32)


def summed(graph, links):
    """Returns the sum of the messages to each node: [nodes, width]."""
    result = np.zeros((NODES, WIDTH))
    np.add.at(result, links[1], graph[links[0]])
    return result


def expected(features, targets):
    """Returns the losses of training with one pair of [rows, width] and [rows, out] per step."""
    w, found = weight.astype(np.float64), []
    for f, t in zip(features, targets, strict=True):
        error = f @ w - t
        found.append(np.mean(error**2))
        w = w - RATE * 2 * f.T @ error / error.size
    return found


def check(found, features, targets):
    wanted = expected(features, targets)
    assert np.allclose(found, wanted, rtol=1e-4), (found, wanted)


def data(name, program, **arrays):
    """Returns the same program with other data files."""
    other = Program(program.path, {})
    for key, array in arrays.items():
        file = folder / f"{name}.{key}.npy"
        np.save(file, array)
        other.data_flags += ["--data", f"{key}={file}"]
    return other


def refused(command, *words):
    result = run(command, folder, code=1)
    for word in words:
        assert word in result.stderr, f"{command}\nno '{word}' in\n{result.stderr}"


# All steps read one graph, whose nodes keep their order even with shuffling. In the second run, each step reads a graph of its own.
for name, sizes in {"fixed": (NODES, EDGES), "symbolic": ("num_nodes", "num_edges")}.items():
    model = graph_network(name, *sizes)
    dims = () if name == "fixed" else ("--dim", f"num_nodes={NODES}", "--dim", f"num_edges={EDGES}")
    compiled = run([MTC, "compile", model, *dims, *flags, "-o", folder / name], folder)
    said = compiled.stderr
    assert "sgd, inputs passed whole, in " in compiled.stdout and "batch" not in compiled.stdout, compiled.stdout
    assert "passed whole" in said and "--batch-input" in said and "'edges' [2, 30]" in said, said
    program = Program(folder / name, {})
    one = data(f"{name}-one", program, nodes=x[0], edges=edges[0], labels=labels[0])
    features = [summed(x[0], edges[0])] * 5
    one.run("--steps", 5, "--shuffle", "--metrics", "one.jsonl")
    check(losses(read_metrics(folder / "one.jsonl")), features, [labels[0]] * 5)
    y = one.outputs("one")["y"]
    assert y.shape == (NODES, OUT) and np.allclose(y, features[0] @ weight, atol=1e-4)

    many = data(f"{name}-many", program, nodes=x, edges=edges, labels=labels)
    order = [k % GRAPHS for k in range(8)]
    check(losses(many.train(8)), [summed(x[k], edges[k]) for k in order], labels[order])
    y = many.outputs("many")["y"]
    assert y.shape == (GRAPHS, NODES, OUT), y.shape
    each = np.array([summed(*pair) @ weight for pair in zip(x, edges, strict=True)])
    assert np.allclose(y, each, atol=1e-4)
    many.run("--evaluate", "--metrics", "evaluated.jsonl")
    (evaluated,) = read_metrics(folder / "evaluated.jsonl")
    assert evaluated["samples"] == GRAPHS and np.isclose(evaluated["loss"], np.mean((each - labels) ** 2), rtol=1e-4)
    # The edges are the same for all steps, and the nodes differ.
    mixed = data(f"{name}-mixed", program, nodes=x, edges=edges[0], labels=labels)
    check(losses(mixed.train(8)), [summed(x[k], edges[0]) for k in order], labels[order])

whole = many.exported("whole", "--steps", 9, "--seed", 3)
many.run("--steps", 4, "--seed", 3, "--save", "saved")
assert many.exported("resumed", "--steps", 9, "--resume", "saved") == whole

# Files with ambiguous or invalid shapes are rejected.
rows = x.reshape(-1, WIDTH)
sliced = data("sliced", program, nodes=rows, edges=edges[0], labels=labels.reshape(-1, OUT))
refused(sliced.command("--steps", 1), "[60, 4]", "[10, 4] or [entries, 10, 4]", "--batch-input nodes", "--batch-input labels")
short = data("short", program, nodes=x, edges=edges[:4], labels=labels)
refused(short.command("--steps", 1), "6 entries", "has 4")

# With --batch-input nodes, each step reads 10 of the 60 nodes in the file, and all edges.
compiled = compile(graph_network("chosen", NODES, EDGES), folder, {}, *flags, "--batch-input", "nodes", name="chosen")
sliced = data("chosen", compiled, nodes=rows, edges=edges[0], labels=labels.reshape(-1, OUT))
check(losses(sliced.train(6)), [summed(graph, edges[0]) for graph in x], labels)
refused(data("both", compiled, nodes=rows, edges=edges, labels=labels.reshape(-1, OUT)).command(), "one entry per step")
refused([MTC, "compile", model, *dims, *flags, "--batch-input", "nodez"], "--batch-input nodez", "'nodes' [10, 4]")
refused([MTC, "compile", model, *dims, *flags, "--batch-input", "nodes", "--batch-input", "edges"], "different batch sizes")

# A matrix and a scalar that apply to all rows of a batch, named by a flag.
steps = [
    helper.make_node("MatMul", ["x", "mix"], ["mixed"]),
    helper.make_node("Mul", ["mixed", "scale"], ["scaled"]),
    helper.make_node("MatMul", ["scaled", "weight"], ["y"]),
]
inputs = [
    ("x", TensorProto.FLOAT, ["batch", WIDTH]), ("mix", TensorProto.FLOAT, [WIDTH, WIDTH]), ("scale", TensorProto.FLOAT, []),
]  # fmt: skip
model = save("batched", steps, inputs, ["batch", OUT])
said = run([MTC, "compile", model, "--dim", "batch=8", *flags, "-o", folder / "batched"], folder).stderr
assert "batch size 8 for 'x' [8, 4], 'labels' [8, 3]; 'mix' [4, 4] passed whole" in said, said
mix, scale = random.normal(0, 1, (WIDTH, WIDTH)).astype(np.float32), np.float32(0.5)
program = data("batched", Program(folder / "batched", {}), x=rows, mix=mix, scale=scale, labels=labels.reshape(-1, OUT))
order = (np.arange(9 * 8) % len(rows)).reshape(9, 8)
check(losses(program.train(9)), (rows @ mix * scale)[order], labels.reshape(-1, OUT)[order])
described = {i["name"]: i["batched"] for i in json.loads(run([MTC, "inspect", model, "--json"], folder).stdout)["inputs"]}
assert described == {"x": True, "mix": False, "scale": False}, described

# A file that was exported with batch 1 is trained sample by sample, without a message.
model = save("single", [helper.make_node("MatMul", ["x", "weight"], ["y"])], [("x", TensorProto.FLOAT, [1, WIDTH])], [1, OUT])
said = run([MTC, "compile", model, *flags, "-o", folder / "single"], folder).stderr
assert "whole" not in said, said
program = data("single", Program(folder / "single", {}), x=rows, labels=labels.reshape(-1, OUT))
check(losses(program.train(20)), rows[:20, None], labels.reshape(-1, 1, OUT)[:20])
