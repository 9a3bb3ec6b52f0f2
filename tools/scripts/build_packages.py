#!/usr/bin/env python3
"""Makes the packages of mtc: a Python wheel and a Debian package.

    tools/scripts/build_packages.py DIST [--build build/release] [--only wheel|deb]

Both contain the compiler, the libraries that it loads, and all that it links into programs and libraries. They need neither a compiler nor
development files. Equal builds give equal bytes: times are those of the last commit, or SOURCE_DATE_EPOCH.
"""

import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DESCRIPTION = "ahead-of-time compiler of ONNX models into native training programs"
# Libraries that every Linux system has. Their versions decide on which systems a package works.
SYSTEM = re.compile(r"(linux-vdso|ld-linux|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)[.-]")
# Debian packages of the code that is compiled or linked into mtc and its programs.
LINKED = ("libc6-dev", "libstdc++-12-dev", "llvm-22-dev", "liblld-22", "zlib1g-dev", "libjpeg62-turbo-dev", "libpng-dev",
          "nlohmann-json3-dev", "libtomlplusplus-dev", "libcli11-dev")  # fmt: skip
# The command `mtc` of a wheel. pip replaces the first line. The package is not imported, because numpy takes 0.1 s.
COMMAND = '''#!python
"""Runs the compiler in the Python package mtc."""
import os
import sys
from importlib.util import find_spec

program = os.path.join(find_spec("mtc").submodule_search_locations[0], "_compiler", "bin", "mtc")
os.execv(program, ["mtc", *sys.argv[1:]])
'''


def run(*command: object, **options: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"build_packages.py: {command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def needed(binary: Path) -> dict[str, Path]:
    """Returns the shared libraries that a binary needs, directly or indirectly, by name, without those of the system."""
    found = re.findall(r"^\s*(\S+) => (\S+)", run("ldd", binary), re.MULTILINE)
    return {name: Path(path) for name, path in found if not SYSTEM.match(name)}


def copyrights(libraries: list[str]) -> dict[str, Path]:
    """Returns the copyright files of LINKED, and of the Debian packages that contain the libraries, by package."""
    owners = run("dpkg-query", "-S", *(f"*/{name}" for name in libraries))
    packages = {line.split(":")[0] for line in owners.splitlines()} | set(LINKED)
    return {package: Path(f"/usr/share/doc/{package}/copyright") for package in sorted(packages)}


def install(build: Path, tree: Path) -> None:
    """Installs mtc into the folder `tree`, with the libraries that it loads and their licenses."""
    run("cmake", "--install", build, "--prefix", tree, "--strip", "--component", "mtc")
    libraries = needed(tree / "bin/mtc")
    for name, path in libraries.items():
        copy = tree / "lib" / name
        shutil.copyfile(path, copy)
        run("patchelf", "--set-rpath", "$ORIGIN", copy)
    licenses = tree / "share/doc/mtc/licenses"
    licenses.mkdir()
    for package, path in copyrights(sorted(libraries)).items():
        shutil.copyfile(path, licenses / package)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def metadata(project: dict) -> str:
    """Returns the core metadata (PEP 566) of the wheel."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement} ; extra == "{extra}"' for requirement in requirements]
    text = (ROOT / "python" / project["readme"]).read_text()
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text])


def write_wheel(tree: Path, dist: Path, epoch: int) -> Path:
    """Writes the wheel: the package with the tree's bin and lib as `mtc/_compiler`, the command, and the manual page and completions."""
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    name = f"{project['name']}-{project['version']}"
    tag = f"py3-none-manylinux_{platform.libc_ver()[1].replace('.', '_')}_{platform.machine()}"
    entries: dict[str, bytes | Path] = {}
    for path in files_of(ROOT / "python/mtc"):
        if "__pycache__" not in path.parts:
            entries[f"{path.relative_to(ROOT / 'python')}"] = path
    for path in files_of(tree):
        relative = path.relative_to(tree)
        if relative.parts[0] in ("bin", "lib"):
            entries[f"mtc/_compiler/{relative}"] = path
        elif "licenses" in relative.parts:
            entries[f"{name}.dist-info/licenses/{path.name}"] = path
        elif relative.parts[0] == "share" and "doc" not in relative.parts:
            entries[f"{name}.data/data/{relative}"] = path
    entries[f"{name}.data/scripts/mtc"] = COMMAND.encode()
    entries[f"{name}.dist-info/licenses/LICENSE"] = ROOT / "LICENSE"
    entries[f"{name}.dist-info/METADATA"] = metadata(project).encode()
    entries[f"{name}.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: mtc\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    wheel = dist / f"{name}-{tag}.whl"
    record = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(entry: str, data: bytes, executable: bool = False) -> None:
            info = zipfile.ZipInfo(entry, time.gmtime(epoch)[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(info, data)

        for entry in sorted(entries, key=lambda entry: (".dist-info/" in entry, entry)):  # metadata last, as PEP 427 recommends
            source = entries[entry]
            data = source.read_bytes() if isinstance(source, Path) else source
            add(entry, data, "/bin/" in entry or "/scripts/" in entry)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            record += f"{entry},sha256={digest},{len(data)}\n"
        add(f"{name}.dist-info/RECORD", f"{record}{name}.dist-info/RECORD,,\n".encode())
    return wheel


def write_deb(tree: Path, dist: Path, epoch: int) -> Path:
    """Writes the Debian package: the tree's bin and lib below /usr/lib/mtc, the rest below /usr."""
    version = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]["version"]
    architecture = run("dpkg", "--print-architecture").strip()
    root = tree.parent / "deb"
    (root / "DEBIAN").mkdir(parents=True)
    for folder, destination in (("bin", "lib/mtc/bin"), ("lib", "lib/mtc/lib"), ("include", "include"), ("share", "share")):
        shutil.copytree(tree / folder, root / "usr" / destination)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/mtc").symlink_to("../lib/mtc/bin/mtc")
    vendor = root / "usr/share/zsh/vendor-completions"  # Debian's folder for completions of packages
    (root / "usr/share/zsh/site-functions").rename(vendor)
    (root / "usr/share/doc/mtc/LICENSE").rename(root / "usr/share/doc/mtc/copyright")
    kilobytes = sum(path.stat().st_size + 1023 >> 10 for path in files_of(root))
    (root / "DEBIAN/control").write_text(f"""Package: mtc
Version: {version}
Architecture: {architecture}
Maintainer: the mtc developers
Installed-Size: {kilobytes}
Depends: libc6 (>= {platform.libc_ver()[1]}), libgcc-s1 (>= 12), libstdc++6 (>= 12)
Suggests: openmpi-bin
Section: devel
Priority: optional
Description: {DESCRIPTION}
""")
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    package = dist / f"mtc_{version}_{architecture}.deb"
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    run("dpkg-deb", "--root-owner-group", "-Zzstd", "-z12", "--build", root, package, env=environment)
    return package


WRITERS = {"wheel": write_wheel, "deb": write_deb}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path, help="folder of the packages")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder (default: build/release)")
    parser.add_argument("--only", choices=WRITERS, help="make only this package")
    arguments = parser.parse_args()
    for tool, package in {"patchelf": "patchelf", "dpkg-deb": "dpkg"}.items():
        if not shutil.which(tool):
            sys.exit(f"build_packages.py: {tool} is not on PATH; install the Debian package {package}")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "-C", ROOT, "log", "-1", "--format=%ct"))
    arguments.dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        install(arguments.build.resolve(), tree)
        for name in [arguments.only] if arguments.only else WRITERS:
            package = WRITERS[name](tree, arguments.dist.resolve(), epoch)
            print(f"{package} ({package.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
