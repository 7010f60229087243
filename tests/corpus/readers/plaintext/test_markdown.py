"""Markdown is read with a CommonMark parser."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.readers.plaintext.front_matter import find_front_matter
from corpus.readers.plaintext.markdown import read, read_markdown
from corpus.types import BlockKind
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from tests.documents import passages
from tests.encoders import BagEncoder


def blocks(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the kind, text and headings of each block."""
    return [(block.kind.value, text[block.start : block.end], block.heading) for block in read_markdown(text)[1]]


def test_each_construct_has_its_kind() -> None:
    text = "# Guide\n\nWords.\n\n- one\n- two\n\n```py\nx = 1\n```\n\n    y = 2\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\n<div>z</div>\n"
    assert read_markdown(text)[0] == "Guide"
    assert blocks(text) == [
        ("heading", "# Guide", ("Guide",)),
        ("paragraph", "Words.", ("Guide",)),
        ("item", "- one", ("Guide",)),
        ("item", "- two", ("Guide",)),
        ("code", "```py\nx = 1\n```", ("Guide",)),
        ("code", "y = 2", ("Guide",)),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |", ("Guide",)),
        ("paragraph", "<div>z</div>", ("Guide",)),
    ]


@pytest.mark.parametrize(
    "table", ["┌─┬─┐\n│ a│b│\n├─┼─┤\n│ 1│2│\n└─┴─┘", "+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n+---+---+"]
)
def test_tables_that_markdown_lacks(table: str) -> None:
    assert blocks(f"# Guide\n\n{table}\n")[1:] == [("table", table, ("Guide",))]
    assert blocks("# Guide\n\n┌───┐\n│ a │\n└───┘\n")[1][0] == "paragraph"


def test_headings_nest_and_lose_their_markup() -> None:
    """Setext headings do too; ids are markup; an empty heading has no title; a heading in a fence is code."""
    text = (
        "Top\n===\n\n## The `code` and *more* [link](u) ##\n\na\n\n#\n\nb\n\n```\n# no\n```\n\n### Last {#end .wide}\n"
    )
    assert read_markdown(text)[0] == "Top"
    assert [block.heading for block in read_markdown(text)[1] if block.kind is BlockKind.HEADING] == [
        ("Top",),
        ("Top", "The code and more link"),
        (),
        ("Last",),
    ]


def test_nested_items_have_their_depth() -> None:
    text = "# T\n\n- a\n  - b\n    1. c\n\n       more of c\n- d\n"
    assert [(text[block.start : block.end], block.depth) for block in read_markdown(text)[1][1:]] == [
        ("- a", 0),
        ("- b", 1),
        ("1. c", 2),
        ("more of c", 2),
        ("- d", 0),
    ]


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("---\ntitle: The Title\ntags: [a]\n---", "The Title"),
        ("---\r\nTitle: 'Quoted'\r\n---", "Quoted"),
        ("\ufeff---\ntitle: Marked\n...", "Marked"),
        ("---\ntags: none\n---", "Heading"),
    ],
)
def test_front_matter_is_a_separate_block(front: str, title: str) -> None:
    """It is not a heading, and may have the title."""
    text = f"{front}\n\n# Heading\n\nBody.\n"
    stated_title, front_and_blocks = read_markdown(text)
    assert stated_title == title
    assert [part.kind for part in front_and_blocks] == [BlockKind.DATA, BlockKind.HEADING, BlockKind.PARAGRAPH]
    assert text[front_and_blocks[0].start : front_and_blocks[0].end] == front.lstrip("\ufeff")
    assert text[front_and_blocks[1].start : front_and_blocks[1].end] == "# Heading"


