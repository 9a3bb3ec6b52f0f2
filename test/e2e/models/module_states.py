# RUN: %python %s %t
"""Weights that PyTorch's exporters fold are restored to the module's form: those of a recurrent layer, a tied output layer, a square
matrix. With the module's state_dict as --weights, outputs equal the module's, and --export-weights writes the same state_dict
(test/support/record_states.py)."""

import numpy as np
import onnx
from program import compile, own_folder, run
from pytorch import INPUTS
from safetensors.numpy import load_file, save_file

folder = own_folder()
models = sorted((INPUTS / "states").glob("*.onnx"))
assert len(models) == 6, models
for model in models:
    recorded = load_file(model.with_suffix(".safetensors"))
    state = {name.removeprefix("state."): value for name, value in recorded.items() if name.startswith("state.")}
    x, y = recorded["x"], recorded["y"]
    shape = [extent.dim_value for extent in onnx.load(model).graph.output[0].type.tensor_type.shape.dim]
    assert shape == list(y.shape), (model, shape)
    flags = ("--loss", "mse", "--labels", "labels", "--optimizer", "sgd")
    program = compile(model, folder, {"x": x, "labels": np.zeros_like(y)}, *flags, name=model.stem)
    save_file(state, folder / "state.safetensors")
    found = program.outputs("outputs", "--weights", folder / "state.safetensors")["y"]
    np.testing.assert_allclose(found, y, rtol=1e-5, atol=1e-6, err_msg=model.stem)
    written = folder / f"{model.stem}-written.safetensors"
    said = run([program.path, "--weights", folder / "state.safetensors", "--export-weights", written], folder).stderr
    assert said == "", (model.stem, said)
    exported = load_file(written)
    assert exported.keys() == state.keys(), (model.stem, exported.keys() ^ state.keys())
    for name, value in state.items():
        np.testing.assert_array_equal(exported[name], value, err_msg=f"{model.stem}: {name}")
    # All weights are trained. A tied weight is trained once.
    program.run("--steps", 2, "--no-shuffle", "--weights", folder / "state.safetensors", "--export-weights", written)
    trained = load_file(written)
    for name, value in state.items():
        assert np.abs(trained[name] - value).max() > 0, f"{model.stem}: {name} is not trained"
    if "tied" in model.stem:
        np.testing.assert_array_equal(trained["embed.weight"], trained["head.weight"])
print(len(models), "state_dicts are written unchanged")
