# RUN: %python %s %t
"""30 epochs of the digits example reach an accuracy of at least 97 % in --evaluate on the test images."""

import re

import numpy as np
from models import DIGITS, EXAMPLES
from program import Program, compile_example, own_folder

folder = own_folder()
program = compile_example(DIGITS, folder, "adamw", 1437)
program.run("--epochs", 30, "--save", folder / "saved")
held_out = {name: np.load(EXAMPLES / f"digits/test_{name}.npy") for name in ("x", "labels")}
test = Program(program.path, held_out)
output = test.run("--evaluate", "--resume", folder / "saved").stdout
accuracy = float(re.search(r"accuracy\D*([0-9.]+)", output)[1])
scores = test.outputs("scores", "--resume", folder / "saved")["logits"]
counted = np.mean(scores.argmax(-1) == held_out["labels"][: len(scores)])
print(output, counted)
assert accuracy >= 0.97, output
assert abs(accuracy - counted) < 1e-3, (accuracy, counted)
