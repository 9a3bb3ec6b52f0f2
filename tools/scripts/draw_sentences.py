#!/usr/bin/env python3
"""Draws random sentences for a review of the prose: from README and docs, help, messages, comments of C++ sources, summaries of operations
and passes, and comments and docstrings of tests, scripts, CMake and shell.

    tools/scripts/draw_sentences.py --seed 7
    tools/scripts/draw_sentences.py --seed 7 --scale 2

--scale multiplies the number of sentences of each kind. Messages are string literals of the compiler and the runtime that state a problem.
"""

import argparse
import ast
import inspect
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ("ir", "frontend", "passes", "codegen", "driver", "runtime", "support", "tools")
SCRIPTS = ("*.py", "*.cfg", "*.cfg.py.in", "*.cmake", "*CMakeLists.txt", "*.sh")
TESTS = tuple(f"{folder}/*.{ending}" for folder in ("test", "bench") for ending in ("cpp", "h", "mlir"))
MESSAGE = re.compile(r'(?:emitError|emitWarning|emitRemark|emitOpError|problems\.add|fail|makeUserError|createStringError|user_error|warn|note)\b')
# Comments that tools read.
DIRECTIVE = re.compile(r"!|fmt:|noqa|type:|shellcheck|NOLINT|RUN:|namespace\b|(given|expect|fault) @|expected-|-----|--- ")
CHECK = re.compile(r"^\s*// *[A-Z0-9_-]+(\{LITERAL\})?:.*$", re.MULTILINE)


def files(*patterns: str) -> list[Path]:
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [ROOT / name for name in names if (ROOT / name).exists()]


def sources(*endings: str) -> list[Path]:
    return files(*[f"{folder}/**/*.{ending}" for folder in SOURCES for ending in endings])


def sentences(text: str) -> list[str]:
    """Returns the sentences of a paragraph with at least four words."""
    text = re.sub(r"\s+", " ", text).strip()
    parts = re.split(r"(?<=[.:;!?])\s+(?=[A-Z`*\[])", text)
    return [part for part in parts if len(part.split()) >= 4]


def documentation() -> list[str]:
    found = []
    generated = ("docs/reference/command-line.md", "docs/reference/programs.md", "docs/reference/dialect.md", "docs/reference/passes.md",
                 "docs/reference/targets.md", "docs/reference/operators.md")  # fmt: skip
    for path in files("README.md", "docs/**/*.md"):
        if str(path.relative_to(ROOT)) in generated:
            continue
        text = re.sub(r"```.*?```|<!--.*?-->", "\n\n", path.read_text(), flags=re.DOTALL)
        text = re.sub(r"^\s*[|#].*$", "\n\n", text, flags=re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", text):
            found += sentences(re.sub(r"^([-*]|\d+\.) ", "", paragraph.strip()))
    return found


def help_lines() -> list[str]:
    text = "".join((ROOT / "docs/reference" / page).read_text() for page in ("command-line.md", "programs.md"))
    return sorted({match.strip() for match in re.findall(r"^  -\S.*?\s{2,}(\S.*)$", text, re.MULTILINE)})


def messages() -> list[str]:
    """Returns the string literals of each call, joined, with dots in place of operands."""
    found = []
    for path in sources("cpp", "h"):
        text = path.read_text()
        for call in MESSAGE.finditer(text):
            statement = text[call.end() : text.find(";\n", call.end())][:600]
            literals = re.findall(r'"((?:[^"\\]|\\.)*)"', statement)
            message = "…".join(literals).replace("\\n", " ").replace('\\"', '"')
            if len(message.split()) >= 5 and "#define" not in message:
                found.append(message)
    return found


def comment_blocks(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """Yields comments with their first line: consecutive lines together, comments after code separately."""
    own_line, after_code = re.compile(rf"\s*{mark} ?(.*)$"), re.compile(rf"\S.*\s{mark} (.*)$")
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if match := own_line.match(line):
            block.append("" if DIRECTIVE.match(match[1]) or re.match(r"[=\-]{3,}", match[1]) else match[1])
            continue
        if any(block):
            yield number - len(block), "\n".join(block)
        block = []
        if (match := after_code.match(line)) and not DIRECTIVE.match(match[1]):
            yield number, match[1]


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yields the docstrings of a Python file with their first line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body and isinstance(statement := node.body[0], ast.Expr):
            if isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                yield statement.lineno, inspect.cleandoc(statement.value.value)


def prose_of_tests(path: Path) -> list[tuple[int, str]]:
    """Returns the comments and docstrings of a test, script, CMake or shell file with their first line."""
    text = path.read_text()
    if path.suffix in (".cpp", ".h", ".mlir"):
        return list(comment_blocks(CHECK.sub("", text) if path.suffix == ".mlir" else text, "///?"))
    return [*comment_blocks(text, "#"), *(docstrings(text) if path.suffix == ".py" else ())]


def of_paragraphs(blocks: list[tuple[int, str]]) -> list[str]:
    """Returns the sentences of comments, without indented examples and tables."""
    paragraphs = [paragraph for _, text in blocks for paragraph in re.split(r"\n\s*\n|\n(?=- |\|)", text)]
    return [part for paragraph in paragraphs if not paragraph.startswith(("  ", "|")) for part in sentences(paragraph)]


def comments() -> list[str]:
    return [part for path in sources("cpp", "h") for part in of_paragraphs(list(comment_blocks(path.read_text(), "///?")))]


def comments_of_tests() -> list[str]:
    return [part for path in files(*SCRIPTS, *TESTS) for part in of_paragraphs(prose_of_tests(path))]


def summaries() -> list[str]:
    text = "".join(path.read_text() for path in sources("td"))
    return re.findall(r'let summary = "([^"]+)"', text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="seed of the selection (default: %(default)s)")
    parser.add_argument("--scale", type=int, default=1, help="factor of the number of sentences (default: %(default)s)")
    options = parser.parse_args()
    generator = random.Random(options.seed)
    kinds = (("README and docs", documentation(), 10), ("help", help_lines(), 5), ("messages", messages(), 10), ("comments", comments(), 10),
             ("summaries", summaries(), 5), ("tests and scripts", comments_of_tests(), 10))  # fmt: skip
    for name, found, count in kinds:
        count *= options.scale
        print(f"{name} ({count} of {len(found)})")
        for sentence in generator.sample(sorted(set(found)), count):
            print(f"- {sentence}")
        print()


if __name__ == "__main__":
    main()
