"""Values that are never cut in half; test_exact_answer.py has dates, amounts and addresses."""

from __future__ import annotations

import re

import pytest

from qa.language.enumerations import extend_to_field_value
from qa.language.values import WEEKDAY, include_bound, lacks_number, lacks_statistic


@pytest.mark.parametrize(
    ("question", "line", "words", "expected"),
    [
        ("What is the plate?", "Plate: HB-KT 482", "482", "HB-KT 482"),
        ("What size are they?", "Tyres: 205/55 R16 M+S, on shelf 14", "205/55", "205/55 R16 M+S"),
        ("Where are they?", "Tyres: 205/55 R16 M+S, on shelf 14", "shelf 14", "shelf 14"),
        ("What does it cost?", "Price per 28 (EUR): 38.27", "28", "38.27"),
        ("What is the total?", "Total £: 205.70", "£: 205.70", "205.70"),
        ("What is the total?", "Total £: 205.70", "Total £: 205.70", "Total £: 205.70"),
        ("How many are in a pack?", "Pack of 28: in stock", "28", "28"),
        ("Who came?", "Present: Ann Lee, Tom Ash", "Ann Lee", "Ann Lee, Tom Ash"),
        ("Who came?", "**Present:** Ann Lee; Tom van Ash and Ida Ek.", "Tom", "Ann Lee; Tom van Ash and Ida Ek"),
        (
            "Who came?",
            "Present: Ann Lee (chair), Tom Ash, Ida Ek (clerk)",
            "Ann Lee",
            "Ann Lee (chair), Tom Ash, Ida Ek (clerk)",
        ),
        ("Who was the clerk?", "Present: Ann Lee (chair), Tom Ash, Ida Ek (clerk)", "Ann Lee", "Ida Ek (clerk)"),
        ("When did they come?", "Present: Ann Lee, Tom Ash", "Ann", "Ann Lee"),
        ("Who aids?", "Aiders: Ann Lee and, on the ground floor, Tom Ash", "Ann", "Ann Lee"),
        ("Who came?", "Present: Ann Lee, chair, Tom Ash", "Ann", "Ann Lee"),
        ("Who has it?", "[x] Key: Ösal Grün", "Ösal", "Ösal Grün"),
        ("Who sold it?", "Bought: 4 June from Autohaus Lehmann", "Autohaus Lehmann", "Autohaus Lehmann"),
        ("What is it?", "Plate: HB-KT 482", "Plate", "Plate"),
        ("Who came?", "There were Ann Lee, Tom Ash.", "Ann", "Ann"),
        (
            "Which goods are banned?",
            "Banned: eggs, old knives (over 15 cm), vapes.",
            "eggs",
            "eggs, old knives (over 15 cm), vapes",
        ),
        ("Which goods are banned?", "Banned: all that burns, and knives.", "all that burns", "all that burns"),
        ("What is banned?", "Banned: eggs, old knives, vapes.", "eggs", "eggs"),
    ],
)
def test_words_are_extended_to_the_whole_value(question: str, line: str, words: str, expected: str) -> None:
    text, at = f"Before. {line}\nBehind.", 8 + line.index(words)
    start, end = extend_to_field_value(question, text, (at, at + len(words)), (8, 8 + len(line)))
    assert text[start:end] == expected


@pytest.mark.parametrize(
    ("question", "sentence", "words", "expected"),
    [
        ("How long is it kept warm?", "Kept max. 2.5 hours, not below 65.", "2.5 hours", "max. 2.5 hours"),
        ("When must I say so?", "Say so no later than 9 May.", "9 May", "no later than 9 May"),
        ("What does a trip cost?", "A trip is at most the 850 that we have.", "850", "at most the 850"),
        ("How old must they be?", "Aged 16 or older.", "16", "16 or older"),
        ("When is it due?", "On 3 June at the latest.", "3 June", "3 June at the latest"),
        ("How many were found?", "All but 9 were found.", "9 were found", "All but 9 were found"),
        (
            "How many tickets are closed?",
            "Every ticket except for the 7 is closed.",
            "7",
            "Every ticket except for the 7",
        ),
        # The question already says it.
        ("Above which wind does it stop?", "It stops above 55 km/h.", "55 km/h", "55 km/h"),
        ("Who may not?", "More than Ann.", "Ann", "Ann"),
        # The end of another sentence or row does not qualify the number.
        ("How much is it?", "5 EUR.", "5 EUR", "5 EUR"),
    ],
)
def test_limit_keeps_its_qualifying_words(question: str, sentence: str, words: str, expected: str) -> None:
    text, at = f"They are over {sentence}", 14 + sentence.index(words)
    start, end = include_bound(question, text, (at, at + len(words)), (14, 14 + len(sentence)))
    assert text[start:end] == expected


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("alarm code for the office please", "The alarm code has been changed, ask Gwen.", True),
        ("how much does the sail cost?", "Ask the sailmaker for a price.", True),
        ("How many came?", "Hardly anybody with children came to the party.", True),
        ("How many came?", "Nobody came.", False),
        ("how much is the bus?", "The bus is free.", False),
        ("how many are left", "We have a dozen.", False),
        ("who has the alarm code?", "Gwen and the caretaker.", False),
        ("how much did it help?", "It helped a lot.", False),
        ("What did it change?", "It helped a lot.", False),
    ],
)
def test_a_number_that_is_not_given(question: str, sentence: str, expected: bool) -> None:
    assert lacks_number(question, sentence) is expected


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("What was the median age?", "The mean age was 63.", True),
        ("mean sick leave with a brace", "Sick leave: median 3 days (brace).", True),
        ("hazard ratio for death", "The adjusted odds ratio was 1.7 (95% CI 1.1 to 2.7).", True),
        ("standard error of the distance", "They walked 342 m (SD 91).", True),
        # The text has none of the kind.
        ("What was the hazard ratio for pain?", "Pain fell by 21.4 mm in the sand group.", True),
        ("What was the standard deviation of the age?", "The mean age was 64.7 years.", True),
        # The one asked for, in other words; also both, or neither
        ("mean age of the nurses", "The nurses were aged 63 on average, the median was 61.", False),
        ("hazard ratio for death", "HR 0.61 (95% CI 0.5 to 0.7), odds ratio 0.7.", False),
        ("standard deviation of the distance", "They walked 342 m (SD 91).", False),
        ("median and mean age", "The mean age was 63.", False),
        ("median age", "They were 63 years old.", False),
        # "Average" may be meant loosely, and "mean" may be a verb.
        ("average age", "The median age was 63.", False),
        ("What does mean if it is red?", "The median is red.", False),
    ],
)
def test_a_statistic_that_is_not_given(question: str, sentence: str, expected: bool) -> None:
    assert lacks_statistic(question, sentence, f"Results. {sentence}") is expected


@pytest.mark.parametrize("name", ["mon", "tue", "tues", "weds", "thur", "fri", "fris", "saturday", "sundays"])
def test_the_names_of_weekdays_are_known(name: str) -> None:
    assert re.fullmatch(WEEKDAY, name)


@pytest.mark.parametrize("name", ["tueday", "satday", "weddays", "thus", "friend", "monda"])
def test_other_words_are_no_weekdays(name: str) -> None:
    assert not re.match(WEEKDAY, name)
