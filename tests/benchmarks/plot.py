"""Draw the curves of `tests.benchmarks.scale` as an SVG, and print its figures as a Markdown table.

    python -m tests.benchmarks.plot FILE.json OUT.svg

FILE is what `tests.benchmarks.scale` wrote.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 300, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 30, 34
_COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44")

# Title, unit, and what each line shows: its name, and where its value stands in the figures of a size.
_PANELS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    ("build without the model, s", (("from nothing", "build", "build_seconds"),)),
    (
        "update, s",
        (
            ("one file edited", "build", "edit_seconds"),
            ("one deleted", "build", "delete_seconds"),
            ("nothing changed", "build", "nothing_seconds"),
        ),
    ),
    (
        "question, ms",
        (
            ("from the shell", "cold", "cold_seconds"),
            ("one more", "ask", "ask_ms"),
            ("one more, no re-ranking", "ask", "quick_ms"),
        ),
    ),
    (
        "peak memory, MB",
        (("building", "build", "peak_mb"), ("question from the shell", "cold", "cold_peak_mb")),
    ),
)


def value_of(figures: dict[str, Any], step: str, name: str) -> float:
    """A figure; medians of spreads, and seconds of whole processes in milliseconds beside the others."""
    found = figures[step][name]
    if isinstance(found, dict):
        return float(found["median"])
    return 1000 * float(found) if name == "cold_seconds" else float(found)


def panel(title: str, lines: Sequence[tuple[str, list[float]]], sizes: Sequence[int]) -> str:
    """One plot, both axes logarithmic."""
    values = [value for _, series in lines for value in series]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(size: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (math.log10(size) - first) / ((last - first) or 1)

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - math.log10(value)) / (high - low)

    parts = [f'<text x="{_LEFT}" y="16" class="t">{escape(title)}</text>']
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" class="g"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>')
    parts += [
        f'<text x="{x(size):.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{_short(size)}</text>'
        for size in sizes
    ]
    for number, (name, series) in enumerate(lines):
        points = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in zip(sizes, series, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOURS[number]}" stroke-width="2"/>')
        colour = f'style="fill:{_COLOURS[number]}"'
        parts.append(f'<text x="{_LEFT + 6}" y="{_TOP + 10 + 13 * number}" {colour}>{escape(name)}</text>')
    return "".join(parts)


def _short(size: int) -> str:
    return f"{size // 1_000_000}M" if size >= 1_000_000 else f"{size // 1000}k"


def drawing(result: dict[str, Any]) -> str:
    """The whole drawing."""
    sizes = sorted(int(size) for size in result["sizes"])
    figures = [result["sizes"][str(size)] for size in sizes]
    parts = []
    for number, (title, lines) in enumerate(_PANELS):
        series = [(name, [value_of(each, step, key) for each in figures]) for name, step, key in lines]
        shift = f"translate({_WIDTH * (number % 2)} {_HEIGHT * (number // 2)})"
        parts.append(f'<g transform="{shift}">{panel(title, series, sizes)}</g>')
    style = "text{font:11px sans-serif;fill:#333}.t{font-weight:bold;font-size:12px}.g{stroke:#ddd}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * _WIDTH} {2 * _HEIGHT}">'
    box = f'<rect width="{2 * _WIDTH}" height="{2 * _HEIGHT}" fill="#fff"/>'
    return f"{head}<style>{style}</style>{box}{''.join(parts)}</svg>\n"


def table(result: dict[str, Any]) -> str:
    """The figures in Markdown, a column a size."""
    sizes = sorted(int(size) for size in result["sizes"])
    figures = [result["sizes"][str(size)] for size in sizes]

    def row(name: str, step: str, key: str, form: str) -> str:
        return f"| {name} | " + " | ".join(form.format(value_of(each, step, key)) for each in figures) + " |"

    rows = [
        "| passages | " + " | ".join(f"{each['build']['passages']:,}" for each in figures) + " |",
        "|---|" + "---:|" * len(figures),
        row("build, vectors known, s", "build", "build_seconds", "{:.1f}"),
        row("one file edited, s", "build", "edit_seconds", "{:.2f}"),
        row("one file deleted, s", "build", "delete_seconds", "{:.2f}"),
        row("nothing changed, s", "build", "nothing_seconds", "{:.3f}"),
        row("keyword half, best 100, ms", "ask", "keyword_ms", "{:.1f}"),
        row("the same, asked for the first time, ms", "ask", "keyword_first_ms", "{:.1f}"),
        row("dense half, best 10, ms", "ask", "dense_ms", "{:.1f}"),
        row("the same, asked for the first time, ms", "ask", "dense_first_ms", "{:.1f}"),
        row("its recall@10 against exact search", "ask", "recall_at_10", "{:.4f}"),
        row("one more question, no re-ranking, ms", "ask", "quick_ms", "{:.1f}"),
        row("one more question, ms", "ask", "ask_ms", "{:.0f}"),
        row("question from the shell, ms", "cold", "cold_seconds", "{:.0f}"),
        row("its peak memory, MB", "cold", "cold_peak_mb", "{:.0f}"),
        row("peak memory of the build, MB", "build", "peak_mb", "{:.0f}"),
        row("of a question, checksums, ms", "check", "checksums_ms", "{:.2f}"),
        row("`qa check`: everything, s", "check", "check_seconds", "{:.1f}"),
        row("disk a passage beside the text, bytes", "build", "bytes_a_passage_beside_the_text", "{:,.0f}"),
    ]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Draw and print what the command line names."""
    source, target = (Path(name) for name in sys.argv[1:])
    result = json.loads(source.read_text(encoding="utf-8"))
    target.write_text(drawing(result), encoding="utf-8")
    sys.stdout.write(table(result))


if __name__ == "__main__":
    main()
