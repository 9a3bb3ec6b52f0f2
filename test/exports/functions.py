#!/usr/bin/env python3
"""Compares gradients of functions at singular points with PyTorch's, from three exports.

    PYTHON test/exports/functions.py                                  # a Python with the packages of requirements.txt
    PYTHON test/exports/functions.py --only 'clamp|norm' --exporters default
    PYTHON test/exports/functions.py --markdown docs/reference/gradients.md --record test/e2e/inputs/functions

singular.py lists the functions. One file per exporter has all of them. Fails if a gradient that is finite in PyTorch differs, unless
singular.py states why.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from safetensors.numpy import load_file
from singular import CASES, Case
from torch import nn

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
import mtc  # noqa: E402

EXPORTERS = {"default": "default", "dynamo=False": "torchscript", "mtc.export": "mtc"}
FX_KEY = "pkg.torch.onnx.fx_node"
ALONE = "alone"  # For these, mtc.export falls back to TorchScript, which lacks other functions.
MOST = 4  # number of operands of a function
INPUT = torch.zeros(1, MOST * len(CASES))
FLAGS = ["--loss", "output", "--output", "loss", "--train", "p*", "--optimizer", "sgd", "--lr", "1"]
HEADER = """# Gradients at singular points

`test/exports/functions.py` writes this page. It compares the gradients of functions of PyTorch {version}, in f32 and at points where
their formula has no finite derivative, with those of mtc from three exports. `test/e2e/models/functions.py` repeats the comparison with
recorded exports.

| entry | meaning |
|---|---|
| equal | PyTorch's gradient, where it is finite |
| finite | the same, and finite at a point where PyTorch's is infinite or NaN |
| not exported | the exporter does not export the function |
| refused | mtc does not compile the exported nodes |
| a number | another gradient, for the reason below the table |

| function | point | PyTorch's gradient | default | `dynamo=False` | `mtc.export` |
|---|---|---|---|---|---|
"""


class Functions(nn.Module):
    """Computes the sum of functions, each of tensors of its own. The input is zero, but exporters do not know this."""

    def __init__(self, cases: list[tuple[int, Case]]):
        super().__init__()
        self.cases = cases
        for index, each in cases:
            for name, value in each.operands.items():
                tensor = torch.tensor(value)
                if name.isupper():
                    self.register_buffer(f"b{index}_{name}", tensor)
                else:
                    self.register_parameter(f"p{index}_{name}", nn.Parameter(tensor))

    def forward(self, x):
        terms = []
        for index, each in self.cases:
            # Each operand reads another element of the input, because exporters merge equal tensors and nodes.
            operands = [
                getattr(self, f"{'b' if name.isupper() else 'p'}{index}_{name}") + x[0, MOST * index + position]
                for position, name in enumerate(each.operands)
            ]
            terms.append(each.function(*operands).sum())
        return sum(terms)


def reference(index: int, each: Case) -> dict[str, np.ndarray]:
    """Returns PyTorch's gradients by the name of the parameter."""
    module = Functions([(index, each)])
    module(INPUT).backward()
    gradients = {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in module.named_parameters()}
    return {name: gradient.flatten().numpy() for name, gradient in gradients.items()}


def export(exporter: str, cases: list[tuple[int, Case]], path: Path) -> None:
    module, x = Functions(cases).eval(), INPUT
    names = {"input_names": ["x"], "output_names": ["loss"]}
    if exporter == "mtc.export":
        mtc.export(module, x, path, **names, dynamic_batch=False, verify=False, train=False)
    else:
        # Constant folding would slice the parameters.
        own = (
            {"dynamo": True, "external_data": False}
            if exporter == "default"
            else {"dynamo": False, "do_constant_folding": False}
        )
        torch.onnx.export(module, (x,), path, **names, **own, verbose=False)


