# RUN: %python %s %t %build
"""The wheel and the Debian package are reproducible and small, and need no compiler: both compile programs and libraries that train."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from models import EXAMPLES
from program import TIMEOUT, own_folder

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/scripts"))
import build_packages  # noqa: E402

MAXIMUM_BYTES = 90e6
MAXIMUM_GLIBC = 36  # glibc 2.36 of Debian 12
folder, build = own_folder(), Path(sys.argv[2])
digits = EXAMPLES / "digits"
train = ["--data", f"x={digits}/train_x.npy", "--data", f"labels={digits}/train_labels.npy", "--epochs", "8", "--quiet"]
evaluate = ["--data", f"x={digits}/test_x.npy", "--data", f"labels={digits}/test_labels.npy", "--evaluate", "--quiet"]


def run(*command: object, path: str = "/usr/bin:/bin", **variables: str) -> str:
    """Runs a command without the environment of the tests; returns its output."""
    words = [str(word) for word in command]
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "MTC_CACHE_DIR")}
    done = subprocess.run(words, cwd=folder, env={**kept, "PATH": path, **variables}, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, f"{words}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check_compiler(mtc: Path, folders: Path) -> None:
    """Compiles and trains with `mtc`, which loads and links files below `folders` only. PATH has no compiler and no linker."""
    empty, work = folder / "empty", folder / f"programs-{folders.name}"
    empty.mkdir(exist_ok=True)
    work.mkdir()
    model = (digits / "digits.onnx", "--dim", "batch=32")
    binary = next(path for path in folders.rglob("bin/mtc") if not path.is_symlink() and path.stat().st_size > 1e7)
    for loads in (binary, *folders.rglob("libdnnl.so.*")):
        found = re.findall(r"^\s*(\S+) => (\S+)", run("ldd", loads), re.MULTILINE)
        outside = [name for name, library in found if not Path(library).is_relative_to(folders)]
        assert len(found) > 3 and all(build_packages.SYSTEM.match(name) for name in outside), (loads, found)
    kinds = {"dynamic": [], "without": ["--no-onednn"], "static": ["--static"]}
    for kind, flags in kinds.items():
        program = work / kind
        run(mtc, "compile", *model, *flags, "-o", program, path=str(empty))
        run(program, *train, "--save", work / f"{kind}.saved", path=str(empty))
        output = run(program, *evaluate, "--resume", work / f"{kind}.saved", path=str(empty))
        assert "accuracy 0.9" in output, output
    assert "not a dynamic executable" in subprocess.run(["ldd", work / "static"], capture_output=True, text=True).stderr
    run(mtc, "compile", *model, "--ranks", "2", "-o", work / "ranks", path=str(empty))
    run(mtc, "compile", *model, "--emit", "library", "-o", work / "libarchive.a", path=str(empty))
    if (build / "lib/aarch64/libmtc_runtime.a").exists():
        run(mtc, "compile", *model, "--cpu", "aarch64", "-o", work / "arm", path=str(empty))
        assert (work / "arm").read_bytes()[18:20] == b"\xb7\x00"  # EM_AARCH64
    assert not list(work.glob(".mtc*")), list(work.iterdir())


packages: dict[str, list[Path]] = {"*.whl": [], "*.deb": []}
for dist in (folder / "first", folder / "second"):
    subprocess.run([sys.executable, build_packages.__file__, dist, "--build", build], check=True)
    for pattern, built in packages.items():
        built += dist.glob(pattern)
for pattern, (first, second) in packages.items():
    assert first.name == second.name and first.read_bytes() == second.read_bytes(), f"two builds of {pattern} differ"
    assert 2e7 < first.stat().st_size <= MAXIMUM_BYTES, (first, first.stat().st_size)
(wheel, _), (deb, _) = packages.values()

# The tag of the wheel is one that auditwheel accepts.
shown = run(sys.executable, "-m", "auditwheel", "show", wheel)
tag = re.search(r'following platform tag:\s+"manylinux_2_(\d+)_x86_64"', shown)
assert tag and f"manylinux_2_{tag[1]}_x86_64" in wheel.name and int(tag[1]) <= MAXIMUM_GLIBC, shown

# pip installs the command, the manual page and the completions.
environment = folder / "venv"
venv.create(environment)
run(sys.executable, "-m", "pip", "--python", environment / "bin/python3", "install", "--quiet", "--no-deps", "--no-index", wheel)
mtc = environment / "bin/mtc"
check_compiler(mtc, environment)
assert (environment / "share/man/man1/mtc.1").read_text() == run(mtc, "man")
for shell, file in (("bash", "bash-completion/completions/mtc"), ("zsh", "zsh/site-functions/_mtc"), ("fish", "fish/vendor_completions.d/mtc.fish")):
    assert (environment / "share" / file).read_text() == run(mtc, "completion", shell)
installed = [path for path in environment.rglob("*") if path.is_file() and not path.is_symlink()]
paths = [path for path in installed if "_compiler" in path.parts and str(ROOT).encode() in path.read_bytes()]
assert len(installed) > 100 and not paths, f"{paths} contain the path of the build"
script = f"""
import mtc, numpy as np
library = mtc.compile({str(digits / "digits.onnx")!r}, "out/digits", dims={{"batch": 32}}, no_cache=True)
trainer = mtc.Trainer(library)
data = {{"x": np.load({str(digits / "train_x.npy")!r}), "labels": np.load({str(digits / "train_labels.npy")!r})}}
losses = trainer.fit(data, epochs=1).losses
assert losses[-1] < losses[0], losses
mapped = {{line.split()[-1] for line in open("/proc/self/maps") if "libdnnl" in line}}
assert mapped and all(path.startswith({str(environment)!r}) for path in mapped), mapped
"""
numpy = sysconfig.get_path("purelib")
run(environment / "bin/python3", "-c", script, path=str(folder / "empty"), PYTHONPATH=numpy)

# The Debian package has the same compiler.
run("dpkg-deb", "--extract", deb, folder / "deb")
check_compiler(folder / "deb/usr/bin/mtc", folder / "deb")
for file in ("man/man1/mtc.1", "bash-completion/completions/mtc", "doc/mtc/copyright", "doc/mtc/licenses/libdnnl2"):
    assert (folder / "deb/usr/share" / file).stat().st_size > 0
depends = run("dpkg-deb", "--field", deb, "Depends").strip()
assert re.fullmatch(r"libc6 \(>= 2\.\d+\), libgcc-s1 \(>= \d+\), libstdc\+\+6 \(>= \d+\)", depends), depends
