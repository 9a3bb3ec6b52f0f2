# RUN: %python %s %t
"""--export writes the model with trained weights. ONNX's reference evaluator computes the values of --outputs from it; everything else is
unchanged."""

import shutil

import numpy as np
import onnx
from models import DIGITS, GPT2
from onnx.reference import ReferenceEvaluator
from program import MTC, compile_example, own_folder, run

for example in (DIGITS, GPT2):
    folder = own_folder()
    program = compile_example(example, folder, "adamw", example.batch)
    program.exported("trained", "--steps", 10, "--save", folder / "saved")
    outputs = program.outputs("outputs", "--resume", folder / "saved")
    initial = program.outputs("initial")
    model = onnx.load(folder / "trained.onnx")
    onnx.checker.check_model(model, full_check=True)

    inputs = {name: array for name, array in example.data(example.batch).items() if name != "labels"}
    for source, result in ((example.model, initial), (folder / "trained.onnx", outputs)):
        evaluator = ReferenceEvaluator(str(source))
        for name, value in zip(evaluator.output_names, evaluator.run(None, inputs)):
            assert result[name].shape == value.shape, (name, result[name].shape, value.shape)
            error = np.abs(result[name] - value).max() / np.abs(value).max()
            assert error < 1e-4, f"{source}: {name} is off by {error:.1e}"
    assert any(np.abs(outputs[n] - initial[n]).max() > 1e-3 for n in outputs), "training changed no weight"

    original = onnx.load(example.model)
    before, after = ({i.name: i for i in m.graph.initializer} for m in (original, model))
    assert before.keys() == after.keys()
    changed = [n for n in before if before[n].raw_data != after[n].raw_data]
    parameters = {n for n in before if before[n].data_type == onnx.TensorProto.FLOAT and before[n].dims}
    assert set(changed) == parameters, set(changed) ^ parameters
    for m in (original, model):
        del m.graph.initializer[:]
    assert original.graph == model.graph

# A program overwrites its own exports, but no other model, and never the model from which it was compiled.
folder = own_folder()
program = compile_example(DIGITS, folder, "sgd", DIGITS.batch)
model = folder / "model.onnx"
shutil.copy(DIGITS.model, model)
run([MTC, "compile", model, *DIGITS.flags, "-o", folder / "copied"], folder)
data = [word for name in DIGITS.data(1) for word in ("--data", f"{name}={folder / name}.npy")]
(folder / "link.onnx").hardlink_to(model)
for name in "model.onnx", "./model.onnx", "link.onnx":
    result = run([folder / "copied", *data, "--steps", 1, "--export", name, "--force"], folder, code=1)
    assert "is the model that the program was compiled from" in result.stderr, result.stderr
for _ in range(2):
    run([folder / "copied", *data, "--steps", 1, "--export", "out.onnx", "--export-training", "original.onnx"], folder)
for form in "out.onnx", "original.onnx":
    assert [(p.key, p.value) for p in onnx.load(folder / form).metadata_props] == [("written_by", "mtc")]
result = run([program.path, *data, "--steps", 1, "--export", "model.onnx"], folder, code=1)
assert "mtc did not write it" in result.stderr and "--force" in result.stderr, result.stderr
assert model.read_bytes() == DIGITS.model.read_bytes()
