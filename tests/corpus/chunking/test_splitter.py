"""Cutting documents into passages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from corpus.chunking.splitter import context_of, encoder_text, split
from corpus.types import Passage
from tests.documents import check_passages, count_characters, count_real_tokens, count_words, document, passages
from tests.paths import SAMPLE


def texts(text: str, *, path: str = "a.md", max_tokens: int = 254) -> list[str]:
    return [passage.text for passage in passages(text, path=path, max_tokens=max_tokens)]


def test_a_passage_has_its_headings() -> None:
    """The text that is shown has the heading lines; the encoder reads the context in their place."""
    text = "# Guide\n\n## Taxis\n\nTake one.\n\nOr walk.\n\n## Trains\n\nEvery hour.\n"
    first, second = passages(text, path="a.md")
    assert first == Passage(
        start=0,
        end=38,
        text="# Guide\n\n## Taxis\n\nTake one.\n\nOr walk.",
        body=19,
        title="Guide",
        heading=("Guide", "Taxis"),
        context="Guide › Taxis",
        lines=(1, 7),
    )
    assert encoder_text(first) == "Guide › Taxis\nTake one.\n\nOr walk."
    assert (second.text, second.heading, second.lines) == ("## Trains\n\nEvery hour.", ("Guide", "Trains"), (9, 11))


def test_heading_without_content_is_kept_as_text() -> None:
    """A heading with nothing below it could not be found otherwise."""
    (passage,) = passages("# Guide\n\n## Lost\n\n## Taxis\n\nTake one.\n", path="a.md")
    assert (passage.body, passage.heading) == (0, ("Guide", "Taxis"))
    assert encoder_text(passage) == "Guide › Taxis\n# Guide\n\n## Lost\n\n## Taxis\n\nTake one."
    (passage,) = passages("# A\n\n## B\n", path="a.md")
    assert (passage.text, passage.body, passage.heading) == ("# A\n\n## B", 0, ("A",))


def test_many_headings_without_text_are_cut_like_text() -> None:
    text = "".join(f"# Number {n}\n" for n in range(100)) + "\nBody.\n"
    pieces = passages(text, path="a.md", max_tokens=60)
    assert len(pieces) == 6
    assert all(passage.body == 0 for passage in pieces)
    assert len(passages("# Same\n" * 1000 + "\nBody.\n", path="a.md")) > 10


def test_small_blocks_are_joined_up_to_the_target() -> None:
    """The target is 120 tokens; a list stays with the line that introduces it."""
    paragraph = "word " * 49 + "end."
    assert len(texts("\n\n".join([paragraph] * 2))) == 1
    assert [len(piece.split()) for piece in texts("\n\n".join([paragraph] * 5))] == [100, 100, 50]
    first, second = "The list is:\n- one\n- two", "Another one, which stands by itself here."
    assert texts(f"{first}\n\n{second}\n", path="a.txt", max_tokens=12) == [first, second]


LAUNDRY = ("a.txt", "Laundry\n"), ("a.txt", "4. Laundry\n"), ("a.md", "**Laundry**\n\n"), ("a.md", "__The day:__\n\n- ")


@pytest.mark.parametrize(("path", "line"), LAUNDRY)
@pytest.mark.parametrize("sentences", [30, 36, 59, 100])
def test_a_line_stays_with_what_it_introduces(path: str, line: str, sentences: int) -> None:
    """The line is in bold or directly above its text, which may fill a passage or be cut."""
    text_above, text_below = "rain " * 99 + "end.", "It was wet. " * sentences
    pieces = texts(f"# T\n\n{text_above}\n\n{line}{text_below}\n", path=path)
    assert pieces[0] == f"# T\n\n{text_above}"
    assert pieces[1].startswith(f"{line}It was wet.")


def test_a_line_among_short_lines_introduces_nothing() -> None:
    """Such as the lines of an address, or a line above one that ends like a sentence."""
    start = "word " * 117
    assert texts(f"# T\n\n{start}end\nBirch Lane\nOld Town\n", path="a.txt")[-1] == "Old Town"
    assert texts(f"# T\n\n{start}end\nIt rains.\nWord word word word.\n", path="a.txt")[-1] == "Word word word word."


def test_a_paragraph_of_up_to_180_tokens_stays_whole() -> None:
    """A longer one is cut between sentences into pieces of about the same size."""
    assert [len(piece.split()) for piece in texts("One two three. " * 60)] == [180]
    assert [len(piece.split()) for piece in texts("One two three. " * 61)] == [93, 90]


def test_pieces_of_a_list_item_have_its_first_words_as_a_heading() -> None:
    text = "# T\n\n- Exit A: " + "leads on and on. " * 30 + "\n  - one\n  - two\n"
    pieces = passages(text, path="a.md", max_tokens=60)
    assert [passage.heading for passage in pieces] == [("T",), ("T", "Exit A"), ("T", "Exit A"), ("T", "Exit A")]
    assert pieces[1].context == "T › Exit A"
    assert pieces[3].text == "- one\n  - two"


def test_pieces_of_a_table_have_its_column_names_in_their_context() -> None:
    """The headings that are cited do not change; lines without bars have no columns."""
    rows = "".join(f"| boat {n} | {n} EUR | pier {n} |\n" for n in range(20))
    parts = passages(
        f"# Fees\n\n| Boat|Fee |  Where |\n|---|---|---|\n{rows}\nMore words.\n", path="a.md", max_tokens=60
    )
    assert [passage.context for passage in parts] == ["Fees", *["Fees › Boat | Fee | Where"] * (len(parts) - 2), "Fees"]
    assert {passage.heading for passage in parts} == {("Fees",)}
    assert parts[1].text.startswith("| boat ")
    wide = "| " + "word " * 70 + "| b |"
    parts = passages(f"# Fees\n\n{wide}\n|---|---|\n{rows}", path="a.md", max_tokens=80)
    assert {passage.context for passage in parts} == {"Fees"}, "names that leave no room"
    aligned = "".join(f"boat {n}    {n} EUR   pier {n}\n" for n in range(10, 36))
    parts = passages(f"# Fees\n\n           Fee      Where\n{aligned}", max_tokens=64)
    assert [passage.context for passage in parts] == ["Fees", *["Fees › – | Fee | Where"] * (len(parts) - 1)]
    assert parts[1].text.startswith("boat ")


@pytest.mark.parametrize(
    "rules",
    [
        ("┌──┬──┐", "├──┼──┤", "│"),
        ("|--+--|", "|--+--|", "|"),
        ("+--+--+", "+==+==+", "|"),
        ("Ours:\n\n+--+--+", "+--+--+", "|"),
    ],
)
def test_the_column_names_are_below_the_first_rule(rules: tuple[str, str, str]) -> None:
    above, below, bar = rules
    rows = "".join(f"{bar} boat {n} {bar} {n} EUR {bar}\n" for n in range(60))
    parts = passages(f"# Fees\n\n{above}\n{bar} Boat {bar} Fee {bar}\n{below}\n{rows}", path="a.md")
    assert {passage.context for passage in parts[1:]} == {"Fees › Boat | Fee"}


@pytest.mark.parametrize("line", ["**Prices**\n\n", "Prices:\n\n", "Table 1: Prices of boats\n\n", "Prices:\n"])
def test_a_line_that_introduces_a_table_stays_with_it(line: str) -> None:
    """It does not hide the names of the columns."""
    rows = "".join(f"| boat {n} | {n} EUR |\n" for n in range(20))
    start = "rain " * 99 + "end."
    first, second, *rest = passages(
        f"# T\n\n{start}\n\n{line}| Boat | Fee |\n|---|---|\n{rows}", path="a.md", max_tokens=120
    )
    assert first.text.endswith("end.")
    assert second.text.startswith(line)
    assert {passage.context for passage in rest} == {"T › Boat | Fee"}


def test_the_name_of_a_clause_stays_with_its_text() -> None:
    text = "".join(f"{n}. Payment\n\n{'rain ' * 110}end.\n\n" for n in range(1, 4))
    assert [piece.split("\n")[0] for piece in texts(f"# T\n\n{text}")[1:]] == ["2. Payment", "3. Payment"]


def test_nested_items_have_the_item_above_as_a_heading() -> None:
    """A passage that begins inside a list has the nearest outer item as a heading, unless a paragraph is between."""
    items = "".join(f"  - this is nested item number {n}\n" for n in range(20))
    pieces = passages(f"# T\n\n- Exit A - the way\n{items}", path="a.md", max_tokens=60)
    assert [passage.heading for passage in pieces] == [("T",), ("T", "Exit A"), ("T", "Exit A")]
    pieces = passages("- one\n\nA paragraph of some words.\n\n" + items, max_tokens=20)
    assert {passage.heading for passage in pieces} == {()}


A, B, C = "A" * 100, "B" * 100, "C" * 30


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("T", ("A", "A", "B"), "T › A › B"),
        ("T", ("T", ""), "T"),
        ("", (), ""),
        # A long one loses its middle: the title and the innermost heading matter most.
        ("T" * 90, (A, B, C), " › ".join(["T" * 90, B, C])),
        ("T" * 200, (A,), A),
        ("T" * 300, (), "T" * 240),
    ],
)
def test_a_context_names_each_heading_once(title: str, heading: tuple[str, ...], expected: str) -> None:
    assert context_of(title, heading, count_tokens=count_words, max_tokens=254) == expected


def test_a_context_takes_at_most_half_of_the_tokens() -> None:
    assert context_of("T" * 20, (), count_tokens=count_characters, max_tokens=40) == "T" * 20
    assert context_of("T" * 20, (), count_tokens=count_characters, max_tokens=39) == ""


def test_punctuation_joins_its_neighbour() -> None:
    """A rule is a passage of its own only if no passage of its section has room for it."""
    long = "word " * 19 + "end."
    assert texts(f"# T\n\n{long}\n\n***\n\n{long}\n", max_tokens=30) == [f"# T\n\n{long}\n\n***", long]
    assert texts(f"***\n\n{'word ' * 199}end.\n", max_tokens=220) == [f"***\n\n{'word ' * 199}end."]
    assert texts("# T\n\na\n\n# U\n\n---\n") == ["# T\n\na", "# U\n\n---"]
    full = "word " * 17 + "end."
    assert texts(f"# T\n\n{full}\n\n***\n", max_tokens=20) == [f"# T\n\n{full}", "***"]


def test_pieces_shrink_until_they_fit_a_superadditive_tokenizer() -> None:
    """Such a tokenizer counts more tokens in a text than in its parts."""

    def count(texts: Sequence[str]) -> list[int]:
        return [len(words) + max(0, len(words) - 10) for words in map(str.split, texts)]

    text = "One two three four five. " * 20
    pieces = check_passages(document(text), count_tokens=count, max_tokens=18)
    assert [len(passage.text.split()) for passage in pieces] == [10] * 10


def test_oversized_character_still_becomes_a_passage() -> None:
    """A character with more tokens than the limit is a passage of its own; nothing is lost and nothing hangs."""
    pieces = split(document("ab c"), count_tokens=lambda texts: [9 * len(text) for text in texts], max_tokens=2)
    assert [passage.text for passage in pieces] == ["a", "b", "c"]


def test_sample_passage_count_is_unchanged() -> None:
    """If you update the number here, increment `corpus.chunking.splitter.VERSION` too."""
    files = sorted(SAMPLE.rglob("*.*"))
    documents = [document(file.read_text(encoding="utf-8"), path=file.name) for file in files]
    sizes = [len(split(it, count_tokens=count_real_tokens, max_tokens=254)) for it in documents]
    assert (len(files), sum(sizes)) == (15, 142)
