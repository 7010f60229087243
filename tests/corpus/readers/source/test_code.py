"""Python code is divided by its own parser, or at blank lines if parsing fails."""

from __future__ import annotations

import pytest

from corpus.readers.source.code import read


def blocks(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the text and the enclosing names of each block."""
    return [(text[block.start : block.end], block.heading) for block in read("a.py", text.encode()).blocks]


def test_classes_and_functions_are_headings() -> None:
    """They include their decorators, and may be defined anywhere."""
    text = (
        "import os\n\n@wet\nclass Boat:\n    oars = 2\n\n    async def row(self):\n        pass\n\n"
        "try:\n    import oars\nexcept ImportError:\n    def sink(): pass\n"
    )
    assert blocks(text) == [
        ("import os", ()),
        ("@wet\nclass Boat:\n    oars = 2", ("Boat",)),
        ("async def row(self):\n        pass", ("Boat", "row")),
        ("try:\n    import oars\nexcept ImportError:", ()),
        ("def sink(): pass", ("sink",)),
    ]


@pytest.mark.parametrize("end", ["print 'version 2'", "x = 1\x0c", "x = 1\ry = 2", "(" * 10_000])
def test_python_that_cannot_be_parsed_is_cut_at_blank_lines(end: str) -> None:
    text = f"def row():\n    return 1\n\n{end}"
    assert [heading for _, heading in blocks(text)] == [(), ()]


def test_offsets_count_a_byte_order_mark_and_carriage_returns() -> None:
    text = "\ufeffimport os\r\n\r\ndef row():\r\n    return 'ä'\r\n"
    assert blocks(text)[-1] == ("def row():\r\n    return 'ä'", ("row",))
