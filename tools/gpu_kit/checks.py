"""The checks of the kit. Each function runs programs and returns rows of the table: name, result, and whether the result is right."""

import json
import math
import os
import re
import shutil
import struct
import subprocess
import tempfile
from array import array
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEVICE_MEMORY = "GPU: code, graphs and libraries"  # key in a memory report for the program's GPU memory outside its arena
LOSS_LIMIT, GRADIENT_LIMIT = 1e-4, 1e-3  # relative differences; for gradients, relative to the maximum of their tensor
ACTIVATION_LIMIT = 1e-5  # relative to the maximum of the tensor, with equal operands
Row = tuple[str, str, bool | None]  # None for a number that is not checked


class Failure(Exception):
    pass


def call(command: list, timeout: float = 300, **environment: str) -> str:
    words = [str(word) for word in command]
    try:
        result = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout,
                                env=os.environ | environment)  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(words)}: timed out after {timeout:.0f} s") from error
    if result.returncode:
        tail = (result.stdout + result.stderr).strip().splitlines()[-8:]
        raise Failure("\n".join([f"{' '.join(words)}: exit code {result.returncode}", *tail]))
    return result.stdout + result.stderr


class Example:
    """A model with its data and the results of the target `cpu`."""

    def __init__(self, made: dict):
        self.name, self.losses = made["name"], made["losses"]
        self.folder = HERE / "examples" / self.name
        self.data = [word for key, file in made["data"].items() for word in ("--data", f"{key}={self.folder / file}")]

    def run(self, program: str, *flags, **environment: str) -> str:
        return call([self.folder / program, *self.data, "--no-shuffle", "--quiet", *flags], **environment)

    def train(self, program: str, steps: int, folder: Path, *flags) -> list[float]:
        metrics = folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        self.run(program, "--steps", steps, "--metrics", metrics, *flags)
        return [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]


