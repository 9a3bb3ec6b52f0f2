# RUN: %python %s %t
"""A file of tokens trains like the same tokens in rows with the next token as label; without labels, the last token has none."""

import numpy as np
from models import EXAMPLES, GPT2
from program import Program, compile_example, losses, own_folder

STEPS = 4
folder = own_folder()
rows = compile_example(GPT2, folder, "sgd", STEPS * GPT2.batch)
stream = Program(rows.path, {})
stream.data_flags = ["--data", f"input_ids={EXAMPLES / 'gpt2/train.bin'}"]
assert losses(stream.train(STEPS)) == losses(rows.train(STEPS))

data = GPT2.data(STEPS * GPT2.batch)
shifted = Program(rows.path, {"input_ids": data["input_ids"]})
labels = np.roll(data["input_ids"], -1, axis=1)
labels[:, -1] = -100
explicit = Program(rows.path, {"input_ids": data["input_ids"], "labels": labels})
assert losses(shifted.train(STEPS)) == losses(explicit.train(STEPS))
