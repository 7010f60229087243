"""The view of a source around a place: exactly the cited characters are marked, in every format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from corpus.errors import DamagedIndexError, NoIndexError, UsageError
from corpus.loading.sandbox import Sandbox
from index import Snapshot
from qa import build_index
from qa.answer.results import State
from qa.web.page import pictures
from qa.web.page.content import PageMaker
from qa.web.page.markdown import MarkdownView, markdown_view
from qa.web.page.marks import MarkedText, Marks, window
from qa.web.page.pictures import PictureView
from qa.web.page.render import render
from qa.web.page.source import ROOM, Sources, SourceView
from qa.web.page.state import PageState
from qa.web.page.table_view import TableView
from qa.web.page.text_views import BlocksView, LinesView
from qa.web.service.problems import problem_of
from tests.corpus.readers.samples.files import FILES
from tests.encoders import BagEncoder
from tests.qa.indexes import write


class Library:
    """An indexed folder and the views of its files."""

    def __init__(self, root: Path, sandbox: Sandbox) -> None:
        self.root, self._sandbox = root, sandbox
        self.sources = Sources()

    def index(self, texts: Mapping[str, str] = {}) -> None:
        """Write files, then index the folder."""
        write(self.root, texts)
        build_index(self.root, encoder=BagEncoder())

    def view(self, place: str, mark: tuple[int, int] | None = None, at: int | None = None) -> SourceView:
        state = PageState(open=place, mark="{}-{}".format(*mark) if mark else "", at="" if at is None else str(at))
        with Snapshot(self.root / ".qa") as snapshot:
            return self.sources.view(self.root, snapshot, state, self._sandbox)

    def passages(self) -> list[tuple[str, str, int, str]]:
        """Return the path, key, first character and text of each passage."""
        with Snapshot(self.root / ".qa") as snapshot:
            return [
                (document.path, passage.key, passage.start, passage.text)
                for document in snapshot.documents()
                for passage in snapshot.passages_of(document.path)
            ]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Library:
    """A file of every format."""
    library = Library(tmp_path_factory.mktemp("samples"), sandbox)
    for path, data in FILES.items():
        (library.root / path).write_bytes(data)
    library.index()
    return library


@pytest.fixture
def notes(tmp_path: Path, sandbox: Sandbox) -> Library:
    return Library(tmp_path, sandbox)


_MARKUP = (
    *("a", "b_c", " ", "\n", "*", "**", "_", "`", "# ", "- ", "1. ", "> ", "| ", "&lt;", "\\", "\ufdd0", "```\n"),
    *("<i>", "[x](y)", "![p](q)"),
)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def pieces_of(view: SourceView) -> list[MarkedText]:
    """Return all pieces of a source, in order."""
    match view.body:
        case LinesView(lines):
            return [piece for line in lines for piece in line.pieces]
        case BlocksView(blocks):
            return [piece for block in blocks for piece in block.pieces]
        case TableView(rows=rows):
            return [piece for row in rows for cell in row.cells for piece in cell]
        case MarkdownView(preface, html):
            parts = re.findall(r'<(mark|span) class="\w+"(?: id="place")?>(.*?)</\1>|<[^>]*>|([^<]+)', html, re.DOTALL)
            mark_of = {"mark": "sentence", "span": "passage", "": ""}
            return [*preface, *(MarkedText(text or untagged, mark_of[tag]) for tag, text, untagged in parts)]
        case _:
            return []


def marked_letters(view: SourceView, *marks: str) -> str:
    return letters("".join(piece.text for piece in pieces_of(view) if piece.mark in marks))


def test_every_passage_is_marked_exactly(samples: Library) -> None:
    """It is marked in its lines, blocks or page; in a table, the values of its rows are."""
    kinds: dict[str, int] = {}
    for path, key, _, text in samples.passages():
        view = samples.view(key)
        assert (view.state, view.has_passage, view.path) == (State.VERIFIED, True, path)
        assert view.body is not None
        kinds[view.body.kind] = kinds.get(view.body.kind, 0) + 1
        if isinstance(view.body, PictureView):
            assert view.body.boxes, path
            assert view.body.page == int(view.citation.rpartition(" ")[2])
        elif isinstance(view.body, TableView):
            names = "|".join(map(re.escape, view.body.columns))
            values = re.sub(rf"(?m)^(?:{names}): ", "", text).removeprefix(f"{view.body.caption}\n")
            assert marked_letters(view, "passage") == letters(values), path
        elif not isinstance(view.body, MarkdownView):
            assert marked_letters(view, "passage") == letters(text), path
    assert {"lines", "blocks", "table", "picture", "markdown"} <= kinds.keys()


def test_each_sentence_of_markdown_is_marked_exactly(notes: Library) -> None:
    """Markup around or between its words makes no difference."""
    sentences = {
        "*Adam* won the prize.": "Adamwontheprize",
        "It was **by `Kingma` and _Ba_**.": "ItwasbyKingmaandBa",
        "A [link](https://example.org/a_b?c=d) ends it.": "Alinkendsit",
        "first &amp; foremost": "firstampforemost",
        "snake_case_word __bold__ ~~gone~~": "snakecasewordboldgone",
        "cell & cell": "cellampcell",
        "print(*args)": "printargs",
        "Setext heading": "Setextheading",
        "<b>no markup</b>": "ltbgtnomarkupltbgt",
        "12. of May": "12ofMay",
    }
    first, second, third, fourth, fifth, cell, code, setext, tags, date = sentences
    text = (
        f"# {setext}\n\n> {first} {second}\n\n1. {third}\n2. {fourth}\n   - {fifth}\n\n| a | b |\n|---|---|\n"
        f"| {cell} | x |\n\n```python\n{code}\n```\n\n{tags} and on the {date}\n"
    )
    notes.index({"a.md": text})
    for sentence, expected in sentences.items():
        start = text.index(sentence)
        ((_, key, begin, passage),) = [row for row in notes.passages() if row[2] <= start < row[2] + len(row[3])]
        assert sentence in passage, "each sentence of this test is in one passage"
        assert begin <= start
        assert marked_letters(notes.view(key, (start, start + len(sentence))), "sentence") == expected


@settings(max_examples=60)
@given(st.lists(st.sampled_from(_MARKUP), max_size=30), st.data())
def test_marks_do_not_change_the_rest_of_markdown(parts: list[str], data: st.DataObject) -> None:
    """Without the marks, the rendering is the same; no tag comes from the document."""
    text = "".join(parts)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    spans = ((first, last),) if first < last else ()
    plain = markdown_view("", text, 0, Marks()).html
    html = markdown_view("", text, 0, Marks(spans, spans)).html
    assert re.sub(r'<mark class="sentence"(?: id="place")?>|</mark>|<span class="passage">|</span>', "", html) == plain
    assert not re.search(r"<(?:img|i|script)\b|[\ufdd0-\ufdd3]", html)


def test_markdown_runs_and_fetches_nothing(notes: Library) -> None:
    """Pictures become text, only links to other sites are kept, and headings rank below the page's."""
    text = (
        "### Deep\n\n<script>alert(1)</script> ![a cat](//example.org/x.png) [one](javascript:alert(1)) "
        "[two](/api/v1/health) [three](https://example.org/?a=1&b=2) <https://example.org>\n\n# Top\n\n#### Low\n"
    )
    notes.index({"a.md": text})
    body = notes.view("a.md").body
    assert isinstance(body, MarkdownView)
    assert set(re.findall(r"<(\w+)", body.html)) == {"h3", "h4", "p", "a"}
    assert re.findall(r"<(h\d)", body.html) == ["h3", "h3", "h4"]
    assert re.findall(r'href="([^"]*)"', body.html) == ["https://example.org/?a=1&amp;b=2", "https://example.org"]
    assert body.html.count('rel="noopener noreferrer nofollow"') == 2
    assert "a cat" in body.html
    assert "two" in body.html


