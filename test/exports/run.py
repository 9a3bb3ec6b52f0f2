#!/usr/bin/env python3
"""Trains exports of small architectures with mtc, and compares the losses with training the module in its own framework.

    test/exports/run.py                                # all, in the virtual environment build/exports-venv
    test/exports/run.py --only 'resnet18|bert.*' --mtc build/release/bin/mtc --markdown table.md

Each architecture of zoo/ is exported by PyTorch's default exporter, by its TorchScript exporter and by `mtc.export`, compiled by mtc, and
trained for ten steps of SGD. Exports and the framework's losses are kept in --cache; a second run with another mtc does not need PyTorch.
The exit code is 1 if a default export differs without a warning or with each suggested flag, if an export of mtc.export is not equal, or if
a warning is a false alarm.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BATCH = 6  # number of architectures that one process exports, one after the other
TOLERANCE = 1e-4  # maximum relative difference of each of the ten losses
CLOSER = 0.1  # maximum difference with the flags that a warning suggests, relative to the difference without them
NOISE = 10  # multiples of the framework's own rounding error that a difference may have
FILES = ("language", "perception", "vision", "diffusion", "plain", "stops", "keras", "sklearn", "signals", "physics", "objectives",
         "layers", "families")  # fmt: skip
TITLES = {
    "language": "Hugging Face transformers, text", "perception": "Hugging Face transformers, images and sound",
    "vision": "torchvision and timm", "diffusion": "diffusers", "plain": "torch.nn", "keras": "Keras", "sklearn": "scikit-learn",
    "stops": "Gradient stops and state", "signals": "Spectra and sequences", "physics": "Physics, statistics and geometry",
    "objectives": "Metric and generative learning", "layers": "Layers and losses of images and tables",
    "families": "More families of models",
}  # fmt: skip
COLUMNS = {"dynamo": "default", "legacy": "`dynamo=False`", "mtc": "`mtc.export`"}
LOSSLESS = ("stops", "signals", "physics", "objectives", "layers", "families")  # files of the zoo that only mtc.export can export
OWN = ("keras", "sklearn")  # files of the zoo for frameworks with an exporter of their own, whose results are in the first column

# Export options that a warning may suggest, and the export with these options.
REMEDIES = {
    "dynamo": {"optimize=False": "dynamo-unoptimized", "mtc.export": "mtc"},
    "legacy": {"TrainingMode.TRAINING": "legacy-training", "do_constant_folding=False": "legacy-unfolded", "mtc.export": "mtc"},
    "mtc": {},
}
FLAG = re.compile(r"--(?:tie|untie|freeze|batch-norm|shared-initializers|merged|train|output)[ =]'?[^\s,;'\"]+")
PROSE = ("--train=trains", "--freeze=keeps")  # matches of FLAG that are not flags
ABSENT = re.compile(r"error: --freeze (\S+): no initializer matches")
# `'mul' (a.original0, a.original1)`: an initializer that is trained in place of parameters.
COMPUTED = re.compile(r"'([^']+)' \([\w.]+(?:, [\w.]+)*\)(?=[^:]*The computed values are trained)")
UNTOLD = "the losses do not depend on what is computed"
FAILURES = ("differs silently", "remedy fails", "false alarm", "crash")


@dataclass(frozen=True)
class Architecture:
    file: str
    name: str
    hash: str  # of all sources on which the export and the framework's losses depend, except mtc.export


@dataclass
class Cell:
    """The result of one export of one architecture."""

    verdict: str
    detail: str = ""
    difference: float | None = None
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def architectures() -> list[Architecture]:
    """Reads the names of all architectures, and hashes of their sources, without importing them."""
    shared = digest(*((HERE / name).read_text() for name in ("prepare.py", "requirements.txt", "zoo/architecture.py")))
    found = []
    for file in FILES:
        path = HERE / "zoo" / f"{file}.py"
        if not path.exists():
            continue
        text = path.read_text()
        marked, helpers = parsed(text)
        for node in marked:
            found.append(Architecture(file, node.name, digest(shared, helpers, ast.get_source_segment(text, node) or "")))
    return found


def parsed(text: str) -> tuple[list[ast.FunctionDef], str]:
    """Returns the architectures of a file of the zoo, and the text of all other code that they may use, imported files included."""
    body = ast.parse(text).body
    marked = [
        node
        for node in body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "architecture" for mark in node.decorator_list)
    ]
    helpers = [ast.get_source_segment(text, node) or "" for node in body if node not in marked]
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zoo.") and node.module != "zoo.architecture":
            helpers.append(parsed((HERE / f"{node.module.replace('.', '/')}.py").read_text())[1])
    return marked, "\n".join(helpers)


def compile_flags(reference: dict, piece: str) -> list[str]:
    """Returns the flags of `mtc compile` for an export, with which it trains as the framework does."""
    flags = ["--loss", reference["loss"], "--output", reference["output"], "--optimizer", "sgd", "--lr", repr(reference["lr"])]
    if dimension := reference["own_dimension" if piece == "own" else "dimension"]:
        flags += ["--dim", f"{dimension}={reference['batch']}"]
    if reference["labels"]:
        flags += ["--labels", "labels"]
    if piece != "mtc":  # No other file says what the module freezes.
        flags += [word for name in reference["frozen"] for word in ("--freeze", name)]
    if reference["whole"]:
        flags += ["--batch-input", "none"]
    return flags


def tolerance(reference: dict) -> float:
    """Returns the largest relative difference of losses that are equal."""
    return max(TOLERANCE, NOISE * reference["rounding"])


def package_hash() -> str:
    return digest(*(path.read_text() for path in sorted((ROOT / "python/mtc").glob("*.py"))))


def environment(python: str | None) -> str:
    """Returns a Python with PyTorch, which it installs into build/exports-venv unless one is given."""
    if python:
        return python
    folder = ROOT / "build/exports-venv"
    requirements = (HERE / "requirements.txt").read_text()
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != requirements:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "-r", HERE / "requirements.txt"], check=True)
        stamp.write_text(requirements)
    return str(folder / "bin/python3")


class Suite:
    """Exports, compiles and trains architectures."""

    def __init__(self, options: argparse.Namespace):
        self.cache: Path = options.cache.resolve()
        self.mtc = str(options.mtc.resolve())
        self.timeout: int = options.timeout
        self.python = environment(options.python)
        self.package = package_hash()

    def path(self, architecture: Architecture, piece: str) -> Path:
        """Returns where a piece of an architecture is cached."""
        folder = self.cache / f"{architecture.name}-{architecture.hash}"
        if piece == "reference":
            return folder / "reference"
        return folder / (f"mtc-{self.package}.onnx" if piece == "mtc" else f"{piece}.onnx")

    def prepare(self, wanted: dict[Architecture, list[str]]) -> None:
        """Makes the pieces that are not cached, in one process for each file of the zoo."""
        for file in FILES:
            jobs = []
            for architecture, pieces in wanted.items():
                missing = [piece for piece in pieces if not self.is_cached(architecture, piece)]
                if architecture.file == file and missing:
                    paths = {piece: str(self.path(architecture, piece)) for piece in missing}
                    jobs.append({"name": architecture.name, "pieces": paths, "timeout": self.timeout})
            if not jobs:
                continue
            environment = os.environ | {"OMP_NUM_THREADS": "1", "KERAS_BACKEND": "torch", "TOKENIZERS_PARALLELISM": "false"}
            done = subprocess.run([self.python, HERE / "prepare.py", file], input=json.dumps(jobs), capture_output=True,
                                  text=True, env=environment)  # fmt: skip
            (self.cache / f"{file}-{jobs[0]['name']}.log").write_text(done.stdout + done.stderr)
            if done.returncode:
                sys.exit(f"test/exports/prepare.py {file}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")

    def error(self, architecture: Architecture, piece: str) -> Path:
        return Path(f"{self.path(architecture, piece)}.error")

    def is_cached(self, architecture: Architecture, piece: str) -> bool:
        path = self.path(architecture, piece)
        made = path / "reference.json" if piece == "reference" else path
        return made.exists() or self.error(architecture, piece).exists()

    def train(self, architecture: Architecture, piece: str, *flags: str) -> Cell:
        """Compiles an export, trains it and compares the losses; flags are added to those of `mtc compile`."""
        model = self.path(architecture, piece)
        if self.error(architecture, piece).exists():
            return Cell("not exported", self.error(architecture, piece).read_text())
        folder = self.path(architecture, "reference")
        reference = json.loads((folder / "reference.json").read_text())
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="run.") as place:
            program, metrics = Path(place) / "train", Path(place) / "metrics.jsonl"
            command = [self.mtc, "compile", model, *compile_flags(reference, piece), *flags, "-o", program]
            compiled = self.run(command)
            while (absent := ABSENT.search(compiled.stderr)) and absent[1] in command:  # The exporter made it a constant.
                place = command.index(absent[1])
                del command[place - 1 : place + 1]
                compiled = self.run(command)
            if compiled.returncode == 1:
                return Cell("refused", message(compiled, "error:"))
            if compiled.returncode:
                return Cell("crash", f"mtc compile exits with {compiled.returncode}: {compiled.stderr.strip()[-300:]}")
            data = [*reference["inputs"], *(["labels"] if reference["labels"] else [])]
            command = [program, "--no-shuffle", "--steps", 10, "--metrics", metrics]
            for name in data:
                command += ["--data", f"{name}={folder / f'{name}.npy'}"]
            trained = self.run(command)
            if trained.returncode not in (0, 2):
                return Cell("refused" if trained.returncode == 1 else "crash", message(trained, "error:"))
            losses = [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]
        warnings = [line for line in (compiled.stderr + trained.stderr).splitlines() if "warning:" in line]
        difference = spread(losses, reference["losses"])
        verdict = "equal" if difference <= tolerance(reference) else "differs"
        detail = "" if verdict == "equal" else f"{losses[0]:.6f} .. {losses[-1]:.6f}, expected {reference['losses'][-1]:.6f}"
        return Cell(verdict, detail, difference, warnings, time.monotonic() - start)

    def run(self, command: list) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"MTC_CACHE_DIR": str(self.cache / "kernels"), "OMP_WAIT_POLICY": "passive"}
        try:
            return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=self.timeout,
                                  env=environment)  # fmt: skip
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "", f"took more than {self.timeout} s")

    def cell(self, architecture: Architecture, column: str) -> Cell:
        """Trains an export. If it differs or warns, also trains it with the flags that its warnings suggest.

        The losses may be equal although the warning is right. In that case, the suggested flag brings them much closer, or they do not
        depend on the subject of the warning.
        """
        piece = "own" if architecture.file in OWN and column == "dynamo" else column
        cell = self.train(architecture, piece)
        is_alarm = cell.verdict == "equal" and bool(cell.warnings)
        if cell.verdict != "differs" and not is_alarm:
            return cell
        text = " ".join(cell.warnings)
        if not text:
            cell.verdict = "differs silently"
            return cell
        flags = [flag.replace(" ", "=", 1).replace("'", "").rstrip(".:") for flag in dict.fromkeys(FLAG.findall(text))]
        flags = [flag for flag in flags if flag not in PROSE]
        attempts: list[tuple[str, str, list[str]]] = [(flag, piece, [flag]) for flag in flags]
        if len(flags) > 1:
            attempts.append((" ".join(flags), piece, flags))
        attempts += [(name, export, []) for name, export in REMEDIES[column].items() if name in text]
        tried = []
        for name, export, words in attempts:
            self.prepare({architecture: [export]})
            remedied = self.train(architecture, export, *words)
            tried.append(f"{name}: {remedied.verdict} {remedied.difference or remedied.detail}")
            if remedied.verdict == "equal" and not (is_alarm and remedied.difference > CLOSER * cell.difference):
                cell.verdict, cell.detail = "warned", name
                return cell
        if is_alarm:
            computed = [f"--freeze={name}" for text in cell.warnings for name in COMPUTED.findall(text)]
            tells = not computed or self.train(architecture, piece, *computed).verdict != "equal"
            cell.verdict, cell.detail = ("false alarm", cell.detail) if tells else ("warned", UNTOLD)
            return cell
        cell.verdict = "remedy fails"
        cell.detail = f"{cell.detail}; {'; '.join(tried) or 'no remedy named'}"
        return cell

    def results(self, architecture: Architecture) -> dict[str, Cell]:
        """Returns the cells of one row of the table, from pieces that are cached."""
        broken = self.error(architecture, "reference")
        if broken.exists():
            return {column: Cell("crash", f"reference: {broken.read_text()}") for column in columns(architecture)}
        return {column: self.cell(architecture, column) for column in columns(architecture)}


def columns(architecture: Architecture) -> list[str]:
    """Returns the columns of an architecture's row that are not empty."""
    if architecture.file in LOSSLESS:
        return ["mtc"]
    return ["dynamo"] if architecture.file == "sklearn" else ["dynamo", "mtc"] if architecture.file in OWN else [*COLUMNS]


