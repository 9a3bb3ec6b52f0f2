# RUN: %python %s %t
"""A program with several shapes trains rows of different lengths as one whose length is that of the longest row: it gives the same losses,
gradients, metrics and weights, for classes of rows and for tokens, with accumulation and in a resumed run."""

import json

import numpy as np
from program import MTC, Program, losses, run
from ragged_models import BATCH, WORDS, check_close, folder, padded, pair
from safetensors.numpy import save_file

for model, loss in (("classes", "cross-entropy"), ("tokens", "causal-lm")):
    for flags in ((), ("--accumulate", 2), ("--accumulate", 2, "--clip-norm", 1)):
        name = "-".join([model, *map(str, flags)])
        several, one = pair(model, name, "--loss", loss, *flags)
        np.testing.assert_allclose(losses(several.train(25)), losses(one.train(25)), rtol=1e-5, err_msg=name)
        check_close(several.gradients("gradients"), one.gradients("gradients-one"), name)
        found, wanted = (p.evaluation("--metrics", p.folder / "evaluated.json") for p in (several, one))
        assert found.keys() == wanted.keys(), (found, wanted)
        np.testing.assert_allclose([*found.values()], [*wanted.values()], rtol=1e-5)
        # A resumed run gives the same bits.
        whole = several.exported("whole", "--epochs", 3)
        several.run("--steps", 7, "--save", f"saved-{name}")
        assert several.exported("resumed", "--epochs", 3, "--resume", f"saved-{name}") == whole, name

# The outputs of classes have one size; those of tokens depend on the shape.
several, one = pair("classes", "outputs", "--loss", "cross-entropy")
check_close(several.outputs("outputs"), one.outputs("outputs-one"), "outputs")
several, one = pair("tokens", "outputs-of-tokens", "--loss", "causal-lm")
refused = several.run("--outputs", "none.safetensors", code=1).stderr
assert "the output 'logits' is [4, 16, 50] with" in refused and "sequence = 16" in refused, refused

# The arena of all shapes is that of the largest one, as planned, but for constants of the smaller shapes.
plans = {}
for sizes in ("4,16,8", "16"):
    shown = run([MTC, "plan", folder / "classes.onnx", "--dim", f"batch={BATCH}", "--dim", f"sequence={sizes}", "--loss", "cross-entropy", "--json"], folder)
    plans[sizes] = json.loads(shown.stdout)["peak_bytes"]
    known = json.loads(shown.stdout).get("shapes", [])
    assert [(each["batch"], each["dims"]["sequence"]) for each in known] == [(BATCH, n) for n in (16, 4, 8) if "," in sizes], known
    live = {each["dims"]["sequence"]: each["live_bytes"] for each in known}
    assert not known or plans[sizes] >= live[16] == max(live.values()) and live[4] > 0, known
    assert all(each["micro_step_seconds"] > 0 for each in known), known
assert plans["16"] <= plans["4,16,8"] <= plans["16"] + 1024, plans

# A number of tokens sets the batch of each shape.
shown = run([MTC, "plan", folder / "tokens.onnx", "--dim", "sequence=4,16,8", "--batch-tokens", 40, "--loss", "causal-lm", "--json"], folder)
known = json.loads(shown.stdout)["shapes"]
assert [(each["batch"], each["dims"]["sequence"]) for each in known] == [(2, 16), (10, 4), (5, 8)], known
for words, problem in (
    (("--dim", "batch=2", "--dim", "sequence=4", "--batch-tokens", 8), "--dim sets 'batch', the batch; give one of them"),
    (("--batch-tokens", 8), "no symbolic dimension besides the batch has a size"),
    (("--dim", "sequence=4", "--batch-tokens", 0), "expected 1 or more tokens"),
):
    shown = run([MTC, "plan", folder / "tokens.onnx", *words, "--loss", "causal-lm"], folder, code=1).stderr
    assert problem in shown, shown

# Rows of one length use the largest shape, and wrong data is refused.
dense = Program(several.path, {"dense": padded})
dense.data_flags = ["--data", "input_ids=dense.npy"]
dense.run("--steps", 2)
save_file({"offsets": np.array([0, 17, 18, 19, 20]), "values": np.ones(20, np.int64)}, folder / "long.safetensors")
save_file({"offsets": np.array([0, 4, 2, 5, 6]), "values": np.ones(6, np.int64)}, folder / "wrong.safetensors")
save_file({"offsets": np.array([0, 1, 2, 3, 4]), "values": np.full(4, WORDS)}, folder / "range.safetensors")
for file, problem in (
    ("long", "row 0 has 17 values, but the longest rows of the input 'input_ids' have 16"),
    ("wrong", "the offsets of row 1 are 4 and 2, expected numbers from 0 to 6 in ascending order"),
    ("range", f"row 0 holds {WORDS} (element 0)"),
):
    dense.data_flags = ["--data", f"input_ids={file}.safetensors"]
    shown = dense.run("--steps", 1, code=1).stderr
    assert problem in shown, shown
for sizes, problem in (
    (("sequence=4,8", "batch=4,4,4"), "--dim batch=4,4,4: has 3 sizes, but another dimension has 2"),
    (("sequence=4,8", "batch=4", "--memory", "1MiB", "--fit-batch"), "which --fit-batch does not change"),
):
    dims = [word for size in sizes for word in (("--dim", size) if "=" in size else (size,))]
    shown = run([MTC, "compile", folder / "tokens.onnx", *dims, "--loss", "causal-lm", "-o", folder / "none"], folder, code=1).stderr
    assert problem in shown, shown
shown = run([MTC, "grad", folder / "tokens.onnx", "--dim", "sequence=4,8", "-o", folder / "none.onnx"], folder, code=1).stderr
assert "a gradient model has one shape" in shown, shown
