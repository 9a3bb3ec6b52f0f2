# RUN: %python %s %t
"""Files of torch.onnx.export do not record requires_grad. If a graph contains its loss, a note lists its modules, because one of them may
be frozen in training."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

folder = own_folder()
rng = np.random.default_rng(0)


def said(name: str, *flags, prefix="", producer="pytorch", reduce=True, modules=("g", "d")) -> str:
    """Returns the messages for x -> module -> module, with the mean as the loss."""
    nodes, value, weights = [], "x", {}
    for module in modules:
        weight = f"{prefix}{module}.weight"
        weights[weight] = rng.standard_normal((4, 4)).astype(np.float32)
        nodes.append(helper.make_node("Gemm", [value, weight], [f"{module}.out"], name=f"/{module}/Gemm", transB=1))
        value = f"{module}.out"
    nodes.append(helper.make_node("ReduceMean", [value], ["y"], keepdims=0) if reduce else helper.make_node("Tanh", [value], ["y"]))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [] if reduce else [2, 4])],
        [numpy_helper.from_array(weight, key) for key, weight in weights.items()])  # fmt: skip
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name=producer), path)
    return run([MTC, "plan", path, *flags], folder).stderr


note = ("note: the file does not record requires_grad: the parameters of all modules are trained, 'g', 'd'. If one is frozen, such as "
        "a discriminator or a feature extractor, use --freeze 'd.*'; or export with mtc.export(module, ...)")  # fmt: skip
assert note in said("pair"), said("pair")
assert note in said("named", "--loss", "output")
assert "trained, 'gan.g', 'gan.d'. " in said("nested", prefix="gan.")
for other in (said("decided", "--freeze", "d.*"), said("meant", "--train", "*"), said("one", modules=("g",)),
              said("outside", "--loss", "mse", reduce=False), said("converted", producer="tf2onnx")):  # fmt: skip
    assert "requires_grad" not in other, other
