# RUN: %python %s %t
"""In files without a list of parameters, the use, elements, name and origin of an initializer indicate whether it is a constant. Each case
is a constant that real exporters write, or a parameter that resembles one."""

import json
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

folder = own_folder()
rng = np.random.default_rng(0)
f32 = np.float32


def inspect(name: str, nodes: list, initializers: dict, producer="tf2onnx", shape=("batch", 4, 8, 8)) -> dict:
    """Writes a file with input x, output y and these nodes, and returns the row of each initializer."""
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), key) for key, value in initializers.items()])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name=producer)
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    dims = ["--dim", "batch=2"] if "batch" in shape else []
    said = run([MTC, "inspect", path, "--json", *dims], folder)
    return {row["name"]: row for row in json.loads(said.stdout)["initializers"]}


def node(op, *inputs, out, **attributes):
    return helper.make_node(op, list(inputs), [out], **attributes)


def check(name, rows, **expected):
    """Compares roles; `constant?` and `parameter?` are uncertain."""
    for key, role in expected.items():
        row = rows[key.replace("__", ".")]
        found = row["role"] + ("?" if row.get("doubtful") else "")
        assert found == role, f"{name}: {key} is {found}, expected {role}: {row['reason']}"


def normal(*shape):
    return rng.standard_normal(shape).astype(f32)


# The constants are operands without a gradient, and tables that are outputs.
check("settings", inspect("settings", [
    node("Conv", "x", "w", out="h", pads=[1] * 4), node("Resize", "h", "roi", "scales", out="u"),
    node("Greater", "u", "threshold", out="g"), node("Cast", "g", out="c", to=TensorProto.FLOAT), node("Mul", "u", "c", out="y")],
    {"w": normal(4, 4, 3, 3), "roi": np.zeros(0, f32), "scales": f32([1, 1, 2, 2]), "threshold": normal(1, 4, 1, 1)}),
    w="parameter", roi="constant", scales="constant", threshold="constant")  # fmt: skip
check("upsample", inspect("upsample", [node("Resize", "x", "", "val_0", out="h"), node("Conv", "h", "w", out="y")],
                          {"val_0": f32([1, 1, 2, 2]), "w": normal(2, 4, 1, 1)}, producer="pytorch"), val_0="constant", w="parameter")  # fmt: skip

# The normalization of an image, and literals of shape [1], are constants. Biases, slopes and other numbers of shape [1] are parameters.
image = [
    node("Mul", "x", "inverse", out="scaled"), node("Sub", "scaled", "mean", out="c"), node("Div", "c", "std", out="n"),
    node("Conv", "n", "w", out="h"), node("Pow", "h", "two", out="p"), node("ReduceMean", "p", out="v", axes=[1]),
    node("Add", "v", "eps", out="ve"), node("Sqrt", "ve", out="d"), node("Div", "h", "d", out="l"), node("PRelu", "l", "slope", out="a"),
    node("Mul", "a", "gelu", out="e"), node("Conv", "e", "head", out="o"), node("Add", "o", "bias", out="q"),
    node("Mul", "q", "learned", out="y")]  # fmt: skip
check("image", inspect("image", image, {
    "inverse": f32([1 / 255]), "mean": f32([0.485, 0.456, 0.406, 0.4]).reshape(1, 4, 1, 1), "std": f32([0.229] * 4).reshape(1, 4, 1, 1),
    "w": normal(4, 4, 3, 3), "two": f32([2]), "eps": np.full((1, 1, 1, 1), 1e-5, f32), "slope": np.full((4, 1, 1), 0.25, f32),
    "gelu": f32([math.sqrt(2 / math.pi)]), "head": normal(1, 4, 1, 1), "bias": f32([0]), "learned": f32([0.7392513])}),
    inverse="constant", mean="constant", std="constant", two="constant", eps="constant", gelu="constant", w="parameter",
    slope="parameter", head="parameter", bias="parameter", learned="parameter")  # fmt: skip