def read_safetensors(path: Path) -> dict[str, array]:
    """Returns f32 tensors by name."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        tensors[name] = array("f", content[8 + length + begin : 8 + length + end])
    return tensors


def compared(name: str, found: list[float], expected: list[float], limit: float) -> Row:
    errors = [abs(a - b) / abs(b) if math.isfinite(a) else math.inf for a, b in zip(found, expected, strict=True)]
    text = f"greatest relative difference {max(errors):.1e} (limit {limit:.0e})"
    return f"{name}: {len(expected)} losses as on the CPU", text, max(errors) <= limit


def losses(example: Example) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return [compared(f"{example.name}, {optimizer}", example.train(optimizer, len(expected), Path(folder)), expected, LOSS_LIMIT)
                for optimizer, expected in example.losses.items()]  # fmt: skip


def technique(example: Example, made: dict) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        found = example.train(made["program"], len(made["losses"]), Path(folder))
    rows = [compared(f"{example.name}, {made['title']}", found, made["losses"], made["limit"])]
    return rows + memory(example.folder / made["program"], example.data, f"{example.name}, {made['title']}")


def worst_difference(found: dict[str, array], expected: dict[str, array]) -> tuple[float, str]:
    """Returns the maximum difference relative to the maximum of its tensor, and the name of the tensor. The difference is infinite if the
    names differ."""
    if found.keys() != expected.keys():
        return math.inf, "other names"
    worst, name = 0.0, ""
    for key, wanted in expected.items():
        scale = max(map(abs, wanted)) or 1.0
        error = max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(found[key], wanted, strict=True)) / scale
        if error >= worst:
            worst, name = error, key
    return worst, name


def gradients(example: Example) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gradients.safetensors"
        example.run("adamw", "--gradients", file)
        expected = read_safetensors(example.folder / "gradients.safetensors")
        worst, name = worst_difference(read_safetensors(file), expected)
    return [(f"{example.name}: {len(expected)} gradients equal the CPU's", f"maximum difference {worst:.1e}, in {name}",
             worst <= GRADIENT_LIMIT)]  # fmt: skip


def with_nan(file: Path, folder: Path) -> Path:
    """Writes a copy of f32 data whose first element is NaN."""
    content = bytearray(file.read_bytes())
    struct.pack_into("<f", content, 10 + struct.unpack_from("<H", content, 8)[0], math.nan)
    (folder / "nan.npy").write_bytes(content)
    return folder / "nan.npy"


def epilogues() -> list[Row]:
    """Compares activations and bias gradients that are library epilogues with kernels in their place, and checks that activations propagate
    NaN."""
    made = HERE / "epilogues"
    x, labels = made / "data/x.npy", made / "data/labels.npy"

    def written(folder: str, program: str, flag: str, data: Path) -> dict[str, array]:
        file = Path(folder) / "tensors.safetensors"
        labelled = ["--data", f"labels={labels}", "--no-shuffle"] if flag == "--gradients" else []
        call([made / program, "--data", f"x={data}", *labelled, "--quiet", flag, file])
        return read_safetensors(file)

    with tempfile.TemporaryDirectory() as folder:
        outputs, gradients = ([written(folder, program, flag, x) for program in ("library", "kernels")]
                              for flag in ("--outputs", "--gradients"))  # fmt: skip
        gelu = worst_difference(*({"gelu": tensors["gelu"]} for tensors in outputs))[0]
        relu = worst_difference(*({"relu": tensors["relu"]} for tensors in outputs))[0]
        worst, name = worst_difference(*gradients)
        spoiled = written(folder, "library", "--outputs", with_nan(x, Path(folder)))
        images = written(folder, "convolutions", "--outputs", with_nan(made / "images/x.npy", Path(folder)))["y"]
    kept = {key: all(map(math.isnan, spoiled[key][: len(spoiled[key]) // 128])) for key in ("gelu", "relu")}
    kept["ReLU of a convolution"] = all(map(math.isnan, images[: len(images) // 16]))
    text = "NaN" if all(kept.values()) else "lost by " + ", ".join(name for name, right in kept.items() if not right)
    # The operand of ReLU is a contraction of the result of GELU, which is rounded to tf32.
    compared = (("GELU", gelu, ACTIVATION_LIMIT), ("ReLU", relu, GRADIENT_LIMIT))
    return [
        *((f"epilogues: {what} equals the kernel's", f"maximum difference {error:.1e} (limit {limit:.0e})", error <= limit)
          for what, error, limit in compared),
        ("epilogues: gradients equal the kernels'", f"maximum difference {worst:.1e}, in {name}", worst <= GRADIENT_LIMIT),
        ("epilogues: activations propagate NaN", text, all(kept.values())),
    ]


def same_bits(example: Example) -> list[Row]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for run in ("one", "two"):
            file = Path(folder) / f"{run}.onnx"
            found = example.train("adamw", len(example.losses["adamw"]), Path(folder), "--export", file)
            results.append((found, file.read_bytes()))
    same = results[0] == results[1]
    return [(f"{example.name}: two runs", "bit-identical" if same else "different", same)]


def nccl(example: Example) -> list[Row]:
    """Trains one rank that sends by NCCL instead of copying, on streams and in graphs. Results must be bit-identical to those with
    copies."""
    name = f"{example.name}: one rank with NCCL"
    results, report = [], {}
    with tempfile.TemporaryDirectory() as folder:
        file, metrics, weights = (Path(folder) / each for each in ("report.json", "metrics.jsonl", "weights.safetensors"))
        flags = ("--steps", 5, "--metrics", metrics, "--export-weights", weights, "--memory-report", file)
        for wanted in "0", "1":
            try:
                example.run("ranks", *flags, MTC_NCCL=wanted)
            except Failure as failure:
                if "NCCL, which is not installed" in str(failure):
                    return [(name, "not on this machine", None)]
                raise
            losses = [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]
            results.append((losses, weights.read_bytes()))
            report = json.loads(file.read_text())
            metrics.unlink()
    used = [f"{use['bytes']} bytes of {use['why']}" for use in report["outside_arena"] if use["name"] == "GPU: NCCL"]
    same = results[0] == results[1] and len(used) == 1
    return [(name, f"{'bit-identical' if same else 'different'}; {', '.join(used) or 'NCCL was not used'}", same)]


def memory(program: Path, data: list, name: str, *flags) -> list[Row]:
    """Checks that the arena has its planned size, and reports memory outside the arena."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        call([program, *data, "--steps", 2, "--no-shuffle", "--quiet", "--memory-report", report, *flags])
        found = json.loads(report.read_text())
    outside = ", ".join(f"{use['name']} {use['bytes']}" for use in found["outside_arena"])
    text = f"planned {found['planned_bytes']}, arena {found['arena_bytes']}; outside the arena: {outside}"
    return [(f"{name}: memory in bytes", text, found["planned_bytes"] == found["arena_bytes"])]


