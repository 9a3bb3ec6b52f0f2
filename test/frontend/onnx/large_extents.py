# RUN: %python %s %t
"""For axes of 2^31 to 2^63 - 1 elements, the result of every analysis is a plan or an error message. Counts of elements, iterations, bytes
and operations do not overflow, and no analysis visits each element.

With `all` after the folder, each operator is tried with each extent; otherwise each operator with some of them.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import MTC, own_folder

EXTENTS = [2**31, 2**32, 2**32 + 8, 2**40, 2**62, 2**63 - 1]
TIMEOUT = 60
INTERNAL = re.compile(r"'\w+\.[\w.]+' op |current operation")

folder = own_folder()
n3, third = ("n", 3), helper.make_node
# Each case has the shape of x, constants, and the nodes from x to y.
CASES = {
    "MatMul": (n3, {"w": np.ones((3, 2), "f")}, [third("MatMul", ["x", "w"], ["y"])]),
    "MatMul with itself": (n3, {}, [third("Transpose", ["x"], ["t"], perm=[1, 0]), third("MatMul", ["t", "x"], ["y"])]),
    "outer product": (n3, {}, [third("Transpose", ["x"], ["t"], perm=[1, 0]), third("MatMul", ["x", "t"], ["y"])]),
    "Einsum": (n3, {}, [third("Einsum", ["x", "x"], ["y"], equation="ij,kj->ik")]),
    "Gemm": (n3, {"w": np.ones((2, 3), "f"), "c": np.ones(2, "f")}, [third("Gemm", ["x", "w", "c"], ["y"], transB=1)]),
    "Conv": ((1, 3, "n"), {"w": np.ones((2, 3, 5), "f")}, [third("Conv", ["x", "w"], ["y"], pads=[2, 2])]),
    "Conv of a batch": (("n", 3, 8), {"w": np.ones((2, 3, 3), "f")}, [third("Conv", ["x", "w"], ["y"], strides=[2])]),
    "Conv, depthwise": ((1, 3, "n"), {"w": np.ones((3, 1, 5), "f")}, [third("Conv", ["x", "w"], ["y"], group=3)]),
    "ConvTranspose": ((1, 3, "n"), {"w": np.ones((3, 2, 3), "f")}, [third("ConvTranspose", ["x", "w"], ["y"], strides=[2])]),
    "MaxPool": ((1, 3, "n"), {}, [third("MaxPool", ["x"], ["y"], kernel_shape=[3], strides=[2])]),
    "AveragePool": ((1, 3, "n"), {}, [third("AveragePool", ["x"], ["y"], kernel_shape=[3], count_include_pad=1, pads=[1, 1])]),
    "CumSum": (("n",), {"a": np.array(0)}, [third("CumSum", ["x", "a"], ["y"])]),
    "Softmax": (n3, {}, [third("Softmax", ["x"], ["y"], axis=0)]),
    "LayerNormalization": ((3, "n"), {"s": np.ones(1, "f")}, [third("LayerNormalization", ["x", "s"], ["y"], axis=1)]),
    "BatchNormalization": (n3, {k: np.ones(3, "f") for k in "sbmv"}, [third("BatchNormalization", ["x", *"sbmv"], ["y"])]),
    "ReduceSum": (n3, {"a": np.array([0])}, [third("ReduceSum", ["x", "a"], ["y"])]),
    "ReduceMax": (n3, {"a": np.array([0])}, [third("ReduceMax", ["x", "a"], ["y"])]),
    "TopK": (("n",), {"k": np.array([2])}, [third("TopK", ["x", "k"], ["y", ""])]),
    "Pad": (("n",), {"p": np.array([7, 7])}, [third("Pad", ["x", "p"], ["y"])]),
    "Pad, reflect": (("n",), {"p": np.array([7, 7])}, [third("Pad", ["x", "p"], ["y"], mode="reflect")]),
    "Concat": (n3, {}, [third("Concat", ["x", "x", "x"], ["y"], axis=0)]),
    "Tile": (n3, {"r": np.array([3, 2**31])}, [third("Tile", ["x", "r"], ["y"])]),
    "Expand": (("n", 1), {"r": np.array([1, 2**31])}, [third("Expand", ["x", "r"], ["y"])]),
    "Slice": (n3, {"s": np.array([1]), "e": np.array([2**63 - 1]), "a": np.array([0]), "t": np.array([2])},
              [third("Slice", ["x", "s", "e", "a", "t"], ["y"])]),
    "Reshape": (n3, {"r": np.array([3, -1])}, [third("Reshape", ["x", "r"], ["y"])]),
    "Gather": (n3, {"i": np.array([0, 5])}, [third("Gather", ["x", "i"], ["y"])]),
    "ScatterND": (("n",), {"i": np.array([[1], [3]]), "u": np.ones(2, "f")}, [third("ScatterND", ["x", "i", "u"], ["y"], reduction="add")]),
    "Resize": ((1, 1, "n"), {"s": np.array([1, 1, 2], "f")}, [third("Resize", ["x", "", "s"], ["y"], mode="linear")]),
    "DepthToSpace": ((1, 4, "n", 2), {}, [third("DepthToSpace", ["x"], ["y"], blocksize=2)]),
    "Trilu": (("n", "n"), {}, [third("Trilu", ["x"], ["y"])]),
    "EyeLike": (("n", 4), {}, [third("EyeLike", ["x"], ["e"]), third("Mul", ["x", "e"], ["y"])]),
    "Range": (("n",), {}, [third("Shape", ["x"], ["s"]), third("Squeeze", ["s"], ["l"]), third("Range", ["zero", "l", "one"], ["r"]),
                           third("Cast", ["r"], ["c"], to=1), third("Mul", ["x", "c"], ["y"])]),
    "LSTM": (("n", 2, 3), {"w": np.ones((1, 16, 3), "f"), "r": np.ones((1, 16, 4), "f")}, [third("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)]),
    "Attention": ((1, 1, "n", 4), {}, [third("Attention", ["x", "x", "x"], ["y"], is_causal=1)]),
    "DFT": ((1, "n", 1), {}, [third("DFT", ["x"], ["y"])]),
    "Split": (n3, {}, [third("Split", ["x"], ["a", "b"], axis=0, num_outputs=2), third("ReduceSum", ["a"], ["y"])]),
    "Where": (n3, {}, [third("Greater", ["x", "zerof"], ["g"]), third("Where", ["g", "x", "zerof"], ["y"])]),
    "GridSample": ((1, 1, "n", 2), {"g": np.ones((1, 2, 2, 2), "f")}, [third("GridSample", ["x", "g"], ["y"])]),
    "OneHot": (n3, {"d": np.array(5), "v": np.array([0, 1], "f")}, [third("Cast", ["x"], ["c"], to=7), third("OneHot", ["c", "d", "v"], ["y"])]),
}  # fmt: skip


def write(name: str) -> str:
    """Writes the model of a case: the loss is the sum of y and of a parameter that scales x."""
    shape, constants, nodes = CASES[name]
    constants = constants | {"zero": np.array(0), "one": np.array(1), "zerof": np.float32(0), "p": np.float32(1)} | constants
    constants["scale"] = np.float32(1)
    nodes = [third("Mul", ["data", "scale"], ["x"], "scale"), *nodes,
             third("ReduceSum", ["y"], ["loss"], "total", keepdims=0)]  # fmt: skip
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("data", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
                              [numpy_helper.from_array(np.asarray(value), key) for key, value in constants.items()])  # fmt: skip
    file = re.sub(r"\W", "_", name) + ".onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), folder / file)
    return file


def attempt(case: tuple[str, int]) -> str:
    """Returns an error in the plan of a case with an extent, or ""."""
    name, extent = case
    words = [MTC, "plan", files[name], "--dim", f"n={extent}", "--loss", "output", "--train", "scale", "--tune", "off", "--quiet"]
    try:
        result = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"{name}, {extent}: no result in {TIMEOUT} s"
    counts[result.returncode] = counts.get(result.returncode, 0) + 1
    said = "mtc: error: " in result.stderr
    numbers = [int(text) for text in re.findall(r"-?\d+", result.stdout)]
    if result.returncode not in (0, 1) or bool(result.returncode) != said or INTERNAL.search(result.stderr):
        return f"{name}, {extent}: ends with {result.returncode}: {result.stderr[-400:]}"
    if any(number < 0 for number in numbers) or " -" in result.stdout.split("Compile with")[0]:
        return f"{name}, {extent}: a negative number in {result.stdout}"
    return ""


counts, files = {}, {name: write(name) for name in CASES}
every = sys.argv[2:] == ["all"]
cases = [(name, extent) for i, name in enumerate(CASES) for j, extent in enumerate(EXTENTS) if every or (i + j) % 3 == 0]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    failures = [text for text in pool.map(attempt, cases) if text]
print(counts, *failures, sep="\n")
assert counts.get(0, 0) >= len(cases) // 8 and counts.get(1, 0) >= len(cases) // 4, counts
sys.exit(bool(failures))
