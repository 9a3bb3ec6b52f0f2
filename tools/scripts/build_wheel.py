#!/usr/bin/env python3
"""Builds a wheel of the Python package that contains the compiler, the runtime's archives and the linker.

    tools/scripts/build_wheel.py DIST [--build build/release] [--patchelf PATH] [--offline]

The wheel contains the shared libraries that the compiler needs, except those of glibc and GCC. Users need Python, numpy, and clang++ or
g++, which provide the start-up files of linked libraries.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Libraries that every Linux system with a C++ compiler has.
SYSTEM = re.compile(r"(linux-vdso|ld-linux|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)[.-]")
# Libraries that compiled models need. The linker searches for the name without a version.
LINKED = ("libdnnl", "libgomp")


def run(*command: object, **options: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"build_wheel.py: {command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def needed(binary: Path) -> dict[str, Path]:
    """Returns the shared libraries that a binary needs, directly or indirectly, by name."""
    found = re.findall(r"^\s*(\S+) => (\S+)", run("ldd", binary), re.MULTILINE)
    return {name: Path(path) for name, path in found if not SYSTEM.match(name)}


def linker(build: Path) -> Path:
    """Returns the lld of the LLVM that the build uses."""
    cache = (build / "CMakeCache.txt").read_text()
    llvm = Path(re.search(r"^LLVM_DIR:PATH=(.+)/lib/cmake/llvm$", cache, re.MULTILINE).group(1))
    return llvm / "bin/lld"


def add_compiler(build: Path, folder: Path, patchelf: str) -> None:
    """Installs the compiler into `folder`, with everything that it loads and links."""
    run("cmake", "--install", build, "--prefix", folder, "--strip")
    for path in (folder / "bin").iterdir():
        if path.name != "mtc":
            path.unlink()
    for part in ("share", "include"):
        shutil.rmtree(folder / part, ignore_errors=True)
    shutil.copy(linker(build), folder / "bin/ld.lld")
    libraries: dict[str, Path] = {}
    for binary in (build / "bin/mtc", linker(build)):
        libraries |= needed(binary)
    for name, path in libraries.items():
        shutil.copy(path, folder / "lib" / name)
        (folder / "lib" / name).chmod(0o755)
        run(patchelf, "--set-rpath", "$ORIGIN", folder / "lib" / name)
        if (base := name.split(".so")[0]) in LINKED:
            (folder / f"lib/{base}.so").write_text(f"INPUT({name})\n")  # A wheel has no symbolic links.
    for path in (folder / "bin").iterdir():
        run(patchelf, "--set-rpath", "$ORIGIN/../lib", path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path, help="folder of the wheel")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder (default: build/release)")
    parser.add_argument("--patchelf", default=shutil.which("patchelf"), help="patchelf (default: the one on PATH)")
    parser.add_argument("--offline", action="store_true", help="use the installed setuptools (70.1 or later)")
    arguments = parser.parse_args()
    if not arguments.patchelf:
        sys.exit("build_wheel.py: patchelf is not on PATH; install it, or set --patchelf")
    for old in arguments.dist.glob("mtc-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as temporary:
        package = Path(temporary) / "package"
        shutil.copytree(ROOT / "python", package, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        add_compiler(arguments.build.resolve(), package / "mtc/_compiler", arguments.patchelf)
        shutil.copy(ROOT / "LICENSE", package)
        project = package / "pyproject.toml"
        text = project.read_text().replace('mtc = ["py.typed"]', 'mtc = ["py.typed", "_compiler/**"]')
        project.write_text(text + '\n[tool.distutils.bdist_wheel]\nplat-name = "linux_x86_64"\n')
        isolation = ["--no-build-isolation"] if arguments.offline else []
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", *isolation, "--wheel-dir", arguments.dist.resolve(), package)
    (wheel,) = arguments.dist.glob("mtc-*.whl")
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
