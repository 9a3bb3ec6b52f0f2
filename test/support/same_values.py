"""Compares two versions of the same kernel functions on the same random arguments.

    same_values.py FIRST SECOND

Exits with 1 if a function's results differ by more than rounding, or if nothing was compared. Booleans are true with probability 3/4, and
always for the first element along the last axis.
"""

import sys

import numpy as np

from interpret import parse


def draw(types):
    random = np.random.default_rng(3)
    for shape, dtype in types:
        if dtype == np.bool_:
            value = random.random(shape) < 0.75
            value[..., 0] = True
            yield value
        else:
            yield random.normal(size=shape).astype(dtype)


first, second = (parse(open(path).read()) for path in sys.argv[1:3])
for name, function in first.items():
    arguments = list(draw(function.types))
    for i, (a, b) in enumerate(zip(function(*arguments), second[name](*arguments), strict=True)):
        if not np.allclose(a, b, 1e-12, 1e-12):
            raise SystemExit(f"@{name}: result {i} is\n{b}\nexpected\n{a}")
if not first:
    raise SystemExit("no functions")
print(f"compared {len(first)} functions")
