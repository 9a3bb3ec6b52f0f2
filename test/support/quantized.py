"""Block-wise quantization as defined by `mtc.quantize_blocks`, in numpy with f32 rounding of each operation. compare_bitsandbytes.py
compares it with bitsandbytes."""

from dataclasses import dataclass

import numpy as np

F = np.float32


def decade(count: int) -> np.ndarray:
    """Computes torch.linspace(0.1, 1, count), from both ends to the middle, with one rounding of each number."""
    first, last = F(0.1), F(1)
    step = float((last - first) / F(count - 1))
    return np.array(
        [float(first) + step * i if i < count // 2 else float(last) - step * (count - 1 - i) for i in range(count)], F
    )


def dynamic(decades: int, signed: bool) -> np.ndarray:
    values = [F(0), F(1)]
    for i in range(decades):
        ends = decade((1 if signed else 2) * 2**i + 1)
        middles = F(10.0 ** (i - decades + 1)) * ((ends[:-1] + ends[1:]) / F(2))
        values += [*middles, *(-middles if signed else ())]
    return np.sort(np.array(values, F))


@dataclass
class Map:
    values: np.ndarray
    block: int
    signed: bool

    @property
    def is_small(self) -> bool:
        return len(self.values) == 16

    def scales(self, x: np.ndarray) -> np.ndarray:
        largest = np.array([np.abs(part).max() for part in self.blocks(x)], F)
        return np.maximum(largest, F(1e-12)) if self.is_small else largest

    def blocks(self, x: np.ndarray) -> list[np.ndarray]:
        return [x[i : i + self.block] for i in range(0, x.size, self.block)]

    def quantize(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns one code per element, and scales."""
        x = x.reshape(-1)
        scales = self.scales(x)
        codes = np.concatenate([self.codes(part, scale) for part, scale in zip(self.blocks(x), scales, strict=True)])
        return codes.astype(np.uint8), scales

    def codes(self, x: np.ndarray, scale: F) -> np.ndarray:
        values = self.values
        if self.is_small:  # Rounds as torchao does.
            scaled = x / scale
            lower = np.searchsorted(values[1:], scaled, side="right")
            upper = np.minimum(lower + 1, 15)
            return np.where(scaled - values[lower] >= (values[upper] - values[lower]) * F(0.5), upper, lower)
        scaled = x * (F(1) / max(scale, F(1e-38)))
        codes = np.searchsorted((values[:-1] + values[1:]) / F(2), scaled, side="left")
        return np.where((x < 0) & (codes == 127), 126, codes) if self.signed else codes

    def dequantize(self, codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
        return self.values[codes] * np.repeat(scales, self.block)[: codes.size]


MAPS = {
    (8, True): Map(dynamic(7, True), 256, True),
    (8, False): Map(dynamic(7, False), 256, False),
    (4, True): Map(dynamic(3, True), 128, True),
    (4, False): Map(np.arange(1, 17, dtype=F) / F(16), 128, False),
}


def pack(codes: np.ndarray, block=128) -> np.ndarray:
    halves = codes.reshape(-1, 2, block // 2)
    return (halves[:, 0] << 4 | halves[:, 1]).reshape(-1)


def unpack(packed: np.ndarray) -> np.ndarray:
    halves = packed.reshape(-1, 1, 64)
    return np.concatenate([halves >> 4, halves & 15], axis=1).reshape(-1)
