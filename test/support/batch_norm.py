"""A convolution with batch normalization in both forms of ONNX, for test/e2e/training/modes.py and, in PyTorch, record_batch_norm.py."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH, ROWS, STEPS, RATE, MOMENTUM, EPSILON = 4, 12, 9, 0.1, 0.1, 1e-3  # The momentum is PyTorch's.


def weights() -> dict[str, np.ndarray]:
    """Returns weights by their names in the module's state_dict."""
    rng = np.random.default_rng(0)
    normal = lambda *shape: rng.normal(0, 0.5, shape).astype(np.float32)  # noqa: E731
    return {
        "conv.weight": normal(4, 2, 3, 3), "conv.bias": normal(4), "norm.weight": 1 + normal(4), "norm.bias": normal(4),
        "norm.running_mean": normal(4), "norm.running_var": np.abs(normal(4)) + 0.5,
        "fc.weight": normal(3, 4), "fc.bias": normal(3),
    }  # fmt: skip


def data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {"x": rng.normal(0.5, 2, (ROWS, 2, 3, 3)).astype(np.float32), "labels": rng.integers(0, 3, ROWS)}


def model(trains: bool, opset: int = 17, dropout: float | None = None) -> onnx.ModelProto:
    """Returns the module in training form or in inference form. Training form includes a dropout before the last layer."""
    form = {"training_mode": int(trains)} if opset >= 14 else {}
    results = ["mean", "variance"] + ["saved_mean", "saved_variance"] * (opset < 14) if trains else []
    statistics = ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"]
    hidden = "pooled" if dropout is None else "dropped"
    initializers = [numpy_helper.from_array(array, name) for name, array in weights().items()]
    nodes = [
        helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["convolved"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["convolved", *statistics], ["normal", *results],
                         epsilon=EPSILON, momentum=1 - MOMENTUM, **form),
        helper.make_node("Relu", ["normal"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["mean_of_pixels"]),
        helper.make_node("Flatten", ["mean_of_pixels"], ["pooled"]),
    ]  # fmt: skip
    if dropout is not None and opset < 12:
        nodes.append(helper.make_node("Dropout", ["pooled"], ["dropped"], ratio=dropout))
    elif dropout is not None:
        initializers += [numpy_helper.from_array(np.float32(dropout), "ratio"), numpy_helper.from_array(np.bool_(trains), "training")]
        nodes.append(helper.make_node("Dropout", ["pooled", "ratio", "training"], ["dropped"]))
    nodes.append(helper.make_node("Gemm", [hidden, "fc.weight", "fc.bias"], ["logits"], transB=1))
    graph = helper.make_graph(nodes, "batch_norm", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2, 3, 3])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])], initializers)  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
