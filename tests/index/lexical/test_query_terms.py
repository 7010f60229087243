"""Questions become literal words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.lexical.analyzer import terms, words
from index.lexical.query_terms import MAX_WORDS, QueryTerm, analyse, query_terms, query_weights
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the state-of-the-art accuracy?", ("state-of-the-art", "state", "art", "accuracy")),
        ("Version 3.5, or 3.6?", ("version", "3.5", "3.6")),
        ("Don't O'Brien's cats purr?", ("o'brien", "brien", "cats", "purr")),
        ("They'll use Zürich’s tram", ("use", "zurich", "tram")),
        ("who is it?", ("who", "is", "it")),
        ("Cats cats CATS", ("cats",)),
        ('"NEAR(a b)" AND title:x* OR -y', ("near", "b", "title", "x", "y")),
        ("snake_case\0nul", ("snake", "case", "nul")),
        ("cafe\u0301 na\u00efve \ud800", ("cafe", "naive")),
        ("हिन्दी", ("हिनदी",)),
        ("?!… --- '' .", ()),
        ("", ()),
    ],
)
def test_words(question: str, expected: tuple[str, ...]) -> None:
    assert tuple(dict.fromkeys(term.word for term in analyse(question))) == expected


def test_analysis_of_a_question() -> None:
    """Terms by word, with weights, and where each word was written: accents, apostrophes and case as they were."""
    assert analyse("Did O’Brien's CAT see cats, a wi-fi cat or  東京タワー?") == (
        QueryTerm("o'brien", 1.0, "o'brien", ((4, 11),), False),
        QueryTerm("brien", 1.0, "brien", ((4, 11),), True),
        QueryTerm("cat", 27 / 11, "cat", ((14, 17), (36, 39)), False),
        QueryTerm("see", 1.0, "see", ((18, 21),), False),
        QueryTerm("cat", 27 / 11, "cats", ((22, 26),), False),
        QueryTerm("wi-fi", 1.0, "wi-fi", ((30, 35),), False),
        QueryTerm("wi", 1.0, "wi", ((30, 35),), True),
        QueryTerm("fi", 1.0, "fi", ((30, 35),), True),
        *(QueryTerm(pair, 1.0, "東京タワー", ((44, 49),), False) for pair in ("東京", "京タ", "タワ", "ワー")),
    )


@pytest.mark.parametrize("question", ["mustn't", "you mustn’t forget"])
def test_a_part_of_a_negation_is_no_word(question: str) -> None:
    assert {term.word for term in analyse(question)} <= {"forget", "mustn't"}


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(alphabet="\"'*()-.\0\ud800 aSt'’東京กßİﬁ한\u0301", max_size=40))
def test_each_span_is_its_word(text: str) -> None:
    for term in analyse(text):
        for start, end in term.spans:
            found = [word.text for word in words(text[start:end])]
            assert term.is_part or term.word in found or term.word.rstrip(".-'") in found


def test_a_document_pasted_as_a_question_is_capped() -> None:
    assert len(analyse(" ".join(f"w{number}" for number in range(5000)))) == MAX_WORDS


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(alphabet="\"'*():^-+{}\0\ud800 ANDORNEAR.titlex'’東京ก", max_size=40))
def test_a_text_is_found_by_every_term_of_itself_as_a_question(text: str) -> None:
    """Both sides cut, fold and stem alike; only what a question is capped to and stop words are missing."""
    simple, joined = terms(text)
    assert set(query_terms(text)) <= {*simple, *joined}


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("the EFCA’s co‑chair", "co-chair of EFCA"),
        ("Müller, Crème Brûlée, Straße", "muller creme brulee strasse"),
        ("ＡＢＣ ﬁrst x²", "abc first x2"),
        ("東京タワーは高い", "東京タワー"),
        ("القَاهِرة", "القاهرة"),
        ("running questions", "runs question"),
        ("المدينة الكتاب", "مدينة كتاب"),
        ("новые книги", "новая книга"),
        ("οι μεγάλοι δρόμοι", "μεγάλος δρόμος"),
    ],
)
def test_variants_of_a_word_meet(written: str, asked: str) -> None:
    simple, joined = terms(written)
    assert set(query_terms(asked)) <= {*simple, *joined}


def test_what_is_said_several_times_counts_more() -> None:
    """Less and less: at most nine times as much."""
    weights = query_weights("Cats and dogs, cats; and cats in wi-fi, Wi-Fi!")
    assert weights == pytest.approx({"cat": 27 / 11, "dog": 1, "wi-fi": 1.8, "wi": 1.8, "fi": 1.8}, abs=1e-12)
    assert 8 < query_weights("cats " * 200)["cat"] < 9


def test_a_joined_word_is_found_whole_and_by_its_parts() -> None:
    assert terms("covid-19 and node.js") == (["covid", "19", "and", "node", "j"], ["covid-19", "node.js"])


def test_operators_in_a_question_do_nothing(root: Path) -> None:
    """`NOT birds` is about birds, and a quoted phrase is its words."""
    update_index(Request(root, BagEncoder()))
    with Snapshot(root / ".qa") as snapshot:
        (bird,) = snapshot.keyword("NOT birds", 5)
        for question in ('birds" OR "fish', "birds* NEAR", "text:birds", "birds'); DROP TABLE passages; --"):
            assert bird.passage in [one.passage for one in snapshot.keyword(question, 5)]
