# RUN: %python %s %t
"""Linear models and neural networks in the forms that scikit-learn's exporter writes: training updates the estimator's `coef_` and
`intercept_`, the loss is computed from its probabilities, and the export is a model with the same outputs."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from program import MTC, compile, losses, own_folder, run

ROWS, FEATURES, CLASSES, STEPS, RATE = 12, 4, 3, 4, 0.3
folder = own_folder()
rng = np.random.default_rng(0)
x = rng.standard_normal((ROWS, FEATURES)).astype(np.float32)
labels = rng.integers(0, CLASSES, ROWS)
flags = ("--dim", f"X.0={ROWS}", "--optimizer", "sgd", "--lr", str(RATE))
random = lambda *shape: rng.standard_normal(shape).astype(np.float32)
w3, b3, w1, b1 = random(CLASSES, FEATURES), random(CLASSES), random(1, FEATURES), random(1)


def node(operator, inputs, outputs, domain="ai.onnx.ml", **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(), name=operator, domain=domain, **attributes)


def classifier(inputs, outputs, w, b, transform, **given):
    return node("LinearClassifier", inputs, outputs, coefficients=w.ravel().tolist(), intercepts=b.ravel().tolist(),
                post_transform=transform, **(given or {"classlabels_ints": [3, 5, 9][:len(w)]}))  # fmt: skip


def save(name, nodes, outputs, initializers=()):
    """`outputs` are names and types; a non-numeric type is a sequence of maps."""
    kinds = {"map": helper.make_sequence_type_proto(helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None)))}  # fmt: skip
    shape = lambda kind: [None, None] if kind == TensorProto.FLOAT else [None]
    made = [helper.make_value_info(output, kinds.get(kind) or helper.make_tensor_type_proto(kind, shape(kind)))
            for output, kind in outputs.items()]  # fmt: skip
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, FEATURES])],
                              made, [numpy_helper.from_array(np.asarray(value), key) for key, value in dict(initializers).items()])  # fmt: skip
    opsets = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="skl2onnx")
    onnx.save(model, folder / f"{name}.onnx")
    return model


def evaluated(model, output, features):
    """Evaluates with onnx's reference implementation, which lacks ZipMap."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = [n for n in copy.graph.node if n.op_type != "ZipMap"]
    del copy.graph.node[:], copy.graph.output[:]
    copy.graph.node.extend(nodes)
    copy.graph.output.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, None))
    return ReferenceEvaluator(copy).run(None, {"X": features})[0]


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def multinomial(z):
    p = softmax(z)
    return -np.log(p[range(ROWS), labels]).mean(), (p - np.eye(CLASSES)[labels]) / ROWS


def logistic(z):
    p, y = sigmoid(z), (labels % 2)[:, None]
    return -np.log(np.where(y == 1, p, 1 - p)).mean(), (p - y) / ROWS


def one_against_rest(z):
    """Returns the negative logarithm of normalized sigmoids."""
    s = sigmoid(z)
    share, hot = s / s.sum(1, keepdims=True), np.eye(CLASSES)[labels]
    return -np.log(share[range(ROWS), labels]).mean(), (share - hot) * (1 - s) / ROWS


def squared(z):
    return ((z - targets) ** 2).mean(), 2 * (z - targets) / targets.size


targets = random(ROWS, 2)
scaling = {"offset": random(FEATURES).tolist(), "scale": rng.uniform(0.5, 2, FEATURES).astype(np.float32).tolist()}
scaled = (x.astype(np.float64) - scaling["offset"]) * scaling["scale"]
filled = np.where(np.isnan(np.where(x > 1, np.nan, x)), np.arange(FEATURES), np.where(x > 1, np.nan, x))
with_holes = np.where(x > 1, np.nan, x).astype(np.float32)
length = x / np.sqrt((x.astype(np.float64) ** 2).sum(1, keepdims=True))
largest = x / np.abs(x.astype(np.float64)).max(1, keepdims=True)
labelled = {"label": TensorProto.INT64, "probabilities": TensorProto.FLOAT}
texts = {"classlabels_strings": ["cat", "dog", "owl"]}
zipped = {"label": TensorProto.STRING, "output_probability": "map"}
both = np.concatenate([-w1, w1]), np.concatenate([-b1, b1])
probability = node("Normalizer", "scores", "probabilities", norm="L1")
rest = [classifier("X", f"label{k} pair{k}", np.stack([-w3[k], w3[k]]), np.stack([-b3[k], b3[k]]), "LOGISTIC")
        for k in range(CLASSES)]  # fmt: skip
for k, each in enumerate(rest):
    each.name = f"rest{k}"