def test_front_matter_before_text_without_headings() -> None:
    """The rest is read as plain text; offsets count from the start of the file."""
    text = "---\nkey: value\n---\nSome Short Title\n\n" + "Body text. " * 30
    title, parts = read_markdown(text)
    assert title == "Some Short Title"
    assert [(part.kind.value, text[part.start : part.end][:16]) for part in parts] == [
        ("data", "---\nkey: value\n-"),
        ("heading", "Some Short Title"),
        ("paragraph", "Body text. Body "),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Front matter must begin with a key.
        (
            "---\n\n# T\n\nBody.\n",
            [("paragraph", "---", ()), ("heading", "# T", ("T",)), ("paragraph", "Body.", ("T",))],
        ),
        # A file without headings is read as plain text.
        ("THE WAY\n\nBody.\n", [("heading", "THE WAY", ("THE WAY",)), ("paragraph", "Body.", ("THE WAY",))]),
        # A byte order mark does not hide the first heading.
        ("\ufeff# T\n\nBody.\n", [("heading", "# T", ("T",)), ("paragraph", "Body.", ("T",))]),
        # Only "\\n" ends a line.
        (
            "# T\r\n\r\none\rtwo\r\n\r\n## N\r\n\r\nthree\x85four\u2028five\n",
            [
                ("heading", "# T", ("T",)),
                ("paragraph", "one\rtwo", ("T",)),
                ("heading", "## N", ("T", "N")),
                ("paragraph", "three\x85four\u2028five", ("T", "N")),
            ],
        ),
        # A heading of many words is text, or every passage below would repeat it.
        (
            "# T\n\n" + "w " * 200 + "\n===\n\nBody.\n",
            [("heading", "# T", ("T",)), ("paragraph", "w " * 200 + "\n===", ("T",)), ("paragraph", "Body.", ("T",))],
        ),
    ],
)
def test_blocks_have_exact_spans(text: str, expected: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert blocks(text) == expected


def test_front_matter_is_data(tmp_path: Path) -> None:
    """It is a passage, and its fields are metadata, with words that find every passage of the file."""
    front = "---\ntitle: 'Boats: a guide'\nauthor: [{name: Ida, email: i@x.org}, Tom]\ndate: 2024-05-02\n---\n"
    (tmp_path / "a.md").write_text(f"{front}\n# Oars\n\nOf ash.\n\n# Hull\n\nOf oak.\n")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        (document,) = snapshot.documents()
        assert (document.title, document.fields[1:]) == (
            "Boats: a guide",
            (("author", "Ida"), ("author.email", "i@x.org"), ("author", "Tom"), ("date", "2024-05-02")),
        )
        assert [(passage.text, passage.lines, passage.is_front_matter) for passage in snapshot.passages_of("a.md")] == [
            (front.rstrip(), (1, 5), True),
            ("# Oars\n\nOf ash.", (7, 9), False),
            ("# Hull\n\nOf oak.", (11, 13), False),
        ]
        assert len(snapshot.keyword("Ida", 9)) == 3


def test_front_matter_is_a_passage_unless_it_is_only_a_title() -> None:
    """The title is above all passages in any case; there are no headings here."""
    found = passages("---\ntags: x\n---\n\nMilk and bread.\n", path="a.md")
    assert [passage.text for passage in found] == ["---\ntags: x\n---", "Milk and bread."]
    assert [passage.text for passage in passages("---\ntitle: Oars\n---\n\nOf ash.\n", path="a.md")] == ["Of ash."]


def test_a_comment_in_code_is_not_a_heading() -> None:
    """The text has no marked headings, so its short lines may be headings."""
    code = "```sh\n# Print all\n\nls\n```"
    text = f"Boat Sizes\n\nThey are printed with this program.\n\n{code}\nThat is all. " + "It goes on. " * 9
    assert [(kind, path) for kind, _, path in blocks(text)] == [
        ("heading", ("Boat Sizes",)),
        ("paragraph", ("Boat Sizes",)),
        ("code", ("Boat Sizes",)),
        ("paragraph", ("Boat Sizes",)),
    ]
    assert blocks(text)[2][1] == code


@pytest.mark.parametrize(
    ("front", "fields"),
    [
        ("title: Boats: a guide", (("title", "Boats: a guide"),)),
        ("a: &x [1, 2]\nb: [*x, *x]", (("a", "1"), ("a", "2"), ("b", "1"), ("b", "2"), ("b", "1"), ("b", "2"))),
        ("a: &x [*x]", (("a", "&x [*x]"),)),
        ("a: " + "[" * 9000, (("a", "[" * 1000),)),
        ('title: "Start \\ud83d\\ude80"\nauthor: "A\\ud83d"', (("title", "Start 🚀"), ("author", "A\ufffd"))),
        ("no: yes\nt: !!python/object/apply:os.system [ls]", (("no", "yes"), ("t", "ls"))),
    ],
)
def test_odd_front_matter_is_read_as_far_as_possible(front: str, fields: tuple[tuple[str, str], ...]) -> None:
    matter = find_front_matter(f"---\n{front}\n---\n\nText.\n")
    assert matter is not None
    assert matter.fields == fields


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a.md", "# One\n\nText.\n\n# Two\n\nText.\n", ""),
        ("a.md", "## One\n\nText.\n\n# Two\n\nText.\n", ""),
        ("a.md", "# One\n\nText.\n\n## Two\n\nText.\n", "One"),
        ("to-do/buy_milk.md", "Milk, bread and two eggs from the farm\n", "buy milk"),
        ("to-do/buy_milk.md", "---\ntags: x\n---\n\nMilk and bread.\n", "buy milk"),
        ("to-do/buy_milk.md", "---\ntags: x\n---\n\nMilk.\n\nBread.\n", "buy milk"),
    ],
)
def test_the_title_is_the_only_top_heading_or_the_name_of_a_note(path: str, text: str, title: str) -> None:
    assert read(path, text.encode()).title == title


def test_blank_lines_after_an_unclosed_fence_are_not_in_the_code() -> None:
    """Otherwise its line numbers would be wrong."""
    fence_blocks = read("a.md", b"~~~\nx\n\n").blocks
    assert [(block.kind, block.start, block.end) for block in fence_blocks] == [(BlockKind.CODE, 0, 5)]
