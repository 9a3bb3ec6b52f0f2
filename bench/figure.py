"""Draws peak memory against step time as an SVG file, for README and docs."""

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 64, 24, 44, 52
LABEL_HEIGHT = 15
OURS, OTHERS = "#1f5fbf", "#b3541e"


@dataclass
class Point:
    name: str
    seconds: float
    bytes: float
    is_ours: bool


def ticks(greatest: float) -> list[float]:
    """Returns about five multiples of 1, 2 or 5 times a power of ten, from 0 to at least `greatest`."""
    rough = greatest / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [i * step for i in range(math.ceil(greatest / step) + 1)]


def draw(path: Path, title: str, points: list[Point]) -> None:
    """Draws one dot for each point, and a line through mtc's points in the order of their time."""
    times, sizes = ticks(max(p.seconds for p in points)), ticks(max(p.bytes for p in points) / 1e9)

    def x(seconds: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * seconds / times[-1], 1)

    def y(gigabytes: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * gigabytes / sizes[-1], 1)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for size in sizes:
        lines.append(f'<path d="M{LEFT} {y(size)}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y(size) + 4}" text-anchor="end">{size:g}</text>')
    for seconds in times:
        lines.append(f'<path d="M{x(seconds)} {HEIGHT - BOTTOM}v5" stroke="black"/>')
        lines.append(f'<text x="{x(seconds)}" y="{HEIGHT - BOTTOM + 19}" text-anchor="middle">{seconds:g}</text>')
    lines += [
        f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="black"/>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">step time in seconds</text>',
        f'<text x="16" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2})">peak memory in GB</text>',
    ]
    ours = sorted((p for p in points if p.is_ours), key=lambda p: p.seconds)
    curve = " ".join(f"{x(p.seconds)},{y(p.bytes / 1e9)}" for p in ours)
    lines.append(f'<polyline points="{curve}" fill="none" stroke="{OURS}" stroke-dasharray="4 3"/>')
    placed: list[tuple[float, float]] = []  # labels: their left end and their baseline
    for p in sorted(points, key=lambda p: p.bytes, reverse=True):
        at_x, at_y, color = x(p.seconds), y(p.bytes / 1e9), OURS if p.is_ours else OTHERS
        is_right = at_x + 9 + 6.4 * len(p.name) <= WIDTH
        baseline = at_y + 4
        while any(abs(baseline - other) < LABEL_HEIGHT and abs(at_x - start) < 190 for start, other in placed):
            baseline += 3
        placed.append((at_x, baseline))
        lines.append(f'<circle cx="{at_x}" cy="{at_y}" r="4.5" fill="{color}"/>')
        lines.append(f'<text x="{at_x + (9 if is_right else -9)}" y="{round(baseline, 1)}" fill="{color}" '
                     f'text-anchor="{"start" if is_right else "end"}">{escape(p.name)}</text>')  # fmt: skip
    path.write_text("\n".join([*lines, "</svg>"]) + "\n")