columns = [helper.make_node("Slice", [f"pair{k}", "one", "two", "one"], [f"column{k}"]) for k in range(CLASSES)]
shares = [node("Concat", "column0 column1 column2", "all", "", axis=1), node("ReduceSum", "all one", "sum", ""),
          node("Div", "all sum", "probabilities", "")]  # fmt: skip
# One-against-rest classifiers as the exporter writes them: if all sigmoids are 0, each class has the same probability.
guarded = [node("MatMul", "X w", "xw", ""), node("Add", "xw b", "z", ""), node("Mul", "z minus_one", "n", ""),
           node("Exp", "n", "e", ""), node("Add", "e unit", "d", ""), node("Reciprocal", "d", "p", ""),
           node("ReduceSum", "p one", "sum", ""), node("Cast", "sum", "any", "", to=TensorProto.BOOL),
           node("Not", "any", "none", ""), node("Cast", "none", "guard", "", to=TensorProto.FLOAT),
           node("Add", "p guard", "q", ""), node("Mul", "guard classes", "mask", ""),
           node("Add", "sum mask", "total", ""), node("Div", "q total", "probabilities", "")]  # fmt: skip
axes = {"one": np.int64([1]), "two": np.int64([2])}
whitening = {"scale": random(FEATURES), "shift": random(FEATURES), "mean": random(FEATURES),
             "transform_matrix": random(FEATURES, FEATURES)}  # fmt: skip
whitened = (x.astype(np.float64) * whitening["scale"] + whitening["shift"] - whitening["mean"]) @ whitening["transform_matrix"]
guards = {"w": w3.T.copy(), "b": b3, "minus_one": np.float32(-1), "unit": np.float32(1), "classes": np.float32(3)} | axes

CLASSIFIER = ("LinearClassifier.coefficients", "LinearClassifier.intercepts")
REGRESSOR = ("LinearRegressor.coefficients", "LinearRegressor.intercepts")
# Each entry has the nodes, outputs and initializers of a model, its features and labels, the loss, the gradient of the loss with respect to
# the scores, and the initial weights.
MODELS = {
    "multinomial": ([classifier("X", "label scores", w3, b3, "SOFTMAX"), probability], labelled, {},
                    x, labels, multinomial, w3, b3, CLASSIFIER),
    "strings": ([classifier("X", "label scores", w3, b3, "SOFTMAX", **texts), probability,
                 node("ZipMap", "probabilities", "output_probability", **texts)], zipped, {},
                x, labels, multinomial, w3, b3, CLASSIFIER),
    "binary": ([classifier("X", "label probabilities", *both, "LOGISTIC")], labelled, {},
               x, labels % 2, logistic, w1, b1, CLASSIFIER),
    "one row": ([classifier("X", "label probabilities", w1, b1, "LOGISTIC", classlabels_ints=[3, 5])], labelled, {},
                x, labels % 2, logistic, w1, b1, CLASSIFIER),
    "one against rest": ([classifier("X", "label scores", w3, b3, "LOGISTIC"), probability], labelled, {},
                         x, labels, one_against_rest, w3, b3, CLASSIFIER),
    "regressor": ([node("LinearRegressor", "X", "variable", coefficients=w3[:2].ravel().tolist(),
                        intercepts=b3[:2].tolist(), targets=2)], {"variable": TensorProto.FLOAT}, {},
                  x, targets, squared, w3[:2], b3[:2], REGRESSOR),
    "scaled": ([node("Scaler", "X", "s", **scaling), classifier("s", "label scores", w3, b3, "SOFTMAX"), probability],
               labelled, {}, (x, scaled), labels, multinomial, w3, b3, CLASSIFIER),
    "imputed": ([node("Imputer", "X", "s", imputed_value_floats=list(map(float, range(FEATURES))),
                      replaced_value_float=float("nan")), classifier("s", "label scores", w3, b3, "SOFTMAX"), probability],
                labelled, {}, (with_holes, filled), labels, multinomial, w3, b3, CLASSIFIER),
    "normalized": ([node("Normalizer", "X", "s", norm="L2"), classifier("s", "label scores", w3, b3, "SOFTMAX"),
                    probability], labelled, {}, (x, length), labels, multinomial, w3, b3, CLASSIFIER),
    "largest": ([node("Normalizer", "X", "s", norm="MAX"), classifier("s", "label scores", w3, b3, "SOFTMAX"),
                 probability], labelled, {}, (x, largest), labels, multinomial, w3, b3, CLASSIFIER),
    "binarized": ([node("Binarizer", "X", "s", threshold=0.25), classifier("s", "label scores", w3, b3, "SOFTMAX"),
                   probability], labelled, {}, (x, x > 0.25), labels, multinomial, w3, b3, CLASSIFIER),
    "chosen": ([node("ArrayFeatureExtractor", "X columns", "s"), classifier("s", "label scores", w3[:, :2], b3, "SOFTMAX"),
                probability], labelled, {"columns": np.int64([[3, 0]])}, (x, x[:, [3, 0]]), labels, multinomial,
               w3[:, :2], b3, CLASSIFIER),
    # Results of preprocessing are constant, whether the exporter writes attributes or initializers.
    "whitened": ([node("Mul", "X scale", "m", ""), node("Add", "m shift", "t", ""), node("Sub", "t mean", "c", ""),
                  node("MatMul", "c transform_matrix", "s", ""), classifier("s", "label scores", w3, b3, "SOFTMAX"),
                  probability], labelled, whitening, (x, whitened), labels, multinomial, w3, b3, CLASSIFIER),
    "neural": ([node("MatMul", "X coefficient", "p", ""), node("Add", "p intercepts", "z", ""),
                node("Sigmoid", "z", "q", ""), node("Sub", "unity q", "n", ""),
                node("Concat", "n q", "probabilities", "", axis=1)], {"probabilities": TensorProto.FLOAT},
               {"coefficient": w1.T.copy(), "intercepts": b1[None], "unity": np.float32([1])},
               x, labels % 2, logistic, w1, b1, None),
    "three binary": ([*rest, *columns, *shares], {"probabilities": TensorProto.FLOAT}, axes,
                     x, labels, one_against_rest, w3, b3, None),
    "guarded": (guarded, {"probabilities": TensorProto.FLOAT}, guards, x, labels, one_against_rest, w3, b3, None),
}  # fmt: skip

