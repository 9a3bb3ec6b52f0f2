"""The processor features that the library uses, for bounds that depend on them: without AVX-512 the library fuses fewer operations, so that
plans differ."""

import os
from pathlib import Path

# Upper limits that ONEDNN_MAX_CPU_ISA may set, in ascending order.
LEVELS = ["SSE41", "AVX", "AVX2", "AVX512_CORE", "AVX512_CORE_VNNI", "AVX512_CORE_BF16", "AVX512_CORE_AMX"]
NEEDS = {"avx2": "AVX2", "avx512f": "AVX512_CORE", "avx512_bf16": "AVX512_CORE_BF16", "amx_bf16": "AVX512_CORE_AMX"}


def has(flag: str) -> bool:
    """Returns whether /proc/cpuinfo has the flag, such as avx512f, and the library may use it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper()
    allowed = limit not in LEVELS or LEVELS.index(limit) >= LEVELS.index(NEEDS[flag])
    return allowed and flag in next((line for line in lines if line.startswith("flags")), "").split()
