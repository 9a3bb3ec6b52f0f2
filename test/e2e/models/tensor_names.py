# RUN: %python %s %t
"""The files of a program contain the tensor names of its model, whatever they are, or the compilation fails with an error."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, own_folder, run
from safetensors.numpy import load_file

# The table has names that files can contain, and the errors for other names.
KEPT = [
    ("weight 1", 'quo"te\\'), ("größe/重み", "a\nb"), ("w", "w.moment1"), ("w.grad", "w.grad.grad"),
    ("mtc.weight", "loss"), ("=", "a=b"), ("main", "kernel"), ("arena", "labels"),
]  # fmt: skip
REFUSED = [
    (b"__metadata__", "'__metadata__' is the name of the metadata in safetensors files"),
    (b"a\0b", "'a\\x00b' contains a NUL byte"),
    (b"a\xff\xfe", "'a\\xff\\xfe' is not valid UTF-8"),
]
OWN = "forward", "micro_step", "update", "gradients", "evaluate", "kernel_0", "mtc.learning_rate", "mtc.step"
REFUSED += [(name.encode(), f"'{name}' is a reserved name in programs") for name in OWN]

FLAGS = ("--dim", "batch=4", "--loss", "mse", "--labels", "labels", "--optimizer", "adamw", "--lr", "1e-2")
folder = own_folder()
generator = np.random.default_rng(0)
x, labels = (generator.standard_normal((8, width)).astype(np.float32) for width in (4, 3))


def model(file: str, one: str, other: str, input="x", outputs=("y",)):
    """y = input · one · other."""
    weights = [generator.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3, 3))]
    graph = helper.make_graph(
        [helper.make_node("MatMul", [input, one], ["h"]), helper.make_node("MatMul", ["h", other], ["y"])],
        "graph",
        [helper.make_tensor_value_info(input, TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", 3]) for output in outputs],
        [numpy_helper.from_array(weight, name) for weight, name in zip(weights, (one, other))],
    )
    path = folder / f"{file}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


for number, names in enumerate(KEPT):
    path = model(f"kept{number}", *names)
    program = compile(path, folder, {"x": x, "labels": labels}, *FLAGS, name=f"kept{number}")
    saved = folder / f"saved{number}"
    whole = program.exported("whole", "--steps", 4, "--no-shuffle")
    program.run("--steps", 2, "--no-shuffle", "--save", saved)
    assert program.exported("resumed", "--steps", 4, "--resume", saved) == whole, names
    manifest = json.loads((saved / "manifest.json").read_text())
    tensors = load_file(saved / manifest["file"])
    assert set(names) < set(tensors) == set(manifest["checksums"]) and len(tensors) == 6, (names, list(tensors))
    assert set(program.gradients("gradients")) == set(names)
    initial, trained = (
        {i.name: numpy_helper.to_array(i) for i in onnx.load_from_string(data).graph.initializer}
        for data in (path.read_bytes(), whole)
    )
    assert set(trained) == set(names) and all((trained[n] != initial[n]).all() for n in names), names

for number, (name, why) in enumerate(REFUSED):
    path = model(f"refused{number}", "#" * len(name), "w")
    path.write_bytes(path.read_bytes().replace(b"#" * len(name), name))
    before = sorted(folder.iterdir())
    result = run([MTC, "compile", path, *FLAGS, "--init", "*:normal=0.02", "-o", folder / "refused"], folder, code=1)
    assert why in result.stderr and "rename it in the model" in result.stderr, result.stderr
    assert sorted(folder.iterdir()) == before

# An output that the graph lists twice, which ONNX permits, is one output.
twice = model("twice", "one", "other", outputs=("y", "y"))
outputs = compile(twice, folder, {"x": x, "labels": labels}, *FLAGS, name="twice").outputs("outputs")
assert outputs.keys() == {"y"} and outputs["y"].shape == (8, 3)

# Names of inputs and files may contain '='.
equals = model("equals", "one", "other", input="x=y")
outputs = compile(equals, folder, {"x=y": x, "labels": labels}, *FLAGS, name="equals").outputs("found")
assert outputs.keys() == {"y"}
