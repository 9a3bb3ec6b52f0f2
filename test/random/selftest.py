"""Tests the random graphs themselves: all operators are covered, planted errors are found, and failures are reduced.

    selftest.py MTC OPERATORS FOLDER     OPERATORS: the output of `mtc-opt --show-onnx-operators`
"""

import copy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import tape
from case import Case
from comparison import RuleError, expect
from failures import keep
from generator import REQUIRED, generate
from onnx import numpy_helper
from program import Checker, Failure, optional_passes
from shrink import shrink

MTC, LISTED, FOLDER = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
SEED, GRAPHS = 1, 12


# Operators without a generator, because other tests cover them: random ones (test/e2e/training/random_numbers.py), those on integers only,
# which are not trained (ONNX's own tests, test/frontend/onnx/backend), and preprocessing of features (test/e2e/models/linear_models.py).
NOT_GENERATED = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
         "ConvInteger", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul",
         "ai.onnx.ml::ArrayFeatureExtractor", "ai.onnx.ml::Binarizer", "ai.onnx.ml::Imputer", "ai.onnx.ml::Normalizer",
         "ai.onnx.ml::Scaler"}  # fmt: skip

# Operators that are rewritten before the conversion.
REWRITTEN = {"Loop", "Scan", "ai.onnx.preview::FlexAttention"}


def operators_are_covered():
    """Every converted operator must have a generator: see README.md. Operators named `mtc::` are created by rewrites."""
    converted = {name for name in LISTED.read_text().split() if not name.startswith("mtc::")}
    assert len(converted) > 100, converted
    different = converted - NOT_GENERATED ^ set(REQUIRED) - REWRITTEN
    assert not different and NOT_GENERATED <= converted, f"in one of the compiler and test/random/operators only: {different}"


def wrong_numbers_are_seen(cases: list):
    """Checks that the comparison finds an element, a loss or a weight with an error of 0.3 % of the largest one, a missing one, and NaN."""
    for case, expectation in cases:
        right = {name: np.array(e.value) for name, e in expectation.gradients.items()}
        assert not expectation.check_gradients(right)
        largest = max(np.abs(g).max() for g in right.values())
        for name, gradient in right.items():
            for change in 3e-3 * max(np.abs(gradient).max(), 0.03 * largest), np.nan:
                wrong = right | {name: np.array(gradient)}
                wrong[name].flat[gradient.size // 2] += change
                assert expectation.check_gradients(wrong), (name, change)
            assert expectation.check_gradients({n: g for n, g in right.items() if n != name}), name
        losses = [float(e.value) for e in expectation.losses]
        assert not expectation.check_losses(losses)
        assert expectation.check_losses(losses[:-1])
        assert expectation.check_losses([losses[0] * 1.003 + 1e-3, *losses[1:]])
        weights = {name: e.value for name, e in expectation.weights.items()}
        assert not expectation.check_weights(weights)
        assert expectation.check_weights({name: w + 0.1 + np.abs(w).max() for name, w in weights.items()})


def wrong_rules_of_the_reference_are_seen(cases: list):
    """Checks that central differences find a wrong derivative in the reference itself."""
    right, found = tape.contract, 0
    tape.contract = lambda equation, x, *others: right(equation, detached(x), *others)
    for case, _ in cases:
        try:
            expect(case)
        except RuleError:
            found += 1
        except tape.Rejected:
            pass
    tape.contract = right
    assert found, "no contraction's gradient was affected"


def detached(x: tape.Value) -> tape.Value:
    """Returns x with half of its cotangent."""
    return x.tape.record(x.data, [(x, lambda g: 0.5 * g)]) if x.varies else x


def wrong_programs_are_seen(checker: Checker, cases: list):
    """Checks that a program is reported if its first parameter differs by more than the tolerance."""
    for case, expectation in cases:
        other = copy.deepcopy(case.model)
        name, array = next(iter(case.trained().items()))
        tensor = next(i for i in other.graph.initializer if i.name == name)
        tensor.CopyFrom(numpy_helper.from_array((array * array.dtype.type(1.1) + array.dtype.type(0.1)), name))
        assert not checker.failures(replace(case, skipped=[], emulated=False), expectation), "the case itself fails"
        assert checker.failures(replace(case, model=other, skipped=[], emulated=False), expectation), case.model.graph.name


def failures_are_made_smaller(checker: Checker, cases: list):
    """Checks that a planted failure (any model with a certain operator) is reduced to little more than this operator."""

    def plant(operator: str):
        def failures(case: Case, expectation) -> list[Failure]:
            holds = any(node.op_type == operator for node in case.model.graph.node)
            return [Failure("planted", operator, ["none"])] if holds else []

        return failures

    for case, _ in cases:
        nodes = [node.op_type for node in case.model.graph.node if node.op_type != "Constant"]
        operator = nodes[len(nodes) // 2]
        check = plant(operator)
        smaller = shrink(case, check(case, None)[0], check, seconds=20)
        left = [node.op_type for node in smaller.model.graph.node if node.op_type != "Constant"]
        assert operator in left and len(left) <= max(4, len(nodes) // 4), (operator, nodes, left)
    kept = keep(FOLDER / "kept", SEED, 0, smaller, check(smaller, None)[0], checker)
    names = {path.name for path in kept.iterdir()}
    assert {"model.onnx", "model.txt", "reproduce.sh", "differences.txt"} <= names, names
    assert all(f"{name}.npy" in names for name in smaller.data), names


def cases_are_the_same_each_time(case: Case):
    code = ("import sys; from generator import generate; case, _ = generate(1, 0, sys.argv[1:]);"
            "sys.stdout.buffer.write(case.model.SerializeToString())")  # fmt: skip
    folder = Path(__file__).parent
    for seed in "1", "2":
        command = [sys.executable, "-c", code, *optional_passes(MTC)]
        written = subprocess.run(command, cwd=folder, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        assert written == case.model.SerializeToString(), "a case depends on more than its seed"


def main():
    operators_are_covered()
    passes = optional_passes(MTC)
    assert len(passes) >= 9, passes
    cases = [generate(SEED, index, passes) for index in range(GRAPHS)]
    checker = Checker(MTC, FOLDER / "work")
    wrong_numbers_are_seen(cases)
    wrong_rules_of_the_reference_are_seen(cases)
    wrong_programs_are_seen(checker, cases[:3])
    failures_are_made_smaller(checker, cases[:4])
    cases_are_the_same_each_time(cases[0][0])


main()
