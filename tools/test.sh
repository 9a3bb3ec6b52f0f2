#!/usr/bin/env bash
# Builds everything and runs every test. The last line is `N passed, N failed`; the exit code is 0 only if none failed.
#
#   tools/test.sh          the tests that a change must pass
#   tools/test.sh --all    also long versions of random graphs, combinations and fuzzing, and clang-tidy on all sources
set -euo pipefail
cd "$(dirname "$0")/.."
if (($#)) && [[ $* != --all ]]; then
  echo "test.sh: unknown argument '$*'. The only one is --all" >&2
  exit 1
fi

# A failure before the tests counts as one failed test.
step() {
  echo "== $*"
  local start=$SECONDS
  "$@" || {
    echo "test.sh: '$*' failed, so no test was run" >&2
    echo "0 passed, 1 failed"
    exit 1
  }
  echo "== $((SECONDS - start)) s"
}

step tools/setup.sh --tests
step cmake --preset release --log-level=WARNING
step cmake --build --preset release --target all unit-tests
# The instrumented build checks every memory access of the compiler and the runtime.
step cmake --preset asan --log-level=WARNING
step cmake --build --preset asan --target sanitized-tests fuzz-targets
echo "== tests"
exec build/venv/bin/python3 tools/scripts/run_tests.py --build build/release --sanitized build/asan "$@"
