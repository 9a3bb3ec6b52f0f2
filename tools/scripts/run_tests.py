#!/usr/bin/env python3
"""Runs the tests of a build, and of a sanitized build, in one lit queue, and counts them; the last line is `N passed, N failed`.

A suite fails if it runs fewer tests than test/minimum_counts.json requires, so that a runner that finds no tests does not pass. The exit
code is 1 if anything failed. The queue starts with the tests that took longest when test/.lit_test_times.txt and test/unit_test_times.txt
were recorded.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}
# The folders of tests in the build and in the sanitized build, for all tests and for each kind of test (`--only`).
EVERYTHING = (["test", "bin/unit"], ["test/sanitized", "test/fuzz", "bin/unit"])
KINDS = {
    "unit": (["bin/unit"], ["bin/unit"]),
    "lit": (["test"], ["test/sanitized"]),
    "fuzz": ([], ["test/fuzz"]),
    "lint": (["test/lint"], []),
}


class Tally:
    """Counts of passed and failed tests and their seconds by suite, and the names of failed tests."""

    def __init__(self):
        self.passed = Counter()
        self.failed = Counter()
        self.skipped = Counter()
        self.seconds = Counter()
        self.failures = []

    def add(self, suite: str, name: str, outcome: str, seconds: float = 0.0):
        getattr(self, outcome)[suite] += 1
        self.seconds[suite] += seconds
        if outcome == "failed":
            self.failures.append(f"{suite}: {name}")

    def demand(self, minimum: dict[str, int]):
        """Adds one failure for each suite that ran fewer tests than required."""
        for suite, count in minimum.items():
            ran = self.passed[suite] + self.failed[suite]
            if ran < count:
                self.add(suite, f"ran {ran} tests, but test/minimum_counts.json requires {count}", "failed")

    def report(self) -> int:
        for suite in sorted(self.passed | self.failed | self.skipped):
            skipped = f", {self.skipped[suite]} skipped" if self.skipped[suite] else ""
            print(f"  {suite}: {self.passed[suite]} passed, {self.failed[suite]} failed{skipped}, {self.seconds[suite]:.0f} s")
        for failure in self.failures:
            print(f"  FAILED {failure}")
        print(f"{self.passed.total()} passed, {self.failed.total()} failed", flush=True)
        return 1 if self.failures else 0


def suite_of(name: str) -> tuple[str, str]:
    """Returns the suite and the test's name in it: `lit/passes` and `fuse/x.mlir` for `mtc :: passes/fuse/x.mlir`."""
    run, test = name.split(" :: ", 1)
    folder, _, rest = test.partition("/")
    if run.endswith("unit"):
        return run, rest
    return ("lit/" + folder, rest) if rest else ("lit", folder)


def run_lit(tally: Tally, jobs: int, is_all: bool, paths: list[Path]):
    """Runs all tests under the paths, which are folders of builds; with their long versions if `is_all`."""
    llvm = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [f"{llvm}/lit", "-v", "--no-progress-bar", f"-j{jobs}", "-o", results]
        command += ["-Dall"] if is_all else ["--timeout=1800"]
        code = subprocess.run([*command, *paths]).returncode
        if not results.exists():
            tally.add("lit", f"lit ended with {code} and without results", "failed")
            return
        for test in json.loads(results.read_text())["tests"]:
            suite, name = suite_of(test["name"])
            outcome = "passed" if test["code"] in PASSED else "skipped" if test["code"] in SKIPPED else "failed"
            tally.add(suite, f"{name} ({test['code']})", outcome, test["elapsed"] or 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build to test")
    parser.add_argument("--sanitized", type=Path, help="AddressSanitizer build to test as well")
    # One more job than there are cores, because tests of several ranks sometimes wait for time limits.
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="tests to run in parallel")
    parser.add_argument("--all", action="store_true", help="also run long versions, and clang-tidy on all sources")
    parser.add_argument("--only", choices=KINDS, help="one kind of test, without minimum counts")
    parser.add_argument("filters", nargs="*", type=Path, help="lit tests or folders of test/, without minimum counts")
    options = parser.parse_args()
    build, sanitized = options.build.resolve(), options.sanitized and options.sanitized.resolve()

    paths = [build / "test" / path.resolve().relative_to(ROOT / "test") for path in options.filters]
    if not paths:
        of_build, of_sanitized = KINDS[options.only] if options.only else EVERYTHING
        paths = [build / path for path in of_build] + [sanitized / path for path in of_sanitized if sanitized]
    tally = Tally()
    run_lit(tally, options.jobs, options.all, paths)
    if not options.only and not options.filters:
        minimum = json.loads((ROOT / "test/minimum_counts.json").read_text())
        if not sanitized:
            for suite in "sanitized unit", "lit/sanitized", "lit/fuzz":
                minimum.pop(suite, None)
        tally.demand(minimum)
    print()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