def pieces(architecture: Architecture) -> list[str]:
    """Returns the cached pieces of a row."""
    own = architecture.file in OWN
    return ["reference", *("own" if own and column == "dynamo" else column for column in columns(architecture))]


def batches(chosen: list[Architecture]) -> list[list[Architecture]]:
    """Returns runs of architectures of one file, whose frameworks are imported once."""
    found: list[list[Architecture]] = []
    for architecture in chosen:
        if not found or found[-1][0].file != architecture.file or len(found[-1]) == BATCH:
            found.append([])
        found[-1].append(architecture)
    return found


def message(process: subprocess.CompletedProcess[str], kind: str) -> str:
    lines = [line for line in process.stderr.splitlines() if kind in line]
    return (lines or process.stderr.strip().splitlines() or [f"exit code {process.returncode}"])[0]


def spread(losses: list[float], expected: list[float]) -> float:
    """Returns the largest relative difference; infinity if a loss is missing or not finite."""
    if len(losses) != len(expected) or any(loss is None or loss != loss for loss in losses):
        return float("inf")
    return max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))


def is_failure(column: str, cell: Cell) -> bool:
    return cell.verdict in FAILURES or (column == "mtc" and cell.verdict != "equal")


def shown(cell: Cell | None) -> str:
    if cell is None:
        return "—"
    if cell.verdict == "warned":
        return "warned; equal all the same" if cell.detail == UNTOLD else f"warned; equal with `{cell.detail}`"
    if cell.verdict in ("differs silently", "remedy fails"):
        return f"**{cell.verdict}** ({cell.difference:.0e})"
    return f"**{cell.verdict}**" if cell.verdict in FAILURES else cell.verdict


