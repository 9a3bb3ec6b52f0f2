# RUN: %python %s %t
"""Language model data that would train the wrong targets is rejected: labels that repeat the tokens, and tokens of another type."""

import numpy as np
from models import GPT2
from program import Program, compile_example, losses, own_folder, run

STEPS = 3
folder = own_folder()
data = GPT2.data(STEPS * GPT2.batch)
ids, labels = data["input_ids"], data["labels"]
program = compile_example(GPT2, folder, "sgd", STEPS * GPT2.batch)
wanted = losses(program.train(STEPS))


def bound(**files):
    other = Program(program.path, {})
    for name, file in files.items():
        other.data_flags += ["--data", f"{name}={file}"]
    return other


def saved(name, array):
    file = folder / name
    np.save(file, array) if file.suffix == ".npy" else array.tofile(file)
    return file


def refused(other, *words):
    before = sorted(folder.rglob("*"))
    said = run(other.command("--steps", 1, "--no-shuffle"), folder, code=1).stderr
    for word in words:
        assert word in said, f"no '{word}' in\n{said}"
    assert sorted(folder.rglob("*")) == before, "a file was left behind"


# Hugging Face's labels: a copy of the ids, with -100 for prompts and padding.
own = saved("own.npy", ids)
refused(bound(input_ids=own, labels=own), "each label is the token of", "Leave --data labels out")
masked = ids.copy()
masked[:, :20] = -100
refused(bound(input_ids=own, labels=saved("masked.npy", masked)), "np.concatenate([labels[:, 1:]")
shifted = np.concatenate([masked[:, 1:], np.full((len(masked), 1), -100)], 1)
bound(input_ids=own, labels=saved("shifted.npy", shifted)).run("--steps", 1)

# A headerless stream of 32-bit or 64-bit tokens.
tokens = np.append(ids.ravel(), labels[-1, -1])
for kind, type in {"u16": np.uint16, "u32": np.uint32, "i32": np.int32, "i64": np.int64}.items():
    stream = saved(f"{kind}.bin", tokens.astype(type))
    assert losses(bound(input_ids=f"{stream}:{kind}").train(STEPS)) == wanted, kind
    if kind == "u16":
        assert losses(bound(input_ids=stream).train(STEPS)) == wanted
    else:
        refused(bound(input_ids=stream), "has no header", f"--data input_ids={stream}:u16", ":u32" if "32" in kind else ":i64")
header = np.zeros(256, np.int32)
header[:3] = 20240520, 1, -5
refused(bound(input_ids=saved("negative.bin", np.frombuffer(header.tobytes() + tokens.astype(np.uint16).tobytes(), np.uint8))), "announces -5 tokens")

# The error for an id outside the vocabulary names its position.
wrong = tokens.astype(np.uint16)
wrong[100] = 60000
refused(bound(input_ids=saved("wrong.bin", wrong)), "wrong.bin: token 100 is 60000", "takes")
