"""The text at a place, even if the file is gone, and the position where a program should open the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.errors import UsageError
from qa.answer.results import State
from qa.collection.show import ShowTarget, find_target, show
from qa.terminal import answers
from qa.terminal.answers import Places, TerminalStyle
from tests.corpus.readers.samples import archives, pdf
from tests.qa.commands import qa
from tests.qa.indexes import build, built, opened


@pytest.fixture
def river(tmp_path: Path) -> Path:
    """A PDF of two pages."""
    pages = [[pdf.Words(60, 700, f"Page {n} is about {what}.")] for n, what in enumerate(("whales", "soup"), 1)]
    (tmp_path / "river.pdf").write_bytes(pdf.make(pages))
    build(tmp_path)
    return tmp_path


def test_a_file_that_is_gone_is_shown_from_the_index(talks: Path) -> None:
    """The whole text and single lines can be shown, but no line that it never had."""
    (talks / "talks.md").unlink()
    view = show(talks, "talks.md")
    assert (view.stored, view.state, view.requested) == (True, State.MISSING, None)
    assert [number for number, _ in view.lines] == [1, 2, 3, 5, 6, 7]
    assert show(talks, "talks.md:7").lines == ((7, "Soup at noon."),)
    with pytest.raises(UsageError, match=r"these lines are not in the index"):
        show(talks, "talks.md:99")


# Words, and characters that end a line in some programs.
_BREAKS = st.sampled_from(["\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
_TEXT = st.lists(st.sampled_from(["whales ", "soup. ", "# Lunch", "noon", " "]) | _BREAKS, max_size=60).map("".join)


@settings(max_examples=5)
@given(texts=st.lists(_TEXT, min_size=6, max_size=8))
def test_a_cited_range_is_shown_as_cited(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Exactly its lines are shown, from the file or, when the file is gone, from the index."""
    root = tmp_path_factory.mktemp("texts")
    files = {f"{number}.md": text for number, text in enumerate(texts)}
    with built(root, files) as snapshot:
        passages = [passage for path in files for passage in snapshot.passages_of(path)]
    for is_gone in (False, True):
        for passage in passages:
            first, last = passage.lines or (0, 0)
            cited = files[passage.document.path].split("\n")[first - 1 : last]
            done = qa("show", "--index", root, f"{passage.document.path}:{first}-{last}", "-C", "0")
            shown = [line[len(f"> {last}  ") :] for line in done.stdout.split("\n")[1:-1]]
            expected = [row for line in cited for row in line.removesuffix("\r").splitlines() or [""]]
            assert shown == expected or (is_gone and "".join(shown).split() == "".join(expected).split())
        for passage in passages:
            (root / passage.document.path).unlink(missing_ok=True)


@pytest.mark.parametrize("place", ["river.pdf#page=2", "river.pdf, p. 2", "river.pdf, page 2"])
def test_a_page(river: Path, place: str) -> None:
    """All its lines are shown without context, from the file or from the index."""
    view = show(river, place, context=3)
    assert (view.requested, view.lines) == ((0, 1), ((None, "Page 2 is about soup."),))
    with pytest.raises(UsageError, match=r"^river.pdf has 2 pages; there is no page 3\.$"):
        show(river, "river.pdf#page=3")
    (river / "river.pdf").unlink()
    assert show(river, place).lines == ((None, "Page 2 is about soup."),)


def test_where_to_open_a_pdf(river: Path) -> None:
    """A PDF is opened at a page, if one is given; it has no lines."""
    file = river / "river.pdf"
    with pytest.raises(UsageError, match="no numbered lines"):
        find_target(river, "river.pdf:3")
    assert find_target(river, "river.pdf, p. 2") == ShowTarget(file, 2, None, State.VERIFIED)
    assert find_target(river, "river.pdf") == ShowTarget(file, None, None, State.VERIFIED)