def fitted(program: Path, data: list, name: str) -> list[Row]:
    """Runs updates of a model that fits only with many techniques."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = Path(folder) / "metrics.jsonl"
        rows = memory(program, data, name, "--metrics", metrics)
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    losses = ", ".join(f"{line['loss']:.4f}" for line in lines)
    seconds = ", ".join(f"{line['step_seconds']:.3f} s" for line in lines)
    return [*rows, (f"{name}: updates", f"{seconds}; losses {losses}", all(math.isfinite(line["loss"]) for line in lines))]


def sanitizer(example: Example) -> list[Row]:
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(tool, os.X_OK):
        return [("compute-sanitizer", "not on this machine", None)]
    rows = []
    for kind in ("memcheck", "racecheck", "synccheck", "initcheck"):
        command = [tool, "--tool", kind, "--error-exitcode", 9, example.folder / "sgd", *example.data, "--steps", 1,
                   "--no-shuffle", "--quiet"]  # fmt: skip
        try:
            text = call(command, timeout=120)
            summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", text)
            rows.append((f"{example.name}: compute-sanitizer {kind}", summary[-1] if summary else "no summary", bool(summary)))
        except Failure as failure:
            rows.append((f"{example.name}: compute-sanitizer {kind}", str(failure), False))
    return rows


def bandwidth(program: Path, data: list, name: str) -> list[Row]:
    """Reports the kernels and contractions of the fastest step, relative to a device copy and to a plain contraction of the library."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "summary.json"
        call([program, *data, "--steps", 5, "--no-shuffle", "--quiet", f"--profile-summary={file}"])
        summary = json.loads(file.read_text())
    machine, totals = summary["machine"], summary["totals"]
    rows = [(f"{name}: copy on the device", f"{machine['copy_bytes_per_second'] / 1e9:.0f} GB/s", None)]
    for key, title, share in (("large_kernels", "kernels over 1 MB", "share_of_copy"),
                              ("contractions", "contractions", "share_of_alone")):  # fmt: skip
        if total := totals.get(key):
            rate = f", {total['flops_per_second'] / 1e12:.1f} TFLOP/s" if "flops_per_second" in total else ""
            rows.append((f"{name}: {title}", f"{100 * total['share']:.0f} % of the step, "
                         f"{total.get(share, 0):.2f} of {'a copy' if share == 'share_of_copy' else 'the library alone'}{rate}", None))  # fmt: skip
    slow = [row for row in summary["rows"] if row["kind"] == "kernel" and row["bytes"] > 1 << 20]
    for row in sorted(slow, key=lambda row: row.get("share_of_copy", 9))[:5]:
        rows.append((f"{name}: slow kernel {row['name']}", f"{row.get('share_of_copy', 0):.2f} of a copy, "
                     f"{100 * row['share']:.1f} % of the step, {' + '.join(row['nodes'])[:60]}", None))  # fmt: skip
    return rows
