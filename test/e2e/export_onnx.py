# RUN: %python %s %t
"""--export writes the model with trained weights: ONNX's reference computes what --outputs says, nothing else changed."""

import numpy as np
import onnx
from models import DIGITS, GPT2
from onnx.reference import ReferenceEvaluator
from program import compile_example, own_folder

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
    assert any(np.abs(outputs[n] - initial[n]).max() > 1e-3 for n in outputs), "training changed nothing"

    original = onnx.load(example.model)
    before, after = ({i.name: i for i in m.graph.initializer} for m in (original, model))
    assert before.keys() == after.keys()
    changed = [n for n in before if before[n].raw_data != after[n].raw_data]
    parameters = {n for n in before if before[n].data_type == onnx.TensorProto.FLOAT and before[n].dims}
    assert set(changed) == parameters, set(changed) ^ parameters
    for m in (original, model):
        del m.graph.initializer[:]
    assert original.graph == model.graph
