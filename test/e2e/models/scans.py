# RUN: %python %s %t
"""Loops of more than --unroll iterations are compiled once: a gated cell as a Scan in both directions and as a Loop, with captured weights,
stacked outputs and a final state. Losses and gradients equal those of the unrolled loop, gradients also central differences, and the arena
has the planned size. The size of the program does not depend on the number of iterations."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, losses, own_folder, run

LONG = 20


class Model:
    """h = (1 - z) h + z c with z = logistic(x Wz + h Uz + b), c = tanh(x Wc + h Uc). The logits are (the mean of h v over the steps, plus
    the last h) times the head."""

    def __init__(self, rows: int, steps: int, width: int, hidden: int, kind=np.float64, reverse=False, loop=False):
        self.rows, self.steps, self.width, self.hidden = rows, steps, width, hidden
        self.kind, self.reverse, self.loop = kind, reverse, loop
        random = np.random.default_rng(0)

        def normal(*shape):
            return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(kind)

        self.weights = {
            "Wz": normal(width, hidden), "Uz": normal(hidden, hidden), "b": normal(hidden), "Wc": normal(width, hidden),
            "Uc": normal(hidden, hidden), "v": normal(hidden), "head": normal(hidden, 3),
        }  # fmt: skip
        self.data = {"x": normal(rows, steps, width) * rows, "labels": random.integers(0, 3, rows)}

    def write(self, path):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.kind))

        def node(op, inputs, outputs, **attributes):
            return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)

        def value(name, shape=None, type=element):
            return helper.make_tensor_value_info(name, type, shape)

        cell = [
            node("MatMul", "xt Wz", "xz"), node("MatMul", "h Uz", "hz"), node("Add", "xz hz", "sz"), node("Add", "sz b", "bz"),
            node("Sigmoid", "bz", "z"), node("MatMul", "xt Wc", "xc"), node("MatMul", "h Uc", "hc"), node("Add", "xc hc", "sc"),
            node("Tanh", "sc", "c"), node("Sub", "c h", "d"), node("Mul", "z d", "zd"), node("Add", "h zd", "next"),
            node("Mul", "next v", "y"),
        ]  # fmt: skip
        constants = {"zero": np.zeros((self.rows, self.hidden), self.kind), "n": np.array(self.steps), "go": np.array(True),
                     "last": np.array(self.steps - 1)}  # fmt: skip
        if self.loop:
            index = [node("Sub", "last i", "t")] if self.reverse else [node("Identity", "i", "t")]
            index = index if self.reverse else []
            body = helper.make_graph(
                [*index, node("Gather", "x t" if self.reverse else "x i", "xt", axis=1), *cell, node("Identity", "goes", "on")], "body",
                [value("i", [], TensorProto.INT64), value("goes", [], TensorProto.BOOL), value("h")],
                [value("on", [], TensorProto.BOOL), value("next"), value("y")])  # fmt: skip
            nodes = [node("Loop", "n go zero", "final ys", body=body)]
            axis = 0
        else:
            body = helper.make_graph(cell, "body", [value("h"), value("xt")], [value("next"), value("y")])
            direction = [int(self.reverse)]
            nodes = [node("Scan", "zero x", "final ys", body=body, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1],
                          scan_input_directions=direction, scan_output_directions=direction)]  # fmt: skip
            axis = 1
        nodes += [node("ReduceMean", "ys", "mean", axes=[axis], keepdims=0), node("Add", "mean final", "sum"),
                  node("MatMul", "sum head", "logits")]  # fmt: skip
        graph = helper.make_graph(
            nodes, "g", [value("x", [self.rows, self.steps, self.width])], [value("logits", [self.rows, 3])],
            [numpy_helper.from_array(a, name) for name, a in {**self.weights, **constants}.items()])  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def loss(self, weights) -> float:
        h = np.zeros((self.rows, self.hidden))
        mean = np.zeros_like(h)
        for t in reversed(range(self.steps)) if self.reverse else range(self.steps):
            x = self.data["x"][:, t]
            z = 1 / (1 + np.exp(-(x @ weights["Wz"] + h @ weights["Uz"] + weights["b"])))
            h = h + z * (np.tanh(x @ weights["Wc"] + h @ weights["Uc"]) - h)
            mean += h * weights["v"] / self.steps
        logits = (mean + h) @ weights["head"]
        logits = logits - logits.max(axis=1, keepdims=True)
        return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(self.rows), self.data["labels"]]))

    def difference(self, name: str, index, step=1e-5) -> float:
        def at(change):
            weights = {key: a.astype(np.float64) for key, a in self.weights.items()}
            weights[name][index] += change
            return self.loss(weights)

        return (at(step) - at(-step)) / (2 * step)


folder = own_folder()
FLAGS = ["--loss", "cross-entropy", "--optimizer", "sgd", "--lr", 0.1]
KEPT = [*FLAGS, "--unroll", 16]


def check_memory(program: Program, planned: int):
    report = folder / "memory.json"
    program.run("--steps", 1, "--memory-report", report)
    memory = json.loads(report.read_text())
    assert planned == memory["planned_bytes"] == memory["arena_bytes"], (planned, memory)


def check(name: str, model: Model):
    file = folder / f"{name}.onnx"
    model.write(file)
    text = run([MTC, "compile", file, *KEPT, "--emit=training", "-o", "-"], folder).stdout
    assert text.count("mtc.scan @") == 4, text  # Forward, its gradient, evaluation and outputs.
    programs = {}
    for form, flags in {"kept": KEPT, "unrolled": [*FLAGS, "--unroll", 4 * LONG], "checked": [*KEPT, "--check-memory"]}.items():
        programs[form] = compile(file, folder, model.data, *flags, name=f"{name}-{form}")
    kept, unrolled = programs["kept"], programs["unrolled"]
    planned = run([MTC, "plan", file, *KEPT, "--json"], folder).stdout
    check_memory(kept, json.loads(planned)["peak_bytes"])

    exact = {"rtol": 1e-9, "atol": 1e-12} if model.kind == np.float64 else {"rtol": 2e-4, "atol": 1e-6}
    found, expected = kept.gradients(f"{name}-gradients"), unrolled.gradients(f"{name}-unrolled-gradients")
    assert found.keys() == expected.keys(), (found.keys(), expected.keys())
    for key in found:
        np.testing.assert_allclose(found[key], expected[key], err_msg=f"{name} {key}", **exact)
    if model.kind == np.float64:
        for weight in model.weights:
            key = next(key for key in found if key.split(".")[0] == weight)
            for index in [tuple(0 for _ in found[key].shape), tuple(extent - 1 for extent in found[key].shape)]:
                np.testing.assert_allclose(found[key][index], model.difference(weight, index), rtol=1e-6, atol=1e-9,
                                           err_msg=f"{name} {key} {index}")  # fmt: skip
    np.testing.assert_allclose(losses(kept.train(5)), losses(unrolled.train(5)), err_msg=name, **exact)
    np.testing.assert_allclose(losses(programs["checked"].train(2)), losses(kept.train(2)), rtol=0, err_msg=name)
    outputs = [each.outputs(f"{name}-outputs")["logits"] for each in (kept, unrolled)]
    np.testing.assert_allclose(*outputs, err_msg=name, **exact)


def check_elsewhere(model: Model):
    """For a device, the tables contain the operations of all iterations. With --precision bf16, the iterations compute in f32."""
    file = folder / "elsewhere.onnx"
    model.write(file)
    expected = losses(compile(file, folder, model.data, *KEPT, name="on-cpu").train(3))
    emulated = compile(file, folder, model.data, *KEPT, "--target", "cuda", "--emulate", name="emulated")
    np.testing.assert_allclose(losses(emulated.train(3)), expected, rtol=1e-5)
    remarks = folder / "remarks.yaml"
    narrow = compile(file, folder, model.data, *KEPT, "--precision", "bf16", "--remarks", remarks, name="narrow")
    assert "the iterations of the loop compute in f32" in remarks.read_text()
    np.testing.assert_allclose(losses(narrow.train(3)), expected, rtol=1e-2)


def check_profile(model: Model):
    """Each iteration runs the kernels of the body."""
    file = folder / "profiled.onnx"
    model.write(file)
    program = compile(file, folder, model.data, *KEPT, name="profiled")
    report = folder / "profile.json"
    program.run("--steps", 2, f"--profile-summary={report}")
    calls = [row["calls"] for row in json.loads(report.read_text())["rows"]]
    assert model.steps in calls and 2 * model.steps in calls, calls  # Calls of one kernel, and of a kernel that runs twice.


def check_optimizer(model: Model):
    """Matrices in the body of a loop count as hidden matrices, too."""
    file = folder / "muon.onnx"
    model.write(file)
    flags = ["--loss", "cross-entropy", "--optimizer", "muon"]
    programs = [compile(file, folder, model.data, *flags, "--unroll", n, name=f"muon{n}") for n in (16, 4 * LONG)]
    np.testing.assert_allclose(*(losses(program.train(4)) for program in programs), rtol=1e-5)


def check_frozen(model: Model):
    """Compressed matrices are operands of contractions, for which the loop is unrolled."""
    file = folder / "frozen.onnx"
    model.write(file)
    programs = [compile(file, folder, model.data, *FLAGS, "--freeze", "Wz", "--frozen-bits", 4, "--unroll", n, name=f"frozen{n}")
                for n in (16, 4 * LONG)]  # fmt: skip
    assert losses(programs[0].train(3)) == losses(programs[1].train(3))


def check_budget(model: Model):
    """With this budget, an incorrect search would recompute a state from copies that depend on it."""
    file = folder / "budget.onnx"
    model.write(file)
    flags = ["--loss", "cross-entropy", "--unroll", model.steps]
    planned = json.loads(run([MTC, "plan", file, *flags, "--memory", 180000, "--json"], folder).stdout)["peak_bytes"]
    assert planned <= 180000, planned
    programs = [compile(file, folder, model.data, *flags, *more, name=f"budget{len(more)}") for more in ((), ("--memory", 180000))]
    assert losses(programs[0].train(3)) == losses(programs[1].train(3))


check("scan", Model(3, LONG, 2, 5))
check("reversed", Model(3, LONG + 1, 2, 5, reverse=True))
check("loop", Model(3, LONG, 2, 5, loop=True))
check("reversed-loop", Model(2, LONG, 3, 4, loop=True, reverse=True))
check("aligned", Model(4, LONG, 16, 32, np.float32))
check_elsewhere(Model(3, LONG, 2, 5, np.float32, loop=True))
check_profile(Model(3, LONG, 2, 5, np.float32))
check_optimizer(Model(3, LONG, 8, 8, np.float32))
check_frozen(Model(3, LONG, 64, 64, np.float32))
check_budget(Model(4, 64, 16, 32, np.float32))

# The programs of loops with different trip counts differ only in extents.
sizes = {}
for steps in (64, 4096):
    model = Model(2, steps, 3, 5, np.float32)
    model.write(folder / f"steps{steps}.onnx")
    program = compile(folder / f"steps{steps}.onnx", folder, model.data, *KEPT, name=f"steps{steps}")
    sizes[steps] = program.path.stat().st_size
    history = losses(program.train(3))
    assert history[2] < history[0], history
assert abs(sizes[4096] - sizes[64]) < 4096, sizes