def test_front_matter_is_shown_verbatim_and_marked_where_it_answers(notes: Library) -> None:
    text = "---\ntitle: Herons\nauthor: Ida\n---\n# Herons\n\nThey stand.\n"
    notes.index({"a.md": text})
    body = notes.view("a.md").body
    assert isinstance(body, MarkdownView)
    assert "author: Ida" in body.preface[0].text
    assert "<h3>Herons</h3>" in body.html
    assert "author" not in body.html
    at = text.index("author")
    (key,) = {key for _, key, start, _ in notes.passages() if start == 0}
    body = notes.view(key, (at, at + 11)).body
    assert isinstance(body, MarkdownView)
    sentences = [(piece.text, piece.is_place) for piece in body.preface if piece.mark == "sentence"]
    assert sentences == [("author: Ida", True)]
    assert "<mark" not in body.html


def test_rows_are_shown_as_a_table(notes: Library) -> None:
    """Cells may be empty or have several lines, and a row may have no name."""
    rows = 'Elbe,1094,"rises: high\nflows north"\nMüglitz,,short\n,7,"has no name"\n'
    notes.index({"rivers.csv": f"name,length,notes\n{rows}"})
    body = notes.view("rivers.csv").body
    assert isinstance(body, TableView)
    assert body.columns == ("name", "length", "notes")
    assert [(row.number, *("".join(piece.text for piece in cell) for cell in row.cells)) for row in body.rows] == [
        (2, "Elbe", "1094", "rises: high\nflows north"),
        (3, "Müglitz", "", "short"),
        (4, "", "7", "has no name"),
    ]


