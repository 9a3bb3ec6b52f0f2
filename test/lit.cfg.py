"""lit's configuration: the test files, and the substitutions in their RUN lines.

| word | meaning |
|---|---|
| `mtc`, `mtc-opt`, `mtc-lsp-server` and other tools of the build | the tool; the build's bin/ is first on PATH |
| `%mtc` | the compiler driver |
| `FileCheck`, `not`, `split-file`, `count` | LLVM's |
| `%python` | Python with numpy, safetensors and onnx (build/venv, created by tools/setup.sh --tests) |
| `%build` | the build folder |
| `%examples` | the project's examples/ |
| `%support` | test/support: Python helpers and recorded expectations |
| `%s`, `%S`, `%t`, `%T` | lit's own: this file, its folder, a temporary path, a temporary folder |

The environment variable MTC_BUILD selects another build folder. `lit -Dkeep` keeps the files that passing tests write.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

if not hasattr(config, "mtc_build"):  # started on the sources: `lit test/ir`
    root = Path(__file__).resolve().parent.parent
    build = Path(os.environ.get("MTC_BUILD", root / "build/release"))
    site = build / "test/lit.site.cfg.py"
    if not site.exists():
        lit_config.fatal(f"{site} is missing: run `cmake --preset release` first, or set MTC_BUILD")
    lit_config.load_config(config, str(site))
    raise SystemExit

ASAN_OPTIONS = [
    "abort_on_error=1",  # The default exit code of a sanitizer's report is 1, which also indicates invalid input.
]

source = Path(config.mtc_source)
build = Path(config.mtc_build)

config.name = "mtc"
sys.path.insert(0, str(source / "test/support"))  # formats.py, clang_tidy.py
from formats import Script

config.test_format = Script(keeps="keep" in lit_config.params)
config.test_source_root = str(source / "test")
config.test_exec_root = str(build / "test")
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["lit.cfg.py", "unit.cfg.py", "support", "inputs", "Inputs", "exports"]

bin = build / "bin"
config.environment["PATH"] = os.pathsep.join([str(bin), config.llvm_bin, config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["PYTHONPATH"] = str(source / "test/support")
config.environment["MTC"] = str(bin / "mtc")
config.environment["MTC_EXAMPLES"] = str(source / "examples")
config.environment["MTC_EMULATED_RACES"] = "1"  # where device code is emulated
config.environment["OMP_WAIT_POLICY"] = "passive"  # tests run in parallel, so idle threads must not spin
config.environment["MTC_CACHE_DIR"] = str(build / "test/cache")
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME", "CUDA_HOME", "CUDA_PATH", "ONEDNN_MAX_CPU_ISA"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# The folder `sanitized` contains tests of the instrumented programs of the preset asan only.
if config.mtc_sanitizers:
    config.environment.setdefault("ASAN_OPTIONS", ":".join(ASAN_OPTIONS))
else:
    config.excludes.append("sanitized")

venv = source / "build/venv/bin/python3"
config.substitutions += [
    (r"%mtc\b(?!-)", str(bin / "mtc")),
    (r"%python\b", str(venv if venv.exists() else "python3")),
    (r"%build\b", str(build)),
    (r"%examples\b", str(source / "examples")),
    (r"%support\b", str(source / "test/support")),
]

# tools/test.sh --all runs the long tests.
if "all" in lit_config.params:
    config.available_features.add("all")

# bench/compare.py creates it when it first needs PyTorch.
if (source / "build/bench-venv/requirements.txt").exists():
    config.available_features.add("bench-venv")

# Whether a test may mount a small disk.
mounts = ["unshare", "-rm", "sh", "-c", "d=$(mktemp -d) && mount -t tmpfs none $d && umount $d; s=$?; rmdir $d; exit $s"]
try:
    if subprocess.run(mounts, capture_output=True).returncode == 0:
        config.available_features.add("mounts")
except OSError:
    pass

# Whether a test may make minimal installations of Debian.
if os.geteuid() == 0 and shutil.which("debootstrap"):
    config.available_features.add("debootstrap")

# Whether a test may create network namespaces as hosts.
hosts = "ip netns add mtc$$ && ip -n mtc$$ link set lo up && test -w /dev/net/tun; s=$?; ip netns del mtc$$; exit $s"
if subprocess.run(["sh", "-c", hosts], capture_output=True).returncode == 0:
    config.available_features.add("network-namespaces")

# Tests of programs for Arm need the runtime for that architecture.
if (build / "lib/aarch64/libmtc_runtime.a").exists():
    config.available_features.add("aarch64-runtime")

# The feature `native-amx` and similar ones state that the processor supports an instruction set.
try:
    flags = set(next(l for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("flags")).split())
except (OSError, StopIteration):
    flags = set()
for feature, flag in {"native-avx2": "avx2", "native-avx512": "avx512f", "native-amx": "amx_bf16"}.items():
    if flag in flags:
        config.available_features.add(feature)
