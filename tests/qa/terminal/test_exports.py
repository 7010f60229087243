"""The exact output of answers in formats for other programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qa.answer.results import Alternative, Answer, Highlight, Hit, Result, Source, State
from qa.terminal.answers import Places
from qa.terminal.exports import FORMATS, bibtex, markdown, vimgrep
from tests.qa.answers import result

TEXT = "Ö. Soup is served.\nBring *a* spoon\x1b."


def _hit(
    path: str, media_type: str, *, lines: tuple[int, int] | None = None, page: int | None = None, bold: str = "Soup"
) -> Hit:
    first = 7
    at = first + TEXT.index(bold)
    source = Source(path, media_type, (first, first + len(TEXT)), lines, page, "0" * 64, State.VERIFIED)
    light = Highlight((at, at + len(bold)), bold)
    return Hit(1, "abcdef0123456789", 0.9, TEXT, "Food_1", ("Food_1", "Lunch"), source, (light,))


def _result(*hits: Hit, found: bool = True) -> Result:
    return result(*hits, question="what [is] it?", answer=Answer("Soup is *served*.", (1,)), found=found)


@pytest.fixture
def place(tmp_path: Path) -> Places:
    (tmp_path / "a.md").write_bytes(b"# One\r\n" + TEXT.encode())
    return Places(tmp_path, tmp_path)


def test_vimgrep(place: Places) -> None:
    """A line points to the answering sentence, with its column in bytes; passages without lines are left out."""
    hits = [
        _hit("a.md", "text/markdown", lines=(2, 3)),
        _hit("a.md", "text/markdown", lines=(2, 3), bold="spoon"),
        _hit("b.html", "text/html", lines=(40, 41)),
        _hit("c.pdf", "application/pdf", page=3),
        _hit("d.docx", "application/docx"),
    ]
    assert vimgrep(_result(*hits), place) == (
        "a.md:2:5:Ö. Soup is served.\na.md:3:11:Bring *a* spoon␛.\nb.html:40:1:Ö. Soup is served.\n"
    )


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_gone_are_marked(name: str, place: Places) -> None:
    hit = _hit("a.md", "text/markdown", lines=(2, 3))
    assert "file is missing" not in FORMATS[name](_result(hit), place)
    gone = replace(hit, source=replace(hit.source, state=State.MISSING))
    assert "file is missing" in FORMATS[name](_result(gone), place)


def test_markdown_has_what_is_below_an_answer(place: Places) -> None:
    hit = _hit("a.md", "text/markdown", lines=(2, 3))
    answer = Answer("Soup", (1,), alternatives=(Alternative("*Stew*", (1,)),), more=2)
    shown = r"> Soup \[1\]", "", "and 2 more", "", r"But another passage says \*Stew\* \[1\]", ""
    assert tuple(markdown(result(hit, answer=answer), place).splitlines()[2:8]) == shown


def test_markdown(place: Places) -> None:
    """Markdown is quoted unchanged; other text is escaped, so that it reads as in its file."""
    hits = [_hit("a b.md", "text/markdown", lines=(2, 3)), _hit("c.pdf", "application/pdf", page=3)]
    assert markdown(_result(*hits), place).splitlines() == [
        r"**what \[is\] it?**",
        "",
        r"> Soup is \*served\*. \[1\]",
        "",
        r"1. [a b.md:2-3](<a b.md#L2>) — Food\_1 › Lunch",
        "",
        "   > Ö. Soup is served.",
        "   > Bring *a* spoon␛.",
        "",
        r"1. [c.pdf, p. 3](<c.pdf#page=3>) — Food\_1 › Lunch",
        "",
        "   > Ö. Soup is served.",
        r"   > Bring \*a\* spoon␛.",
    ]
    assert "No passage answers this with confidence." in markdown(_result(found=False), place)


def test_bibtex(place: Places) -> None:
    """There is one entry per document, however many of its passages are cited, with each place once."""
    hits = [_hit("a_%.md", "text/markdown", lines=lines) for lines in ((2, 3), (9, 9), (2, 3))]
    assert bibtex(_result(*hits), place) == (
        "@misc{a-abcdef,\n"
        "  title = {Food\\_1},\n"
        "  howpublished = {a\\_\\%.md},\n"
        "  note = {a\\_\\%.md:2-3; a\\_\\%.md:9},\n"
        "  annotation = {Soup}\n"
        "}\n"
    )


def test_bibtex_of_a_bibliography(tmp_path: Path, place: Places) -> None:
    """An entry is printed unchanged and once; a note's entry has the note's own key if that is valid and unused."""
    entry = "@book{ida2001,\n  title = {Öars},\n  abstract = {Of ash.\n    Or pine.}\n}"
    text = f"% Mine\n{entry}\n\n% Other\n@misc(tar, title = {{Tar}})\n"
    (tmp_path / "refs.bib").write_text(text, encoding="utf-8")
    for name, key in (("a", "lund2003"), ("b", "tar"), ("c", "a{b")):
        (tmp_path / f"{name}.md").write_text(f"---\ncitekey: {key}\n---\nText.\n", encoding="utf-8")
    notes = [_hit(f"{name}.md", "text/markdown", lines=(4, 4)) for name in "abc"]
    hits = [_hit("refs.bib", "text/x-bibtex", lines=lines) for lines in ((4, 5), (2, 3), (9, 9))]
    hits[2] = replace(hits[2], title="Tar")
    entries = bibtex(_result(*hits, *notes), place)
    assert entries.startswith(f"{entry}\n\n@misc(tar, title = {{Tar}})\n\n@misc{{lund2003,\n")
    assert entries.count("ida2001") == 1
    assert "@misc{b-abcdef,\n" in entries
    assert "@misc{c-abcdef,\n" in entries
    changed = replace(hits[0], source=replace(hits[0].source, state=State.CHANGED))
    assert bibtex(_result(changed), place).startswith("@misc{refs-abcdef,\n")


def test_bibtex_of_a_paper_with_an_entry(tmp_path: Path, place: Places) -> None:
    """A bibliography beside or above the paper has its title, however marked; that entry is printed once."""
    entry = "@book{ida2001,\n  title = {{FOOD}: 1}}"
    (tmp_path / "refs.bib").write_text(f"@misc(tar, title = {{Tar}})\n{entry}\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "damaged.bib").write_bytes(b"\0")
    paper = _hit("sub/a.pdf", "application/pdf", page=3)
    entry_hit = _hit("refs.bib", "text/x-bibtex", lines=(2, 3))
    assert bibtex(_result(paper, entry_hit), place) == f"{entry}\n"
    other_papers = [
        replace(paper, title="Food"),
        replace(paper, title=""),
        replace(paper, source=replace(paper.source, state=State.UNCHECKED)),
    ]
    for other_paper in other_papers:
        assert bibtex(_result(other_paper), place).startswith("@misc{a-abcdef,\n")


@pytest.mark.parametrize("name", FORMATS)
def test_no_passages(place: Places, name: str) -> None:
    assert "[1]" not in FORMATS[name](_result(found=False), place)
