#!/usr/bin/env python3
"""Packs a folder that checks and measures the CUDA target on a machine that needs only a GPU and Python.

    tools/gpu_kit/make.py --out kit                                # for sm_90: examples, convolutions and recurrent layers
    tools/gpu_kit/make.py --out kit --graphs FOLDER                # and large models, to be timed
    tools/gpu_kit/make.py --out kit --emulate                      # device code on this machine's processor: tests the kit

On the other machine, `python3 kit/run.py` prints one table. The folder contains programs, their data, and the losses and gradients of the
target `cpu`, which are computed here. The folder of graphs contains some of the models in TIMED and FITTED, with or without weights;
their parameters and data are random, generated on the other machine. `bench/models.py` exports the models, except for Llama 8B:

    python -m mtc.export --hf CONFIG_OF_LLAMA_8B --task causal-lm -o graphs/llama-8b.onnx
    tools/gpu_kit/make.py --out kit --graphs graphs --examples digits    # Llama 8B in 12 GB, with the update on the GPU and on the CPU
"""

import argparse
import json
import random
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bench")]
import convolutions  # noqa: E402
import epilogues  # noqa: E402
import recurrence  # noqa: E402
from random_data import random_data  # noqa: E402

STEPS = 20
EXAMPLES = {
    "digits": {
        "model": ROOT / "examples/digits/digits.onnx",
        "flags": ["--dim", "batch=64", "--loss", "cross-entropy", "--lr", "1e-3"],
        "data": {"x": "examples/digits/train_x.npy", "labels": "examples/digits/train_labels.npy"},
    },
    "gpt2-small": {
        "model": ROOT / "examples/gpt2/gpt2.onnx",
        "flags": ["--dim", "batch=4", "--dim", "sequence=64", "--loss", "causal-lm", "--lr", "1e-3"],
        "data": {"input_ids": "examples/gpt2/train.bin"},
    },
    "convolutions": {
        "bytes": convolutions.model,
        "flags": ["--dim", "batch=16", "--loss", "cross-entropy", "--lr", "1e-2"],
        "batch": 16,  # samples of random data
    },
    "recurrence": {
        "bytes": recurrence.model,
        "flags": ["--dim", "batch=16", "--loss", "cross-entropy", "--lr", "1e-3"],
        "batch": 16,
    },
}
# Flags for gpt2-small, and the maximum relative difference of its losses from those of the CPU.
TECHNIQUES = {
    "recomputation": (["--recompute", "all"], 1e-4),
    "tiles": (["--tile", "all"], 1e-4),
    "offload optimizer state": (["--offload", "optimizer"], 1e-4),
    "update on the CPU": (["--offload", "update"], 1e-4),
    "offload parameters and activations": (["--offload", "parameters,activations"], 1e-4),
    "offload gradients": (["--offload", "gradients", "--accumulate", "2"], 1e-4),
    "16-bit gradients": (["--gradient-bits", "16", "--accumulate", "4"], 1e-3),
    "8-bit AdamW": (["--optimizer-bits", "8"], 1e-3),
    "4-bit AdamW": (["--optimizer-bits", "4"], 1e-3),
    "Muon": (["--optimizer", "muon"], 1e-3),
    "LoRA of NF4 weights": (["--lora", "*attn*", "--frozen-bits", "4"], 1e-3),
    "bf16": (["--precision", "bf16"], 1e-2),
    "f16 with loss scaling": (["--precision", "f16"], 1e-2),
    "clipping": (["--clip-norm", "0.5"], 1e-4),
}
TIMED = {
    "gpt2-124m, 4 x 256": ("gpt2-124m", "causal-lm", 4, 256),
    "gpt2-124m, 8 x 1024": ("gpt2-124m", "causal-lm", 8, 1024),
    "xlmr-base, 8 x 128": ("xlmr-base", "cross-entropy", 8, 128),
    "xlmr-large, 8 x 128": ("xlmr-large", "cross-entropy", 8, 128),
    "resnet50, 64 x 224²": ("resnet50", "cross-entropy", 64, None),
}
IN_12_GB = ["--precision", "bf16", "--memory", "12GB"]
# Models that fit only with many techniques, each with the flags of one or several programs.
FITTED = {
    "gpt2-xl, 64 x 1024, in 12 GiB": (
        "gpt2-xl", "causal-lm", 64, 1024,
        {"fitted": ["--memory", "12GiB", "--allow", "precision,optimizer-bits,accumulate,gradient-bits"]},
    ),
    "llama-8b, 1 x 2048, in 12 GB": (
        "llama-8b", "causal-lm", 1, 2048,
        {"update on the GPU": [*IN_12_GB, "--offload", "optimizer,parameters"],
         "update on the CPU": [*IN_12_GB, "--offload", "update,parameters", "--threads", "16"]},
    ),
}  # fmt: skip
BENCH = ("models", "pytorch_steps", "random_data")
INITIAL = ["--init", "normal:0.02"]


