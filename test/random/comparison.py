"""Expected results of a program, and their tolerances.

Tolerances depend on the case. The reference is evaluated again, with random changes of every value and every cotangent by about an ulp of
the model's type (`Tape.noise`), which simulate another order of the same operations. The tolerance of losses, gradients and weights is
their change under this noise, times FACTOR. A case is rejected if this tolerance exceeds a thousandth, or if rounding could move a value
across a kink.
"""

from dataclasses import dataclass

import numpy as np
import reference
from case import STEPS, Case
from graph import NEAREST
from tape import Rejected, Tape

EVALUATIONS = 3
BY_SIGN = ("adam", "adamw", "lion")  # for these, the first update is the learning rate times the gradient's sign
FACTOR = 6.0
NOISE = {False: 2.0**-23, True: 2.0**-51}  # is_double
LEAST = {False: 1e-3, True: 1e-9}  # the tolerance of a gradient, relative to its largest element


@dataclass
class Expected:
    """The value of a quantity, and the maximum difference due to rounding."""

    value: np.ndarray
    tolerance: float

    def difference(self, found) -> str | None:
        found = np.asarray(found)
        if found.shape != self.value.shape:
            return f"has the shape {found.shape}, expected {self.value.shape}"
        found = found.astype(np.float64)
        with np.errstate(invalid="ignore"):
            error = np.where(found == self.value, 0.0, np.abs(found - self.value))
        if error.size == 0 or (error <= self.tolerance).all():
            return None
        at = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
        wrong = int((~(error <= self.tolerance)).sum())
        place = f" at {list(map(int, at))}" if self.value.ndim else ""
        return (f"is {found[at]:.9g}{place}, expected {self.value[at]:.9g} within {self.tolerance:.2g} "
                f"({wrong} of {error.size} elements differ)")  # fmt: skip


@dataclass
class Expectation:
    losses: list[Expected]
    gradients: dict[str, Expected]  # of the first step
    weights: dict[str, Expected]  # after the last step
    outputs: dict[str, Expected]  # for the first batch

    def check_gradients(self, found: dict[str, np.ndarray]) -> list[str]:
        return differences("gradient of", self.gradients, found)

    def check_weights(self, found: dict[str, np.ndarray]) -> list[str]:
        return differences("trained", self.weights, {name: found[name] for name in self.weights if name in found})

    def check_outputs(self, found: dict[str, np.ndarray]) -> list[str]:
        return differences("output", self.outputs, found)

    def check_losses(self, found: list[float]) -> list[str]:
        return differences("loss of step", dict(enumerate(self.losses, 1)), dict(enumerate(found, 1)))


def differences(what: str, expected: dict, found: dict) -> list[str]:
    if expected.keys() != found.keys():
        return [f"{what} {sorted(expected.keys() ^ found.keys())}: in one of expected and found only"]
    return [f"{what} {name} {text}" for name, e in expected.items() if (text := e.difference(found[name]))]


def spread(exact, others) -> float:
    with np.errstate(invalid="ignore"):  # inf - inf, if both are infinite
        return max(float(np.nanmax(np.abs(np.asarray(o) - exact), initial=0.0)) for o in others)


def expect(case: Case) -> Expectation:
    """Returns the expected results; raises `Rejected` if tolerances would hide errors."""
    exact_tapes = [Tape() for _ in range(STEPS)]
    exact = reference.train(case, exact_tapes)
    nearest = 1e-9 if case.is_double else NEAREST
    if min(tape.margin for tape in exact_tapes) < nearest:
        raise Rejected("a kink is near")
    others = []
    for seed in range(EVALUATIONS):
        tapes = [Tape(NOISE[case.is_double], seed * STEPS + step) for step in range(STEPS)]
        others.append(reference.train(case, tapes))
        check_decisions(exact_tapes, tapes)
    check_rules(case, exact.gradients[0])
    result = tolerances(case, exact, others)
    if case.optimizer not in BY_SIGN:
        return result
    # With a few seeds, the noise may have the same sign in all of them.
    for sign in (1.0, -1.0):
        tapes = [Tape() for _ in range(STEPS)]
        others.append(reference.train(case, tapes, lambda name, g: certain(g, sign, result.gradients[name].tolerance)))
        check_decisions(exact_tapes, tapes)
    return tolerances(case, exact, others)


def is_uncertain(gradient: np.ndarray, tolerance: float) -> np.ndarray:
    """Returns a mask of the elements in which rounding may change the sign of the gradient, on which an update depends."""
    return np.abs(gradient) < 100 * tolerance


