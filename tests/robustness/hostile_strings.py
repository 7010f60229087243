"""Random strings that could control a terminal, and a check for such characters in output."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable

SEED = 20240229
# The tool's own styles: bold, dim, yellow and reset.
_STYLES = re.compile(r"\x1b\[(?:1|2|33|0)m")
# What draws a progress bar.
_BAR_CONTROLS = re.compile(r"\r|\x1b\[A")
_JOINERS = "\u200c\u200d"
_LETTERS = "aZ é漢ｆ\u0301\u0e33🙂👩\u200d🔬می\u200cخ-_.:/\\'\"`$<>|#*[]()\u3164\u115f"
_CONTROLS = [chr(code) for code in (*range(32), 127, *range(128, 160))]
_INVISIBLE = [
    chr(code)
    for code in (
        *(0x00AD, 0x061C, 0x180E, 0xFEFF, 0xFFF9, 0xFFFB, 0x1D173, 0xE0001, 0xE0041, 0xE007F),
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
    )
]
_SEQUENCES = [
    *("\x1b[2J\x1b[H", "\x1b[31;5m", "\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x07"),
    *("\x1b]8;;https://evil.example\x1b\\text\x1b]8;;\x1b\\", "\x1bP1$r\x1b\\", "\x1b_G\x1b\\"),
    *("\x1b[6n", "\x1b[?1049h", "\x1bc", "\x9b2J", "\x9d0;x\x9c", "\x90q\x9c", "\x85"),
    *("line\rover", "back\b\b\b\b", "\r\n", "\n", "\t", "\x1b[1m", "\x1b[0m"),
    *("\u202egnp.exe", "\u2066a\u2069", "\u2028", "\ud800", "\udfff\ud800", "\udce9", "\x00"),
]


def strings(count: int, seed: int = SEED) -> list[str]:
    """Generate non-empty strings, the same every time."""
    generator = random.Random(seed)  # noqa: S311 - nothing secret
    kinds: list[Callable[[], str]] = [
        lambda: generator.choice(_SEQUENCES),
        lambda: generator.choice(_CONTROLS),
        lambda: generator.choice(_INVISIBLE),
        lambda: generator.choice(_LETTERS),
        lambda: generator.choice(_LETTERS) * 3,
        lambda: chr(generator.randrange(0x110000)),
        lambda: " ",
    ]
    return ["".join(generator.choice(kinds)() for _ in range(generator.randint(1, 14))) for _ in range(count)]


def forbidden_characters(shown: str, *, drawing: bool = False) -> Counter[str]:
    """Count the characters that are neither text nor the tool's own styling."""
    text = _STYLES.sub("", shown)
    if drawing:
        text = _BAR_CONTROLS.sub("", text)
    forbidden = {c for c in set(text) if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - {"\n", *_JOINERS}
    return Counter({c: text.count(c) for c in sorted(forbidden)})
