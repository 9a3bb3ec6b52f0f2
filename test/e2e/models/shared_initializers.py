# RUN: %python %s %t
"""Parameters whose initializers an exporter merged are trained separately: gradients, updates and exports have all names, whether PyTorch's
newer exporter merged them (metadata) or the TorchScript-based one (Identity)."""

import json

import numpy as np
import onnx
from merged import BATCH, BIASES, DATA, SCALES, WEIGHTS, build
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from program import MTC, compile, own_folder, run

RATE = 0.5


def arrays(path) -> dict[str, np.ndarray]:
    return {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}


folder = own_folder()
flags = ["--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--optimizer", "sgd", "--lr", RATE]
for exporter in ("dynamo", "torchscript"):
    file = folder / f"{exporter}.onnx"
    onnx.save(build(exporter), file)
    onnx.checker.check_model(file, full_check=True)

    kept = compile(file, folder, DATA, *flags, "--shared-initializers", "keep", name=f"{exporter}-kept")
    split = compile(file, folder, DATA, *flags, name=f"{exporter}-split")
    together, apart = kept.gradients("kept"), split.gradients("split")
    assert together.keys() == WEIGHTS.keys(), together.keys()
    assert apart.keys() == {*WEIGHTS, *SCALES, *BIASES}, apart.keys()
    for name, names in {"a.weight": SCALES, "a.bias": BIASES}.items():
        np.testing.assert_allclose(sum(apart[n] for n in names), together[name], rtol=1e-5, atol=1e-6)

    # The copies differ after one step of SGD and after more steps.
    split.exported("once", "--steps", 1, "--no-shuffle")
    for name, value in arrays(folder / "once.onnx").items():
        start = WEIGHTS.get(name, WEIGHTS["a.weight" if name in SCALES else "a.bias"])
        np.testing.assert_allclose(value, start - RATE * apart[name], rtol=1e-6, atol=1e-7, err_msg=name)
    split.exported("trained", "--steps", 20, "--save", folder / f"{exporter}-saved")
    trained = folder / "trained.onnx"
    onnx.checker.check_model(trained, full_check=True)
    values = arrays(trained)
    for names in (SCALES, BIASES):
        for k, one in enumerate(names):
            for other in names[:k]:
                assert np.abs(values[one] - values[other]).max() > 1e-2, (one, other)
    outputs = split.outputs("outputs", "--resume", folder / f"{exporter}-saved")
    (expected,) = ReferenceEvaluator(str(trained)).run(None, {"x": DATA["x"]})
    np.testing.assert_allclose(outputs["logits"], expected, rtol=1e-4, atol=1e-5)

    # The exported model has no merged initializers, and the same parameters.
    again = run([MTC, "inspect", trained, "--json"], folder)
    rows = {row["name"]: row for row in json.loads(again.stdout)["initializers"]}
    assert rows.keys() == values.keys() and all(row["role"] == "parameter" for row in rows.values()), rows
    assert "stands for" not in again.stderr, again.stderr
    inspected = json.loads(run([MTC, "inspect", file, "--json"], folder).stdout)["initializers"]
    reasons = {row["name"]: row["reason"] for row in inspected}
    assert reasons["fc.bias"] == "split from 'a.bias', which the exporter merged", reasons
