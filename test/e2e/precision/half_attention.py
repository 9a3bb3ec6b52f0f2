# RUN: %python %s %t
"""Attention in f16 on an emulated device, computed by the program's own kernels and by cuDNN's graph, matches its definition. One program
contains both and uses cuDNN if it is available; MTC_CUDNN overrides this.

The program is allocated text: causal attention whose heads share keys, and its gradient.
"""

import json
import os
import subprocess

import numpy as np
from program import Program, own_folder

BATCH, HEADS, KEY_HEADS, LENGTH, WIDTH = 2, 4, 2, 24, 16
SCALE = 0.25
folder = own_folder()

queries, keys, rows = (BATCH, HEADS, LENGTH, WIDTH), (BATCH, KEY_HEADS, LENGTH, WIDTH), (BATCH, HEADS, LENGTH)
shapes = {"q": queries, "k": keys, "v": keys, "d": queries, "out": queries, "sums": rows, "offsets": rows,
          "dq": queries, "dk": keys, "dv": keys, "loss": (), "rate": ()}  # fmt: skip


def type_of(name):
    return "x".join([*map(str, shapes[name]), "f32" if len(shapes[name]) < 4 else "f16"])


places, end = {}, 0
for name, shape in shapes.items():
    places[name] = f"#mtc.at<{end}, tensor<{type_of(name)}>>"
    end += -(-4 * int(np.prod(shape)) // 64) * 64
# Scratch memory of cuDNN's gradient: offsets, the scores of a tile of 128 x 128, gradients of keys and values per head, and the workspace
# of cuDNN's kernels.
scratch = 4 * int(np.prod(rows)) + 2 * BATCH * HEADS * (128 * 128 + 2 * LENGTH * WIDTH) + 448


def at(*names):
    return f"[{', '.join(places[name] for name in names)}]"


def strides(shape):
    return [int(np.prod(shape[i + 1 :])) for i in range(4)]


call = (
    f"type = f16, is_causal = 1, batch = {BATCH}, heads = {HEADS}, key_heads = {KEY_HEADS}, queries = {LENGTH}, "
    f"keys = {LENGTH}, width = {WIDTH}, value_width = {WIDTH}, scale = {SCALE}, query = {strides(queries)}, "
    f"key = {strides(keys)}, value = {strides(keys)}, out = {strides(queries)}"
)
gradients = (
    f"has_out = 1, saved_out = {strides(queries)}, d_query = {strides(queries)}, d_key = {strides(keys)}, "
    f"d_value = {strides(keys)}"
)
steps = f"""
  mtc.call #mtc.attention<{call}> {at("q", "k", "v")} into {at("out", "sums")} scratch 448 at {end}
  mtc.launch @offsets {at("out", "d")} into {at("offsets")}
  mtc.call #mtc.attention_gradient<{call}, {gradients}>
    {at("q", "k", "v", "sums", "offsets", "d", "out")} into {at("dq", "dk", "dv")} scratch {scratch} at {end}
  mtc.launch @loss {at("sums")} into {at("loss")}
"""
reads = f'reads ["q", "k", "v", "d"] {at("q", "k", "v", "d")}'
text = f"""
mtc.arena size {end + scratch} live {end + scratch}
mtc.variable scalar @mtc.learning_rate : tensor<f64> = #mtc.scalar<learning_rate> at {places["rate"].split("<")[1].split(",")[0]}
mtc.kernel_function @offsets [{str(queries)[1:-1]}] reduce [3] -> [tensor<{type_of("sums")}>] {{
^body(%out: tensor<{type_of("out")}>, %d: tensor<{type_of("d")}>):
  %a = mtc.kernel.load %out at affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)> : tensor<{type_of("out")}> -> f32
  %b = mtc.kernel.load %d at affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)> : tensor<{type_of("d")}> -> f32
  %p = arith.mulf %a, %b : f32
  %s = mtc.kernel.reduce add %p : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>] : f32
}}
mtc.kernel_function @loss [{str(rows)[1:-1]}] reduce [0, 1, 2] -> [tensor<f32>] {{
^body(%sums: tensor<{type_of("sums")}>):
  %v = mtc.kernel.load %sums at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<{type_of("sums")}> -> f32
  %s = mtc.kernel.reduce add %v : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> ()>] : f32
}}
mtc.step @micro_step {reads} gives ["mtc.loss"] {at("loss")} {{ {steps} }}
mtc.step @update reads [] [] gives [] [] {{ }}
mtc.step @evaluate {reads} gives ["mtc.loss"] {at("loss")} {{ {steps} }}
mtc.step @outputs {reads} gives ["out", "dq", "dk", "dv"] {at("out", "dq", "dk", "dv")} {{ {steps} }}
"""
file, path = folder / "attention.mlir", folder / "train"
file.write_text(text)
subprocess.run(["mtc-run", "--target", "cuda", "--emulate", file, "-o", path], check=True)

random = np.random.default_rng(0)
data = {name: random.normal(0, 1, shapes[name]).astype(np.float16) for name in "qkvd"}
program = Program(path, data)

q, k, v, d = (data[name].astype(np.float64) for name in "qkvd")
k, v = (np.repeat(x, HEADS // KEY_HEADS, 1) for x in (k, v))
weights = np.exp(SCALE * q @ k.swapaxes(2, 3)) * np.tri(LENGTH)
sums = weights.sum(3, keepdims=True)
weights /= sums
out = weights @ v
ds = SCALE * weights * (d @ v.swapaxes(2, 3) - (out * d).sum(3, keepdims=True))


def shared(x):
    """Returns the sums over the heads that share keys."""
    return x.reshape(BATCH, KEY_HEADS, -1, LENGTH, WIDTH).sum(2)


expected = {"out": out, "dq": ds @ k, "dk": shared(ds.swapaxes(2, 3) @ q), "dv": shared(weights.swapaxes(2, 3) @ d)}


def attentions():
    """Returns the names of attention and its gradient in the profile."""
    profile = folder / "profile.json"
    program.run("--steps", 1, "--no-shuffle", "--profile", profile)
    names = {event.get("name", "") for event in json.loads(profile.read_text())}
    return {name for name in names if name.startswith("attention")}


results = []
for library, wanted in (("0", "kernels"), ("1", "cudnn, engine 0")):
    os.environ["MTC_CUDNN"] = library
    assert attentions() == {f"attention {wanted}", f"attention gradient {wanted}"}, attentions()
    results.append(program.outputs("outputs" + library))
    for name, tensor in expected.items():
        found = results[-1][name].astype(np.float64)
        assert np.abs(tensor).max() > 0.1 and np.allclose(found, tensor, 4e-3, 4e-3), (library, name, np.abs(found - tensor).max())
    loss = program.train(2)[-1]["loss"]
    assert np.isclose(loss, np.log(sums).sum(), 1e-5), (loss, np.log(sums).sum())
# cuDNN rounds the weights between the two contractions, so its results differ from those of the kernels.
assert any((results[0][name] != results[1][name]).any() for name in expected)
