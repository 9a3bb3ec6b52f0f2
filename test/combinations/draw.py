"""Draws random combinations of techniques."""

from dataclasses import dataclass, field
from random import Random

from reference import OPTIMIZERS
from subjects import Model

SETTINGS = {"momentum": ["--momentum=0.8"], "adam": ["--betas=0.9,0.95"], "adamw": ["--weight-decay=0.05", "--no-decay-1d"]}
SCHEDULES = ["linear", "cosine", "inverse-sqrt", "one-cycle", "wsd"]


@dataclass
class Combination:
    """`flags` change the arithmetic. `moves` only decide when values are computed and where they are stored; they are bit-exact."""

    model: Model
    flags: list[str]
    moves: list[str] = field(default_factory=list)
    budget: float | None = None  # memory budget relative to the peak without a budget
    allow: list[str] = field(default_factory=list)  # flags that permit changes of numerics for the budget
    run: list[str] = field(default_factory=list)
    emulated: bool = False

    @property
    def falls(self) -> bool:
        """Whether the learning rate depends on the number of steps."""
        return "--schedule" in self.flags and "inverse-sqrt" not in self.flags

    @property
    def is_rounded(self) -> bool:
        """Whether a difference in the last bit may grow, as with 16 bits, quantized state, and updates by the gradient's sign."""
        return any(word in self.flags for word in ("bf16", "f16", "--optimizer-bits", "--gradient-bits", "lion", "muon")) or bool(self.allow)

    def __str__(self) -> str:
        budget = [f"--memory={self.budget:.2f}x", *self.allow] if self.budget else []
        words = [*self.flags, *self.moves, *budget, *(["--target", "cuda", "--emulate"] if self.emulated else [])]
        return f"{self.model.name}: {' '.join(words)}; {' '.join(self.run)}"


def draw(random: Random, models: list[Model]) -> Combination:
    model = random.choice(models)
    batch = random.choice([2, 4, 8])
    drawn = Combination(model, [*model.flags, "--dim", f"batch={batch}"])

    def maybe(probability: float, *words: str):
        if random.random() < probability:
            drawn.flags.extend(words)

    optimizer = random.choice(OPTIMIZERS)
    rate = 0.05 if optimizer in ("sgd", "momentum") else 1e-4 if optimizer == "lion" else 2e-3
    drawn.flags += ["--optimizer", optimizer, "--lr", str(rate)]
    maybe(0.5, *SETTINGS.get(optimizer, []))
    maybe(0.3, "--optimizer-bits", random.choice(["8", "4"]))
    maybe(0.3, "--schedule", random.choice(SCHEDULES), "--warmup", "1")
    maybe(0.3, "--clip-norm", "1")
    maybe(0.15, "--clip-value", "0.5")
    maybe(0.2, "--grad-norm")
    maybe(0.2, "--ema", "0.9")
    if random.random() < 0.3:
        drawn.flags += ["--accumulate", random.choice(["2", "3"])]
        maybe(0.3, "--gradient-bits", "16")
    maybe(0.2, "--check-memory")
    drawn.emulated = random.random() < 0.12
    precision = random.choice(["f32", "f32", "tf32" if drawn.emulated else "f32", "bf16", "f16"])
    maybe(1, "--precision", precision)
    if precision in ("bf16", "f16"):
        maybe(0.3, "--keep-f32", "*1*")
        maybe(0.3, "--loss-scale", random.choice(["1024", "none"]))
    if random.random() < 0.25:
        drawn.flags += ["--lora", f"{model.adapted}:rank=4,alpha=8"]
        maybe(0.6, "--frozen-bits", random.choice(["16", "16", "4"]))
    else:
        maybe(0.2, "--group", "match=*bias* lr=1e-3 weight-decay=0")
        maybe(0.15, "--freeze", model.frozen)
    if model.name == "network":
        maybe(0.3, "--batch-norm", random.choice(["train", "frozen"]))
    if random.random() < 0.4:
        drawn.moves += ["--recompute", random.choice(["none", "sqrt", "all"])]
    maybe(0.2, "--tile", random.choice(["none", "all"]))
    if random.random() < 0.35:
        kinds = ["optimizer", "activations", "parameters", "gradients"] + ["update"] * drawn.emulated
        for what in random.sample(kinds, random.choice([1, 1, 2])):
            drawn.moves += ["--offload", what]
        if random.random() < 0.3:
            drawn.moves += ["--offload-window", random.choice(["64KiB", "1MiB"])]
    if random.random() < 0.5:
        drawn.budget = random.uniform(0.6, 1.2)
        if random.random() < 0.4:
            changes = random.sample(["precision", "optimizer-bits", "gradient-bits", "accumulate"], random.choice([1, 2]))
            drawn.allow = ["--allow", ",".join(changes)]
    drawn.run = [random.choice(["--no-shuffle", "--shuffle"]), "--seed", str(random.randrange(100))]
    if random.random() < 0.2:
        drawn.run += ["--last-batch", random.choice(["wrap", "drop"])]
    return drawn
