"""Values that a later text replaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from qa.answer.results import Alternative, Answer
from qa.answer.superseded import NewValue, QuotedValue, answer_with_new_value, find_new_values
from qa.language.replacement import Replacement, find_changed_value, find_replacement, replace_if_outdated
from qa.reader.reading import Reading
from tests.growth import check_growth
from tests.qa.indexes import build, built, opened
from tests.qa.passages import reading, stored


def new_value(value: str, text: str) -> str:
    result = find_replacement(value, text, set())
    return "" if result is None else text[slice(*result.value)]


@pytest.mark.parametrize(
    ("value", "text", "new"),
    [
        ("at most three times", "In rule 9 for “three times” put “four times”.", "four times"),
        ("€2.50", 'In 2.3 replace "€2.50" by "€2.90".', "€2.90"),
        ("31 March", "Leave must now be taken by 30 April (was 31 March).", "30 April"),
        ("31 March 2024", "It is due on 30 April instead of 31 March.", "30 April"),
        ("60 hours", "The upper limit is 50 hours (was 60).", "50 hours"),
        ("£96", "Adults £104, previously £96.", "£104"),
        ("27 October", "The boat is out from 3 November, not 27 October as I wrote.", "3 November"),
        ("£299", "Family is £295,\nnot £299.", "£295"),
        ("27 October", "It is not on 27 October, but on 3 November.", "3 November"),
        ("44 %", "The preprint said 44 %; the published version says 38 %.", "38 %"),
        ("18:30", "1.2: until 17:30 instead of 18:30.", "17:30"),
        ("€240", "Pay ~~€240~~ €225.", "€225"),
        ("27 days", "To 3.1: 28 days instead of 27.", "28 days"),
        ("one day a week", "“One day” becomes “two days”.", "two days"),
        ("€240", "The fee of €240\nis now €225.", "€225"),
        ("1.5 mg/kg", "The dose changes from 1.5 mg/kg to 1 mg/kg.", "1 mg/kg"),
        ("70 EUR", "The fee goes back from 70 EUR to 50 EUR.", "50 EUR"),
        ("May", "The upgrade moves from May to June because it may be late.", "June"),
        ("in May", "The upgrade may move and is now in June (was May).", "June"),
        ("May 2025", "The upgrade moves from May 2025 to March 2026.", "March 2026"),
    ],
)
def test_sentences_that_replace_a_value(value: str, text: str, new: str) -> None:
    assert new_value(value, text) == new


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3 August", "The camp runs from 3 August to 10 August."),
        ("£330", "The chair proposed £350 instead of £330."),
        ("30 days", "3. Notice: 60 days instead of 30 days.\n   WITHDRAWN after discussion."),
        ("£20", "If we paid £25 instead of £20, we would run out of money."),
        ("£20", "Fee\nNot £20 a day."),
        ("three", "For three put four."),
        ("June", "From June to July it is closed."),
        ("from May to June", "The course moves online from May to June."),
        ("June", "It was changed from June to what may be later."),
        *(
            ("25 mg", text)
            for text in (
                "It was agreed not to change the dose from 25 mg to 50 mg.",
                "The dose was never raised from 25 mg to 50 mg.",
                "They refused to raise the dose from 25 mg to 50 mg.",
                "The request to raise the dose from 25 mg to 50 mg was received.",
                "The dose was raised from 25 mg to 50 mg in March. This was revoked on 3 May.",
                "To raise it from 25 mg to 50 mg was declined.",
                "Raising the rate from 25 mg to 50 mg did not shorten the stay.",
                'for "25 mg" read "50 mg" was printed. This was wrong.',
            )
        ),
    ],
)
def test_sentences_that_replace_nothing(value: str, text: str) -> None:
    """Periods, proposals, refusals, what was taken back, and bare small numbers."""
    assert new_value(value, text) == ""


def test_what_was_rejected_is_one_item() -> None:
    assert new_value("£5", "1. The fee is £6 (was £5).\n2. Raise the quorum. Rejected.") == "£6"


def test_finding_what_replaces_a_value_takes_linear_time() -> None:
    text = "€96 becomes instead of €96 no longer not €96 but (was €96 ~~€96 preprint €96 €97 "
    check_growth(lambda text: find_replacement("€96", text, set()), text * 200, text * 800)
    text = "It moved to €96 and was raised to the "
    check_growth(lambda text: find_changed_value("€96", text, set()), text * 200, text * 800)


CORRECTED = "The boat is out from 3 November, not 27 October as I wrote."
PAPER = "The preprint said 44 %; the published version says 38 %."
BUS = "On Sundays it leaves at 8:40, not at 6:15 as on weekdays."


@pytest.mark.parametrize(
    ("question", "text", "words", "expected"),
    [
        ("Until when can I take the boat?", CORRECTED, "not 27 October", "3 November"),
        ("Until when did you write that the boat is in originally?", CORRECTED, "27 October", "27 October"),
        ("What share is wrong?", PAPER, "44 %", "38 %"),
        ("What share did the preprint give?", PAPER, "44 %", "44 %"),
        ("When does it leave on weekdays?", BUS, "6:15", "6:15"),
        ("What do adults take?", "Children take 5 mg instead of 10 mg.", "10 mg", "10 mg"),
        ("What is the limit?", "The limit is now 5 mg instead of 10 mg.", "10 mg", "5 mg"),
        ("What is the fee?", "The fee was £10 until May, and is now £12.", "£10", "£12"),
        ("What is the adult fee?", "The £10 adult fee is now £12.", "£10", "£12"),
        ("What is the fee?", "The fee was £10. Diesel got dear. Raised to £12 on 3 May.", "£10", "£12"),
        ("What is the code?", "It was 4471. Changed 12 April 2025 to 2208 after a theft.", "4471", "2208"),
        ("What was the fee?", "The fee was £10. Raised to £12 on 3 May.", "£10", "£10"),
        ("What is the fee?", "Adults pay £10. Reduced to £5 for children.", "£10", "£10"),
        ("What is the fee?", "The fee is £10. Reduced to £5 on Sundays.", "£10", "£10"),
        # Another thing has changed.
        ("What is the adult fee?", "The adult fee is £10 and the child fee is now £5.", "£10", "£10"),
        ("What is the deposit?", "The deposit is £500, but the rent was raised to £900.", "£500", "£500"),
        ("When does the shop open?", "It opens at 9:00, the café is now open from 10:30.", "9:00", "9:00"),
        ("When is the exam?", "It is on 4 June and registration is now open until 20 May.", "4 June", "4 June"),
        ("What do adults pay?", "Adults pay £10, students now pay £5 instead of £10.", "£10", "£10"),
        ("What do students pay?", "Adults pay £10, students now pay £5 instead of £10.", "£10.", "£5"),
    ],
)
def test_an_answer_is_not_the_value_that_its_sentence_revokes(
    question: str, text: str, words: str, expected: str
) -> None:
    at = text.index(words)
    result = replace_if_outdated(question, text, (at, at + len(words)), (0, len(text)))
    assert text[slice(*result)] == expected


RULES = "# Rules\n\n## 9 Guests\n9.2 A guest may sail at most three times in a season.\n"
FIRST = "Amendment of 2024\n\n(c) Rule 9.2: for “three times” put “four times”.\n"
SECOND = "Amendment of 2025\n\n2. Guests. In rule 9.2 for “four times” put “five times”.\n"
SAIL = "How often may a guest sail?"


def chain(
    root: Path,
    files: Mapping[str, str],
    question: str,
    value: str,
    *,
    rarity: Mapping[str, float] | None = None,
    read: Reading | None = None,
) -> list[str]:
    """What replaces a value that "a.md" gives."""
    with built(root, files) as snapshot:
        passage = next(passage for passage in snapshot.passages_of("a.md") if value in passage.text)
        at = passage.text.index(value)
        end = passage.text.find("\n", at)
        answer_span = passage.text.rfind("\n", 0, at) + 1, end if end >= 0 else len(passage.text)
        old = QuotedValue(question, value, passage, answer_span)
        result = find_new_values(snapshot, old, documents=None, rarity=rarity or {}, read=lambda _: read)
        return [new.value for new in result]


def test_values_are_replaced_again_and_again_by_the_number_of_their_section(tmp_path: Path) -> None:
    files = {"a.md": RULES, "b.txt": FIRST, "c.txt": SECOND}
    assert chain(tmp_path, files, SAIL, "three times") == ["four times", "five times"]


def test_a_section_is_named_above(tmp_path: Path) -> None:
    files = {
        "a.md": "# Book\n\n## 3.1 Leave\n\nDays left over go on 31 March.\n",
        "b.txt": "Changes\n\n4) 3.1 Carry-over\n   It must be taken by 30 April (was 31 March).\n",
    }
    assert chain(tmp_path, files, "When do I lose leave?", "31 March") == ["30 April"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("Correction: the summer regatta is on 19 July, not 12 July.", ["19 July"]),
        ("Correction: the autumn regatta is on 19 July, not 12 July.", []),
        ("The summer regatta is on 19 July, not 12 July.", []),
        ("3.2 The summer regatta is on 19 July (was 12 July).", []),
    ],
)
def test_values_are_replaced_by_what_has_the_words_of_the_question(
    tmp_path: Path, change: str, expected: list[str]
) -> None:
    """But not in another section, or if it may be another case rather than a change."""
    files = {"a.md": "2.1 The summer regatta is on 12 July.\n", "b.txt": change}
    rarity = {"summer": 0.5, "regatta": 0.5}
    assert chain(tmp_path, files, "When is the summer regatta?", "12 July", rarity=rarity) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("The payout key moves to 19 July (was 12 July).", ["19 July"]),
        ("The deposit key moves to 19 July (was 12 July).", []),
        ("The payout key: 19 July instead of 12 July.", []),
    ],
)
def test_a_change_need_not_repeat_the_predicate(tmp_path: Path, change: str, expected: list[str]) -> None:
    """Unless it may be another case rather than a change."""
    files = {"a.md": "The payout key is due on 12 July.\n", "b.txt": change}
    rarity = {"payout": 0.5, "kei": 0.5, "due": 0.5}
    assert chain(tmp_path, files, "When is the payout key due?", "12 July", rarity=rarity) == expected


@pytest.mark.parametrize(
    ("base", "change", "question", "expected"),
    [
        # The sentence that is quoted does not vouch for the next one.
        (
            "The second sticker remains £8. The lost sticker rises from £8 to £10.",
            "",
            "What is the second sticker?",
            [],
        ),
        # A group, a section of another document, and the item of an agenda.
        ("The daily dose is £8.", "In the elderly the daily dose is £10 (was £8).", "What is the daily dose?", []),
        ("The daily dose is £8.", "The daily dose is £10 (was £8) for people under 60.", "What is the daily dose?", []),
        ("The daily dose is £8.", "From 1 May in all wards: the daily dose is £10 (was £8).", "The daily dose?", []),
        ("The daily dose is £8.", "From May 2024 the daily dose is £10 (was £8).", "The daily dose?", ["£10"]),
        ("# House\n\n§ 12 We pay £8.\n", "# Garden\n\nIn rule 12, for “£8” put “£10”.\n", "What do we pay?", []),
        ("# House rules\n\n§ 12 We pay £8.\n", "# House\n\nIn rule 12, for “£8” put “£10”.\n", "Pay?", ["£10"]),
        ("5. The hours are £8.", "1. Roof\n5. Rule 5: £10 (was £8).", "What are the fees?", []),
        ("4. Milk\n5. The hours are £8.", "In rule 4: £10 (was £8).", "What are the fees?", []),
        ("5. Hours of the day\nare always £8.", "In rule 4: £10 (was £8).", "What are the hours?", []),
    ],
)
def test_other_things_have_the_same_value(
    tmp_path: Path, base: str, change: str, question: str, expected: list[str]
) -> None:
    rarity = {"daili": 0.5, "dose": 0.5, "second": 0.5, "sticker": 0.5}
    assert chain(tmp_path, {"a.md": base, "b.md": change}, question, "£8", rarity=rarity) == expected


@pytest.mark.parametrize(
    ("text", "change", "value", "expected"),
    [
        ("2. Salary\n{} a year, paid\nmonthly.", "In clause 2, £36,000 (was £34,200).", "£34,200", ["£36,000"]),
        ("2. Salary\nIt is paid monthly.\nIt is {}.", "Clause 2: £9 (was £8).", "£8", ["£9"]),
        ("2. Salary\nIt is paid monthly.\nIt is {}.", "Clause 3: £9 (was £8).", "£8", []),
        # Neither a wrapped item of a list, nor the line of another paragraph.
        ("2. We pay the salary,\nwhich is {}.", "Clause 2: £9 (was £8).", "£8", []),
        ("2. Salary\n\nWe pay {}.", "Clause 2: £9 (was £8).", "£8", []),
        ("3. Salary\n{} a week.", "Clause 3: 35 hours (was 37.5 hours).", "37.5 hours", ["35 hours"]),
        ("3.1 {} a week.", "Clause 3.1: 35 hours (was 37.5 hours).", "37.5 hours", ["35 hours"]),
    ],
)
def test_the_number_of_a_section_in_plain_text(
    tmp_path: Path, text: str, change: str, value: str, expected: list[str]
) -> None:
    """On a line above the sentence, but not the number that begins the value."""
    files = {"a.md": f"Pay\n\n{text.format(value)}\n", "b.txt": change}
    assert chain(tmp_path, files, "What is the salary?", value) == expected


def test_words_that_are_everywhere_show_nothing(tmp_path: Path) -> None:
    files = {"a.md": "The fee is £12.\n", "b.txt": "The fee is £14 (was £12)."}
    assert chain(tmp_path, files, "What is the fee?", "£12", rarity={"fee": 0.1}) == []


def test_a_month_alone_is_replaced(tmp_path: Path) -> None:
    files = {"a.md": "The Kafka upgrade is planned for May.\n", "b.md": "The Kafka upgrade moves from May to June.\n"}
    rarity = {"kafka": 0.9, "upgrad": 0.5}
    assert chain(tmp_path, files, "When is the Kafka upgrade?", "May", rarity=rarity) == ["June"]


@pytest.mark.parametrize(("answered", "expected"), [(2.0, ["£14"]), (1.0, [])])
def test_values_are_replaced_by_what_the_reader_finds_to_answer(
    tmp_path: Path, answered: float, expected: list[str]
) -> None:
    text = "A locker is £14 (was £12)."
    read = reading(text, answer="£14", answered=answered)
    files = {"a.md": "The locker fee is £12.\n", "b.txt": text}
    assert chain(tmp_path, files, "What is the locker fee?", "£12", read=read) == expected


def test_an_older_document_replaces_nothing(tmp_path: Path) -> None:
    files = {"a.md": "# Fees 2025\n\n2.1 The fee is £12.\n", "b.md": "# Fees 2023\n\n2.1 The fee is £10 (was £12).\n"}
    assert chain(tmp_path, files, "What is the fee?", "£12") == []


@pytest.mark.parametrize(("club", "expected"), [("tennis", ["£7"]), ("chess", [])])
def test_sections_of_another_document_have_the_same_numbers(tmp_path: Path, club: str, expected: list[str]) -> None:
    files = {
        "a.md": "# Rules of the tennis club\n\n4.1 Guests pay £6.\n",
        "b.md": f"# Changes to the rules of the {club} club\n\n4.1: £7 (was £6).\n",
    }
    assert chain(tmp_path, files, "What do guests of the tennis club pay?", "£6") == expected


def test_a_value_that_was_changed_back_is_not_replaced(tmp_path: Path) -> None:
    files = {
        "a.md": "2.1 The timeout is 30 seconds.\n",
        "b.md": "# 1.2\n\nIn 2.1 the timeout was lowered from 30 seconds to 20 seconds.\n",
        "c.md": "# 1.5\n\nIn 2.1 the timeout was raised from 20 seconds to 30 seconds.\n",
    }
    assert chain(tmp_path, files, "What is the timeout?", "30 seconds") == []
    del files["c.md"]
    assert chain(tmp_path / "other", files, "What is the timeout?", "30 seconds") == ["20 seconds"]


def replacing(number: int, text: str, value: str, *, is_correction: bool = False) -> NewValue:
    at = text.index(value)
    span = Replacement((at, at + len(value)), (0, len(text)), is_correction, may_differ=False)
    return NewValue(replace(stored(text, path=f"{number}.txt"), id=number), span)


@pytest.mark.parametrize("question", ["How often may a guest sail?", "How often could a guest sail originally?"])
def test_the_newest_value_answers_unless_the_old_one_is_asked_for(question: str) -> None:
    passages = [replace(stored(text), id=number) for number, text in enumerate(("Three times.", "x", "y"), start=1)]
    chain = [
        replacing(9, "For three put four times.", "four times"),
        replacing(2, "For four put five times.", "five times"),
    ]
    # Of a passage that is shown: the new value in more words, which does not disagree with it.
    disagreeing = Alternative("two times", (3,)), Alternative("five times a year", (2,))
    answer = Answer("Three times", (1, 3), "Three times.", disagreeing)
    ordered, new_answer = answer_with_new_value(question, answer, passages, chain)
    if "originally" in question:
        assert [passage.id for passage in ordered] == [1, 9, 2]
        alternatives = Alternative("four times", (2,), "later"), Alternative("five times", (3,), "later")
        assert new_answer == Answer("Three times", (1,), "Three times.", alternatives)
    else:
        assert [passage.id for passage in ordered] == [2, 9, 1]
        alternatives = Alternative("four times", (2,), "earlier"), Alternative("Three times", (3,), "earlier")
        assert new_answer == Answer("five times", (1,), "For four put five times.", alternatives)


def test_an_amendment_that_has_no_word_of_the_question_answers_it(tmp_path: Path) -> None:
    """It is shown first, with the sentence that replaces the value, and the old value as an alternative."""
    build(tmp_path, {"a.md": RULES, "b.txt": FIRST} | {f"{at}.txt": f"The jetty has plank {at}." for at in range(9)})
    with opened(tmp_path, reader=True) as retriever:
        result = retriever.ask(SAIL, k=3)
    assert result.answer is not None
    assert (result.answer.text, result.answer.citations) == ("four times", (1,))
    assert [alternative.citations for alternative in result.answer.alternatives] == [(2,)]
    assert result.to_dict()["answer"]["alternatives"][0]["time"] == "earlier"
    assert [hit.source.path for hit in result.passages[:2]] == ["b.txt", "a.md"]
    assert [light.text for light in result.passages[0].highlights] == [result.answer.sentence]
    assert [hit.score for hit in result.passages] == sorted((hit.score for hit in result.passages), reverse=True)
