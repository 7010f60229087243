"""How questions and texts are split into terms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.lexical.analyzer import Word, terms, words
from index.lexical.query_terms import analyse


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the state-of-the-art accuracy?", ("state-of-the-art", "state", "art", "accuraci")),
        ("Version 3.5, or 3.6?", ("version", "3.5", "3.6")),
        ("Don't O'Brien's cats purr?", ("o'brien", "brien", "cat", "purr")),
        ("They'll use Zürich’s tram", ("us", "zurich", "tram")),
        ("who is it?", ("who", "i", "it")),
        ("Cats cats CATS", ("cat",)),
        ('"NEAR(a b)" AND title:x* OR -y', ("near", "b", "titl", "x", "y")),
        ("snake_case\0nul", ("snake", "case", "nul")),
        ("cafe\u0301 na\u00efve \ud800", ("cafe", "naiv")),
        ("हिन्दी", ("हिनदी",)),
        ("東京タワー", ("東京", "京タ", "タワ", "ワー")),
        ("you mustn’t forget", ("forget",)),
        ("mustn't", ("mustn't",)),
        ("?!… --- '' .", ()),
        ("", ()),
    ],
)
def test_terms(question: str, expected: tuple[str, ...]) -> None:
    assert tuple(analyse(question).terms) == expected


def test_words_have_their_spans() -> None:
    """Spans are in the original text; a joined word has its parts, and a possessive ending is separate."""
    assert analyse("Did O’Brien's CAFÉ see a wi-fi?").words == (
        Word("did", 0, 3),
        Word("o'brien", 4, 11, (Word("o", 4, 5), Word("brien", 6, 11)), (Word("s", 12, 13),)),
        Word("cafe", 14, 18),
        Word("see", 19, 22),
        Word("a", 23, 24),
        Word("wi-fi", 25, 30, (Word("wi", 25, 27), Word("fi", 28, 30))),
    )


@settings(deadline=None)
@given(st.text() | st.text(alphabet="\"'*()-.\0\ud800 aSt'’東京กßİﬁ한\u0301\u00ad™", max_size=40))
def test_each_span_contains_its_word(text: str) -> None:
    for word in analyse(text).words:
        for start, end, *_ in (word[1:], *(part[1:] for part in word.parts)):
            assert text[start:end].strip()
        texts = [it.text for it in words(text[word.start : word.end])]
        assert word.text in texts or word.text.rstrip(".-'") in texts


def test_the_terms_of_a_long_question_are_limited() -> None:
    analysis = analyse(" ".join(f"w{number}" for number in range(5000)))
    assert (len(analysis.words), len(analysis.terms)) == (5000, 200)


@settings(deadline=None)
@given(st.text() | st.text(alphabet="\"'*():^-+{}\0\ud800 ANDORNEAR.titlex'’東京ก", max_size=40))
def test_text_contains_its_own_query_terms(text: str) -> None:
    """Text and query are split, folded and stemmed alike."""
    simple, joined = terms(text)
    assert set(analyse(text).terms) <= {*simple, *joined}


@pytest.mark.parametrize(
    ("written", "question"),
    [
        ("the EFCA’s co‑chair", "co-chair of EFCA"),
        ("Müller, Crème Brûlée, Straße", "muller creme brulee strasse"),
        ("Zephyr™, Ver\u00adsicherung", "zephyr versicherung"),
        ("ＡＢＣ ﬁrst x²", "abc first x2"),
        ("القَاهِرة", "القاهرة"),
        ("المدينة الكتاب", "مدينة كتاب"),
        ("новые книги", "новая книга"),
        ("οι μεγάλοι δρόμοι", "μεγάλος δρόμος"),
    ],
)
def test_variants_of_a_word_match(written: str, question: str) -> None:
    simple, joined = terms(written)
    assert set(analyse(question).terms) <= {*simple, *joined}


def test_repeated_terms_weigh_more() -> None:
    """Each repetition adds less; the weight stays below nine."""
    weights = analyse("Cats and dogs, cats; and cats in wi-fi, Wi-Fi!").terms
    assert weights == pytest.approx({"cat": 27 / 11, "dog": 1, "wi-fi": 1.8, "wi": 1.8, "fi": 1.8}, abs=1e-12)
    assert 8 < analyse("cats " * 200).terms["cat"] < 9