def fail(message: str):
    sys.exit(f"make.py: {message}")


def call(command: list) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        fail(f"{shlex.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def compile(options, model: Path, flags: list, target: list, program: Path) -> float:
    program.parent.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    call([options.mtc, "compile", model, *flags, *target, "-o", program])
    return time.perf_counter() - begin


def example(options, name: str) -> dict:
    """Compiles a model for the device and for the CPU, and records the CPU's losses and gradients."""
    made = EXAMPLES[name]
    folder = options.out / "examples" / name
    model = made.get("model", options.scratch / f"{name}.onnx")
    if "bytes" in made:
        model.write_bytes(made["bytes"]())
    for optimizer in ("sgd", "adamw"):
        flags = [*made["flags"], "--optimizer", optimizer]
        compile(options, model, flags, options.target, folder / optimizer)
        compile(options, model, flags, ["--target", "cpu"], options.scratch / f"{name}-{optimizer}")
    ranks = ["--optimizer", "adamw", "--ranks", "1", "--accumulate", "2", "--shard", "parameters"]
    compile(options, model, [*made["flags"], *ranks], options.target, folder / "ranks")
    files = {key: ROOT / file for key, file in made.get("data", {}).items()}
    if "batch" in made:
        (drawn := options.scratch / f"{name}-data").mkdir()
        random_data(options.scratch / f"{name}-sgd", made["batch"], drawn)
        files = {file.stem: file for file in sorted(drawn.iterdir())}
    for file in files.values():
        shutil.copy(file, folder)
    data = [word for key, file in files.items() for word in ("--data", f"{key}={folder / file.name}")]
    losses = {}
    for optimizer in ("sgd", "adamw"):
        metrics = options.scratch / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        program = options.scratch / f"{name}-{optimizer}"
        call([program, *data, "--steps", STEPS, "--no-shuffle", "--quiet", "--metrics", metrics])
        losses[optimizer] = [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]
    call([program, *data, "--no-shuffle", "--gradients", folder / "gradients.safetensors"])
    return {"name": name, "data": {key: file.name for key, file in files.items()}, "losses": losses}


def techniques(options, example: dict) -> list[dict]:
    """Compiles the example's model with one technique at a time, and records the CPU target's losses with the same technique."""
    name = example["name"]
    folder = options.out / "examples" / name
    data = [word for key, file in example["data"].items() for word in ("--data", f"{key}={folder / file}")]
    made = []
    for number, (title, (flags, limit)) in enumerate(TECHNIQUES.items()):
        flags = [*EXAMPLES[name]["flags"], *flags]
        of_cpu = ["none" if word == "update" else word for word in flags]
        program, metrics = options.scratch / f"technique-{number}", options.scratch / f"technique-{number}.jsonl"
        compile(options, EXAMPLES[name]["model"], flags, options.target, folder / f"technique-{number}")
        compile(options, EXAMPLES[name]["model"], of_cpu, ["--target", "cpu"], program)
        call([program, *data, "--steps", STEPS, "--no-shuffle", "--quiet", "--metrics", metrics])
        losses = [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]
        made.append({"title": title, "program": f"technique-{number}", "losses": losses, "limit": limit})
    return made


def large(options, number: int, title: str, programs: dict[str, list]) -> dict:
    """Compiles a large model with each list of flags."""
    name, loss, batch, length, *_ = (TIMED | FITTED)[title]
    folder = f"large/{number}"
    flags = [*INITIAL, "--loss", loss, "--optimizer", "adamw", "--lr", "1e-4", "--weight-decay", "0.01", "--dim", f"batch={batch}"]
    if length:
        flags += ["--dim", f"sequence={length}"]
    seconds = {}
    for program, more in programs.items():
        seconds[program] = compile(options, options.graphs / f"{name}.onnx", [*flags, *more], options.target,
                                   options.out / folder / program)  # fmt: skip
    return {"title": title, "name": name, "folder": folder, "batch": batch, "compile_seconds": seconds}


def activations(options) -> None:
    """Compiles one model in tf32 twice, with library epilogues and with kernels in their place."""
    folder = options.out / "epilogues"
    folder.mkdir()
    model = options.scratch / "epilogues.onnx"
    model.write_bytes(epilogues.model())
    flags = ["--dim", "batch=128", "--loss", "mse", "--output", "y", "--optimizer", "sgd", "--lr", "1e-2", "--precision", "tf32"]
    kernels = [word for name in ("activations", "bias-gradients") for word in ("--skip-pass", f"mtc-fuse-{name}")]
    for name, more in (("library", []), ("kernels", kernels)):
        compile(options, model, [*flags, *more], options.target, folder / name)
    (folder / "data").mkdir()
    random_data(folder / "library", 128, folder / "data")
    model.write_bytes(convolutions.model())
    flags = [*EXAMPLES["convolutions"]["flags"], "--precision", "tf32"]
    compile(options, model, flags, options.target, folder / "convolutions")
    (folder / "images").mkdir()
    random_data(folder / "convolutions", EXAMPLES["convolutions"]["batch"], folder / "images")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc")
    parser.add_argument("--graphs", type=Path)
    parser.add_argument("--examples", default=",".join(EXAMPLES), help="comma-separated names of examples")
    parser.add_argument("--arch", default="sm_90", help="GPU architectures: sm_90, or sm_80,sm_90")
    parser.add_argument("--emulate", action="store_true")
    options = parser.parse_args()
    if options.out.exists():
        fail(f"{options.out} already exists")
    random.seed(0)
    options.out = options.out.resolve()
    options.out.mkdir(parents=True)
    options.scratch = options.out / "scratch"
    options.scratch.mkdir()
    options.target = ["--target", "cuda", "--emulate"] if options.emulate else ["--target", f"cuda:{options.arch}"]
    activations(options)
    kit = {
        "emulated": options.emulate,
        "architectures": options.arch,
        "mtc": call([options.mtc, "--version"]).strip(),
        "examples": [example(options, name) for name in options.examples.split(",")],
        "timed": [],
        "fitted": [],
    }
    kit["techniques"] = {
        example["name"]: techniques(options, example) for example in kit["examples"] if example["name"] == "gpt2-small"
    }
    if options.graphs:
        precisions = {name: ["--precision", name] for name in ("f32", "tf32", "bf16")}
        for number, (title, (name, *rest)) in enumerate((TIMED | FITTED).items()):
            if not (options.graphs / f"{name}.onnx").exists():
                print(f"{title}: without {options.graphs / name}.onnx, the kit does not contain it")
                continue
            programs = precisions if title in TIMED else rest[-1]
            kit["timed" if title in TIMED else "fitted"].append(large(options, number, title, programs))
    shutil.rmtree(options.scratch)
    (options.out / "kit.json").write_text(json.dumps(kit, indent=1) + "\n")
    for file in (HERE / "run.py", HERE / "checks.py", *(ROOT / "bench" / f"{name}.py" for name in BENCH)):
        shutil.copy(file, options.out)
    size = sum(file.stat().st_size for file in options.out.rglob("*") if file.is_file())
    print(f"{options.out}: {size / 2**20:.1f} MiB; on the other machine: python3 {options.out.name}/run.py")


if __name__ == "__main__":
    main()
