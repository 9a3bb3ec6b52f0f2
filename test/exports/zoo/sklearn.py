"""scikit-learn's linear models and perceptrons, exported by skl2onnx.

`partial_fit` of the perceptrons is the reference. scikit-learn does not train the linear models by gradient steps. Their reference is
gradient descent on their loss, starting from weights that are fitted to half of the data.
"""

from __future__ import annotations

import numpy as np
import torch
from skl2onnx import to_onnx
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from zoo.architecture import STEPS, Example, architecture

BATCH = 8


def rows(*shape: int) -> np.ndarray:
    """Returns the rows of two steps, repeated for ten."""
    return np.tile(torch.randn(2 * BATCH, *shape).numpy(), (STEPS // 2, *(1 for _ in shape)))


def example(model, x, labels, loss, lr, losses, output) -> Example:
    def export(path) -> None:
        options = {id(model): {"zipmap": False}} if hasattr(model, "classes_") else None
        path.write_bytes(to_onnx(model, x[:1], options=options).SerializeToString())

    return Example(torch.nn.Identity(), {"X": torch.from_numpy(x)}, torch.from_numpy(labels), loss, lr, output,
                   exporter=export, own_dimension="X.0", losses=losses)  # fmt: skip


def steps(x, labels):
    return ((x[i : i + BATCH], labels[i : i + BATCH]) for i in range(0, STEPS * BATCH, BATCH))


@architecture
def sklearn_mlp_classifier() -> Example:
    x, labels = rows(6), np.tile(np.random.default_rng(0).integers(0, 3, 2 * BATCH), STEPS // 2)
    model = MLPClassifier(hidden_layer_sizes=(12, 8), activation="tanh", solver="sgd", alpha=0, batch_size=BATCH, learning_rate_init=0.2,
                          momentum=0, nesterovs_momentum=False, random_state=0, shuffle=False)  # fmt: skip
    model.partial_fit(x[:BATCH], labels[:BATCH], classes=np.arange(3))

    def losses() -> list[float]:
        import copy

        trained = copy.deepcopy(model)
        return [float(trained.partial_fit(*step).loss_) for step in steps(x, labels)]

    return example(model, x, labels, "cross-entropy", 0.2, losses, "probabilities")


@architecture
def sklearn_mlp_regressor() -> Example:
    """scikit-learn's loss is half of the mean square, so mtc's learning rate is half as large and its loss twice as large."""
    x, y = rows(6), rows(1)
    model = MLPRegressor(hidden_layer_sizes=(12,), activation="tanh", solver="sgd", alpha=0, batch_size=BATCH, learning_rate_init=0.2,
                         momentum=0, nesterovs_momentum=False, random_state=0, shuffle=False)  # fmt: skip
    model.partial_fit(x[:BATCH], y[:BATCH, 0])

    def losses() -> list[float]:
        import copy

        trained = copy.deepcopy(model)
        return [2 * float(trained.partial_fit(a, b[:, 0]).loss_) for a, b in steps(x, y)]

    return example(model, x, y, "mse", 0.1, losses, "variable")


@architecture
def sklearn_linear_regression() -> Example:
    x, y = rows(6), rows(1)
    model = LinearRegression().fit(x[:6], y[:6])

    def losses() -> list[float]:
        weight, bias, found = model.coef_.T.astype(np.float64), model.intercept_.astype(np.float64), []
        for a, b in steps(x, y):
            error = a @ weight + bias - b
            found.append(float((error**2).mean()))
            weight -= 0.05 * 2 * a.T @ error / len(a)
            bias -= 0.05 * 2 * error.mean(0)
        return found

    return example(model, x, y, "mse", 0.05, losses, "variable")


@architecture
def sklearn_logistic_regression() -> Example:
    x, labels = rows(6), np.tile(np.arange(2 * BATCH) % 3, STEPS // 2)
    model = LogisticRegression(C=0.1).fit(x[:BATCH], labels[:BATCH])

    def losses() -> list[float]:
        weight, bias, found = model.coef_.T.astype(np.float64), model.intercept_.astype(np.float64), []
        for a, b in steps(x, labels):
            score = a @ weight + bias
            score -= score.max(1, keepdims=True)
            likelihood = np.exp(score) / np.exp(score).sum(1, keepdims=True)
            found.append(float(-np.log(likelihood[np.arange(len(b)), b]).mean()))
            likelihood[np.arange(len(b)), b] -= 1
            weight -= 0.5 * a.T @ likelihood / len(a)
            bias -= 0.5 * likelihood.mean(0)
        return found

    return example(model, x, labels, "cross-entropy", 0.5, losses, "probabilities")
