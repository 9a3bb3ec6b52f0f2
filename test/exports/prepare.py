"""Exports architectures and trains them in their own frameworks, for run.py: `prepare.py FILE < JOBS`, FILE one of zoo/.

JOBS is a list in JSON: [{"name": ARCHITECTURE, "pieces": {PIECE: PATH, ...}, "timeout": SECONDS}, ...]. A piece is `reference` (a folder
with the data and the framework's losses) or an export (an ONNX file). Each architecture runs in a process of its own, which is forked after
the frameworks have been imported. A failure is recorded in PATH.error next to the file, and the other pieces are still made.
"""

import copy
import importlib
import json
import logging
import os
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "torch")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "python")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from zoo import architecture as zoo  # noqa: E402

SPREAD = 2e-4  # maximum relative difference of losses that rounding may cause
PROGRESS = 5e-3  # minimum relative change of the loss over the ten steps


def train(example: zoo.Example, module: torch.nn.Module) -> list[float]:
    """Trains a copy of the module by SGD, and returns the losses."""
    module = copy.deepcopy(module)
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(parameters, example.lr)
    losses = []
    for inputs, labels in example.batches():
        optimizer.zero_grad()
        output = example.call(module, inputs)
        value = example.loss_of(output, labels) if example.loss_of else zoo.loss(example.loss, output, labels)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def spread(losses: list[float], other: list[float]) -> float:
    return max(abs(a - b) / abs(b) for a, b in zip(losses, other, strict=True))


def reference(example: zoo.Example, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = dict(example.inputs) | ({} if example.labels is None else {"labels": example.labels})
    for name, value in data.items():
        np.save(folder / f"{name}.npy", value.numpy())
    if example.losses is not None:
        losses, rounding, frozen = example.losses(), 0.0, None
    else:
        losses = train(example, example.module)
        nudged = copy.deepcopy(example.module)
        generator = torch.Generator().manual_seed(1)
        for parameter in filter(torch.is_floating_point, nudged.parameters()):
            parameter.data *= 1 + 1e-7 * torch.randn(parameter.shape, generator=generator)
        rounding = spread(losses, train(example, nudged))
        frozen = train(example, copy.deepcopy(example.module).eval())
    assert np.isfinite(losses).all(), f"the losses are not finite: {losses}"
    assert rounding <= SPREAD, f"rounding moves the losses by {rounding:.1e}, more than {SPREAD:.0e}: {losses}"
    change = max(abs(loss - losses[0]) for loss in losses) / abs(losses[0])
    assert change >= PROGRESS, f"the loss hardly changes: {losses}"
    content = {
        "loss": example.loss, "lr": example.lr, "output": example.output, "batch": example.batch, "dimension": "batch" if example.dynamic else None, "own_dimension": example.own_dimension,
        "frozen": [name for name, parameter in example.module.named_parameters() if not parameter.requires_grad],
        "inputs": list(example.inputs), "whole": list(example.whole), "labels": example.labels is not None,
        "losses": losses, "losses_of_evaluation_mode": frozen, "rounding": rounding,
    }  # fmt: skip
    (folder / "reference.json").write_text(json.dumps(content))


def flat_forward(example: zoo.Example, module: torch.nn.Module) -> torch.nn.Module:
    """Wraps the module such that it accepts positional tensors and returns one tensor, as users of the TorchScript exporter do."""
    plain = module.forward
    names = list(example.inputs)

    def forward(*tensors):
        return example.call(lambda *args, **kwargs: plain(*args, **kwargs), dict(zip(names, tensors, strict=True)))

    module.forward = forward
    return module


def dynamo(example: zoo.Example, path: Path, **options) -> None:
    inputs, _ = example.batches()[0]
    axes = {name: {0: "batch"} for name in inputs} if example.dynamic else None
    arguments = dict(args=(), kwargs=inputs) if example.keywords else dict(args=tuple(inputs.values()))
    shapes = axes if example.keywords or axes is None else tuple(axes.values())
    torch.onnx.export(
        copy.deepcopy(example.module).eval(), **arguments, f=path, dynamo=True, verbose=False, dynamic_shapes=shapes,
        input_names=list(inputs), output_names=[example.output], external_data=False, **options,
    )  # fmt: skip


def legacy(example: zoo.Example, path: Path, train: bool = False, **options) -> None:
    inputs, _ = example.batches()[0]
    module = flat_forward(example, copy.deepcopy(example.module).train(train))
    axes = {name: {0: "batch"} for name in inputs} if example.dynamic else None
    mode = torch.onnx.TrainingMode.TRAINING if train else torch.onnx.TrainingMode.EVAL
    torch.onnx.export(
        module, tuple(inputs.values()), path, dynamo=False, input_names=list(inputs), output_names=[example.output],
        dynamic_axes=axes, training=mode, **options,
    )  # fmt: skip


def lossless(example: zoo.Example, path: Path) -> None:
    import mtc
    from mtc._capture import flat_outputs

    inputs, _ = example.batches()[0]
    arguments = dict(inputs) if example.keywords else tuple(inputs.values())
    module = copy.deepcopy(example.module)
    outputs = list(flat_outputs(module(**inputs) if example.keywords else module(*inputs.values())))
    names = {} if example.output in outputs else {"output_names": [example.output, *outputs[1:]]}
    module = copy.deepcopy(example.module)
    mtc.export(module, arguments, path, input_names=list(inputs), dynamic_batch=example.dynamic, **names)


def own(example: zoo.Example, path: Path) -> None:
    example.exporter(path)


EXPORTS = {
    "dynamo": dynamo,
    "legacy": legacy,
    "mtc": lossless,
    "own": own,
    "dynamo-unoptimized": lambda example, path: dynamo(example, path, optimize=False),
    "legacy-unfolded": lambda example, path: legacy(example, path, do_constant_folding=False),
    "legacy-training": lambda example, path: legacy(example, path, train=True, do_constant_folding=False),
}


def prepare(name: str, pieces: dict[str, str]) -> None:
    """Makes the pieces of one architecture."""
    for kind, place in pieces.items():
        path = Path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            example = zoo.build(name)
            if kind == "reference":
                reference(example, path)
            else:
                EXPORTS[kind](example, path)
        except Exception as error:
            traceback.print_exc()
            while error.__cause__ is not None:
                error = error.__cause__
            lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
            record(path, f"{type(error).__name__}: {' '.join(lines[:3])}"[:600])


def record(path: Path, problem: str) -> None:
    Path(f"{path}.error").write_text(problem)


def is_made(kind: str, path: Path) -> bool:
    made = path / "reference.json" if kind == "reference" else path
    return made.exists() or Path(f"{path}.error").exists()


def fork(job: dict) -> None:
    """Makes the pieces in a process of their own, and records those that are missing after a crash or the time limit."""
    child = os.fork()
    if child == 0:
        try:
            prepare(job["name"], job["pieces"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    end = time.monotonic() + job["timeout"]
    status = None
    while status is None and time.monotonic() < end:
        done, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if done else None
        time.sleep(0.05)
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    reason = f"took more than {job['timeout']} s" if status is None else f"exited with {status}"
    for kind, place in job["pieces"].items():
        if not is_made(kind, Path(place)):
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            record(Path(place), f"the framework {reason}")


def main() -> None:
    importlib.import_module(f"zoo.{sys.argv[1]}")
    for name in ("mtc.exporter", "onnxruntime", "torch._dynamo", "torch.onnx._internal.exporter._core"):
        importlib.import_module(name)
    torch.set_num_threads(1)
    for job in json.load(sys.stdin):
        fork(job)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    main()
