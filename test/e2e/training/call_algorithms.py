# RUN: %python %s %t
"""All algorithms for a contraction or a convolution have equal losses up to rounding, use planned memory only, and are bit-identical from
run to run. The compiler reuses earlier measurements."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, compile, losses, own_folder, run

BATCH, WIDTH, HIDDEN = 512, 520, 1024
IMAGES, CHANNELS, SIDE = 6, 8, 15
folder = own_folder()
random = np.random.default_rng(0)
CALLS = ("mtc.contract", "mtc.convolve", "mtc.transposed_convolve", "mtc.convolve_weight_gradient", "mtc.fused_convolve")


def weight(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(random.normal(0, np.prod(shape[1:]) ** -0.5, shape).astype(np.float32), name)


def save(name: str, nodes: list, inputs: list, outputs: list, weights: list):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *inputs])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", *outputs])
    model = helper.make_model(helper.make_graph(nodes, name, [x], [y], weights), opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, folder / f"{name}.onnx")
    return folder / f"{name}.onnx"


def rows(count: int, *shape: int) -> np.ndarray:
    return random.normal(0, 1, (count, *shape)).astype(np.float32)


class Subject:
    """A model with its data, its text at the stage `kernels`, and the losses of the default algorithms."""

    def __init__(self, model, batch: int, x: np.ndarray, labels: np.ndarray):
        self.model, self.data = model, {"x": x, "labels": labels}
        self.flags = ("--dim", f"batch={batch}", "--loss", "mse", "--optimizer", "sgd", "--lr", "1e-1")
        self.plain = self.kernels("--tune", "off")
        assert "mtc.algorithm" not in self.plain, self.plain
        program = compile(model, folder, self.data, *self.flags, "--tune", "off")
        self.expected = losses(program.train(3))
        # oneDNN prefers blocked layouts only with AVX-512.
        self.has_layouts = "brg:" in program.run("--steps", 1, "--no-shuffle", "--profile-summary").stdout

    def kernels(self, *more) -> str:
        return run([MTC, "compile", self.model, *self.flags, *more, "--emit=kernels"], folder).stdout

    def with_algorithm(self, algorithm: str, calls: int | None = None) -> Program:
        """Compiles the program with one algorithm for its calls; checks that at least `calls` of the micro-step (default: all) use it."""
        text = folder / f"{self.model.stem}-{algorithm}.mlir"
        lines, count = self.plain.splitlines(), 0
        for number, line in enumerate(lines):
            if any(f" {name} " in line for name in CALLS):
                head, colon, types = line.rpartition(" : ")
                lines[number] = f"{head} {{mtc.algorithm = #mtc<call_algorithm {algorithm}>}}{colon}{types}"
                count += 1
        assert count >= 3, self.plain
        text.write_text("\n".join(lines))
        plan = run([MTC, "compile", text, "--emit=allocated"], folder).stdout
        assert plan.count(f"algorithm = {algorithm}") >= (calls or count), plan
        return compile(text, folder, self.data, name=text.stem)

    def check(self, algorithm: str, implementation: str, calls: int | None = None):
        program = self.with_algorithm(algorithm, calls)
        found = losses(program.train(3))
        np.testing.assert_allclose(found, self.expected, rtol=1e-5, err_msg=algorithm)
        assert found[-1] < found[0], found
        one, two = (program.exported(name, "--steps", 2, "--no-shuffle") for name in ("one", "two"))
        assert one == two, f"{algorithm}: two runs differ"
        profile = program.run("--steps", 1, "--no-shuffle", "--profile-summary").stdout
        assert implementation in profile or (implementation == "blocked" and not self.has_layouts), profile


nodes = [
    helper.make_node("Gemm", ["x", "first", "bias"], ["h"], name="hidden"),
    helper.make_node("Tanh", ["h"], ["a"], name="tanh"),
    helper.make_node("Gemm", ["a", "second"], ["y"], transB=1, name="output"),
]
weights = [weight("first", WIDTH, HIDDEN), weight("bias", 1, HIDDEN), weight("second", WIDTH, HIDDEN)]
model = save("perceptron", nodes, [WIDTH], [WIDTH], weights)
perceptron = Subject(model, BATCH, rows(BATCH, WIDTH), rows(BATCH, WIDTH))
perceptron.check("packed_rhs", "blocked")
perceptron.check("packed_operands", "blocked")
perceptron.check("own_panels", "f32 panels")

nodes = [
    helper.make_node("Conv", ["x", "first", "bias"], ["h"], pads=[1, 1, 1, 1], strides=[2, 2], name="first"),
    helper.make_node("Tanh", ["h"], ["a"], name="tanh"),
    helper.make_node("Conv", ["a", "second"], ["b"], pads=[1, 1, 1, 1], name="second"),
    helper.make_node("GlobalAveragePool", ["b"], ["p"], name="pool"),
    helper.make_node("Flatten", ["p"], ["y"], name="flatten"),
]
weights = [weight("first", 2 * CHANNELS, CHANNELS, 3, 3), weight("bias", 2 * CHANNELS), weight("second", CHANNELS, 2 * CHANNELS, 3, 3)]
model = save("convolutions", nodes, [CHANNELS, SIDE, SIDE], [CHANNELS], weights)
convolutions = Subject(model, IMAGES, rows(IMAGES, CHANNELS, SIDE, SIDE), rows(IMAGES, CHANNELS))
convolutions.check("own_panels", "f32 panels")
convolutions.check("winograd", "f32 winograd", calls=3)  # Winograd does not support the stride of the first convolution.

# The runtime's own contractions sum in the same order on any number of threads.
own = perceptron.with_algorithm("own_panels")
alone, both = (own.exported(f"on{n}", "--steps", 2, "--no-shuffle", "--threads", n) for n in (1, 2))
assert alone == both

# The second compilation uses the measurements of the first.
assert perceptron.kernels() == perceptron.kernels(), "the choice is not repeated"
tuned = compile(perceptron.model, folder, perceptron.data, *perceptron.flags)
np.testing.assert_allclose(losses(tuned.train(3)), perceptron.expected, rtol=1e-5)
assert "mtc.algorithm" not in perceptron.kernels("--skip-pass", "mtc-choose-algorithms")
assert "mtc.algorithm" not in perceptron.kernels("--cost-model", "avx512")
