#!/usr/bin/env python3
"""Writes the generated pages of docs/reference/ from tables in the code: flags of mtc, of programs, of mtc.data and of mtc.export, ONNX operators,
techniques, passes, dialects and targets. `--check` only compares, and exits with 1 if a page is out of date."""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NOTE = "<!-- Written by tools/scripts/write_reference.py from the tables in the code. -->\n\n"
COMMANDS = ("inspect", "plan", "compile", "grad")
# Pages that mlir-tblgen writes into the build folder, by their names in docs/reference.
RECORDS = {
    "passes.md": ("Passes", ["onnx-inference-passes", "onnx-exporters-passes", "onnx-batching-passes", "onnx-conversion-passes", "passes",
                             "codegen-passes"]),
    "dialect.md": ("Dialects", ["dialect", "onnx-dialect"]),
    "targets.md": ("Targets", ["cpu-target", "cuda-target"]),
}  # fmt: skip


def output(*command) -> str:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def fence(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"


def command_line(mtc: Path) -> str:
    text = "# Command line of mtc\n\n" + fence(output(mtc, "--help"))
    for command in COMMANDS:
        text += f"\n## mtc {command}\n\n" + fence(output(mtc, command, "--help-all"))
    return text


def operators(mtc: Path) -> str:
    """Returns a table of all ONNX operators; columns of the command's output are separated by two or more spaces."""
    heading, *lines = output(mtc, "operators").splitlines()
    starts = [heading.index(word) for word in ("operator", "versions", "float types", "supported")]
    rows = [[line[begin:end].strip() for begin, end in zip(starts, [*starts[1:], None])] for line in [heading, *lines]]
    yes = sum(row[3].startswith("yes") for row in rows[1:])
    intro = (f"{yes} of {len(lines)} operators can be trained; `expanded at compile time` are control flow and sequences, whose lengths must follow\n"
             "from constants, shapes and `--bind`; `computed at compile time` are constants, whose values must follow from the same.\n"
             "[Semantics of some operators](onnx.md#semantics-of-some-operators) has details and gradients at kinks.\n"
             "`mtc operators NAME` prints one line of this table, and `mtc inspect` checks a model.\n\n")  # fmt: skip
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "# ONNX operators\n\n" + intro + "\n".join([table[0], "|---" * 4 + "|", *table[1:]]) + "\n"


def techniques(mtc: Path) -> str:
    intro = ("`mtc techniques` prints this table. Offloading to host memory (`--target cuda`) needs no flag. [The search](../design/search.md) explains how\n"
             "they are chosen.\n\n")  # fmt: skip
    return "# Techniques that save memory\n\n" + intro + fence(output(mtc, "techniques"))


def program_flags(mtc: Path) -> str:
    """Returns the flags that all programs share, without the inputs and outputs at the start."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "train")
        output(mtc, "compile", ROOT / "examples/digits/digits.onnx", "--dim", "batch=8", "-o", program)
        text = output(program, "--help-all")
    intro = "`--help` of a program lists its inputs and outputs with their types and shapes, and the most used of these flags.\n\n"
    return "# Flags of compiled programs\n\n" + intro + fence(text[text.index("\nData:\n") :])


def module_flags(module: str, file: str, intro: str) -> str:
    """Returns the help of `python -m MODULE`. The module of its flags is loaded alone, because the package requires NumPy."""
    specification = importlib.util.spec_from_file_location(module.replace(".", "_") + "_options", ROOT / "python/mtc" / file)
    options = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = options
    specification.loader.exec_module(options)
    os.environ["COLUMNS"] = "120"
    return f"# Flags of python -m {module}\n\n{intro}\n\n" + fence(options.parser().format_help())


TARGETS = """
| `--target` | programs | flags | guide |
|---|---|---|---|
| `cpu` (default) | for x86-64 and 64-bit Arm processors, with oneDNN or without libraries | `--cpu`, `--static`, `--no-onednn` | [other machines](../guide/deploying.md) |
| `cuda:ARCHITECTURE,...` | for NVIDIA GPUs, with machine code or PTX | `--no-cudnn`, `--emulate` | [GPU](../guide/gpu.md) |

The module's attribute `mtc.target` describes the target; passes query it. A second attribute is the plan of a kernel.
"""


def targets(mtc: Path, build: Path, title: str, pages: list[str]) -> str:
    """Returns the list of targets, their attributes, and the names of processors."""
    processors = "\n## Processors\n\n`mtc processors` prints the names that `--cpu` accepts.\n\n" + fence(output(mtc, "processors"))
    return f"# {title}\n{TARGETS}\n## Attributes\n{records(build, pages)}{processors}"


def records(build: Path, pages: list[str]) -> str:
    text = ""
    for page in pages:
        body = (build / "docs" / f"{page}.md").read_text()
        body = re.sub(r"<!-- Autogenerated by mlir-tblgen.*?-->\n", "", body).strip()
        # All operations have the trait that verifies partial values.
        body = re.sub(r", `Mtc_VerifyPartial`|`Mtc_VerifyPartial`, |Traits: `Mtc_VerifyPartial`\n\n", "", body)
        text += "\n" + re.sub(r"[ \t]+$", "", body, flags=re.MULTILINE) + "\n"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder to describe")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    options = parser.parse_args()
    mtc = options.build / "bin/mtc"
    pages = {"command-line.md": command_line(mtc), "programs.md": program_flags(mtc), "operators.md": operators(mtc),
             "techniques.md": techniques(mtc)}
    pages["data.md"] = module_flags("mtc.data", "data/_options.py", "[Tables and text](../guide/data.md#tables-and-text) explains the conversion.")
    pages["export.md"] = module_flags(
        "mtc.export", "_export_options.py", "[Configurations of transformers](../guide/exporting.md#configurations-of-transformers) has examples.")
    pages |= {page: f"# {title}\n{records(options.build, parts)}" for page, (title, parts) in RECORDS.items()}
    pages["targets.md"] = targets(mtc, options.build, *RECORDS["targets.md"])
    outdated = []
    for page, text in pages.items():
        path = ROOT / "docs/reference" / page
        if path.exists() and path.read_text() == NOTE + text:
            continue
        outdated.append(page)
        if not options.check:
            path.write_text(NOTE + text)
    if options.check and outdated:
        print(f"docs/reference: {', '.join(outdated)}: out of date; run tools/scripts/write_reference.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