def problem(tool: Path, exporter: str, cases: list[tuple[int, Case]], path: Path) -> str:
    """Exports and compiles the cases. Returns the reason if this is impossible, or an empty string."""
    try:
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            export(exporter, cases, path)
    except Exception as error:  # noqa: BLE001
        return f"not exported: {type(error).__name__}: {str(error).strip()[:600]}"
    command = [tool, "compile", path, *FLAGS, "--force", "-o", path.with_suffix("")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return "refused: " + done.stderr.strip()[-600:]
    return ALONE if exporter == "mtc.export" and len(cases) == 1 and is_torchscript(path) else ""


def is_torchscript(path: Path) -> bool:
    return not any(entry.key == FX_KEY for node in onnx.load(path).graph.node for entry in node.metadata_props)


def gradients(program: Path) -> dict[str, np.ndarray]:
    np.save(program.with_suffix(".npy"), INPUT.numpy())
    file = program.with_suffix(".safetensors")
    file.unlink(missing_ok=True)
    command = [program, "--data", f"x={program.with_suffix('.npy')}", "--no-shuffle", "--gradients", file, "--force"]
    done = subprocess.run(command, capture_output=True, text=True)
    if not file.exists():
        raise SystemExit(f"{program}: {done.stderr}")
    return {name.removesuffix(".gradient"): value.flatten() for name, value in load_file(file).items()}


def verdict(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> str:
    finite = ""
    for name, want in expected.items():
        got, known = found[name], np.isfinite(want)
        if not np.allclose(got[known], want[known], rtol=1e-5, atol=1e-6):
            return "differs"
        if np.isfinite(got[~known]).any():
            finite = "finite"
    return finite or "equal"


def text(gradient: np.ndarray) -> str:
    return ", ".join(f"{value:.4g}" if value else "0" for value in gradient.tolist())


def record(folder: Path, files: dict[str, Path], cases, expected, verdicts, alone) -> None:
    """Writes the files without information that mtc does not use, and the expected gradients."""
    folder.mkdir(parents=True, exist_ok=True)
    for exporter, path in files.items():
        model = onnx.load(path)
        del model.graph.value_info[:]
        for node in model.graph.node:
            node.doc_string = ""
            kept = [entry for entry in node.metadata_props if entry.key == FX_KEY]
            del node.metadata_props[:]
            node.metadata_props.extend(kept)
        (folder / f"{EXPORTERS[exporter]}.onnx.xz").write_bytes(lzma.compress(model.SerializeToString(), preset=9 | lzma.PRESET_EXTREME))
        content = {
            name: {"function": each.name, "gradient": [float(value) for value in gradient]}
            for index, each in cases
            if verdicts[index, exporter] in ("equal", "finite") and (index, exporter) not in alone
            for name, gradient in expected[index].items()
        }
        (folder / f"{EXPORTERS[exporter]}.json").write_text(json.dumps(content, indent=0) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc")
    parser.add_argument("--only", default="", help="a pattern of names of functions")
    parser.add_argument("--exporters", default=",".join(EXPORTERS))
    parser.add_argument("--cache", type=Path, default=ROOT / "build/functions", help="what can be exported is known there")
    parser.add_argument("--keep", action="store_true", help="use the exports in --cache")
    parser.add_argument("--markdown", type=Path, help="write the table")
    parser.add_argument("--record", type=Path, help="write the exports and PyTorch's gradients")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [(index, each) for index, each in enumerate(CASES) if re.search(options.only, each.name)]
    expected = {index: reference(index, each) for index, each in cases}
    verdicts, files, wrong, alone = {}, {}, [], set()
    for exporter in options.exporters.split(","):
        folder = options.cache / EXPORTERS[exporter]
        folder.mkdir(parents=True, exist_ok=True)
        memory = folder / "known.json"
        known = json.loads(memory.read_text()) if memory.exists() else {}
        for each in cases:
            if each[1].name not in known:
                with tempfile.TemporaryDirectory() as own:
                    known[each[1].name] = problem(options.mtc, exporter, [each], Path(own) / "one.onnx")
                memory.write_text(json.dumps(known, indent=1))
        good = [each for each in cases if not known[each[1].name]]
        files[exporter] = folder / "all.onnx"
        if not options.keep:
            if reason := problem(options.mtc, exporter, good, files[exporter]):
                raise SystemExit(f"{exporter}: {reason}")
        else:
            command = [options.mtc, "compile", files[exporter], *FLAGS, "--force", "-o", folder / "all"]
            subprocess.run(command, check=True, capture_output=True)
        found = gradients(folder / "all")
        for index, each in cases:
            reason = known[each.name]
            if reason == ALONE:
                alone.add((index, exporter))
                reason = problem(options.mtc, exporter, [(index, each)], folder / "one.onnx").removeprefix(ALONE)
                found.update(gradients(folder / "one"))
            verdicts[index, exporter] = reason.split(":")[0] if reason else verdict(found, expected[index])
            if verdicts[index, exporter] == "differs" and exporter not in each.differs:
                wrong.append(
                    f"{exporter}: {each.name} at {each.point}: {[(n, found[n].tolist(), w.tolist()) for n, w in expected[index].items()]}"
                )
            if verdicts[index, exporter] != "differs" and exporter in each.differs:
                wrong.append(f"{exporter}: {each.name} does not differ: {each.differs[exporter]}")
    print("\n".join(wrong))
    if options.markdown:
        write(options.markdown, cases, expected, verdicts)
    if options.record:
        record(options.record, files, cases, expected, verdicts, alone)
    sys.exit(bool(wrong))


def write(path: Path, cases, expected, verdicts) -> None:
    lines, reasons = [], []
    for index, each in cases:
        cells = []
        for exporter in EXPORTERS:
            cell = verdicts[index, exporter]
            if cell == "differs":
                reason = each.differs.get(exporter, "unknown")
                if reason not in reasons:
                    reasons.append(reason)
                cell = f"({reasons.index(reason) + 1})"
            cells.append(cell)
        shown = "; ".join(f"{name.split('_', 1)[1]}: {text(value)}" for name, value in expected[index].items())
        row = [f"`{each.name}`", each.point, shown.removeprefix("x: ") if ";" not in shown else shown, *cells]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    notes = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
    path.write_text(HEADER.format(version=torch.__version__.split("+")[0]) + "\n".join(lines) + "\n\n" + notes + "\n")


if __name__ == "__main__":
    main()