def test_a_long_table_of_short_rows_is_shown_as_a_table(notes: Library) -> None:
    """Only the rows around the place are shown."""
    rows = "".join(f"{i},{i * 7 % 1000}\n" for i in range(6000))
    notes.index({"gauge.csv": f"hour,level\n{rows}"})
    body = notes.view(notes.passages()[-1][1]).body
    assert isinstance(body, TableView)
    assert body.columns == ("hour", "level")
    assert body.rows[-1].number == 6001
    assert ["".join(piece.text for piece in cell) for cell in body.rows[-1].cells] == ["5999", "993"]
    assert body.rows[-1].is_marked
    assert len(body.rows) < 1500


def test_a_changed_file_shows_the_passage_where_it_is_now(notes: Library) -> None:
    """The passage is marked there and reported as changed."""
    notes.index({"a.txt": "Swans are white.\n"})
    ((_, key, *_),) = notes.passages()
    (notes.root / "a.txt").write_text("A new line.\nSwans are white.\n")
    view = notes.view(key, (0, 5))
    assert (view.state, view.has_passage) == (State.CHANGED, True)
    assert marked_letters(view, "sentence") == "Swans"
    assert marked_letters(view, "passage", "sentence") == "Swansarewhite"
    assert isinstance(view.body, LinesView)
    assert [line.number for line in view.body.lines if any(piece.mark for piece in line.pieces)] == [2]


def test_text_that_is_gone_is_shown_from_the_index(notes: Library) -> None:
    notes.index({"a.txt": "Swans are white.\n"})
    ((_, key, *_),) = notes.passages()
    file = notes.root / "a.txt"
    file.write_text("Nothing.\n")
    changed = notes.view(key, (0, 5))
    assert (changed.state, changed.has_passage, changed.text) == (State.CHANGED, False, "Swans are white.")
    assert marked_letters(changed, "passage", "sentence") == ""
    file.unlink()
    missing = notes.view(key)
    assert (missing.state, missing.has_passage, missing.text) == (State.MISSING, False, "Swans are white.")
    assert missing.body is None


