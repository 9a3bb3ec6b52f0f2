#!/usr/bin/env python3
"""Runs the test suites of one build and counts them; the last line of the output is `N passed, N failed`.

A suite is the folder of unit tests' executables, or one folder of lit tests. A suite that runs fewer tests than
test/minimum_counts.json says fails: a runner that finds nothing must not pass. Exit code 1 if anything failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIT_PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


class Tally:
    """Passed and failed tests by suite, and the names of those that failed."""

    def __init__(self):
        self.passed = Counter()
        self.failed = Counter()
        self.skipped = Counter()
        self.failures = []

    def add(self, suite: str, name: str, outcome: str):
        getattr(self, outcome)[suite] += 1
        if outcome == "failed":
            self.failures.append(f"{suite}: {name}")

    def demand(self, minimum: dict[str, int]):
        """One failure for each suite that ran fewer tests than it must."""
        for suite, count in minimum.items():
            ran = self.passed[suite] + self.failed[suite]
            if ran < count:
                self.add(suite, f"ran {ran} tests, and test/minimum_counts.json asks for {count}", "failed")

    def report(self) -> int:
        for suite in sorted(self.passed | self.failed | self.skipped):
            skipped = f", {self.skipped[suite]} skipped" if self.skipped[suite] else ""
            print(f"  {suite}: {self.passed[suite]} passed, {self.failed[suite]} failed{skipped}")
        for failure in self.failures:
            print(f"  FAILED {failure}")
        print(f"{self.passed.total()} passed, {self.failed.total()} failed", flush=True)
        return 1 if self.failures else 0


def run_shard(executable: Path, shard: int, shards: int) -> tuple[dict | None, int | str, str]:
    """What googletest says of every `shards`-th case, None where it died, its exit code, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [executable, f"--gtest_output=json:{results}", "--gtest_brief=1"]
        environment = os.environ | {
            "GTEST_SHARD_INDEX": str(shard),
            "GTEST_TOTAL_SHARDS": str(shards),
            "MTC_EMULATED_RACES": "1",  # this and the next as in lit.cfg.py
            "OMP_WAIT_POLICY": "passive",
        }
        try:
            result = subprocess.run(
                command, timeout=900, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            code, output = result.returncode, result.stdout.decode(errors="replace")
        except (OSError, subprocess.TimeoutExpired) as error:
            code, output = str(error), ""
        # googletest writes the file when it is through with all cases: a crash leaves none.
        return (json.loads(results.read_text()) if results.exists() else None), code, output


def run_unit_tests(tally: Tally, listing: Path, suite: str, jobs: int):
    """Each executable named in `listing`, in as many parts as run at a time, one googletest case being one test; a part
    that dies is one failure more."""
    shards = [(Path(line), shard) for line in listing.read_text().split() for shard in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = pool.map(lambda shard: run_shard(*shard, jobs), shards)
        for (executable, _), (results, code, output) in zip(shards, outcomes):
            clean = True
            for group in results["testsuites"] if results else []:
                for case in group["testsuite"]:
                    failed = "failures" in case
                    clean = clean and not failed
                    ran = case["result"] == "COMPLETED"
                    outcome = "failed" if failed else "passed" if ran else "skipped"
                    tally.add(suite, f"{executable.name} {group['name']}.{case['name']}", outcome)
            if code != 0:
                print(output, flush=True)
                if clean:
                    tally.add(suite, f"{executable.name} ended with {code}", "failed")


# How many inputs each fuzz target runs on, for some ten seconds each.
FUZZ_RUNS = {"onnx": 1500, "recipe": 10000, "npy": 5000, "safetensors": 5000, "tokens": 5000, "manifest": 30000}


def run_fuzz_target(target: Path, seconds: int) -> tuple[bool, int | str, int, str]:
    """Whether it passed, its exit code, how many inputs it ran on, and what it printed."""
    name = target.name.removeprefix("mtc_fuzz_")
    length = [f"-max_total_time={seconds}"] if seconds else [f"-runs={FUZZ_RUNS[name]}", "-seed=1"]
    flags = ["-max_len=65536", "-timeout=60", "-rss_limit_mb=4096", "-close_fd_mask=3", "-print_final_stats=1"]
    # A description of each leak would take longer than the run; what is lost ends with the process.
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    with tempfile.TemporaryDirectory() as corpus:
        command = [target, *length, *flags, f"-artifact_prefix={target}-", corpus, ROOT / "test/fuzz/seeds" / name]
        try:
            result = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
            code, output = result.returncode, result.stderr
        except OSError as error:
            code = output = str(error)
    executed = re.search(r"^stat::number_of_executed_units:\s*(\d+)", output, re.MULTILINE)
    ran = int(executed[1]) if executed else 0
    return code == 0 and ran >= (1 if seconds else FUZZ_RUNS[name]), code, ran, output


def run_fuzz_targets(tally: Tally, listing: Path, seconds: int, jobs: int):
    """Each fuzz target on its seeds and on mutations of them, the same each time; for `seconds` if not 0, others each
    time. An input that fails is kept beside the target."""
    targets = [Path(line) for line in listing.read_text().split()]
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda target: run_fuzz_target(target, seconds), targets)
        for target, (passed, code, ran, output) in zip(targets, results):
            print(f"  {target.name}: {ran} inputs" if passed else output[-8000:], flush=True)
            tally.add("fuzz", f"{target.name} ended with {code} after {ran} inputs", "passed" if passed else "failed")


def run_lit(tally: Tally, build: Path, jobs: int, filters: list):
    """All lit tests; the suite of `mtc :: passes/fuse/x.mlir` is `lit/passes`."""
    llvm = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [f"{llvm}/lit", "-v", "--no-progress-bar", "--timeout=900", f"-j{jobs}", "-o", results]
        environment = os.environ | {"MTC_BUILD": str(build)}
        code = subprocess.run([*command, *filters], env=environment).returncode
        if not results.exists():
            tally.add("lit", f"lit ended with {code} and without results", "failed")
            return
        for test in json.loads(results.read_text())["tests"]:
            name = test["name"].split(" :: ", 1)[1]
            suite = "lit/" + name.split("/")[0] if "/" in name else "lit"
            outcome = "passed" if test["code"] in LIT_PASSED else "skipped" if test["code"] in LIT_SKIPPED else "failed"
            tally.add(suite, f"{name} ({test['code']})", outcome)


def git(*arguments: str) -> list[str]:
    """What a command of git lists with its flag -z."""
    listed = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def check_format(tally: Tally):
    """Every C++ file of the project is as clang-format-22 writes it; all of them are one test."""
    files = git("ls-files", "-z", "*.cpp", "*.h")
    command = ["clang-format-22", "--dry-run", "-Werror", *files]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    failed = result.returncode != 0 or not files
    if failed:
        wrong = sorted({found[1] for found in re.finditer(r"^([^:\n]+):\d+:\d+: error", result.stderr, re.MULTILINE)})
        print(f"Not as clang-format-22 writes them: {' '.join(wrong)}\nTo mend it: clang-format-22 -i FILE...")
    tally.add("format", "clang-format", "failed" if failed else "passed")


def sources_by_change() -> list[str]:
    """The sources of the compiler and the runtime: those that were changed last first, a header standing for the source
    beside it; those of which the history says nothing, as that of a shallow clone, in an order of each commit's own."""
    folders = ["ir", "passes", "codegen", "frontend", "driver", "runtime", "tools"]
    # Code of devices is compiled by a command of its own.
    sources = {f for f in git("ls-files", "-z", *(f"{folder}/*.cpp" for folder in folders)) if "/device/" not in f}
    [head] = git("log", "-z", "--format=%H", "--max-count=1")
    changes = git("diff", "-z", "--name-only", "HEAD")
    # The first commit there is, which in a shallow clone has every file, changed none.
    changes += git("log", "-z", "--name-only", "--format=", "--min-parents=1", "--max-count=400")
    changed = [f for f in dict.fromkeys(re.sub(r"\.h$", ".cpp", f) for f in changes) if f in sources]
    others = sources.difference(changed)
    return changed + sorted(others, key=lambda f: sha256(f"{head} {f}".encode()).digest())


def check_tidy(tally: Tally, build: Path, count: int, jobs: int):
    """The checks of .clang-tidy on the `count` sources that were changed last, and their headers (0: on all of them).

    A source takes seconds, since it includes much of MLIR; what was clean and has not changed stays clean. The build must
    be whole: generated headers and the precompiled one are read.
    """
    files = sources_by_change()
    files = files[:count] if count else files
    if not files:
        tally.add("tidy", "there is no source", "failed")

    def check(file: str) -> str:
        command = ["clang-tidy-22", "-p", build, "--quiet", "--warnings-as-errors=*", file]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
        return "" if result.returncode == 0 else result.stdout + result.stderr

    with ThreadPoolExecutor(jobs) as pool:
        for file, output in zip(files, pool.map(check, files)):
            if output:
                print(output, flush=True)
            tally.add("tidy", file, "failed" if output else "passed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="the build under test")
    parser.add_argument("--sanitized", type=Path, help="an AddressSanitizer build whose tests run as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="lit tests, or fuzz targets, at a time")
    parser.add_argument("--fuzz-seconds", type=int, default=0, help="run each fuzz target for so long")
    parser.add_argument("--only", choices=["unit", "lit", "format", "fuzz", "tidy"], help="one kind of test, without minimum counts")
    parser.add_argument("--tidy-files", type=int, default=50, help="how many sources clang-tidy checks (0: all)")
    parser.add_argument("filters", nargs="*", help="lit tests or folders; all of test/ if none is given")
    options = parser.parse_args()
    build = options.build.resolve()

    tally = Tally()
    if options.only in (None, "unit"):
        run_unit_tests(tally, build / "test/unit_tests.txt", "unit", options.jobs)
        if options.sanitized:
            sanitized_tests = options.sanitized.resolve() / "test/sanitized_tests.txt"
            run_unit_tests(tally, sanitized_tests, "sanitized", options.jobs)
    if options.only in (None, "fuzz") and options.sanitized:
        run_fuzz_targets(tally, options.sanitized.resolve() / "test/fuzz_targets.txt", options.fuzz_seconds, options.jobs)
    if options.only in (None, "lit"):
        run_lit(tally, build, options.jobs, options.filters or [ROOT / "test"])
        if options.sanitized and not options.filters:
            run_lit(tally, options.sanitized.resolve(), options.jobs, [ROOT / "test/sanitized"])
    if options.only in (None, "format"):
        check_format(tally)
    if options.only == "tidy" or (options.only is None and not options.filters):
        check_tidy(tally, build, options.tidy_files, options.jobs)
    if options.only is None and not options.filters:
        minimum = json.loads((ROOT / "test/minimum_counts.json").read_text())
        if not options.sanitized:
            for suite in "sanitized", "lit/sanitized", "fuzz":
                minimum.pop(suite, None)
        tally.demand(minimum)
    print()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
