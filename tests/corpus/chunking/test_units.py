"""Units, the smallest pieces of a text, and how they are packed."""

from __future__ import annotations

from corpus.chunking.units import Unit, bounded_counter, pack_evenly, units_of
from corpus.types import Block, BlockKind
from tests.documents import count_characters, count_words


def units(text: str, *, kind: BlockKind = BlockKind.PARAGRAPH, room: int = 8) -> list[tuple[str, int]]:
    block_units = list(units_of(text, Block(kind, 0, len(text)), count=bounded_counter(count_words, 254), room=room))
    return [(text[unit.start : unit.end], unit.tokens) for unit in block_units]


def test_lines_of_code_and_rows_are_units() -> None:
    """They keep their indent; blank lines are not units."""
    text = "if x. y:\n    z = 1\n \n\n\tw"
    assert units(text, kind=BlockKind.CODE) == [("if x. y:", 3), ("    z = 1", 3), ("\tw", 1)]
    assert units("| a | b |\n|---|---|", kind=BlockKind.TABLE) == [("| a | b |", 5), ("|---|---|", 1)]


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    """The clause must end in the second half of what fits; otherwise the cut is at the last space."""
    assert units("one two three four five, six seven eight nine") == [
        ("one two three four five, six seven", 7),
        ("eight nine", 2),
    ]
    assert units("甲乙丙丁戊、" * 30) == [("甲乙丙丁戊、" * 20, 8), ("甲乙丙丁戊、" * 10, 4)]


def test_a_long_word_is_cut_anywhere() -> None:
    text = "x" * 25
    cut = list(units_of(text, Block(BlockKind.PARAGRAPH, 0, 25), count=count_characters, room=10))
    assert cut == [Unit(0, 9, 9), Unit(9, 18, 9), Unit(18, 25, 7)]


def test_the_count_has_a_minimum() -> None:
    """Sixteen visible characters are at least one token, whatever the tokenizer returns; white space is free."""
    count = bounded_counter(count_words, 254)
    assert count(["a b c", "x" * 16, "x" * 17, "x" + " " * 100 + "y", ""]) == [3, 1, 2, 2, 0]


def test_a_text_that_is_far_too_long_is_not_counted() -> None:
    """Its minimum already exceeds the limit, and counting millions of characters is slow."""
    counted: list[str] = []

    def count(texts: list[str]) -> list[int]:
        counted.extend(texts)
        return [1000] * len(texts)

    assert bounded_counter(count, 2)(["y" * 32, "x" * 33]) == [1000, 1000]  # type: ignore[arg-type]
    assert counted == ["y" * 32, ""]


def pieces(*sizes: int, target: int, room: int) -> list[list[int]]:
    units = [Unit(n, n + 1, size) for n, size in enumerate(sizes)]
    return [[unit.tokens for unit in piece] for piece in pack_evenly(units, target, room)]


def test_pieces_are_of_about_the_same_size() -> None:
    """There is no short remainder; units that fit the target together are one piece."""
    assert pieces(*[5] * 10, target=20, room=100) == [[5] * 5, [5] * 5]
    assert pieces(*[5] * 9, target=20, room=100) == [[5] * 5, [5] * 4]
    assert pieces(5, 5, target=20, room=100) == [[5, 5]]
    assert pieces(target=20, room=100) == []


def test_no_piece_is_larger_than_the_room() -> None:
    assert pieces(9, 9, 9, target=100, room=10) == [[9], [9], [9]]
    assert pieces(3, 30, 3, target=12, room=30) == [[3], [30], [3]]