def test_where_to_open_a_changed_file(talks: Path) -> None:
    """It is opened where the passage is now, or at the beginning if the passage is gone."""
    with opened(talks) as retriever:
        key = retriever.search("whales", k=1)[0].id
    file = talks / "talks.md"
    file.write_text("One more line.\n\n" + file.read_text())
    assert find_target(talks, key) == ShowTarget(file, None, 3, State.CHANGED)
    assert find_target(talks, "talks.md:5").line == 5
    file.write_text("Something else.\n")
    assert find_target(talks, key) == ShowTarget(file, None, None, State.CHANGED)


def test_files_that_are_not_opened(talks: Path) -> None:
    """A file is not opened if it is missing, not indexed, or has been replaced by a link."""
    (talks / "new.html").write_text("<p>New</p>")
    with pytest.raises(UsageError, match="not in the index"):
        find_target(talks, "new.html")
    (talks / "talks.md").unlink()
    with pytest.raises(UsageError, match="no longer exists"):
        find_target(talks, "talks.md")
    (talks / "talks.md").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match="symbolic link"):
        find_target(talks, "talks.md")


def test_places_in_html_are_lines_and_anchors_of_the_file(tmp_path: Path) -> None:
    """They can be shown from the file and from the index."""
    page = "<html>\n<body>\n<h1 id=top>Boats</h1>\n\n<p>Row\nhard.</p>\n<h2 id=oars>Oars</h2>\n<p>Of ash.</p>\n"
    build(tmp_path, {"a.html": page})
    with opened(tmp_path) as retriever:
        hit = retriever.search("ash", k=1)[0]
    assert (hit.citation, hit.source.lines, hit.source.anchor) == ("a.html:7-8", (7, 8), "oars")
    assert show(tmp_path, hit.citation, context=0).lines == ((7, "Oars"), (None, ""), (8, "Of ash."))
    assert show(tmp_path, "a.html:6", context=0).lines == ((5, "Row hard."),)
    assert [text for _, text in show(tmp_path, "a.html#oars", context=0).lines] == ["Oars", "", "Of ash."]
    with pytest.raises(UsageError, match=r"no text on line 1\.$"):
        show(tmp_path, "a.html:1")
    (tmp_path / "a.html").unlink()
    assert [text for _, text in show(tmp_path, hit.citation).lines] == ["Oars", "", "Of ash."]


