# RUN: %python %s %t
"""Flags of a program set the hyperparameters that it computes with: it trains bit-identically to a program that is compiled with these values, for
every optimizer, with clipping, in a resumed run, on an emulated GPU and with several ranks. Programs refuse others, with the reason."""

from launcher import launcher
from models import DIGITS, digits
from program import Program, compile, own_folder

folder = own_folder()
data = digits(320)
STEPS = 6
# Values to compile with, and others that a flag of the program sets.
CASES = {
    "sgd": (["--weight-decay", "0.01"], ["--weight-decay", "0.1"]),
    "momentum": (["--weight-decay", "0.01", "--momentum", "0.8"], ["--weight-decay", "0.1", "--momentum", "0.95"]),
    "adam": (["--weight-decay", "0.01"], ["--weight-decay", "0.1", "--betas", "0.8,0.99", "--eps", "1e-5"]),
    "adamw": ([], ["--weight-decay", "0.1", "--betas", "0.8,0.99", "--eps", "1e-5"]),
    "rmsprop": (["--momentum", "0.5"], ["--alpha", "0.9", "--eps", "1e-5", "--momentum", "0.9"]),
    "adagrad": (["--lr-decay", "0.01"], ["--lr-decay", "0.1", "--eps", "1e-6"]),
    "lion": (["--weight-decay", "0.1"], ["--weight-decay", "0.2", "--betas", "0.8,0.95"]),
    "muon": (["--weight-decay", "0.01"], ["--weight-decay", "0.1", "--momentum", "0.9"]),
    "adafactor": (["--weight-decay", "0.01"], ["--weight-decay", "0.1", "--clip-threshold", "1.5"]),
}
CLIP, OTHER_CLIP = ["--clip-norm", "1", "--clip-value", "0.5"], ["--clip-norm", "0.1", "--clip-value", "0.02"]


def program(name: str, optimizer: str, *flags, runner=()) -> Program:
    one = compile(DIGITS.model, folder, data, *DIGITS.flags, "--optimizer", optimizer, *flags, name=name)
    return Program(one.path, data, runner)


for optimizer, (compiled, others) in CASES.items():
    clips = optimizer in ("adamw", "sgd")
    given = [*compiled, *(CLIP if clips else [])]
    set_later = [*others, *(OTHER_CLIP if clips else [])]
    one = program(f"{optimizer}-one", optimizer, *given)
    two = program(f"{optimizer}-two", optimizer, *set_later)
    wanted = two.exported("wanted", "--steps", STEPS)
    assert one.exported("plain", "--steps", STEPS) != wanted, optimizer
    assert one.exported("set", "--steps", STEPS, *set_later) == wanted, optimizer
    # A flag with the value as compiled changes nothing.
    assert two.exported("same", "--steps", STEPS, *set_later) == wanted, optimizer

# A resumed run keeps the values, and flags may change them.
one = Program(folder / "adamw-one", data)
set_later = [*CASES["adamw"][1], *OTHER_CLIP]
whole = one.exported("whole", "--steps", STEPS, *set_later)
shown = one.run("--steps", 3, "--save", "saved", *set_later).stderr
resumed = one.run("--resume", "saved", "--steps", STEPS, "--export", "resumed.onnx").stderr
assert "the hyperparameters are those of the checkpoint's run, beta1 0.8, beta2 0.99" in resumed, resumed
assert (folder / "resumed.onnx").read_bytes() == whole
changed = one.exported("changed", "--resume", "saved", "--steps", STEPS, "--weight-decay", "0.5")
assert changed != whole

# A checkpoint with a setting that a program does not compute with cannot be resumed by it, on any rank; other uses of the checkpoint can.
unlimited = program("unlimited", "adamw")
problem = "the checkpoint was trained with clip-norm 0.1, with which this program does not compute; compile it with --clip-norm"
said = unlimited.run("--resume", "saved", "--steps", STEPS, code=1).stderr
assert f"error: --resume saved: {problem}" in said, said
unlimited.run("--resume", "saved", "--evaluate")
undecayed = program("undecayed", "adamw", *CLIP, "--betas", "0,0.99", "--weight-decay", "0")
said = undecayed.run("--resume", "saved", "--steps", STEPS, code=1).stderr
assert "trained with beta1 0.8, with which this program does not compute; compile it with --betas" in said, said
pair = program("pair", "adamw", "--ranks", "2", "--threads", "1", runner=launcher(2))
said = pair.run("--resume", "saved", "--steps", STEPS, code=1).stderr
assert problem in said, said

# Loss scaling, accumulation, fused updates, ranks and an emulated GPU read the same variables.
for name, flags, runner in (
    ("scaled", ["--precision", "f16"], ()),
    ("accumulated", ["--accumulate", "2"], ()),
    ("bits", ["--optimizer-bits", "8"], ()),
    ("cuda", ["--target", "cuda", "--emulate"], ()),
    ("ranks", ["--ranks", "2", "--shard", "gradients", "--threads", "1"], launcher(2)),
):
    one = program(f"{name}-one", "adamw", *flags, *CLIP, runner=runner)
    two = program(f"{name}-two", "adamw", *flags, *set_later, runner=runner)
    assert one.exported("set", "--steps", 3, *set_later) == two.exported("wanted", "--steps", 3), name

# The help lists what the program computes with, and wrong values are named.
plain = program("plain-sgd", "sgd")
said = Program(folder / "adamw-one", data).run("--help-all").stdout
assert "Hyperparameters:" in said and "--betas N,N" in said and "(default: 0.9,0.999)" in said and "--clip-norm N" in said, said
assert "Hyperparameters:" not in plain.run("--help-all").stdout
for one, flags, problem in (
    (plain, ["--weight-decay", "0.1"], "--weight-decay: this program does not compute with it; compile it with --weight-decay"),
    (Program(folder / "adamw-one", data), ["--weight-decay", "-1"], "--weight-decay -1: expected a number of at least 0"),
    (Program(folder / "adamw-one", data), ["--betas", "0.9"], "--betas 0.9: expected 2 numbers"),
    (Program(folder / "adamw-one", data), ["--betas", "0.9,1"], "--betas 0.9,1: expected a number of at least 0 and less than 1"),
    (Program(folder / "adamw-one", data), ["--clip-norm", "0"], "--clip-norm 0: expected a number greater than 0"),
    (Program(folder / "adamw-one", data), ["--evaluate", "--eps", "1e-3"], "hyperparameters, --on-nan, --validate and --save cannot be"),
):
    said = one.run("--steps" if "--evaluate" not in flags else "--quiet", *([1] if "--evaluate" not in flags else []), *flags, code=1).stderr
    assert problem in said, (flags, said)
