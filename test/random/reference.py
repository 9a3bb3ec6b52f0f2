"""The reference: the loss of a model, its gradients and training steps in f64.

Losses follow PyTorch's definitions, and optimizers those of passes/optimizer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tape as arithmetic
from case import Case
from onnx import numpy_helper
from operators import INFERENCE, evaluate
from operators.normalization import log_softmax
from tape import Rejected, Tape, Value, mean, total


def run(case: Case, tape: Tape, values: dict[str, Value], is_inference: bool = False) -> dict[str, Value]:
    """Returns all values of the model, from its inputs and parameters, in a training step or in inference."""
    values = dict(values)
    for initializer in case.model.graph.initializer:
        if initializer.name not in values:
            values[initializer.name] = tape.constant(numpy_helper.to_array(initializer))
    for node in case.model.graph.node:
        if node.op_type == "Constant":
            values[node.output[0]] = tape.constant(numpy_helper.to_array(node.attribute[0].t))
            continue
        results = evaluate(node, case.opset, [values[name] if name else None for name in node.input], is_inference)
        if is_inference and node.doc_string.startswith(INFERENCE):
            results = [values[node.doc_string.removeprefix(INFERENCE)]]
        for name, result in zip(node.output, results, strict=True):
            if result is not None and result.is_float and not np.isfinite(result.data).all() and node.op_type not in ("Where", "Add"):
                raise Rejected(f"{node.op_type} gives values that are not finite")
            if name:
                values[name] = result
    return values


def cross_entropy(y: Value, labels: np.ndarray) -> Value:
    axis = 1 if y.rank >= 4 else y.rank - 1
    logits = arithmetic.move(y, lambda i: np.moveaxis(i, axis, -1))
    counted = labels != -100
    logarithm = log_softmax(logits, logits.rank - 1)
    places = np.where(counted, labels, 0)[..., None]
    losses = arithmetic.move(logarithm, lambda i: np.take_along_axis(i, places, -1)[..., 0])
    return -total(losses * y.tape.constant(counted.astype(np.float64))) * (1 / counted.sum())


def with_logits(y: Value, labels) -> Value:
    return mean(arithmetic.softplus(y) - y * y.tape.constant(labels))


LOSSES = {
    "output": lambda y, labels: total(y),
    "mse": lambda y, labels: mean((y - y.tape.constant(labels)) * (y - y.tape.constant(labels))),
    "l1": lambda y, labels: mean(arithmetic.absolute(y - y.tape.constant(labels))),
    "bce-with-logits": with_logits,
    "cross-entropy": cross_entropy,
    "causal-lm": cross_entropy,
}


def loss_and_gradients(case: Case, parameters: dict[str, np.ndarray], step: int, tape: Tape):
    """Returns the loss of a batch, each parameter's gradient, and the model's outputs in inference form."""
    variables = {name: tape.variable(array) for name, array in parameters.items()}
    rows = case.rows(step)
    inputs = {i.name: tape.constant(rows[i.name]) for i in case.model.graph.input}
    with np.errstate(all="ignore"):
        values = run(case, tape, inputs | variables)
        loss = LOSSES[case.loss](values[case.output], rows.get("labels"))
        gradients = tape.gradients(loss, list(variables.values()))
    if not np.isfinite(loss.data).all() or not all(np.isfinite(g).all() for g in gradients):
        raise Rejected("the loss or a gradient is not finite")
    nodes = case.model.graph.node
    if case.drops() or any(node.op_type == "BatchNormalization" and len(node.output) > 1 for node in nodes):
        with np.errstate(all="ignore"):
            values = run(case, tape, inputs | variables, is_inference=True)
    outputs = {o.name: values[o.name].data for o in case.model.graph.output}
    return float(loss.data), dict(zip(variables, gradients)), outputs


class Optimizer:
    """Updates one parameter after another."""

    def __init__(self, name: str, numbers: dict[str, float], is_double: bool):
        betas = numbers.get("betas", "0.9,0.99" if name == "lion" else "0.9,0.999")
        self.beta1, self.beta2 = map(float, betas.split(","))
        self.rate = numbers["lr"] if is_double else float(np.float32(numbers["lr"]))
        self.eps = numbers.get("eps", {"adagrad": 1e-10, "muon": 1e-7}.get(name, 1e-8))
        self.decay = numbers.get("weight-decay", {"adamw": 0.01, "muon": 0.1}.get(name, 0.0))
        self.momentum = numbers.get("momentum", {"rmsprop": 0.0, "muon": 0.95}.get(name, 0.9))
        self.nesterov = numbers.get("nesterov", "true" if name == "muon" else "false") == "true"
        self.limit = numbers.get("clip-norm", math.inf)
        self.numbers, self.is_double = numbers, is_double
        self.update, self.states, self.step = getattr(self, "by_" + name.replace("-", "_")), {}, 0

    def apply(self, parameters: dict[str, np.ndarray], gradients: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        self.step += 1
        norm = math.sqrt(sum(float((g * g).sum()) for g in gradients.values()))
        scale = min(1.0, self.limit / (norm + 1e-6))
        return {name: self.update(name, p, scale * gradients[name]) for name, p in parameters.items()}

    def mixed(self, key, weight: float, value, gain: float):
        self.states[key] = weight * self.states.get(key, 0.0) + gain * value
        return self.states[key]

    def by_sgd(self, name, p, g):
        return p - self.rate * (g + self.decay * p)

    def by_momentum(self, name, p, g):
        d = g + self.decay * p
        velocity = self.mixed(name, self.momentum, d, 1.0)
        return p - self.rate * (d + self.momentum * velocity if self.nesterov else velocity)

    def by_adam(self, name, p, g):
        return self.adam_step(name, p, g + self.decay * p)

    def by_adamw(self, name, p, g):
        return self.adam_step(name, p * (1 - self.rate * self.decay), g)

    def adam_step(self, name, p, g):
        m = self.mixed((name, "m"), self.beta1, g, 1 - self.beta1) / (1 - self.beta1**self.step)
        v = self.mixed((name, "v"), self.beta2, g * g, 1 - self.beta2) / (1 - self.beta2**self.step)
        return p - self.rate * m / (np.sqrt(v) + self.eps)

    def by_lion(self, name, p, g):
        direction = np.sign(self.beta1 * self.states.get(name, 0.0) + (1 - self.beta1) * g)
        self.mixed(name, self.beta2, g, 1 - self.beta2)
        return p * (1 - self.rate * self.decay) - self.rate * direction

    def by_rmsprop(self, name, p, g):
        g = g + self.decay * p
        alpha = self.numbers.get("alpha", 0.99)
        variance = self.mixed((name, "v"), alpha, g * g, 1 - alpha)
        if self.numbers.get("centered") == "true":
            variance = variance - self.mixed((name, "m"), alpha, g, 1 - alpha) ** 2
        d = g / (np.sqrt(variance) + self.eps)
        return p - self.rate * (self.mixed((name, "u"), self.momentum, d, 1.0) if self.momentum else d)

    def by_adagrad(self, name, p, g):
        g = g + self.decay * p
        self.states.setdefault(name, self.numbers.get("initial-accumulator-value", 0.0))
        total = self.mixed(name, 1.0, g * g, 1.0)
        rate = self.rate / (1 + (self.step - 1) * self.numbers.get("lr-decay", 0.0))
        return p - rate * g / (np.sqrt(total) + self.eps)

    def by_adafactor(self, name, p, g):
        eps1 = self.numbers.get("eps1") or float(np.finfo(np.float64 if self.is_double else np.float32).eps)
        weight = self.step ** self.numbers.get("beta2-decay", -0.8)
        size = max(self.numbers.get("eps2", 1e-3), math.sqrt((p * p).mean()))
        rate = size * min(self.rate, 1 / math.sqrt(self.step))
        p = p * (1 - self.rate * self.decay)
        if p.ndim > 1:
            rows = self.mixed((name, "r"), 1 - weight, (g * g).mean(-1, keepdims=True), weight)
            columns = self.mixed((name, "c"), 1 - weight, (g * g).mean(-2, keepdims=True), weight)
            moment = rows * columns / np.maximum(rows.mean(-2, keepdims=True), eps1)
        else:
            moment = self.mixed(name, 1 - weight, g * g, weight)
        u = g / np.sqrt(np.maximum(moment, eps1**2))
        return p - rate / max(1.0, math.sqrt((u * u).mean()) / self.numbers.get("clip-threshold", 1.0)) * u

    def by_muon(self, name, p, g):
        """Updates a matrix."""
        m = self.mixed(name, self.momentum, g, 1 - self.momentum)
        x = g + self.momentum * (m - g) if self.nesterov else m
        x = x / max(np.linalg.norm(x), self.eps)
        a, b, c = map(float, self.numbers.get("ns-coefficients", "3.4445,-4.775,2.0315").split(","))
        for _ in range(self.numbers.get("ns-steps", 5)):
            s = x @ x.T
            x = a * x + (b * s + c * s @ s) @ x
        rows, columns = p.shape
        factor = {
            "original": math.sqrt(max(1, rows / columns)),
            "match-rms-adamw": 0.2 * math.sqrt(max(rows, columns)),
            "spectral-unclamped": math.sqrt(rows / columns),
        }[self.numbers.get("adjust-lr", "original")]
        return p * (1 - self.rate * self.decay) - self.rate * factor * x


OPTIMIZERS = [name.removeprefix("by_").replace("_", "-") for name in vars(Optimizer) if name.startswith("by_")]


@dataclass
class Run:
    """The losses and gradients of each step, the outputs of the first step, and the final parameters."""

    losses: list[float]
    gradients: list[dict[str, np.ndarray]]
    outputs: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]


def train(case: Case, tapes: list[Tape], turn: Callable = lambda name, gradient: gradient) -> Run:
    """Trains one step on each tape. `turn` replaces each gradient before the update."""
    parameters = {name: array.astype(np.float64) for name, array in case.trained().items()}
    optimizer = Optimizer(case.optimizer, case.numbers, case.is_double)
    run = Run([], [], {}, {})
    for step, tape in enumerate(tapes):
        loss, gradients, outputs = loss_and_gradients(case, parameters, step, tape)
        run.losses.append(loss)
        run.gradients.append(gradients)
        run.outputs = run.outputs or outputs
        turned = {name: turn(name, gradient) for name, gradient in gradients.items()}
        parameters = {name: tape.rounded(p) for name, p in optimizer.apply(parameters, turned).items()}
    run.weights = parameters
    return run