def test_a_document_without_lines_is_cited_by_its_heading(tmp_path: Path) -> None:
    texts = (("Boats", "Ue1"), ("Costs", "Ue2"), ("Oars cost six.", ""), ("End", "Ue2"), ("Bye.", ""))
    body = "".join(archives.word_paragraph(text, style=style) for text, style in texts)
    (tmp_path / "letter.docx").write_bytes(archives.docx(body))
    build(tmp_path)
    with opened(tmp_path) as retriever:
        hit = retriever.search("oars", k=1)[0]
    assert (hit.citation, hit.source.lines) == ("letter.docx § Boats › Costs", None)
    shown = show(tmp_path, hit.citation, context=0).lines
    assert shown == tuple((None, line) for line in ("Boats", "", "Costs", "", "Oars cost six."))
    with pytest.raises(UsageError, match=r"no numbered lines: write [^,]+ § Heading, or a passage id\.$"):
        show(tmp_path, "letter.docx:3")
    with pytest.raises(UsageError, match=r"no numbered parts: write letter.docx § Heading, or a passage id\.$"):
        show(tmp_path, "letter.docx, p. 1")
    with pytest.raises(UsageError, match=r"no heading Prices\. It begins with: § "):
        show(tmp_path, "letter.docx § Prices")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents cited by headings, rows, messages and lines, with headings that look like places."""
    root = tmp_path_factory.mktemp("office")
    texts = [("§ 3 Rent", "Ue1"), ("The rent is due.", ""), ("5. Dogs", "Ue1"), ("A dog is allowed.", "")]
    texts += [("A\N{SOFT HYPHEN}B › C  § 9", "Ue2"), ("Cats too.", "")]
    body = "".join(archives.word_paragraph(text, style=style) for text, style in texts)
    (root / "My  Lease § 1.docx").write_bytes(archives.docx(body, title="Lease agreement of the house by the river"))
    rows: list[list[str | float]] = [["Name", "Pays"]]
    rows += [[f"Ida {n}", n] for n in range(2, 8)]
    (root / "budget.xlsx").write_bytes(archives.xlsx({"Members": rows}))
    mails = "".join(f"From a@b.c\nSubject: Note {n}\n\nText {n}.\n\n" for n in range(2))
    build(
        root,
        {
            "box.mbox": mails,
            "notes.md": "# Notes\n\nOne line.\n\n## § 7\n\nAnother.\n",
            "a\x1b[1m\n.md": "Cut grass.\n",
        },
    )
    return root


def test_every_printed_place_can_be_shown(office: Path) -> None:
    """A whole printed line can be pasted, at any width, with or without "›"."""
    with opened(office) as retriever:
        hits = retriever.search("rent dog cats pays text note line another ida", k=50)
    places = Places(office, office)
    printed = {
        (answers.render_hits([hit], TerminalStyle(width, separator=separator), places)[0].split("\n")[0], hit)
        for hit in hits
        for width in (30, 60, 100)
        for separator in (" › ", " > ")
    }
    assert len(hits) == 14
    for line, hit in printed:
        view = show(office, line.partition(" ")[2], context=0)
        assert "".join(hit.text.split()) in "".join("".join(text for _, text in view.lines).split()), line


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("My  Lease § 1.docx § 3 Rent", "The rent is due."),
        ("My  Lease § 1.docx § § 3 Rent", "The rent is due."),
        ("My  Lease § 1.docx  Lease agreement of the house by the river › § 3 Rent", "The rent is due."),
        ("budget.xlsx, row 5", "Name: Ida 5"),
        ("box.mbox, message 2", "Text 1."),
        (r"a\x1b[1m\n.md:1  a\x1b[1m\n", "Cut grass."),  # as the name is printed
    ],
)
def test_user_notation_for_places_is_accepted(office: Path, place: str, text: str) -> None:
    assert text in [line for _, line in show(office, place, context=0).lines]


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("My  Lease § 1.docx § Dogs", "has no heading Dogs. Similar: § 5. Dogs."),
        ("My  Lease § 1.docx § 5", "has no heading 5. Similar: § 5. Dogs."),
        ("budget.xlsx, row 99", "budget.xlsx has no row 99."),
        ("box.mbox, message 9", "box.mbox has no text in message 9."),
        ("box.mbox:2", "box.mbox has no numbered lines: write box.mbox, message 2, or a passage id."),
    ],
)
def test_a_missing_place_is_reported_in_its_own_terms(office: Path, place: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"{re.escape(problem)}$"):
        show(office, place)


@pytest.mark.parametrize(
    "place", ["keys.xlsx, sheet 2  Keys › Row 3", "keys.xlsx, sheet 2 › Row 3", "keys.xlsx, sheet 2  Row 3"]
)
def test_a_row_of_a_sheet_is_marked_alone(tmp_path: Path, place: str) -> None:
    """The rows of another sheet may have the same numbers."""
    rows: list[list[str | float]] = [["Hook", "Opens"], ["left", "Shed"], ["right", "Gate"]]
    other_rows: list[list[str | float]] = [["Oar", "Side"], ["long", "port"], ["short", "bow"]]
    (tmp_path / "keys.xlsx").write_bytes(archives.xlsx({"Oars": other_rows, "Keys": rows}))
    build(tmp_path)
    lines = [line for _, line in show(tmp_path, place, context=0).lines]
    assert "Opens: Gate" in lines
    assert "Opens: Shed" not in lines
    assert {"Opens: Gate", "Opens: Shed"} <= {text for _, text in show(tmp_path, "keys.xlsx, sheet 2  Keys").lines}
    assert "Side: bow" in [line for _, line in show(tmp_path, "keys.xlsx, row 3", context=0).lines]


def test_a_record_can_be_called_a_row(tmp_path: Path) -> None:
    build(tmp_path, {"staff.json": '[{"name": "Ida", "desk": "4"}, {"name": "Tom", "desk": "9"}]'})
    assert "desk: 9" in [line for _, line in show(tmp_path, "staff.json, row 2", context=0).lines]
