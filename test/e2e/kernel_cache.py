# RUN: %python %s %t
"""A program is the same to the byte with a cache of kernels, without, with a broken one, with several compilers at one,
and for any number of threads; and kernels are taken from the cache."""

import os
import shutil
import subprocess

from models import DIGITS
from program import MTC, TIMEOUT, own_folder

folder = own_folder()
cache = folder / "cache"
os.environ["MTC_CACHE_DIR"] = str(cache)


def start(name: str, *flags, command=()) -> subprocess.Popen:
    """A compiler in a folder of its own: a program knows its name."""
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
    """The kernels in the cache and when they were written."""
    return {file.name: file.stat().st_mtime_ns for file in cache.glob("llvmcache-*")}


expected = compile("without", "--no-cache")
assert not cache.exists()
assert compile("cold") == expected
written = entries()
assert len(written) > 10, written
assert compile("warm") == expected
assert entries() == written, "kernels were compiled again"
assert compile("one-thread", "--no-cache", command=("taskset", "-c", str(min(os.sched_getaffinity(0))))) == expected

# Another processor's kernels are others.
other = compile("other", "--cpu", "x86-64-v3")
assert other != expected and len(entries()) == 2 * len(written)
assert compile("other-again", "--cpu", "x86-64-v3", "--no-cache") == other

# Damaged files are seen and replaced.
first, *_, last = sorted(cache.glob("llvmcache-*"))
for k, file in enumerate(sorted(written)):
    content = (cache / file).read_bytes()
    broken = [b"", content[:40], content[:-1], content[:100] + b"x" + content[101:], last.read_bytes()][k % 5]
    (cache / file).write_bytes(broken)
assert compile("damaged") == expected
repaired = entries()
assert compile("repaired") == expected
assert entries() == repaired

# Entries that are no files are not opened, and replaced.
for k, file in enumerate(sorted(written)):
    (cache / file).unlink()
    if k % 2:
        os.mkfifo(cache / file)
    else:
        (cache / file).symlink_to("/dev/zero")
assert compile("planted") == expected
assert all((cache / file).is_file() and not (cache / file).is_symlink() for file in written)

# A folder that others may write to is left alone.
kept = entries()
cache.chmod(0o777)
assert compile("shared", "--cpu", "x86-64-v2") == compile("v2", "--cpu", "x86-64-v2", "--no-cache")
assert entries() == kept
cache.chmod(0o700)

# A folder that cannot be written, said once.
(folder / "file").write_text("")
os.environ["MTC_CACHE_DIR"] = str(folder / "file" / "cache")
assert compile("nowhere") == expected
os.environ["MTC_CACHE_DIR"] = ""
assert compile("none") == expected

# Several compilers that find an empty cache at once.
shutil.rmtree(cache)
os.environ["MTC_CACHE_DIR"] = str(cache)
together = {f"together{k}": start(f"together{k}") for k in range(3)}
for name, compiler in together.items():
    assert program(name, compiler) == expected
assert entries().keys() == written.keys()

