"""The adapters of the GPT-2 example that tests train, and their initial values."""

import numpy as np

STEPS, RATE = 20, 1e-2
# Modules with their rank and alpha.
SPECS = {"attn.c_attn": (8, 16), "attn.c_proj": (4, 4)}
SHAPES = {"attn.c_attn": (128, 384), "attn.c_proj": (128, 128)}  # input and output extents
LAYERS = 2
# Variants with the setting of --lora and the option of PEFT's LoraConfig.
VARIANTS = {"rslora": "use_rslora", "dora": "use_dora"}


def flags(*settings: str) -> tuple[str, ...]:
    """Returns the flags of mtc compile, with further settings for all adapters."""
    more = "".join(f",{setting}" for setting in settings)
    return ("--lora", f"*.attn.*:alpha=16{more}", "--lora", f"*.attn.c_proj.weight:rank=4,alpha=4{more}")


FLAGS = flags()


def modules() -> dict[str, tuple[int, int]]:
    """Returns modules by name with their rank and alpha."""
    return {f"transformer.h.{layer}.{name}": spec for layer in range(LAYERS) for name, spec in SPECS.items()}


def initial() -> dict[str, np.ndarray]:
    """Returns the factors by their names in programs. As in PEFT, A is random and B is zero."""
    rng = np.random.default_rng(1)
    factors = {}
    for module, (rank, _) in modules().items():
        inputs, outputs = SHAPES[module.split(".", 3)[3]]
        bound = inputs**-0.5
        factors[f"{module}.lora_A.weight"] = rng.uniform(-bound, bound, (rank, inputs)).astype(np.float32)
        factors[f"{module}.lora_B.weight"] = np.zeros((outputs, rank), np.float32)
    return factors