def certain(gradient: np.ndarray, sign: float, tolerance: float) -> np.ndarray:
    """Returns the gradient with this sign wherever rounding may change the sign."""
    return np.where(is_uncertain(gradient, tolerance), sign * (np.abs(gradient) + tolerance), gradient)


def tolerances(case: Case, exact: reference.Run, others: list[reference.Run]) -> Expectation:
    noise, least = NOISE[case.is_double], LEAST[case.is_double]
    largest = max((float(np.abs(g).max(initial=0)) for g in exact.gradients[0].values()), default=0.0)
    if largest < 1e-4:
        raise Rejected("no gradient to speak of")

    def expected(value, moved, least_size: float = 0.0) -> Expected:
        value = np.asarray(value)
        if value.dtype.kind != "f":
            return Expected(value.astype(np.float64), 0.0)
        size = float(np.abs(value[np.isfinite(value)]).max(initial=0)) + least_size
        return Expected(value, FACTOR * (spread(value, moved) + noise * size))

    result = Expectation([], {}, {}, {})
    for step, loss in enumerate(exact.losses):
        result.losses.append(expected(np.float64(loss), [o.losses[step] for o in others], 0.01))
        if result.losses[-1].tolerance > least * (abs(loss) + 0.1):
            raise Rejected("the loss is ill-conditioned")
    for name, g in exact.gradients[0].items():
        result.gradients[name] = expected(g, [o.gradients[0][name] for o in others], 1e-3 * largest)
        if result.gradients[name].tolerance > least * max(float(np.abs(g).max(initial=0)), 0.03 * largest):
            raise Rejected(f"the gradient of {name} is ill-conditioned")
    for name, w in exact.weights.items():
        result.weights[name] = expected(w, [o.weights[name] for o in others])
        result.weights[name].tolerance += sign_risk(case, name, exact.gradients, result.gradients[name].tolerance)
        if case.optimizer in BY_SIGN:  # an update is about as large as the learning rate, however small the weight is
            result.weights[name].tolerance += STEPS * FACTOR * noise * case.numbers["lr"]
    for name, y in exact.outputs.items():
        result.outputs[name] = expected(y, [o.outputs[name] for o in others], 1e-3)
    return result


def sign_risk(case: Case, name: str, gradients, tolerance: float) -> float:
    """Returns the maximum difference of a weight if rounding may change the sign of its gradient."""
    if case.optimizer not in BY_SIGN:
        return 0.0
    uncertain = any(is_uncertain(g[name], tolerance).any() for g in gradients)
    return 2.1 * STEPS * case.numbers["lr"] if uncertain else 0.0


def check_decisions(exact: list[Tape], noisy: list[Tape]):
    for one, other in zip(exact, noisy):
        if any(not np.array_equal(a, b) for a, b in zip(one.decisions, other.decisions, strict=True)):
            raise Rejected("rounding may take the other side of a kink")


class RuleError(Exception):
    """A gradient rule of the reference is wrong; ends the test."""


def check_rules(case: Case, gradients: dict[str, np.ndarray]):
    """Compares the reference's gradients with central differences along a random direction, with two step sizes."""
    random = np.random.default_rng(0)
    parameters = {name: array.astype(np.float64) for name, array in case.trained().items()}
    direction = {name: random.normal(0, 1, array.shape) for name, array in parameters.items()}
    slope = sum(float((gradients[name] * d).sum()) for name, d in direction.items())
    base = Tape()
    reference.loss_and_gradients(case, parameters, 0, base)
    errors, scale = [], sum(float(np.abs(gradients[name] * d).sum()) for name, d in direction.items())
    for width in (1e-5, 1e-6):
        sides, tapes = [], []
        for sign in (width, -width):
            tapes.append(Tape(stopped=base.stops))
            moved = {name: p + sign * direction[name] for name, p in parameters.items()}
            sides.append(reference.loss_and_gradients(case, moved, 0, tapes[-1])[0])
        try:
            check_decisions(tapes[:1], tapes[1:])
        except Rejected:
            continue
        errors.append(abs((sides[0] - sides[1]) / (2 * width) - slope))
        allowed = 1e-4 * scale + 1e-9 * (abs(sides[0]) + 1) / width * 1e-3
        if errors[-1] <= allowed:
            return
    if not errors:
        raise Rejected("kinks lie too near for central differences")
    raise RuleError(f"the reference's gradient is {slope}, central differences are off by {errors}, of {scale}")


