#!/usr/bin/env python3
"""Copies the start-up files and system libraries of a compiler, which mtc links into programs.

    copy_system_files.py FOLDER COMPILER [--target=TRIPLE] --ar AR [--shared NAME ...]

Shared libraries become stubs without code: a linker needs only their symbols and versions. A program loads the library of the machine on
which it runs.
"""

import argparse
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

OBJECTS = ("crti.o", "crtn.o", "crt1.o", "crtbeginT.o", "crtend.o")
OBJECTS_OF_SHARED = ("Scrt1.o", "crtbeginS.o", "crtendS.o", "libc_nonshared.a")
ARCHIVES = ("libc.a", "libm.a", "libpthread.a", "libdl.a", "libgcc.a", "libgcc_eh.a", "libstdc++.a")

# Types of sections, and what a stub keeps of them (ELF gABI; symbol versions: LSB Core).
NULL, NOBITS = 0, 8
STRTAB, DYNAMIC, DYNSYM, VERDEF, VERSYM = 3, 6, 11, 0x6FFFFFFD, 0x6FFFFFFF
DT_NULL, DT_SONAME = 0, 14
HEADER, SECTION, SYMBOL, ENTRY = map(struct.Struct, ("<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IBBHQQ", "<qQ"))


def stub(library: bytes) -> bytes:
    """Returns a 64-bit ELF library with the name, the defined dynamic symbols and their versions. Other sections have
    neither names nor contents."""
    header = list(HEADER.unpack_from(library))
    sections = [list(SECTION.unpack_from(library, header[6] + i * SECTION.size)) for i in range(header[12])]
    bytes_of = [library[section[4] : section[4] + section[5]] for section in sections]
    symbols = next(SYMBOL.iter_unpack(data) for section, data in zip(sections, bytes_of, strict=True) if section[1] == DYNSYM)
    kept = [i for i, symbol in enumerate(symbols) if i == 0 or symbol[3] != 0]  # defined in a section

    def reduced(kind: int, data: bytes) -> bytes | None:
        if kind in (STRTAB, VERDEF):
            return data
        if kind == DYNAMIC:
            entries = ENTRY.iter_unpack(data)
            return b"".join(ENTRY.pack(*entry) for entry in entries if entry[0] == DT_SONAME) + ENTRY.pack(DT_NULL, 0)
        if kind in (DYNSYM, VERSYM):
            size = SYMBOL.size if kind == DYNSYM else 2
            return b"".join(data[i * size : (i + 1) * size] for i in kept)
        return None

    contents, table = bytearray(HEADER.size), bytearray()
    for section, data in zip(sections, bytes_of, strict=True):
        data = reduced(section[1], data)
        section[4] = len(contents)
        if data is not None:
            section[5] = len(data)
            contents += data + bytes(-len(data) % 8)
        elif section[1] != NULL:
            section[0], section[1] = 0, NOBITS
        table += SECTION.pack(*section)
    header[5], header[10] = 0, 0  # no segments
    header[6] = len(contents)
    contents[: HEADER.size] = HEADER.pack(*header)
    return bytes(contents + table)


def stub_name(library: str) -> str:
    """Returns the name of a stub for the linker's flag -l."""
    stem = library.split(".so")[0]
    return "libld-linux.so" if stem.startswith("ld-") else f"{stem}.so"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("compiler")
    parser.add_argument("--target", help="the target of the compiler (default: this machine)")
    parser.add_argument("--ar", required=True, help="the archiver")
    parser.add_argument("--shared", nargs="*", default=[], metavar="NAME", help="shared libraries (default: for static programs only)")
    arguments = parser.parse_args()
    compiler = [arguments.compiler] + ([f"--target={arguments.target}"] if arguments.target else [])

    def find(name: str) -> Path:
        path = Path(subprocess.check_output([*compiler, f"-print-file-name={name}"], text=True).strip())
        if not path.is_absolute():
            sys.exit(f"copy_system_files.py: {' '.join(compiler)} has no {name}; run tools/setup.sh")
        return path

    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    for name in OBJECTS + ARCHIVES + (OBJECTS_OF_SHARED if arguments.shared else ()):
        path, copy = find(name), arguments.folder / name
        if path.read_bytes().startswith(b"/* GNU ld script"):  # libm.a names its archives
            parts = [path.parent / Path(part).name for part in re.findall(r"[^\s()]+\.a\b", path.read_text())]
            subprocess.run([arguments.ar, "qcDL", copy, *parts], check=True)
        else:
            shutil.copyfile(path, copy)
    for name in arguments.shared:
        (arguments.folder / stub_name(name)).write_bytes(stub(find(name).read_bytes()))


if __name__ == "__main__":
    main()
