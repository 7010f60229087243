"""The marks of tables with bars: of Markdown, Org, reStructuredText and SQL shells, or box-drawing characters.

`│ Oak │ 12 │` is a row, and `├─────┼────┤` a rule; with plain bars, they are `| Oak | 12 |` and `+-----+----+`.
"""

from __future__ import annotations

import re

_PLAIN = (
    dict.fromkeys(range(0x2500, 0x2580), "+")
    | dict.fromkeys(map(ord, "─━═"), "-")
    | dict.fromkeys(map(ord, "│┃║"), "|")
)
# The rule between the column names and the rows. Diagrams and trees of files have none that crosses bars.
_BOX_RULE = re.compile(r"^[ \t]*[├┝┠┣╞╟╠]?[─━═]+(?:[┼┿╂╋╪╫╬][─━═]+)+[┤┥┨┫╡╢╣]?[ \t]*\r?$", re.MULTILINE)
_RULE = re.compile(r"(?=.*(?:--|==))[\s|:+=-]+")


def has_box_table(text: str) -> bool:
    """Whether a text has a table drawn with boxes, with its column names."""
    return _BOX_RULE.search(text) is not None


def plain_bars(text: str) -> str:
    """Return a text with "|", "-" and "+" for the characters that draw boxes; its length stays the same."""
    return text.translate(_PLAIN)


def is_rule(line: str) -> bool:
    """Whether a line only divides others: `|---|---|`, `|---+---|`, `+===+===+` or `---`."""
    return _RULE.fullmatch(line) is not None
