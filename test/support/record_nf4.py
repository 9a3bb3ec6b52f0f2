#!/usr/bin/env python3
"""Records bitsandbytes' NF4 quantization of matrices, in test/e2e/inputs/nf4.safetensors: NAME, NAME.codes, NAME.scales and the decoded
NAME.values. The weight of a layer is [out, in].

The script is run manually, because it needs torch and bitsandbytes (0.50.2, on the CPU).
"""

from pathlib import Path

import numpy as np
import torch
from bitsandbytes.functional import dequantize_4bit, quantize_4bit
from safetensors.numpy import save_file

INPUTS = Path(__file__).resolve().parent.parent / "e2e/inputs"


def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    even = rng.standard_normal((24, 64)).astype(np.float32)
    # Blocks end within a row, and the last block is incomplete.
    odd = rng.standard_normal((19, 37)).astype(np.float32)
    values = np.array([-1, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0, 0.0795803, 0.1609302,
                       0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1], np.float32)  # fmt: skip
    # The elements are a block of zeros, tiny values, huge values, and midpoints between codes.
    special = np.zeros((4, 64), np.float32)
    special[1] = rng.standard_normal(64) * 1e-39
    special[2] = rng.standard_normal(64) * 1e37
    special[3, :15] = (values[:-1] + values[1:]) / 2
    special[3, 15:31] = values
    special[3, 31] = 1
    return {"even": even, "odd": odd, "special": special}


def main():
    tensors = {}
    for name, matrix in matrices().items():
        codes, state = quantize_4bit(torch.tensor(matrix), blocksize=64, quant_type="nf4", compress_statistics=False)
        read = dequantize_4bit(codes, state)
        tensors |= {name: matrix, f"{name}.codes": codes.numpy().reshape(-1), f"{name}.scales": state.absmax.numpy(),
                    f"{name}.values": read.numpy().reshape(matrix.shape)}  # fmt: skip
    save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, INPUTS / "nf4.safetensors")


if __name__ == "__main__":
    main()