PAGE = """# Exports that are tested

`test/exports/run.py` writes this page. It trains each architecture with mtc from up to three exports, and compares the losses of ten steps with
training the module in its own framework. Weights are random, the optimizer is SGD, dropout is 0.
[test/exports/README.md](../../test/exports/README.md) explains the verdicts;
[Export a model for training](../guide/exporting.md) shows the exports.

"""


def rows_of(page: str) -> dict[str, list[str]]:
    """Returns the cells of each architecture in a page that this script wrote."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")]
    return {name: cells for name, *cells in rows if len(cells) == len(COLUMNS) and not name.startswith("*") and name != "architecture"}


def table(rows: dict[Architecture, list[str]]) -> str:
    """Returns the results as Markdown, one table."""
    lines = [f"| architecture | {' | '.join(COLUMNS.values())} |", "|---|---|---|---|"]
    for file in FILES:
        found = {architecture: cells for architecture, cells in rows.items() if architecture.file == file}
        if found:
            lines.append(f"| *{TITLES[file]}* | | | |")
        lines += [f"| {architecture.name} | {' | '.join(cells)} |" for architecture, cells in found.items()]
    return "\n".join(lines) + "\n"


def summary(rows: dict[Architecture, list[str]]) -> str:
    lines = []
    for column, title in enumerate(COLUMNS.values()):
        verdicts = [cells[column].split(";")[0].strip("*") for cells in rows.values() if cells[column] != "—"]
        counts = Counter(re.sub(r"\*\* \(.*", "", verdict) for verdict in verdicts)
        parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        lines.append(f"- {title}: {parts}")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--cache", type=Path, default=ROOT / "build/exports", help="folder of exports and expected losses")
    parser.add_argument("--python", help="a Python with the packages of requirements.txt (default: build/exports-venv)")
    parser.add_argument("--only", default=".*", metavar="REGEX", help="architectures by name")
    parser.add_argument("--jobs", type=int, default=2, help="architectures to test in parallel (default: 2)")
    parser.add_argument("--timeout", type=int, default=600, metavar="S", help="limit of each process (default: 600)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table; with --only, other rows of the file are kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results, with warnings and messages")
    options = parser.parse_args()
    chosen = [found for found in architectures() if re.fullmatch(options.only, found.name)]
    if not chosen:
        parser.error(f"--only {options.only}: no architecture has such a name")
    options.cache.mkdir(parents=True, exist_ok=True)
    os.nice(5)
    suite = Suite(options)
    results: dict[Architecture, dict[str, Cell]] = {}
    is_partial = options.markdown and options.markdown.exists() and len(chosen) < len(architectures())
    kept = rows_of(options.markdown.read_text()) if is_partial else {}

    def work(batch: list[Architecture]) -> None:
        suite.prepare({architecture: pieces(architecture) for architecture in batch})
        for architecture in batch:
            show(architecture, suite.results(architecture))

    def show(architecture: Architecture, cells: dict[str, Cell]) -> None:
        results[architecture] = cells
        print(f"{architecture.name}: " + ", ".join(f"{column} {cell.verdict}" for column, cell in cells.items()), flush=True)
        for column, cell in cells.items():
            if is_failure(column, cell) or cell.verdict == "refused":
                print(f"  {column}: {cell.verdict}: {cell.detail} {' '.join(cell.warnings)[:400]}", flush=True)
        write()

    def rows() -> dict[Architecture, list[str]]:
        found = {a.name: [shown(cells.get(column)) for column in COLUMNS] for a, cells in results.items()}
        return {a: (kept | found)[a.name] for a in architectures() if a.name in kept | found}

    def write() -> None:
        ordered = {architecture: results[architecture] for architecture in chosen if architecture in results}
        if options.markdown:
            options.markdown.write_text(PAGE + table(rows()) + "\n" + summary(rows()))
        if options.json:
            record = {a.name: {column: asdict(cell) for column, cell in cells.items()} for a, cells in ordered.items()}
            options.json.write_text(json.dumps(record, indent=1) + "\n")

    with ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(work, batch) for batch in batches(chosen)]:
            done.result()
    print(summary(rows()), end="")
    failed = sum(is_failure(column, cell) for cells in results.values() for column, cell in cells.items())
    print(f"{len(results)} architectures, {failed} cells fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
