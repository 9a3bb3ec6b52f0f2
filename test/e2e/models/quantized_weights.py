# RUN: %python %s %t
"""A model with onnxruntime's MatMulNBits and GatherBlockQuantized trains its other parameters like the model with the equivalent
floating-point weights. Codes stay packed in memory, and an export contains the original codes."""

import json

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

VOCABULARY, LENGTH, WIDTH, LAYERS, BLOCK, RANK = 40, 6, 256, 4, 32, 4
FLAGS = ["--loss", "causal-lm", "--optimizer", "adamw", "--lr", 0.003, "--dim", "batch=4"]
TYPES = {"f32": (np.float32, TensorProto.FLOAT, 1e-5), "f16": (np.float16, TensorProto.FLOAT16, 2e-3),
         "bf16": (ml_dtypes.bfloat16, TensorProto.BFLOAT16, 2e-2)}  # fmt: skip
folder = own_folder()
random = np.random.default_rng(0)
ids = random.integers(0, VOCABULARY, (8, LENGTH))
DATA = {"ids": ids, "labels": np.roll(ids, -1, 1)}


def unpacked(codes: np.ndarray, bits: int) -> np.ndarray:
    parts = [(codes >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*codes.shape[:-1], -1)


class Model:
    """The model with codes of `bits` bits, and the model with equivalent floating-point weights."""

    def __init__(self, kind: str, bits: int):
        self.dtype, self.element, self.tolerance = TYPES[kind]
        self.random = np.random.default_rng(1)
        self.nodes, self.codes, self.plain, self.shared = {True: [], False: []}, [], [], []
        self.bits = bits
        self.embed()
        x = "embedded"
        for layer in range(LAYERS):
            x = self.add_layer(x, f"l{layer}")
        self.add("MatMul", [x, self.parameter("head", 0.1, WIDTH, VOCABULARY)], "logits")

    def floats(self, name: str, array) -> onnx.TensorProto:
        return numpy_helper.from_array(np.asarray(array).astype(self.dtype), name)

    def parameter(self, name: str, size: float, *shape) -> str:
        self.shared.append(self.floats(name, self.random.normal(0, size, shape)))
        return name

    def add(self, op: str, inputs, output: str, forms=(True, False), **attributes):
        for form in forms:
            self.nodes[form].append(helper.make_node(op, inputs, [output], **attributes))

    def quantize(self, name: str, rows: int, columns: int):
        """Returns the names of codes, scales and zero points. The plain model has the floating-point weights instead."""
        blocks = columns // BLOCK
        codes = self.random.integers(0, 256, (rows, columns * self.bits // 8)).astype(np.uint8)
        zeros = self.random.integers(0, 256, (rows, -(-blocks * self.bits // 8))).astype(np.uint8)
        scales = self.random.uniform(0.05, 0.15, (rows, blocks)).astype(self.dtype) / self.dtype(2**self.bits)
        spread = lambda x: np.repeat(x, BLOCK, 1).astype(np.float32)  # noqa: E731
        weights = (unpacked(codes, self.bits) - spread(unpacked(zeros, self.bits)[:, :blocks])) * spread(scales)
        self.codes += [numpy_helper.from_array(codes, f"{name}.codes"), numpy_helper.from_array(zeros, f"{name}.zeros"),
                       self.floats(f"{name}.scales", scales)]  # fmt: skip
        return weights, [f"{name}.{part}" for part in ("codes", "scales", "zeros")]

    def embed(self):
        table, (codes, scales, zeros) = self.quantize("table", VOCABULARY, WIDTH)
        self.add("GatherBlockQuantized", [codes, "ids", scales, zeros], "embedded", [True], domain="com.microsoft", bits=self.bits,
                 block_size=BLOCK, quantize_axis=1)  # fmt: skip
        self.plain.append(self.floats("table", table))
        self.add("Gather", ["table", "ids"], "embedded", [False])

    def add_layer(self, x: str, name: str) -> str:
        """A quantized layer with a trained bias, next to a trained pair of low-rank matrices."""
        weights, (codes, scales, zeros) = self.quantize(name, WIDTH, WIDTH)
        self.codes[-3].dims[:] = [WIDTH, WIDTH // BLOCK, BLOCK * self.bits // 8]
        bias = self.parameter(f"{name}.bias", 0.1, WIDTH)
        self.add("MatMulNBits", [x, codes, scales, zeros, "", bias], f"{name}.y", [True], domain="com.microsoft", K=WIDTH, N=WIDTH,
                 bits=self.bits, block_size=BLOCK)  # fmt: skip
        self.plain.append(self.floats(f"{name}.weight", weights.T))
        self.add("MatMul", [x, f"{name}.weight"], f"{name}.product", [False])
        self.add("Add", [f"{name}.product", bias], f"{name}.y", [False])
        self.add("MatMul", [x, self.parameter(f"{name}.a", 0.1, WIDTH, RANK)], f"{name}.low")
        self.add("MatMul", [f"{name}.low", self.parameter(f"{name}.b", 0.1, RANK, WIDTH)], f"{name}.high")
        self.add("Add", [f"{name}.y", f"{name}.high"], f"{name}.sum")
        self.add("Tanh", [f"{name}.sum"], f"{name}.t")
        return f"{name}.t"

    def compiled(self, name: str, is_quantized: bool):
        inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ("batch", LENGTH))]
        outputs = [helper.make_tensor_value_info("logits", self.element, ("batch", LENGTH, VOCABULARY))]
        weights = self.codes if is_quantized else self.plain
        graph = helper.make_graph(self.nodes[is_quantized], name, inputs, outputs, [*self.shared, *weights])
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), folder / f"{name}.onnx")
        frozen = [] if is_quantized else [word for w in weights for word in ("--freeze", w.name)]
        return compile(folder / f"{name}.onnx", folder, DATA, *FLAGS, *frozen, name=name)


def bytes_of(name: str, *flags) -> int:
    return json.loads(run([MTC, "plan", folder / f"{name}.onnx", *FLAGS, "--json", *flags], folder).stdout)["peak_bytes"]


def trains_like_floats(kind: str, bits: int):
    model = Model(kind, bits)
    name = f"{kind}-{bits}"
    program, plain = model.compiled(name, True), model.compiled(f"{name}-plain", False)
    gradients, expected = program.gradients(f"{name}-gradients"), plain.gradients(f"{name}-plain-gradients")
    trained = {initializer.name for initializer in model.shared}
    assert gradients.keys() == expected.keys() == trained, gradients.keys() ^ trained
    for parameter, gradient in gradients.items():
        error = np.abs(gradient.astype(np.float64) - expected[parameter].astype(np.float64)).max()
        assert error <= 10 * model.tolerance * np.abs(expected[parameter].astype(np.float64)).max(), (name, parameter, error)
    history = losses(program.train(20))
    np.testing.assert_allclose(history, losses(plain.train(20)), rtol=model.tolerance)
    assert history[-1] < 0.8 * history[0], history
    exported = onnx.load_from_string(program.exported(f"{name}-trained", "--steps", 2))
    kept = {i.name: i for i in exported.graph.initializer}
    assert all(kept[i.name].raw_data == i.raw_data for i in model.codes)
    assert kept["head"].raw_data != model.shared[-1].raw_data
    return name


def codes_stay_packed(name: str, bits: int):
    """Only one matrix at a time is decoded; all others stay in codes of `bits` bits."""
    plain = bytes_of(f"{name}-plain", *(word for i in range(LAYERS) for word in ("--freeze", f"l{i}.weight")), "--freeze", "table")
    saved = plain - bytes_of(name)
    elements = LAYERS * WIDTH * WIDTH
    expected = elements * (4 - bits / 8) - WIDTH * WIDTH * 4 - elements // BLOCK * 5
    assert saved > 0.9 * expected, (name, saved, expected)


def nf4_stays_packed():
    """Layers of MatMulBnb4 need memory for their codes, their scales and one decoded matrix."""
    nodes, weights, x = [], [], "x"
    for i in range(LAYERS):
        weights += [numpy_helper.from_array(random.integers(0, 256, WIDTH * WIDTH // 2).astype(np.uint8), f"codes{i}"),
                    numpy_helper.from_array(random.uniform(0.01, 0.1, WIDTH * WIDTH // 64).astype(np.float32), f"scales{i}"),
                    numpy_helper.from_array(random.normal(0, 0.1, WIDTH).astype(np.float32), f"bias{i}")]  # fmt: skip
        nodes += [helper.make_node("MatMulBnb4", [x, f"codes{i}", f"scales{i}"], [f"m{i}"], domain="com.microsoft", K=WIDTH, N=WIDTH,
                                   block_size=64, quant_type=1),
                  helper.make_node("Add", [f"m{i}", f"bias{i}"], [f"a{i}"]), helper.make_node("Tanh", [f"a{i}"], [f"t{i}"])]  # fmt: skip
        x = f"t{i}"
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", WIDTH))]
    outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, ("batch", WIDTH))]
    graph = helper.make_graph(nodes, "nf4", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=9),
              folder / "nf4.onnx")  # fmt: skip
    flags = ["--loss", "cross-entropy", "--optimizer", "sgd", "--dim", "batch=4", "--json"]
    peak = json.loads(run([MTC, "plan", folder / "nf4.onnx", *flags], folder).stdout)["peak_bytes"]
    stored = LAYERS * (WIDTH * WIDTH // 2 + WIDTH * WIDTH // 64 * 4)
    assert peak < stored + 1.8 * 4 * WIDTH * WIDTH, (peak, stored)


nf4_stays_packed()
for kind, bits in (("f32", 4), ("f32", 2), ("f32", 8), ("f16", 4), ("bf16", 4)):
    name = trains_like_floats(kind, bits)
    if kind == "f32":
        codes_stay_packed(name, bits)
