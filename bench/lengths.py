#!/usr/bin/env python3
"""Compares an epoch over rows of different lengths: one length for all rows, several shapes, and PyTorch with dynamic padding.

    bench/lengths.py xlmr-mini                                      # a classifier of 5 to 512 tokens
    bench/lengths.py gpt2-mini                                      # a language model of 5 to 512 tokens
    bench/lengths.py xlmr-mini --rows 512 --sizes 64,128,256,512 --batch 8

The lengths are log-normal. All contenders train the same batches, whose rows need the same size, with SGD; the table has the seconds of
an epoch, the largest relative difference of its losses and of the gradients of the first batch to PyTorch's, and the arena. The last row
has as many tokens in a batch of each size as the largest one (`--batch-tokens`), and so fewer steps. Epochs run alternately, in several rounds.
Missing Python packages are installed into build/.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compare import ROOT, WORK, call, environment

RATE = 0.05  # learning rate
SHORTEST = 5  # tokens


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["xlmr-mini", "gpt2-mini"], help="model")
    parser.add_argument("--rows", type=int, default=256, help="number of rows (default: %(default)s)")
    parser.add_argument("--sizes", default="64,128,256,512", help="lengths of the shapes (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=8, help="batch size (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="epochs of each contender (default: %(default)s)")
    parser.add_argument("--mtc", type=Path, default=ROOT / "build/release/bin/mtc", help="compiler (default: build/release/bin/mtc)")
    parser.add_argument("--compile-flags", default="", help="additional flags of mtc compile, as one argument")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="number of threads (default: all cores)")
    options = parser.parse_args(arguments)
    options.sizes = [int(size) for size in options.sizes.split(",")]
    return options


def steps_of(lengths, sizes: list[int], batch: int) -> list[list[int]]:
    """Returns the rows of each step of an epoch without shuffling: those that fill no step move to the next larger size."""
    steps, rest, shorter = [], [], 0
    for size in sizes:
        rows = [i for i, length in enumerate(lengths) if shorter < length <= size] + rest
        full = len(rows) // batch * batch
        steps += [rows[at : at + batch] for at in range(0, full, batch)]
        rest, shorter = rows[full:], size
    return steps + ([rest] if rest else [])


def train_pytorch(options: argparse.Namespace, rows: list, labels) -> dict:
    """Trains an epoch with dynamic padding. Returns its seconds, its losses and the gradients of the first batch of the file."""
    import torch
    from models import MODELS

    torch.set_num_threads(options.threads)
    description = MODELS[options.model]
    model = description.build()

    def loss_of(step: list[int]):
        longest = max(len(rows[i]) for i in step)
        ids = torch.zeros(len(step), longest, dtype=torch.int64)
        mask, targets = torch.zeros_like(ids), torch.full_like(ids, -100)
        for at, i in enumerate(step):
            ids[at, : len(rows[i])] = torch.from_numpy(rows[i])
            mask[at, : len(rows[i])] = 1
            targets[at, : len(rows[i]) - 1] = torch.from_numpy(rows[i][1:])
        if options.model == "gpt2-mini":
            return torch.nn.functional.cross_entropy(description.logits(model, {"input_ids": ids}), targets.flatten())
        return torch.nn.functional.cross_entropy(
            description.logits(model, {"input_ids": ids, "attention_mask": mask}), torch.from_numpy(labels[step])
        )

    loss_of(list(range(options.batch))).backward()
    gradients = {name: parameter.grad.clone().numpy() for name, parameter in model.named_parameters() if parameter.grad is not None}
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    optimizer.zero_grad()
    losses, begin = [], time.perf_counter()
    for step in steps_of([len(row) for row in rows], options.sizes, options.batch):
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return {"seconds": time.perf_counter() - begin, "losses": losses, "gradients": gradients}


class Program:
    """A program of mtc and the flags of its data."""

    def __init__(self, options: argparse.Namespace, folder: Path, name: str, flags: list, data: list):
        self.path, self.data, self.folder, self.seconds = folder / name, data, folder, []
        loss = ["--loss", "causal-lm" if options.model == "gpt2-mini" else "cross-entropy"]
        self.flags = [folder / "model.onnx", *flags, *loss, "--optimizer", "sgd", "--lr", RATE, "--threads", options.threads]
        self.flags += options.compile_flags.split()
        self.mtc = options.mtc
        call([self.mtc, "compile", *self.flags, "--quiet", "-o", self.path])

    def run(self, *flags) -> None:
        call([self.path, *self.data, "--no-shuffle", "--quiet", *flags], cwd=self.folder)

    def epoch(self) -> list[float]:
        """Trains an epoch and returns its losses."""
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        self.run("--epochs", 1, "--metrics", metrics)
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        self.seconds.append(sum(line["step_seconds"] for line in lines))
        return [line["loss"] for line in lines]

    def gradients(self) -> dict:
        from safetensors.numpy import load_file

        self.run("--gradients", "gradients.safetensors")
        return load_file(self.folder / "gradients.safetensors")

    def arena(self) -> int:
        """Returns the planned peak in bytes."""
        return json.loads(call([self.mtc, "plan", *self.flags, "--json"]))["peak_bytes"]


def compare(options: argparse.Namespace, folder: Path) -> str:
    import numpy as np
    from models import MODELS
    from safetensors.numpy import save_file

    random = np.random.default_rng(0)
    longest, batch = options.sizes[-1], options.batch
    lengths = np.clip(np.exp(random.normal(np.log(90), 0.9, options.rows)), SHORTEST, longest).astype(int)
    lengths[:batch][0] = longest
    rows = [random.integers(4, MODELS[options.model].config["vocab_size"], length) for length in lengths]
    labels = random.integers(0, 4, options.rows)
    call([sys.executable, ROOT / "bench/models.py", options.model, "--batch", batch, "--length", longest, "--graph", folder / "model.onnx",
          "--out", folder])  # fmt: skip
    # The order of one length is that of the steps; the other programs find it themselves.
    steps = steps_of(lengths, options.sizes, batch)
    order = [i for step in steps for i in step]
    ids, mask, targets = (np.full((options.rows, longest), fill) for fill in (0, 0, -100))
    for at, i in enumerate(order):
        ids[at, : lengths[i]], mask[at, : lengths[i]], targets[at, : lengths[i] - 1] = rows[i], 1, rows[i][1:]
    np.save(folder / "ids.npy", ids)
    np.save(folder / "mask.npy", mask)
    save_file({"values": np.concatenate(rows), "offsets": np.concatenate([[0], np.cumsum(lengths)])}, folder / "ids.safetensors")
    dense, ragged = ["--data", "input_ids=ids.npy"], ["--data", "input_ids=ids.safetensors"]
    if options.model == "gpt2-mini":
        np.save(folder / "targets.npy", targets)
        dense += ["--data", "labels=targets.npy"]
    else:
        np.save(folder / "labels.npy", labels)
        np.save(folder / "ordered-labels.npy", labels[order])
        dense += ["--data", "attention_mask=mask.npy", "--data", "labels=ordered-labels.npy"]
        ragged += ["--data", "labels=labels.npy"]
    sizes = ",".join(map(str, options.sizes))
    group = ["--bucket-by", "length"]
    one = Program(options, folder, "one", ["--dim", f"batch={batch}", "--dim", f"sequence={longest}"], [*dense, "--last-batch", "mask"])
    several = Program(options, folder, "several", ["--dim", f"batch={batch}", "--dim", f"sequence={sizes}"], [*ragged, *group])
    tokens = Program(options, folder, "tokens", ["--dim", f"sequence={sizes}", "--batch-tokens", batch * longest], [*ragged, *group])
    wanted, seconds, found = {}, [], {}
    for _ in range(options.rounds):
        wanted = train_pytorch(options, rows, labels)
        seconds.append(wanted["seconds"])
        found = {program.path.name: program.epoch() for program in (one, several, tokens)}
    gradients = several.gradients()

    def difference(losses: list[float]) -> str:
        return f"{max(abs(a - b) / abs(b) for a, b in zip(losses, wanted['losses'], strict=True)):.1e}"

    worst = max(
        float(np.abs(gradients[name] - value).max() / max(np.abs(value).max(), 1e-3))
        for name, value in wanted["gradients"].items() if name in gradients
    )  # fmt: skip
    base = statistics.median(one.seconds)
    lines = ["| | seconds of an epoch | relative | steps | losses | gradients | arena |", "|---|---|---|---|---|---|---|"]

    def add(name: str, times: list[float], count: int, losses: str, gradients: str, arena: str) -> None:
        middle = statistics.median(times)
        lines.append(f"| {name} | {middle:.1f} ({min(times):.1f} – {max(times):.1f}) | {middle / base:.2f} | {count} | {losses} | {gradients} | {arena} |")

    def arena(program: Program) -> str:
        return f"{program.arena() / 1e6:.1f} MB"

    add(f"mtc, {longest} tokens", one.seconds, len(found["one"]), difference(found["one"]), "", arena(one))
    add(f"mtc, {sizes}", several.seconds, len(found["several"]), difference(found["several"]), f"{worst:.1e}", arena(several))
    add(f"mtc, --batch-tokens {batch * longest}", tokens.seconds, len(found["tokens"]), "", "", arena(tokens))
    add("PyTorch, dynamic padding", seconds, len(wanted["losses"]), "", "", "")
    about = f"{options.rows} rows of {lengths.min()} to {lengths.max()} tokens, {lengths.mean():.0f} on average, {options.threads} threads"
    return "\n".join([about, "", f"{len(gradients)} gradients compared", "", *lines])


def main() -> None:
    options = parse(sys.argv[1:])
    WORK.mkdir(parents=True, exist_ok=True)
    python = environment("bench-venv", "requirements.txt")
    if Path(sys.executable) != python:
        sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        print(compare(options, Path(folder)))


if __name__ == "__main__":
    main()
