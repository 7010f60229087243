"""Terms that are looked up rather than asked about, and the passages that have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa.questions.lookup import Lookup, Match, lookup_of, lookup_of_any
from tests.qa.passages import stored

TABLE = "| Code | Meaning |\n|---|---|\n| TM-428 | Too slow |\n| TM-429 | Too many |\n"


def looked_up(text: str) -> Lookup:
    lookup = lookup_of(text)
    assert lookup is not None
    return lookup


@pytest.mark.parametrize(
    "question",
    [
        "who won",
        "TM-429?",
        "Is TM-429 an error",
        "the room where it happened",
        "explain TM-429",
        "What happened on 5 May 2023 at noon?",
        "What happened on Monday?",
        "the and of",
        "…",
        " ".join(f"word{i}" for i in range(11)),
    ],
)
def test_questions_statements_and_stop_words_are_not_lookups(question: str) -> None:
    assert lookup_of(question) is None


@pytest.mark.parametrize("keywords", ["what-if explanations", "how-to videos", "transfer of know-how"])
def test_a_question_word_before_or_after_a_hyphen_does_not_ask(keywords: str) -> None:
    assert lookup_of(keywords) is not None


@pytest.mark.parametrize(
    ("query", "text", "matches"),
    [
        ("TM-429", "It gives TM-429.", True),
        ("tm-429", "It gives TM\u2011429 (TM-430 is another).", True),
        ("TM429", "It gives TM-429.", True),
        ("TM 429", "It gives TM-429.", True),
        ("TM-429", "It gives TM-4290, or TM-428.", False),
        ("M-429", "It gives TM-429.", False),
        ("2.3.1", "Since 2.3.10, or 2-3-1, or 231.", False),
        ("2.3.1", "Since v2.3.1, or since 2.3.1.", True),
        ("max_flow", "Set max_flow_rate.", False),
        ("max_flow", "Set `max_flow`.", True),
        ("Consumer.poll", "Call Consumer.poll(), as polls by consumers.", True),
        ("Consumer.poll", "The consumer. Polls are held.", False),
        ("88213", "Order 88213-B.", True),
        ("12,000", "12000 came.", True),
        ("12000", "12'000 came.", True),
        ("12000", "2000, not 12 0000.", False),
        ("TM-429错误", "见TM-429错误。", True),
        ("23 May 2024", "Visitor: Ann\nDate: 5/23/2024", True),
        ("What happened on the 5th of May 2023?", "5. Mai 2023: Besuch.", True),
        ("5. Mai, Besuch", "Der Besuch war am 2023-05-05.", True),
        ("8 Feb 1971 fire", "On 8 February 1971 a fire destroyed it.", True),
        ("5 May 2023", "It was on 5 June 2023, 5 May 2022 and in May 2023.", False),
        ('"never finished"', "It is never\nfinished.", True),
        ('"never finished"', "Never is it finished.", False),
        ('"the end"', "An end.", False),
        ("„nie fertig“", "Er ist nie fertig.", True),
        ("language café", "The cafés of a language.", True),
        ("language cafe", "Language\ncafé, on Tuesdays.", True),
        ("language café", "A language is taught.\n\nThe café is closed.", False),
        ("language café", "A language is taught.", False),
        ("e-mail", "The email of Ida.", True),
        ("email address", "An address.", False),
        ("May 5, 2024", "It rained on 5 May 2024.", True),
        ("555-123-4567", "Call (555) 123-4567.", True),
        ("555.123.4567", "Call 555 123\u20114567.", True),
        ("555-123-4567", "Call 555-123-4568, or 1555-123-4567.", False),
        ("2024-06-04", "On 2024-06-05 and 2023-06-04.", False),
        ("28-day strength", "The strength on 28 days.", True),
    ],
)
def test_all_words_must_be_in_one_sentence(query: str, text: str, matches: bool) -> None:
    """Codes and quoted words exactly as they are written, all others in any form."""
    assert (looked_up(query).match(stored(text)) is not None) == matches


def test_table_rows_are_matched_separately_but_share_the_header() -> None:
    """The match is at the row that has the code."""
    at = TABLE.index("TM-429")
    assert looked_up("TM-429").match(stored(TABLE)) == Match(at)
    assert looked_up("many TM-429").match(stored(TABLE)) == Match(at)
    assert looked_up("meaning TM-429").match(stored(TABLE)) == Match(at)
    assert looked_up("slow TM-429").match(stored(TABLE)) is None


@pytest.mark.parametrize(
    ("media_type", "text", "expected"),
    [
        ("text/csv", "name: Bo\nrole: designer\ncity: Bergen", Match(15)),
        ("application/json", "name: Bo\nrole: designer\ncity: Bergen", Match(15)),
        ("text/csv", "city: Bergen\nrole: designer\nnote: A designer of Bergen.", Match(36)),
        ("text/csv", f"role: designer\nnote: {'Long. ' * 100}\ncity: Bergen", None),
        ("text/csv", "Row 2: role: designer; city: Oslo\nRow 3: role: cook; city: Bergen", None),
        ("text/plain", "name: Bo\nrole: designer\ncity: Bergen", None),
    ],
)
def test_the_fields_of_a_record_are_one_row(media_type: str, text: str, expected: Match | None) -> None:
    """A sentence that has everything is better, and a long record is a text."""
    passage = stored(text)
    record = replace(passage, document=replace(passage.document, media_type=media_type))
    assert looked_up("designer Bergen").match(record) == expected


def test_titles_and_headings_count_too() -> None:
    """And the path together with them, but not on its own."""
    passage = stored("# Rent\n\nIt is due in June.", path="lease 2024.txt", context="Ida Grün", body=8)
    assert looked_up("rent due 2024").match(passage) == Match(14)
    assert looked_up("Ida Grün").match(passage) == Match(None)
    assert looked_up("rent").match(passage) == Match(None)
    assert looked_up("rent Ida").match(passage) == Match(None)
    assert looked_up("lease").match(passage) is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("2024-06-11", Match(None)),
        ("what did we do on 11 June 2024?", Match(None)),
        ("arm 11 June", Match(16)),
        ("11 June 2023", None),
        ("daily", None),
    ],
)
def test_a_date_in_the_path_counts_on_its_own(query: str, expected: Match | None) -> None:
    assert looked_up(query).match(stored("Jonas broke his arm.", path="daily/2024-06-11.md")) == expected


def test_absent_codes_and_quoted_words_are_detected() -> None:
    """Other terms can be written in several ways, so they may be somewhere all the same."""
    passages = [stored(TABLE), replace(stored("Others."), id=2)]
    lookups = ('TM-428 "too many"', "TM-430 many", '"too few"', "order 5512", "2024-0119")
    nowhere = {text for text in lookups if looked_up(text).is_nowhere(passages)}
    assert nowhere == {"TM-430 many", '"too few"', "order 5512", "2024-0119"}
    assert not looked_up("555-123-4567").is_nowhere([stored("Call (555) 123-4567.")])
    numbers = ("28", "4.5", "16:30", "5kg", "4th", "16-year-old", "under-18s", "2024-06-04", "04/06/2024", "6.4.24")
    for text in (*numbers, "few people"):
        assert not looked_up(text).is_nowhere(passages)


def test_front_matter_ranks_below_any_text() -> None:
    """A tag alone says little, but is found."""
    front_matter, text = stored("---\ntags: [red kiln]\n---", path="a.md"), stored("The kiln. It was red.", path="b.md")
    front = replace(front_matter, document=replace(front_matter.document, metadata='[["tags", "red kiln"]]'))
    assert [looked_up("kiln").rank(passage) for passage in (text, front_matter, front)] == [2, 2, 1]
    assert looked_up("clay").rank(front) == 0


def test_any_of_several_things_is_looked_up() -> None:
    """A part of more than three words is a clause, one without words is nothing, and one thing needs no such lookup."""
    lookup = lookup_of_any("storm gates, TM-428 or walls")
    assert lookup is not None
    texts = ("A gate for storms.", "Gates.", "A wall.", TABLE, "TM-429.")
    assert [lookup.rank(replace(stored(text), id=number)) for number, text in enumerate(texts)] == [2, 0, 2, 2, 0]
    assert [lookup.is_in(text) for text in texts] == [True, False, True, True, False]
    for topic in ("storm gates", "walls and gates called the best of all years", "the or walls"):
        assert lookup_of_any(topic) is None
