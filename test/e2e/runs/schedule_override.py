# RUN: %python %s %t
"""A program whose learning-rate schedule is overridden by its own flags trains bit-identically to one that was compiled with these flags,
also with parameter groups and after a resume."""

from models import DIGITS
from program import compile, own_folder, read_metrics

STEPS = 12
folder = own_folder()
data = DIGITS.data(256)
common = (
    *DIGITS.flags, "--group", "match=*.bias lr-factor=0.1 weight-decay=0", "--group", "match=*2* optimizer=momentum lr-factor=7",
)  # fmt: skip


def train(program, *flags):
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    bits = program.exported("model", "--steps", STEPS, "--metrics", log, *flags)
    return bits, [line["lr"] for line in read_metrics(log)]


plain = compile(DIGITS.model, folder, data, *common, "--lr", "1e-2", name="plain")
table = ("--schedule", "table", "--schedule-table", "1:1e-3,8:3e-3")
for flags in (
    ("--lr", "3e-3"),
    ("--lr", "0.0007", "--schedule", "cosine", "--warmup", "3", "--min-lr", "1e-5"),
    ("--schedule", "wsd", "--decay-steps", "4", "--lr", "5e-3"),
    ("--schedule", "one-cycle", "--lr", "1e-3"),
    ("--schedule", "inverse-sqrt", "--warmup", "2"),
    table,
):
    rate = () if "--lr" in flags or flags is table else ("--lr", "1e-2")
    compiled = compile(DIGITS.model, folder, data, *common, *rate, *flags, name="compiled")
    wanted, rates = train(compiled)
    found = train(plain, *flags)
    assert found == (wanted, rates), (flags, found[1], rates)
    assert len(set(rates)) > 1 or flags == ("--lr", "3e-3")
    # The program that was compiled with these flags can override its schedule, too.
    if flags is not table and "--min-lr" not in flags:
        assert train(compiled, "--schedule", "constant", "--lr", "1e-2", "--warmup", 0)[0] == train(plain)[0], flags

    saved = folder / f"saved-{len(flags)}-{flags[1]}"
    end = ("--schedule-steps", STEPS) if {"cosine", "wsd", "one-cycle"} & set(flags) else ()
    plain.run("--steps", 5, "--save", saved, *flags, *end)
    assert train(plain, "--resume", saved) == (wanted, rates[5:]), flags
