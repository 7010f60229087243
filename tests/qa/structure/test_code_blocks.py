"""Blocks of code in prose."""

from __future__ import annotations

import pytest

from qa.structure.code_blocks import code_blocks

MARKDOWN, RST, ORG, ASCIIDOC = "text/markdown", "text/x-rst", "text/x-org", "text/asciidoc"


@pytest.mark.parametrize(
    ("media_type", "block"),
    [
        (MARKDOWN, "```sh\nferry up\n\nferry log\n```"),
        (MARKDOWN, "~~~\nferry up\n\nferry log\n~~~~"),
        (MARKDOWN, "    ferry up\n\n    ferry log"),
        (RST, ".. code-block:: sh\n   :linenos:\n\n   ferry up\n\n   ferry log"),
        (ORG, "#+begin_src sh\n  ferry up\n\n  ferry log\n#+END_SRC"),
        (ASCIIDOC, "[source,sh]\n----\nferry up\n\nferry log\n----"),
    ],
)
def test_lines_of_code_have_neither_fences_nor_indentation(media_type: str, block: str) -> None:
    text = f"# Ferry\n\nStart it:\n\n{block}\n\nIt sails."
    (found,) = code_blocks(text, 9, media_type)
    assert text[slice(*found.span)] == block
    assert [text[slice(*line)] for line in found.lines] == ["ferry up", "ferry log"]


def test_two_colons_introduce_code_in_restructured_text() -> None:
    text = "Start it::\n\n  ferry up\n\nIt sails."
    (found,) = code_blocks(text, 0, RST)
    assert [text[slice(*line)] for line in found.lines] == ["ferry up"]
    assert code_blocks(text, 0, "text/plain") == []


def test_commands_are_the_lines_with_a_prompt() -> None:
    """What a command prints is no command; a backslash joins two lines."""
    text = "```\n$ ferry up \\\n    --now\nup since 1988\n$ ferry log\n```"
    (found,) = code_blocks(text, 0, MARKDOWN)
    assert found.text == "ferry up \\\n    --now\nferry log"
    assert len(found.lines) == 3
    (unprompted,) = code_blocks("```\nferry up\n  --now\n```", 0, MARKDOWN)
    assert unprompted.text == "ferry up\n  --now"


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        (MARKDOWN, "- a list\n\n    goes on"),
        (MARKDOWN, "Title\n----\n\nText"),
        ("text/plain", "A poem:\n\n    by nobody"),
        (MARKDOWN, "```\n```"),
    ],
)
def test_other_text_is_no_code(media_type: str, text: str) -> None:
    assert code_blocks(text, 0, media_type) == []
