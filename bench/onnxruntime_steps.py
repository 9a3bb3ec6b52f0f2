"""Measures training steps of onnxruntime-training's on-device API and prints one JSON line.

    onnxruntime_steps.py FOLDER --prepare                 # writes FOLDER/artifacts from FOLDER/flat.onnx
    onnxruntime_steps.py FOLDER --steps N --threads T

FOLDER/artifacts contain the training, evaluation and optimizer graphs and the checkpoint.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path, help="folder of models.py --onnxruntime")
parser.add_argument("--prepare", action="store_true", help="generate the training artifacts")
parser.add_argument("--steps", type=int, default=1, help="number of steps (default: %(default)s)")
parser.add_argument("--threads", type=int, default=1, help="number of threads (default: %(default)s)")
options = parser.parse_args()
artifacts_folder = options.folder / "artifacts"


def prepare() -> None:
    import onnx
    from onnxruntime.training import artifacts

    model = onnx.load(options.folder / "flat.onnx")
    for node in model.graph.node:  # The gradient reads the optional outputs, which exporters omit.
        if node.op_type == "LayerNormalization" and len(node.output) == 1:
            node.output.extend([f"{node.output[0]}.mean", f"{node.output[0]}.deviation"])
    trained = [i.name for i in model.graph.initializer if i.name.startswith("model.") and i.data_type == 1]
    artifacts_folder.mkdir(exist_ok=True)
    artifacts.generate_artifacts(
        model, requires_grad=trained, loss=artifacts.LossType.CrossEntropyLoss,
        optimizer=artifacts.OptimType.AdamW, artifact_directory=str(artifacts_folder),
    )  # fmt: skip


def run() -> None:
    import onnxruntime
    from onnxruntime.training import api

    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = options.threads
    state = api.CheckpointState.load_checkpoint(str(artifacts_folder / "checkpoint"))
    module = api.Module(
        str(artifacts_folder / "training_model.onnx"), state, str(artifacts_folder / "eval_model.onnx"),
        session_options=session,
    )  # fmt: skip
    optimizer = api.Optimizer(str(artifacts_folder / "optimizer_model.onnx"), module)
    optimizer.set_learning_rate(1e-4)
    module.train()
    data = {file.stem: np.load(file) for file in (options.folder / "data").glob("*.npy")}
    labels = data.pop("labels").reshape(-1)
    inputs = [data[name] for name in module.input_names() if name in data]
    seconds, losses = [], []
    for _ in range(options.steps):
        start = time.perf_counter()
        loss = module(*inputs, labels)
        optimizer.step()
        module.lazy_reset_grad()
        losses.append(float(loss))
        seconds.append(time.perf_counter() - start)
    version = f"onnxruntime-training {onnxruntime.__version__}"
    print(json.dumps({"seconds": seconds, "losses": losses, "version": version}))


prepare() if options.prepare else run()