for form, (nodes, outputs, initializers, data, y, loss, w, b, trained) in MODELS.items():
    name = form.replace(" ", "-")
    given, features = data if isinstance(data, tuple) else (data, data)
    source = save(name, nodes, outputs, initializers)
    kind = "mse" if loss is squared else "cross-entropy"
    program = compile(folder / f"{name}.onnx", folder, {"X": given, "labels": y}, *flags, "--loss", kind, name=name)
    reference, weights, bias = [], w.astype(np.float64), b.astype(np.float64)
    for _ in range(STEPS):
        value, dz = loss(features @ weights.T + bias)
        reference.append(value)
        weights, bias = weights - RATE * dz.T @ features, bias - RATE * dz.sum(0)
    found = losses(program.train(STEPS, "--save", folder / f"{name}-state", "--export", folder / f"{name}-trained.onnx"))
    np.testing.assert_allclose(found, reference, rtol=1e-5, err_msg=form)

    exported = onnx.load(folder / f"{name}-trained.onnx")
    onnx.checker.check_model(exported)
    before = {name: np.asarray(value) for name, value in initializers.items() if name in whitening or name == "unity"}
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in exported.graph.initializer}
    if trained:
        np.testing.assert_allclose(held[trained[0]], weights, rtol=1e-4, atol=1e-5, err_msg=form)
        np.testing.assert_allclose(held[trained[1]], bias, rtol=1e-4, atol=1e-5, err_msg=form)
    assert all(np.array_equal(held[name], value) for name, value in before.items()), form
    assert [o.name for o in exported.graph.output] == list(outputs), form
    # The program's outputs equal those of the models before and after training.
    for model, resumed in ((source, ()), (exported, ("--resume", folder / f"{name}-state"))):
        for output, array in program.outputs(f"{name}-outputs", *resumed).items():
            expected = evaluated(model, output, given)
            assert array.dtype == expected.dtype, (form, output)
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-6, err_msg=f"{form} {output}")

# Weights with inconsistent shapes, and transformations without a gradient, are errors.
for words, attributes in (
        ("11 coefficients for 3 classes", {"coefficients": w3.ravel()[:11].tolist(), "intercepts": b3.tolist()}),
        ("has 2 class labels, expected 3", {"coefficients": w3.ravel().tolist(), "intercepts": b3.tolist(), "classlabels_ints": [0, 1]}),
        ("post_transform 'PROBIT' is not supported", {"coefficients": w3.ravel().tolist(), "post_transform": "PROBIT"})):  # fmt: skip
    attributes = {"classlabels_ints": [0, 1, 2]} | attributes
    save("wrong", [node("LinearClassifier", "X", "label probabilities", **attributes)], labelled)
    result = run([MTC, "plan", folder / "wrong.onnx", *flags], folder, code=1)
    assert words in result.stderr and "node 'LinearClassifier' (ai.onnx.ml.LinearClassifier)" in result.stderr, result.stderr
