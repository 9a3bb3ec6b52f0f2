# RUN: %python %s %t
"""A program does not require data of an input that only omitted outputs use, whether compiled from the model or from the text of a stage."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import MTC, Program, own_folder, run

folder = own_folder()
rng = np.random.default_rng(0)
data = {"x": rng.standard_normal((8, 4)).astype(np.float32), "labels": rng.integers(0, 3, 8)}
weight = numpy_helper.from_array(rng.standard_normal((4, 3)).astype(np.float32), "w")
number = helper.make_tensor_value_info("extra", TensorProto.INT64, None)
# Outputs that cannot be computed: an unknown operator, a data-dependent shape, and a sequence.
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
