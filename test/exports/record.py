#!/usr/bin/env python3
"""Records exports as small files, which test/e2e/models/recorded_exports.py trains without the frameworks that wrote them.

    test/exports/run.py --only "$(test/exports/record.py --names)"     # makes the exports, in --cache
    test/exports/record.py                                             # writes test/e2e/inputs/exports

Stack traces of exporters are removed. The data are the rows of two steps, which training repeats.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import onnx
from run import ROOT, Suite, architectures, compile_flags, tolerance
from safetensors.numpy import save_file

LIMIT = 60_000  # maximum size of an ONNX file in bytes
STEPS = 10

# Architecture, export, and flags of mtc in addition to compile_flags of run.py.
SAMPLES = [
    ("lstm_language", "dynamo", []),  # The head is tied to the embedding.
    ("lstm_language", "legacy", []),
    ("gru", "dynamo", []),  # The exporter computes the operator's weights from the module's.
    ("gru", "legacy", []),
    ("tied_autoencoder", "dynamo", []),  # The exporter writes the tied weight twice, once transposed.
    ("tied_autoencoder", "legacy", []),
    ("tied_autoencoder", "mtc", []),
    ("siamese", "dynamo", []),  # One module is called twice.
    ("siamese", "legacy", []),
    ("layer_norms", "dynamo", []),  # The exporter writes equal parameters as one initializer.
    ("layer_norms", "legacy", []),
    ("cnn", "mtc", []),  # Batch norm is in training mode.
    ("cnn", "legacy-training", []),
    ("tabular", "dynamo", ["--batch-norm", "train"]),  # Scale and running variance are one initializer.
    ("weight_norm_convolution", "mtc", []),
    ("embedding_padding", "dynamo", []),  # padding_idx
    ("embedding_padding", "mtc", []),
    ("mlp_frozen", "dynamo", []),  # requires_grad=False
    ("mlp_frozen", "mtc", []),
    ("dlrm", "legacy", []),  # Embedding bags are loops.
    ("loss_inside", "mtc", []),
    ("splits", "dynamo-unoptimized", []),
    ("splits", "legacy", []),
    ("gcn", "dynamo", []),  # The inputs have no batch axis.
    ("self_distillation", "mtc", []),  # Gradients are stopped.
    ("vector_quantization", "mtc", []),  # forward updates buffers.
    ("spectrogram_classifier", "mtc", []),  # Short-time Fourier transforms.
    ("diagonal_state_space", "mtc", []),  # Complex numbers and Fourier transforms.
    ("edge_convolution", "mtc", []),  # Neighbors by topk.
    ("mixture_density", "mtc", []),
    ("mixture_of_experts", "mtc", []),
    ("energy_score_matching", "mtc", []),  # The loss contains a derivative of the module.
    ("ordinary_differential_equation", "mtc", []),
    ("sparsemax_attention", "mtc", []),
    ("spline_network", "mtc", []),
    ("capsules", "mtc", []),
    ("dice_segmentation", "mtc", []),
    ("volumes", "mtc", []),  # Convolutions of three dimensions.
    ("weibull_mixture", "mtc", []),
    ("keras_cnn", "mtc", []),
    ("keras_softmax", "mtc", []),
    ("sklearn_mlp_classifier", "own", []),
    ("sklearn_mlp_regressor", "own", []),
]


def record(suite: Suite, architecture, piece: str, flags: list[str], folder: Path) -> None:
    """Writes the model, the data and the expected losses."""
    name = f"{architecture.name}-{piece}"
    suite.prepare({architecture: ["reference", piece]})
    model = onnx.load(suite.path(architecture, piece))
    nodes = list(model.graph.node) + [node for function in model.functions for node in function.node]
    for node in nodes:
        node.doc_string = ""
        kept = [entry for entry in node.metadata_props if entry.key != "pkg.torch.onnx.stack_trace"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, folder / f"{name}.onnx")
    size = (folder / f"{name}.onnx").stat().st_size
    assert size <= LIMIT, f"{name}.onnx has {size} bytes, more than {LIMIT}"
    source = suite.path(architecture, "reference")
    reference = json.loads((source / "reference.json").read_text())
    data = {path.stem: np.load(path) for path in sorted(source.glob("*.npy"))}
    rows = 2 * reference["batch"]
    save_file({key: np.ascontiguousarray(x if key in reference["whole"] else x[:rows]) for key, x in data.items()},
              folder / f"{name}.safetensors")  # fmt: skip
    flags = [*compile_flags(reference, piece), *flags]
    content = {"flags": flags, "tolerance": tolerance(reference), "losses": reference["losses"]}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    print(f"{name}: {size} bytes, losses {reference['losses'][0]:.4f} .. {reference['losses'][-1]:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=ROOT / "build/exports", help="the folder of run.py")
    parser.add_argument("--python", help="a Python with the packages of requirements.txt (default: build/exports-venv)")
    parser.add_argument("--output", type=Path, default=ROOT / "test/e2e/inputs/exports", metavar="DIR")
    parser.add_argument("--only", default=".*", metavar="REGEX", help="architectures by name")
    parser.add_argument("--names", action="store_true", help="print the architectures as a pattern for run.py --only")
    options = parser.parse_args()
    if options.names:
        print("|".join(sorted({name for name, _, _ in SAMPLES})))
        return
    options.mtc, options.timeout = Path("mtc"), 600
    suite = Suite(options)
    known = {architecture.name: architecture for architecture in architectures()}
    options.output.mkdir(parents=True, exist_ok=True)
    for name, piece, flags in SAMPLES:
        if re.fullmatch(options.only, name):
            record(suite, known[name], piece, flags, options.output)


if __name__ == "__main__":
    main()
