#!/usr/bin/env python3
"""Draws sentences that people read, at random, for a review of the prose: 10 of README and docs, 5 of help, 10 of messages, 10 of
comments and 5 summaries of operations and passes.

    tools/scripts/draw_sentences.py --seed 7

Messages are string literals of the compiler and the runtime that state a problem; comments are those of C++ sources.
"""

import argparse
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ("ir", "frontend", "passes", "codegen", "driver", "runtime", "tools")
MESSAGE = re.compile(r'(?:emitError|emitWarning|emitRemark|emitOpError|problems\.add|fail|makeUserError|createStringError|user_error|warn|note)\b')


def files(*patterns: str) -> list[Path]:
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [ROOT / name for name in names]


def sources(*endings: str) -> list[Path]:
    return files(*[f"{folder}/**/*.{ending}" for folder in SOURCES for ending in endings])


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, those of at least four words."""
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
        text = re.sub(r"^[|#].*$", "\n\n", text, flags=re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", text):
            found += sentences(re.sub(r"^([-*]|\d+\.) ", "", paragraph.strip()))
    return found


def help_lines() -> list[str]:
    text = "".join((ROOT / "docs/reference" / page).read_text() for page in ("command-line.md", "programs.md"))
    return sorted({match.strip() for match in re.findall(r"^  -\S.*?\s{2,}(\S.*)$", text, re.MULTILINE)})


def messages() -> list[str]:
    """The string literals of one call, joined; operands in between become dots."""
    found = []
    for path in sources("cpp", "h"):
        text = path.read_text()
        for call in MESSAGE.finditer(text):
            statement = text[call.end() : text.find(";\n", call.end())][:600]
            literals = re.findall(r'"((?:[^"\\]|\\.)*)"', statement)
            message = "…".join(literals).replace("\\n", " ").replace('\\"', '"')
            if len(message.split()) >= 5:
                found.append(message)
    return found


def comments() -> list[str]:
    found = []
    for path in sources("cpp", "h"):
        block: list[str] = []
        for line in [*path.read_text().splitlines(), ""]:
            if match := re.match(r"\s*///? ?(.*)$", line):
                block.append(match[1])
                continue
            text = "\n".join(row for row in block if not re.match(r"[=\-]{3,}|===-", row))
            found += [part for paragraph in re.split(r"\n\s*\n", text) for part in sentences(paragraph)]
            block = []
    return found


def summaries() -> list[str]:
    text = "".join(path.read_text() for path in sources("td"))
    return re.findall(r'let summary = "([^"]+)"', text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    kinds = (("README and docs", documentation(), 10), ("help", help_lines(), 5), ("messages", messages(), 10), ("comments", comments(), 10),
             ("summaries", summaries(), 5))  # fmt: skip
    for name, found, count in kinds:
        print(f"{name} ({count} of {len(found)})")
        for sentence in generator.sample(sorted(set(found)), count):
            print(f"- {sentence}")
        print()


if __name__ == "__main__":
    main()
