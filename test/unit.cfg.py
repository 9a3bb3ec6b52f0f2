"""lit's configuration of the unit tests: the executables in a build's bin/unit, in one part per core."""

import os
from pathlib import Path

import lit.formats

config.name = "sanitized unit" if config.mtc_sanitizers else "unit"
config.test_format = lit.formats.GoogleTest(".", "_tests")
config.test_source_root = config.test_exec_root = str(Path(config.mtc_build, "bin/unit"))
config.environment["MTC_EMULATED_RACES"] = "1"  # this line and the next ones are explained in lit.cfg.py
config.environment["OMP_WAIT_POLICY"] = "passive"
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
