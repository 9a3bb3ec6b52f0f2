"""What this machine's processor has, for bounds that depend on it: the library fuses less, and plans differ."""

from pathlib import Path


def has(flag: str) -> bool:
    """Whether /proc/cpuinfo names the flag, such as avx512f."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return flag in next((line for line in lines if line.startswith("flags")), "").split()
