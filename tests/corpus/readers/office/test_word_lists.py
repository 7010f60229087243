"""The numbers of list items in Word documents."""

from __future__ import annotations

import pytest

from corpus.readers.office import detect
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.archives import word_paragraph

ONE, TWO = '<w:abstractNumId w:val="1"/>', '<w:abstractNumId w:val="2"/>'
ANEW = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{}"/></w:lvlOverride>'
STEPS = [
    ("decimal", "%1.", '<w:pStyle w:val="Steps"/>'),
    ("lowerLetter", "%2.", '<w:pStyle w:val="Steps2"/>'),
    ("lowerRoman", "(%3)", ""),
]
BULLETS = [("bullet", "\u00b7", "")]


def markers(
    items: list[tuple[str, int]], lists: dict[str, str], definitions: dict[str, list[tuple[str, str, str]]]
) -> list[str]:
    """The markers of items, each given by the id of its list and its level."""
    body = "".join(word_paragraph("item", depth=depth, list_id=list_id) for list_id, depth in items)
    numbering = archives.word_numbering(definitions, lists)
    lines = detect.read("a.docx", archives.docx(body, numbering=numbering)).text.splitlines()
    return [line.removesuffix(" item") for line in lines]


def test_items_have_the_numbers_of_their_levels() -> None:
    """A level begins anew below each item of a higher one; bullets are dashes."""
    items = [("1", depth) for depth in (0, 1, 1, 2, 2, 0, 1)] + [("2", 0), ("1", 0)]
    found = markers(items, {"1": ONE, "2": TWO}, {"1": STEPS, "2": BULLETS})
    assert found == ["1.", "  a)", "  b)", "    i)", "    ii)", "2.", "  a)", "-", "3."]


def test_lists_with_the_same_definition_continue_unless_they_begin_anew() -> None:
    items = [(list_id, 0) for list_id in ("1", "1", "2", "3", "3", "1", "4")]
    lists = {"1": ONE, "2": ONE, "3": ONE + ANEW.format(1), "4": ONE + ANEW.format(7)}
    assert markers(items, lists, {"1": STEPS}) == ["1.", "2.", "3.", "1.", "2.", "3.", "7."]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([("decimal", "%1.", '<w:start w:val="4"/>'), ("decimal", "%1.%2", "")], ["4.", "  4.1", "  4.2", "5."]),
        ([("upperRoman", "%1", ""), ("decimal", "%1.%2.", "<w:isLgl/>")], ["I)", "  1.1.", "  1.2.", "II)"]),
        ([("decimal", "Step %1:", ""), ("none", "", "")], ["Step 1:", "  -", "  -", "Step 2:"]),
        ([("decimalZero", "%1)", ""), ("decimal", "%2.", "")], ["1.", "  1.", "  2.", "2."]),
        ([("decimal", "", ""), ("ordinal", "%2", '<w:start w:val="no"/>')], ["-", "  1.", "  2.", "-"]),
    ],
)
def test_numbers_are_shown_as_in_the_document(levels: list[tuple[str, str, str]], expected: list[str]) -> None:
    assert markers([("1", 0), ("1", 1), ("1", 1), ("1", 0)], {"1": ONE}, {"1": levels}) == expected


def test_an_own_level_of_a_list_and_a_level_that_continues() -> None:
    lists = {"1": ONE + '<w:lvlOverride w:ilvl="0"><w:lvl w:ilvl="0"><w:numFmt w:val="upperLetter"/></w:lvl>'}
    lists["1"] = lists["1"].replace("</w:lvl>", '<w:lvlText w:val="%1."/></w:lvl></w:lvlOverride>')
    levels = [*STEPS[:1], ("decimal", "%2.", '<w:lvlRestart w:val="0"/>')]
    assert markers([("1", 0), ("1", 1), ("1", 0), ("1", 1)], lists, {"1": levels}) == ["A)", "  1.", "B)", "  2."]


def test_items_by_style_have_the_level_to_which_the_style_belongs() -> None:
    """Also where a definition only refers to a style for lists; a heading in a list is counted."""
    style = '<w:style w:styleId="{}"><w:pPr>{}<w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    styles = style.format("Steps", "") + style.format("Steps2", "") + style.format("Top1", '<w:outlineLvl w:val="0"/>')
    numbering = (
        '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="S"/></w:abstractNum>'
        + archives.word_numbering({"1": STEPS}, {"1": TWO}).replace("<w:lvl ", '<w:styleLink w:val="S"/><w:lvl ', 1)
    )
    body = "".join(word_paragraph(text, style=text) for text in ("Top1", "Steps", "Steps2", "Steps2", "Steps"))
    document = detect.read("a.docx", archives.docx(body, numbering=numbering, more_styles=styles))
    assert document.text == "Top1\n\n2. Steps\n  a) Steps2\n  b) Steps2\n3. Steps"


def test_blank_items_are_counted_but_deleted_ones_are_not() -> None:
    number = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    items = [word_paragraph("Ash.", depth=0), f"<w:p><w:pPr>{number}</w:pPr></w:p>", word_paragraph("Oak.", depth=0)]
    items.insert(
        1, f"<w:p><w:pPr>{number}<w:rPr><w:del/></w:rPr></w:pPr><w:del><w:r><w:t>Elm.</w:t></w:r></w:del></w:p>"
    )
    data = archives.docx("".join(items), numbering=archives.word_numbering({"1": STEPS}, {"1": ONE}))
    assert detect.read("a.docx", data).text == "1. Ash.\n3. Oak."
