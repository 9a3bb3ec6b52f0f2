# RUN: %python %s %t
"""Programs are byte-identical with a kernel cache, without one, with a damaged one, with several concurrent compilers, and for any number
of threads. The test also checks that cached kernels are used."""

import os
import shutil
import subprocess

from models import DIGITS
from program import MTC, TIMEOUT, own_folder

folder = own_folder()
cache = folder / "cache"
os.environ["MTC_CACHE_DIR"] = str(cache)


def start(name: str, *flags, command=()) -> subprocess.Popen:
    """Runs a compiler in a separate folder, because a program contains its own name."""
    own = folder / name
    own.mkdir()
    words = [*command, MTC, "compile", DIGITS.model, *DIGITS.flags, "--threads", "2", "-o", "train", *flags]
    return subprocess.Popen(list(map(str, words)), cwd=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def program(name: str, compiler: subprocess.Popen) -> bytes:
    _, messages = compiler.communicate(timeout=TIMEOUT)
    assert compiler.returncode == 0, messages
    assert ("warning: compiled kernels are not cached" in messages) == (name in ("nowhere", "shared")), messages
    return (folder / name / "train").read_bytes()


def compile(name: str, *flags, command=()) -> bytes:
    return program(name, start(name, *flags, command=command))


def entries() -> dict:
    """Returns the entries of the cache and their modification times."""
    return {file.name: file.stat().st_mtime_ns for file in cache.glob("llvmcache-*")}


expected = compile("without", "--no-cache")
assert not cache.exists()
assert compile("cold") == expected
written = entries()
assert len(written) > 10, written
assert compile("warm") == expected
assert entries() == written, "kernels were compiled again"
assert compile("one-thread", "--no-cache", command=("taskset", "-c", str(min(os.sched_getaffinity(0))))) == expected

# Kernels for another processor have separate entries.
other = compile("other", "--cpu", "x86-64-v3")
assert other != expected and len(entries()) == 2 * len(written)
assert compile("other-again", "--cpu", "x86-64-v3", "--no-cache") == other

# Damaged entries are detected and replaced.
first, *_, last = sorted(cache.glob("llvmcache-*"))
for k, file in enumerate(sorted(written)):
    content = (cache / file).read_bytes()
    broken = [b"", content[:40], content[:-1], content[:100] + b"x" + content[101:], last.read_bytes()][k % 5]
    (cache / file).write_bytes(broken)
assert compile("damaged") == expected
repaired = entries()
assert compile("repaired") == expected
assert entries() == repaired

# Entries that are not regular files are not opened, but replaced.
for k, file in enumerate(sorted(written)):
    (cache / file).unlink()
    if k % 2:
        os.mkfifo(cache / file)
    else:
        (cache / file).symlink_to("/dev/zero")
assert compile("planted") == expected
assert all((cache / file).is_file() and not (cache / file).is_symlink() for file in written)

# A folder that other users can write to is not used.
kept = entries()
cache.chmod(0o777)
assert compile("shared", "--cpu", "x86-64-v2") == compile("v2", "--cpu", "x86-64-v2", "--no-cache")
assert entries() == kept
cache.chmod(0o700)

# A folder that is not writable is reported once.
(folder / "file").write_text("")
os.environ["MTC_CACHE_DIR"] = str(folder / "file" / "cache")
assert compile("nowhere") == expected
os.environ["MTC_CACHE_DIR"] = ""
assert compile("none") == expected

# Several compilers start with an empty cache at the same time.
shutil.rmtree(cache)
os.environ["MTC_CACHE_DIR"] = str(cache)
together = {f"together{k}": start(f"together{k}") for k in range(3)}
for name, compiler in together.items():
    assert program(name, compiler) == expected
assert entries().keys() == written.keys()