@pytest.mark.parametrize("place", [".hidden.md", "drafts/a.md", "../outside.md", "none.md", ".qa/index.db", "link.md"])
def test_unindexed_files_are_not_shown(place: str, notes: Library) -> None:
    """The error is the same whether or not the file exists, and does not name the folder."""
    write(notes.root, dict.fromkeys((".hidden.md", "drafts/a.md", "a.md"), "# Secret\n"))
    (notes.root / "link.md").symlink_to(notes.root / ".hidden.md")
    build_index(notes.root, encoder=BagEncoder(), exclude=["drafts/"])
    with pytest.raises(UsageError, match=f"^{re.escape(place)} is not in the collection\\.$"):
        notes.view(place)


@pytest.mark.parametrize("name", ["big.txt", "big.md", "line.txt"])
def test_a_huge_document_is_shown_in_parts(name: str, notes: Library) -> None:
    """First the part around the place; the parts together are the whole document."""
    sentence = "The heron stands in shallow water until noon.\n"
    text = "".join(f"Line {i}. {sentence}" + ("\n" if name == "big.md" else "") for i in range(1_200))
    text = text.replace("\n", " ") if name == "line.txt" else text
    notes.index({name: text})
    passages = notes.passages()
    _, key, _, passage = passages[len(passages) // 2]
    view = notes.view(key)
    if name != "big.md":
        assert marked_letters(view, "passage") == letters(passage)
    assert sum(len(piece.text) for piece in pieces_of(view)) <= ROOM + 100
    letters_shown, at = "", 0
    for _ in range(9):
        part = notes.view(key, at=at)
        letters_shown += letters("".join(piece.text for piece in pieces_of(part)))
        if part.later is None:
            break
        at = part.later
    assert letters_shown == letters(text)


@given(st.integers(1, 400), st.integers(0, 399), st.integers(0, 30), st.lists(st.integers(0, 400)))
def test_a_window_contains_its_place(length: int, start: int, size: int, edges: list[int]) -> None:
    """It is never larger than the room for it, and is the whole text if that fits."""
    start = min(start, length)
    end = min(start + size, length)
    first, last = window(length, (start, end), sorted(edges), room=50)
    assert 0 <= first <= last <= length
    assert last - first <= 50
    assert first <= start
    assert last >= min(end, start + 25)
    assert length > 50 or (first, last) == (0, length)


@pytest.mark.parametrize(
    ("error", "title", "status"),
    [
        (DamagedIndexError("<b>index.db</b> is damaged."), "The index is damaged", 500),
        (NoIndexError("<b>none</b>"), "There is no index", 503),
        (HTTPException(503, "the server is busy (<b>128</b> requests in progress)."), "Service Unavailable", 503),
        (ZeroDivisionError("<b>"), "Internal error", 500),
    ],
)
def test_every_error_is_shown_as_a_page(error: Exception, title: str, status: int) -> None:
    """The page keeps the question, and escapes the message."""
    content = PageMaker().problem_page(problem_of(error))
    page = render("page.html", PageState(q="who?"), content)
    assert content.status == status
    assert f"<h1>{title}</h1>" in page
    assert 'value="who?"' in page
    assert "<b>" not in page
    assert "ZeroDivision" not in page


def test_pictures_are_cached_up_to_a_limit(samples: Library, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used page is dropped."""
    data = (samples.root / "paper.pdf").read_bytes()
    cache = pictures.Pictures()
    first, second = (cache.draw(sandbox, data, "d", page) for page in (1, 2))
    assert cache.draw(sandbox, data, "d", 1) is first
    monkeypatch.setattr(pictures, "_CACHE_BYTES", 2 * len(first.png))
    cache.draw(sandbox, data, "e", 1)
    assert cache.draw(sandbox, data, "d", 1) is first
    assert cache.draw(sandbox, data, "d", 2) is not second
