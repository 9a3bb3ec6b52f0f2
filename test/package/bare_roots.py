# REQUIRES: all, debootstrap
# RUN: %python %s %t --build %build
"""The commands of README.md work in minimal installations of Debian 12 and 13 without a compiler: installation of each package, quick start,
and training from Python.

    test/package/bare_roots.py FOLDER [--build build/release] [--dist DIST] [--suite bookworm] [--site-packages DIR]

needs root and the network. `--dist` has packages (default: the test makes them). `--site-packages` has PyTorch and onnxscript for the
root's Python; then `mtc.export` is tested as well.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SUITES = ("bookworm", "trixie")
TOOLS = ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "ld.lld", "as")
PYTHON = """
import mtc, numpy as np
library = mtc.compile("examples/digits/digits.onnx", "out/digits", dims={"batch": 32})
trainer = mtc.Trainer(library)
data = {"x": np.load("examples/digits/train_x.npy"), "labels": np.load("examples/digits/train_labels.npy")}
losses = trainer.fit(data, epochs=2).losses
assert losses[-1] < losses[0], losses
print("trained from Python:", losses[0], "to", losses[-1])
"""
EXPORT = """
import mtc, torch
torch.manual_seed(0)
module = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
mtc.export(module, (torch.randn(4, 64),), "module.onnx")
trainer = mtc.Trainer(mtc.compile("module.onnx", loss="cross-entropy"))
data = {"x": np.load("examples/digits/train_x.npy").reshape(-1, 64)[:1436], "labels": np.load("examples/digits/train_labels.npy")[:1436]}
name = trainer.inputs[0].name
losses = trainer.fit({name: data["x"].astype(np.float32), trainer.inputs[1].name: data["labels"]}, epochs=2).losses
assert losses[-1] < losses[0], losses
print("exported and trained:", losses[0], "to", losses[-1])
"""


def section(title: str) -> list[tuple[str, str]]:
    """Returns the commands of the first block in a section of README.md that has `$` lines, with the output that is shown after each."""
    text = (ROOT / "README.md").read_text().split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    block = next(block for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) if block.startswith("$ "))
    return [(command, output) for command, output in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]


class Machine:
    """A copy of a minimal Debian, in whose /work commands run as root."""

    def __init__(self, suite: str, folder: Path):
        self.suite, self.path = suite, folder
        archive = ROOT / f"build/roots/{suite}.tar"
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            made = archive.with_suffix(".folder")
            shutil.rmtree(made, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", suite, made, "http://deb.debian.org/debian"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["tar", "-C", made, "-cf", archive, "."], check=True)
            shutil.rmtree(made)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "work").mkdir(parents=True)
        subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", folder / "work")  # a proxy may need those of this machine
        shutil.copytree(ROOT / "examples", folder / "work/examples")

    def run(self, command: str, environment: str = "", mount: str = "") -> str:
        """Runs a shell command in /work; prints command and output, and exits the test if it fails."""
        print(f"[{self.suite}] $ {command}", flush=True)
        inside = f"cd /work && export HOME=/root DEBIAN_FRONTEND=noninteractive PIP_CERT=/work/ca-certificates.crt {environment}; {command}"
        words = f'mount -t proc proc "$0/proc" && {mount or "true"} && exec chroot "$0" /bin/sh -c "$1"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", words, self.path, inside], capture_output=True, text=True,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})  # fmt: skip
        print(done.stdout, done.stderr, sep="", end="", flush=True)
        if done.returncode:
            sys.exit(f"[{self.suite}] exit code {done.returncode}: {command}")
        return done.stdout

    def check_no_compiler(self) -> None:
        found = self.run(f"for tool in {' '.join(TOOLS)}; do command -v $tool || true; done; ls /usr/lib/*/crt1.o 2>/dev/null || true")
        assert not found, f"{self.suite} has a compiler: {found}"

    def quick_start(self, environment: str = "") -> None:
        """Runs the commands of README.md's quick start, and compares their output except for numbers and what `[...]` replaces."""
        commands = section("Quick start")
        assert len(commands) >= 3, commands
        for command, expected in commands:
            output = self.run(command, environment)
            masked, *parts = (re.sub(r"\d+(\.\d+)?", "0", " ".join(text.split())) for text in (output, *expected.split("[...]")))
            pattern = ".*".join(re.escape(part) for part in parts)
            assert re.fullmatch(pattern, masked), f"{command}\n{output}\nexpected\n{expected}"


def check(suite: str, wheel: Path, deb: Path, folder: Path, site_packages: Path | None) -> None:
    machine = Machine(suite, folder / f"{suite}-deb")
    shutil.copy(deb, machine.path / "work")
    machine.run("apt-get -q update >/dev/null && apt-get -q install --yes --no-install-recommends ./mtc_*.deb 2>&1 | tail -n 3")
    machine.check_no_compiler()
    machine.run("mtc --version && test -s /usr/share/man/man1/mtc.1")
    machine.quick_start()
    shutil.rmtree(machine.path)

    machine = Machine(suite, folder / f"{suite}-wheel")
    shutil.copy(wheel, machine.path / "work")
    machine.run("apt-get -q update >/dev/null && apt-get -q install --yes --no-install-recommends python3-venv 2>&1 | tail -n 1")
    machine.check_no_compiler()
    machine.run("python3 -m venv /venv && /venv/bin/pip install --quiet ./mtc-*.whl")
    path = "PATH=/venv/bin:/usr/bin:/bin"
    machine.run("mtc --version && test -s /venv/share/man/man1/mtc.1", path)
    machine.quick_start(path)
    (machine.path / "work/train.py").write_text(PYTHON)
    machine.run("python3 train.py", path)
    if site_packages and suite == SUITES[0]:  # Debian 12 has Python 3.11
        (machine.path / "site-packages").mkdir()
        (machine.path / "work/export.py").write_text("import numpy as np\n" + EXPORT)
        machine.run("python3 export.py", f"{path} PYTHONPATH=/site-packages", f'mount --bind "{site_packages}" "$0/site-packages"')
    shutil.rmtree(machine.path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--dist", type=Path)
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--site-packages", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    dist = arguments.dist or folder / "dist"
    if not arguments.dist:
        subprocess.run([sys.executable, ROOT / "tools/scripts/build_packages.py", dist, "--build", arguments.build], check=True)
    (wheel,), (deb,) = dist.glob("mtc-*.whl"), dist.glob("mtc_*.deb")
    for suite in arguments.suite or SUITES:
        check(suite, wheel, deb, folder, arguments.site_packages)


if __name__ == "__main__":
    main()
