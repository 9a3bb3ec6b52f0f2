# RUN: %python %s %t
"""Memory budgets between the peak without a budget and the minimum peak are met by combinations of all techniques; a smaller budget never
has a shorter step time. Losses are equal up to the order of summation over rows."""

import json

import numpy as np
from models import DIGITS, GPT2
from program import MTC, compile_example, losses, own_folder, run

BUDGETS, STEPS = 9, 6
folder = own_folder()


def plan(example, *flags, code: int = 0) -> dict:
    """Plans with a fixed cost model, so that all plans use the same rates."""
    command = [MTC, "plan", example.model, *example.flags, "--optimizer", "adamw", "--cost-model", "avx512", "--json", *flags]
    return json.loads(run(command, folder, code).stdout)


for example, most in ((GPT2, 0.75), (DIGITS, 1)):
    highest, lowest = plan(example), plan(example, "--memory", 1, code=1)
    assert not lowest["fits"] and lowest["floor_bytes"] <= highest["floor_bytes"] <= lowest["peak_bytes"] <= most * highest["peak_bytes"], (lowest["floor_bytes"], highest["floor_bytes"], lowest["peak_bytes"], highest["peak_bytes"])
    last = 0.0
    for budget in np.linspace(highest["peak_bytes"], lowest["peak_bytes"], BUDGETS).astype(int):
        found = plan(example, "--memory", budget)
        assert found["fits"] and found["peak_bytes"] <= budget, (example.name, budget, found["peak_bytes"])
        assert found["step_seconds"] >= last, (example.name, budget, found["step_seconds"], last)
        last = found["step_seconds"]

    # The search also starts from sqrt recomputation: its result is at least as fast as that if it fits.
    segments = plan(example, "--recompute", "sqrt", "--tile", "none")
    found = plan(example, "--memory", segments["peak_bytes"])
    assert found["fits"] and found["step_seconds"] <= segments["step_seconds"], (example.name, found, segments)

    def trained(*flags, name: str) -> np.ndarray:
        program = compile_example(example, folder, "adamw", STEPS * example.batch, "--cost-model", "avx512", *flags,
                                  name=f"{example.name}_{name}")  # fmt: skip
        return np.array(losses(program.train(STEPS, name=f"{example.name}_{name}")))

    kept, fitted = trained(name="kept"), trained("--memory", lowest["peak_bytes"], name="fitted")
    assert len(kept) == STEPS and np.allclose(fitted, kept, 1e-5, 0), (example.name, kept, fitted)