# The scale and the shift of an input are a folded batch normalization. Positions are added to an input.
check("affine", inspect("affine", [
    node("Sub", "x", "mean", out="c"), node("Mul", "c", "gain", out="g"), node("Add", "g", "shift", out="s"),
    node("Add", "x", "positions", out="p"), node("Mul", "p", "s", out="y")],
    {key: normal(4, 1, 1) for key in ("mean", "gain", "shift")} | {"positions": normal(4, 8, 8)}),
    mean="constant", gain="parameter", shift="parameter", positions="parameter")  # fmt: skip

# The elements of these tables are values of a formula.
n, k = np.arange(32), np.arange(17)
hann = (0.5 - 0.5 * np.cos(2 * np.pi * n / 32)).astype(f32)
fourier = np.cos(2 * np.pi * np.outer(k, n) / 32).astype(f32) * hann
sines = np.sin(2 * np.pi * np.outer(k, n) / 32).astype(f32) * hann
mel = np.maximum(0, 1 - np.abs(np.linspace(0, 16, 17)[:, None] - np.linspace(1, 15, 9)) / 1.2).astype(f32)
check("tables", inspect("tables", [
    node("Mul", "x", "hann", out="m"), node("Conv", "m", "cosines", "none", out="r"), node("Conv", "m", "sines", "none", out="i"),
    node("Add", "r", "i", out="s"), node("Transpose", "s", out="t", perm=[0, 2, 1]), node("MatMul", "t", "mel", out="f"),
    node("MatMul", "f", "w", out="h"), node("Add", "h", "b", out="y")],
    {"hann": hann, "cosines": fourier[:, None], "sines": sines[:, None], "mel": mel, "none": np.zeros(17, f32),
     "w": normal(9, 4), "b": f32([0.1, 0.2, 0.3, 0.4])}, shape=("batch", 1, 32)),
    hann="constant", cosines="constant", sines="constant", mel="constant", none="constant", w="parameter", b="parameter")  # fmt: skip
edges = f32([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
edges = np.stack([np.tile(edge, (4, 1, 1)) for edge in (edges, edges.T)])
check("filters", inspect("filters", [
    node("Conv", "x", "dfl", out="d"), node("Conv", "x", "sobel", out="s", pads=[1] * 4), node("Conv", "x", "dirac", "zero", out="i"),
    node("Conv", "x", "palindrome", out="p"), node("Gather", "hertz", "at", out="g"), node("Concat", "d", "s", "i", out="c", axis=1),
    node("ReduceMean", "p", out="m"), node("Mul", "c", "g", out="h"), node("Mul", "h", "m", out="y")],
    {"dfl": np.arange(4, dtype=f32).reshape(1, 4, 1, 1), "sobel": edges, "dirac": np.eye(4, dtype=f32).reshape(4, 4, 1, 1),
     "zero": np.zeros(4, f32), "hertz": np.geomspace(46.875, 2094, 20).astype(f32), "at": np.int64(3),
     "palindrome": (lambda half: np.concatenate([half, half[..., :1]], -1))(normal(2, 4, 3, 2))}),
    dfl="constant", sobel="constant?", dirac="parameter?", zero="parameter", hertz="constant", palindrome="parameter")  # fmt: skip

blur = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]).astype(f32) / 256
check("blur", inspect("blur", [node("Conv", "x", "c.weight", out="h"), node("Conv", "h", "blur", out="b", group=4), node("Conv", "b", "ones", out="o"),
                               node("ConvTranspose", "o", "up", out="y", group=2)],
                      {"c.weight": normal(4, 4, 1, 1), "blur": np.tile(blur, (4, 1, 1, 1)), "ones": np.ones((2, 4, 1, 1), f32), "up": np.tile(blur, (2, 1, 1, 1))},
                      producer="pytorch"), c__weight="parameter", blur="constant?", ones="parameter", up="parameter")  # fmt: skip

# Modules initialize parameters with equal values, and exporters write zeros of their own.
check("ones", inspect("ones", [
    node("InstanceNormalization", "x", "ones", "zeros", out="n"), node("Mul", "n", "layer_scale", out="l"),
    node("ScatterND", "canvas", "indices", "l", out="s"), node("Mul", "s", "mask_token", out="y")],
    {"ones": np.ones(4, f32), "zeros": np.zeros(4, f32), "layer_scale": np.full((4, 1, 1), 1e-6, f32),
     "canvas": np.zeros((3, 4, 8, 8), f32), "indices": np.int64([[0], [2]]), "mask_token": np.zeros((1, 1, 8), f32)}),
    ones="parameter", zeros="parameter", layer_scale="parameter", mask_token="parameter", canvas="constant")  # fmt: skip
