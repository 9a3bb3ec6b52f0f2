# RUN: %python %s %t
"""A program does not require data of an input that only omitted outputs use, whether compiled from the model or from the text of a stage.
Training and evaluation do not require data of an input that only outputs without a loss use."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import MTC, Program, own_folder, run

folder = own_folder()
rng = np.random.default_rng(0)
data = {"x": rng.standard_normal((8, 4)).astype(np.float32), "labels": rng.integers(0, 3, 8)}
weight = numpy_helper.from_array(rng.standard_normal((4, 3)).astype(np.float32), "w")
number = helper.make_tensor_value_info("extra", TensorProto.INT64, None)
# These outputs cannot be computed: one has an unknown operator, one a data-dependent shape, and one is a sequence.
EXTRAS = {
    "unknown": ([helper.make_node("Neg", ["z"], ["n"]), helper.make_node("Unknown", ["n"], ["extra"], domain="other")], number),
    "shape": ([helper.make_node("NonZero", ["z"], ["extra"])], number),
    "sequence": ([helper.make_node("SplitToSequence", ["z"], ["extra"], axis=0)],
                 helper.make_tensor_sequence_value_info("extra", TensorProto.FLOAT, None)),
}  # fmt: skip

for name, (nodes, extra) in EXTRAS.items():
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"]), *nodes], name,
                              [helper.make_tensor_value_info(each, TensorProto.FLOAT, ("batch", 4)) for each in "xz"],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("batch", 3)), extra], [weight])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("other", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / f"{name}.onnx")
    flags = ["--dim", "batch=4", "--output", "y", "--loss", "cross-entropy"]
    said = run([MTC, "compile", f"{name}.onnx", *flags, "-o", name], folder).stderr
    assert "the output 'extra' is omitted" in said and "the input 'z' is omitted" in said, said
    Program(folder / name, data).run("--steps", 2, "--quiet")
    run([MTC, "compile", f"{name}.onnx", *flags[:4], "--emit", "onnx", "-o", "text.mlir", "--force"], folder)
    run([MTC, "compile", "text.mlir", *flags[4:], "-o", name, "--force"], folder)
    Program(folder / name, data).run("--steps", 2, "--quiet")

# These outputs are computed, alone or in addition to an omitted output. --outputs computes them and needs the input.
OTHERS = {"computed": [], "beside": EXTRAS["shape"][0]}
for name, nodes in OTHERS.items():
    values = [helper.make_tensor_value_info("also", TensorProto.FLOAT, ("batch", 4)), *([number] if nodes else [])]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["z"], ["also"]), *nodes], name,
                              [helper.make_tensor_value_info(each, TensorProto.FLOAT, ("batch", 4)) for each in "zx"],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("batch", 3)), *values], [weight])  # fmt: skip
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / f"{name}.onnx")
    flags = ["--dim", "batch=4", "--output", "y", "--loss", "cross-entropy", "--check-memory"]
    run([MTC, "compile", f"{name}.onnx", *flags, "-o", name], folder)
    program = Program(folder / name, data)
    program.run("--steps", 2, "--validate", "x=x.npy", "--validate", "labels=labels.npy", "--quiet")
    program.run("--evaluate")
    usage = run([folder / name, "--help"], folder).stdout
    assert "--data x=FILE --data labels=FILE [FLAGS]" in usage and "z  f32 [rows, 4]  for --outputs" in usage, usage
    said = program.run("--outputs", "refused.safetensors", code=1).stderr
    assert "--data z=FILE is missing: f32 [rows, 4]" in said, said
    z = rng.standard_normal((8, 4)).astype(np.float32)
    found = Program(folder / name, {"x": data["x"], "z": z}).outputs(f"{name}-outputs")
    assert np.array_equal(found["also"], np.maximum(z, 0)), found
