# RUN: %python %s
"""Every division of single operations among ranks, by the rules of `SplitRules`: `mtc-test-splits` divides each sample of
`split_samples.py` along each axis, and the reference interpreter executes all ranks.

- Results do not depend on the number of ranks with the same number of parts, bit for bit. Those of convolutions do not up to rounding.
- They are those of the whole operation, bit for bit; sums over a divided axis are equal up to rounding.
- Every registered operation has samples, or a reason to have none."""

import os
import re
import subprocess
from collections import Counter
from random import Random

import numpy as np
from exchange import run_on_ranks
from interpret import parse
from split_samples import ELEMENTWISE, SAMPLES, WITHOUT_RULES

COUNT = int(os.environ.get("MTC_SAMPLES", 16))  # samples of each operation; elementwise operations, which have one rule, need fewer
RANKS_AND_CHUNKS = (2, 2), (2, 4), (4, 4), (3, 3)
MINIMUM_CASES = 4500  # divisions that are compared, with the default number of samples
# These are computed alike on all ranks, or become other operations before layers are divided.
UNDIVIDED = {"add_rows", "constant", "softmax_cross_entropy", "top_k", "select_by_mode"}

ROUNDED = {"convolve", "transposed_convolve", "convolve_weight_gradient"}  # their sums depend on the extents of each rank


def check_coverage():
    registered = {name.removeprefix("mtc.") for name in subprocess.check_output(["mtc-opt", "--show-operations"], text=True).split()}
    listed = [*SAMPLES, *(name for names in WITHOUT_RULES.values() for name in names.split())]
    assert len(listed) == len(set(listed)), [name for name, count in Counter(listed).items() if count > 1]
    missing, unknown = registered - set(listed), set(listed) - registered
    assert not missing, f"operations without samples in split_samples.py: {sorted(missing)}"
    assert not unknown, f"split_samples.py has operations that do not exist: {sorted(unknown)}"


def divide(text: str, ranks: int, chunks: int) -> tuple[dict, dict]:
    """Returns the functions by name, and the axis from which each division follows."""
    run = ["mtc-opt", "-", f"-mtc-test-splits=ranks={ranks} chunks={chunks}", "-mtc-exchange-partials", "-mtc-decompose=library-calls",
           "-canonicalize", "-mtc-form-kernels", "-mlir-print-local-scope"]  # fmt: skip
    made = subprocess.run(run, input=text, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-3000:]
    return parse(made.stdout), dict(re.findall(r'func.func @(\w+)\(.*attributes \{split = "(.*?)"\}', made.stdout))


def same_bits(found: list, wanted: list) -> bool:
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))


def close(found: list, wanted: list) -> bool:
    return all(np.allclose(a, b, 1e-4, 1e-4, equal_nan=True) for a, b in zip(found, wanted, strict=True))


def main():
    check_coverage()
    np.seterr(all="ignore")
    counts = {name: COUNT // 4 if name in ELEMENTWISE else COUNT for name in SAMPLES}
    samples = {f"{name}_{i}": SAMPLES[name](Random(f"{name} {i}")) for name, count in counts.items() for i in range(count)}
    text = "".join(sample.function(name) for name, sample in samples.items())
    cases, exact = Counter(), 0
    for ranks, chunks in RANKS_AND_CHUNKS:
        (functions, origins), (alone, _) = divide(text, ranks, chunks), divide(text, 1, chunks)
        values = {}
        for name, origin in origins.items():
            base = name.rsplit("_split", 1)[0]
            operation = base.rsplit("_", 1)[0]
            if base not in values:
                random = np.random.default_rng(len(base) + sum(map(ord, base)))
                arguments = [each.value(random) for each in samples[base].arguments]
                values[base] = arguments, alone[base](*arguments)
            arguments, whole = values[base]
            wanted = alone[name](*arguments)
            what = f"{samples[base].text}\n{origin}, {ranks} ranks, {chunks} parts"
            for rank, found in enumerate(run_on_ranks([functions[name]] * ranks, [arguments] * ranks)):
                equal = close if operation in ROUNDED else same_bits
                assert equal(found, wanted), f"{what}: rank {rank} has\n{found}\none rank has\n{wanted}"
            # One rank computes whole operations, and sums of addends.
            assert close(wanted, whole), f"{what}: the sum is\n{wanted}\nexpected\n{whole}"
            cases[operation] += 1
            exact += same_bits(wanted, whole)
    total = sum(cases.values())
    print(f"{total} divisions of {len(cases)} operations are equal to those of one rank, {exact} of them to the whole operation, bit for bit")
    print(dict(sorted(cases.items())))
    undivided = SAMPLES.keys() - cases.keys()
    assert undivided == UNDIVIDED, f"operations without division: {sorted(undivided)}, expected {sorted(UNDIVIDED)}"
    assert COUNT < 16 or total >= MINIMUM_CASES, f"{total} divisions, expected at least {MINIMUM_CASES}"


main()