zeros = np.zeros((1, 2, 4), f32)
recurrent = [node("LSTM", "x", "wi", "wh", "forget", "", "h0", "c0", out="r", hidden_size=4), node("Squeeze", "r", out="y")]
weights = {"wi": normal(1, 16, 8), "wh": normal(1, 16, 4), "forget": np.repeat(f32([0, 0, 1, 0, 0, 0, 0, 0]), 4)[None], "h0": zeros}
check("state", inspect("state", recurrent, weights | {"c0": normal(1, 2, 4)}, shape=(5, 2, 8)),
      wi="parameter", wh="parameter", forget="parameter", h0="constant", c0="parameter")  # fmt: skip

# The TorchScript-based exporter writes literals under generated names, parameters and buffers under the module's names.
module = [
    node("Conv", "x", "c.weight", out="h"), node("Pow", "h", "pool.p", out="p"), node("Mul", "p", "gate", out="g"),
    node("Div", "g", "temperature", out="d"), node("Mul", "d", "factor", out="f"), node("Mul", "f", "onnx::Mul_7", out="m"),
    node("Add", "m", "model.pixel_mean", out="a"), node("Exp", "log_std", out="e"), node("Mul", "a", "e", out="z"),
    node("Mul", "z", "mix", out="y")]  # fmt: skip
check("module", inspect("module", module, {
    "c.weight": normal(4, 4, 1, 1), "pool.p": f32([3]), "gate": f32([0]), "temperature": f32([0.07]), "factor": f32([0.5]),
    "onnx::Mul_7": f32([[0.64, 0.5, 5.17, 4.84, 12.72, 2.19, 0.1, 3]]), "model.pixel_mean": normal(4, 1, 1), "log_std": normal(4, 1, 1),
    "mix": np.linspace(0, 0.875, 8, dtype=f32).reshape(1, 1, 8)}, producer="pytorch"),
    c__weight="parameter", pool__p="parameter?", gate="parameter", temperature="parameter", factor="parameter?",
    model__pixel_mean="constant?", log_std="parameter", mix="constant?", **{"onnx::Mul_7": "constant?"})  # fmt: skip

coder = [
    node("Sub", "x", "b_dec", out="c"), node("MatMul", "c", "onnx::MatMul_3", out="h"), node("Sub", "x", "data_mean", out="d"),
    node("Sub", "h", "centers", out="r"), node("Sub", "x", "offset", out="o"), node("Sum", "r", "d", "o", out="y")]  # fmt: skip
check("coder", inspect("coder", coder, {"offset": np.linspace(0, 5, 8, dtype=f32), "b_dec": normal(8), "onnx::MatMul_3": normal(8, 8), "data_mean": normal(8), "centers": normal(8)},
                       producer="pytorch"),
      offset="constant?", b_dec="parameter?", data_mean="constant", centers="parameter", **{"onnx::MatMul_3": "parameter"})  # fmt: skip

# A note lists the untrained initializers and the flag that trains them; the flag has precedence.
flags = [folder / "image.onnx", "--dim", "batch=2", "--loss", "mse"]
said = run([MTC, "plan", *flags], folder).stderr
assert ("note: taken for constants, not trained: 'mean' [1, 4, 1, 1] (subtracted from an input of the graph), 'std' [1, 4, 1, 1] "
        "(divides an input of the graph), and 4 literal numbers; use --train with a full name to train one") in said, said  # fmt: skip
said = run([MTC, "plan", *flags, "--train", "*", "--train", "mean"], folder).stderr
assert "'mean'" not in said and "'std'" in said, said
said = run([MTC, "plan", folder / "filters.onnx", "--dim", "batch=2", "--loss", "mse"], folder).stderr
assert "trained, but possibly constants: 'dirac' [4, 4, 1, 1] (a matrix of whole numbers, which may select or add up elements)" in said, said
text = run([MTC, "inspect", folder / "filters.onnx", "--dim", "batch=2"], folder).stdout
assert "sobel [2, 4, 3, 3]: filters of whole numbers; doubtful" in text, text
