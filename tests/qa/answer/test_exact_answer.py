"""The exact answer: a few words or a sentence, and the passages that agree or contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from qa.answer.exact_answer import asks_for_words, contradicts, exact_answer, is_same
from qa.answer.extract import extract
from qa.answer.results import Alternative, Answer
from qa.language.replacement import find_replacement
from qa.language.values import years_in
from qa.reader.reading import Reading
from tests.growth import check_growth
from tests.qa.passages import reading, stored

# A passage, its answer according to the reader, and the reader's logit that it has one.
Read = tuple[str, str, float]


def answer(
    question: str, read: Sequence[Read], *, with_reader: bool = True, paths: Sequence[str] | None = None
) -> Answer | None:
    named = zip(read, paths or ["x.txt"] * len(read), strict=True)
    passages = [replace(stored(text, path=path), id=number) for number, ((text, _, _), path) in enumerate(named)]
    readings: dict[int, Reading] = {}
    if with_reader:
        readings = {at: reading(text, answer=words, answered=sure) for at, (text, words, sure) in enumerate(read)}
    extracts = {
        number: extract(passage, readings[number].share if with_reader else lambda *_: 1.0, "")
        for number, passage in enumerate(passages)
    }
    return exact_answer(question, passages, extracts, readings, {})


def answer_text(question: str, text: str, read: str | Reading) -> str:
    """The answer from one passage, whose answer according to the reader is `read`."""
    passage = stored(text)
    reading_of_text = read if isinstance(read, Reading) else reading(text, answer=read, answered=3)
    extracts = {1: extract(passage, reading_of_text.share, "")}
    exact = exact_answer(question, [passage], extracts, {1: reading_of_text}, {})
    assert exact is not None
    return exact.text


CROPS = ("peas", "beans", "old peas")
OPENED = "The hall is old. It opened on 12 May 1932, in rain."
OPENED_SENTENCE = "It opened on 12 May 1932, in rain."


def test_short_answer_comes_with_its_sentence() -> None:
    result = answer("When did it open?", [(OPENED, "12 May 1932", 3)])
    assert result == Answer("12 May 1932", (1,), OPENED_SENTENCE)


@pytest.mark.parametrize("question", ["Why did it open?", "opening of the hall", "How did it open?", "Describe it"])
def test_other_questions_get_a_sentence(question: str) -> None:
    assert answer(question, [(OPENED, "12 May 1932", 3)]) == Answer(OPENED_SENTENCE, (1,), OPENED_SENTENCE)


@pytest.mark.parametrize(
    ("question", "words", "expected"),
    [
        ("How warm is the room?", "19 °C", "19 °C"),
        ("How warm is the room?", "too cold", "The room is too cold in May, at 19 °C."),
        ("How is the room in May?", "19 °C", "The room is too cold in May, at 19 °C."),
        ("How warm is it, and why?", "19 °C", "The room is too cold in May, at 19 °C."),
    ],
)
def test_number_answers_a_how_question(question: str, words: str, expected: str) -> None:
    """If the answer is not a number, or the question asks for more, the sentence is given."""
    assert answer_text(question, "Heating. The room is too cold in May, at 19 °C.", words) == expected


@pytest.mark.parametrize(("none", "expected"), [(2 * 9.0, "12 May 1932"), (2 * 9.1, OPENED_SENTENCE)])
def test_a_sentence_is_quoted_if_the_reader_prefers_no_answer(none: float, expected: str) -> None:
    read = reading(OPENED, answer="12 May 1932", sure=5.0, none=none)
    assert answer_text("When did it open?", OPENED, read) == expected


@pytest.mark.parametrize(
    ("sentence", "named", "expected"),
    [
        ("The award went to *Adam: A Method* by Kingma.", "*Adam", "Adam"),
        ("The award went to *A Method called Adam* this year.", "Adam*", "Adam"),
        ("It went to *Rowing at Sea* by Kingma that year.", "Rowing at Sea* by Kingma", "*Rowing at Sea* by Kingma"),
        ("It went to **Adam** by Kingma that year.", "Adam** by Kingma", "**Adam** by Kingma"),
        ("It went to Kingma for *Adam* that year.", "Kingma for *Adam", "Kingma for *Adam*"),
        ("It is 2 *3* 4 here, and there.", "3* 4", "*3* 4"),
        ("It is 5 * 7 hours here, or so.", "5 * 7 hours", "5 * 7 hours"),
        ("It is*5*7 hours here, or so.", "5*7 hours", "5*7 hours"),
        ('It is called "the Hall of Mirrors" here.', '"the Hall', "the Hall"),
        ("The award went to *Adam* by Kingma.", "*Adam*", "*Adam*"),
        ("Extra arguments are in *args and **kwargs there.", "*args", "*args"),
        ("Set `first` and `second` here.", "`first` and `second`", "`first` and `second`"),
        ("It lacked an index on `orders.id`, so", "an index on `orders", "an index on `orders.id`"),
        ("Set `timeout = 20s` here.", "20s", "20s"),
        ("It is 5* of them.", "5*", "5*"),
        ("It was 71 of 307 (23%), most often then.", "71 of 307 (23%", "71 of 307 (23%)"),
        ("It was 71 of 307 (23%), most often then.", "(23%", "23%"),
        ("It was 71 of 307 (23%), most often then.", "23%)", "23%"),
        ("It is [a] f(x) here.", "x)", "x"),
        ("It is the pump (or the hose, or both) here.", "the pump (or the hose", "the pump (or the hose"),
        ("It is (a) one or (b) two here.", "a) one or (b) two", "(a) one or (b) two"),
        ("It is (here) now.", "(here)", "(here)"),
    ],
)
def test_answer_keeps_paired_marks_and_brackets(sentence: str, named: str, expected: str) -> None:
    assert answer("Which one is it?", [(sentence, named, 3)]) == Answer(expected, (1,), sentence)


@pytest.mark.parametrize(
    ("sentence", "named", "expected"),
    [
        ("The peas were sown on 2024-03-11 here.", "2024-03", "2024-03-11"),
        ("The bus left at 17:45 in rain.", "17", "17:45"),
        ("The hall is 3.5 m high.", "3", "3.5"),
        ("She reigned 1890-1912 over it.", "1890", "1890"),
        ("Version v1.2.3 is out.", "2", "v1.2.3"),
        ("We met from 5 to 16 August 2024.", "16", "16 August 2024"),
        ("We met on the 6th of July.", "July", "6th of July"),
        ("We met on\n6 July 2024, at home.", "July 2024", "6 July 2024"),
        ("It was Sept. 5, 2023.", "2023", "Sept. 5, 2023"),
        ("On 3 March 2,000 people came by 14 Aug.", "3", "3 March"),
        ("Only 3 may come.", "3", "3"),
        ("Write to a.lee@my-house.example.", "my", "a.lee@my-house.example"),
        ("It is at (https://x.example/a?b=1#c), free.", "example", "https://x.example/a?b=1#c"),
        ("It is at www.my-house.example.", "house", "www.my-house.example"),
        ("It is 10.9999/fluxpeat.12, in JES-2024.", "10.9999", "10.9999/fluxpeat.12"),
        ("The paper is JES-2024-1187, at last.", "1187", "JES-2024-1187"),
        ("We meet in B2.117.", "B2", "B2.117"),
        ("It is in mid-May and/or 3-5 June.", "or", "or"),
        # Codes that begin with a digit, unlike ranges, dates and sizes.
        ("Our number is 4711-88-K.", "4711-88", "4711-88-K"),
        ("The filter is a 90915-YZZD2: order it.", "90915", "90915-YZZD2"),
        ("The file is 2024/117/B in there.", "117", "2024/117/B"),
        ("It is 3f2504e0-4f89-11d3 for now.", "4f89", "3f2504e0-4f89-11d3"),
        ("The alarm code is 4471#, or *21*5521# now.", "4471", "4471#"),
        ("The alarm code is 4471#, or *21*5521# now.", "21", "*21*5521#"),
        ("It is in 3-5 days, with 24/7 Support.", "3", "3"),
        ("It is in 3-5 days, with 24/7 Support.", "24", "24"),
        ("It closed on 12-Jan 2024 in rain.", "12", "12-Jan 2024"),
        ("It began at 2024-05-12T10:00 in rain.", "2024", "2024-05-12"),
        ("It is open 9AM-5PM here.", "9AM", "9AM"),
        ("It has 16GB/512GB inside.", "16GB", "16GB"),
        ("It costs EUR 0.35 per kilometre.", "0.35", "EUR 0.35"),
        ("It costs 1.149,00\u00a0€ now.", "1.149,00", "1.149,00\u00a0€"),
        ("It costs CHF 1'250.50 now.", "250", "CHF 1'250.50"),
        ("It costs $3.5 million now.", "3.5", "$3.5 million"),
        ("It costs 20 francs or 25 frankfurters.", "20", "20 francs"),
        ("It costs 20 francs or 25 frankfurters.", "25", "25"),
        ("It costs in room 3 EUR 5 now.", "3", "3"),
        ("It fell from 14 € to 12.5 % of it.", "12.5", "12.5 %"),
        ("It fell by € 14 € 28 then.", "28", "€ 28"),
        ("It fell by 14 € 28 € then.", "14", "14 €"),
        ("At -10 C it is slow (-1.6 days).", "10", "-10"),
        ("At -10 C it is slow (-1.6 days).", "1.6", "-1.6"),
        ("It was significant (p <0.001) here.", "0.001", "<0.001"),
        ("It is +31 6 5551 0142 for six.", "5551", "+31 6 5551 0142"),
        ("It is 0171 555 2210, or 12 34 56.", "555", "0171 555 2210"),
        ("It is 0171 555 2210, or 12 34 56.", "34", "34"),
        ("Pay to GB29 NWBK 6016 1331 9268 19 at ONCE.", "GB29", "GB29 NWBK 6016 1331 9268 19"),
        ("It was significant (p ≤ 0.05) here.", "0.05", "≤ 0.05"),
        ("It took ~5 days, and x >= 3 of them.", "5", "~5"),
        ("It took ~5 days, and x >= 3 of them.", "3", ">= 3"),
        ("It rose from 3-5 to 7 -> 8 there.", "5", "5"),
        ("It rose from 3-5 to 7 -> 8 there.", "8", "8"),
        # Ranges.
        ("Only between 22:00 and 6:00 on weekdays.", "between 22:00", "between 22:00 and 6:00"),
        ("It is from 3 May until 10 June then.", "from 3 May", "from 3 May until 10 June"),
        ("It is from 5 euros and upwards.", "from 5 euros", "from 5 euros"),
        ("It is at 22:00 and 6:00.", "22:00", "22:00"),
        ("It is the week 14–21 Feb at last.", "14", "14–21 Feb"),
        ("We met 3-5 June 2024 there.", "5", "3-5 June 2024"),
        # Values of other things.
        ("It was 1.6 % with 30 mg, 1.2 % with 60 mg.", "1.2", "1.2 %"),
        ("It is 25 m, 10 m wide and 2 m deep.", "25 m", "25 m"),
        ("It takes 5 min, 200 g and 3 eggs.", "5 min", "5 min"),
        ("It rose by 3 %, against 5 % in May.", "3", "3 %"),
        ("It is 2 €, 3 € for members.", "2", "2 €"),
        ("It costs 14 %, or 21 %.", "14", "14 %"),
    ],
)
def test_answer_never_cuts_a_date_amount_address_or_range(sentence: str, named: str, expected: str) -> None:
    assert answer("When was it?", [(sentence, named, 3)]) == Answer(expected, (1,), sentence)


@pytest.mark.parametrize(
    ("sentence", "named", "expected"),
    [
        (
            "The award was won by *Adam: A Method for Stochastic\nOptimization* (Kingma).",
            "A Method for Stochastic\nOptimization",
            "Adam: A Method for Stochastic\nOptimization",
        ),
        ("It is called “The Sea, the Sea” today.", "the Sea", "the Sea"),
        ("It is called “Under the Sea” today.", "the Sea", "Under the Sea"),
        ('She wrote "Red Hens" and "Blue Hens".', "Hens", "Red Hens"),
        ("It has 2*3*4 doors, and 5 * 6 * 7 windows.", "6", "6"),
    ],
)
def test_answer_never_cuts_a_title(sentence: str, named: str, expected: str) -> None:
    """A title between quotation marks or in emphasis is completed if the answer is the greater part of it."""
    assert answer_text("What is it?", sentence, named) == expected


@pytest.mark.parametrize(
    ("question", "named", "expected"),
    [
        ("Who is a vegetarian?", "Vegetarian", "Vegetarian: Jonas"),
        ("What is that?", ":", "Vegetarian: Jonas"),
        ("Who is vegetarian?", "Jonas", "Jonas"),
    ],
)
def test_words_without_information_are_not_an_answer(question: str, named: str, expected: str) -> None:
    assert answer_text(question, "Vegetarian: Jonas", named) == expected


@pytest.mark.parametrize(
    ("question", "line", "named", "expected"),
    [
        ("Where is the key?", "[13/05/2025, 09:46] Mum: Upstairs", "09:46", "Upstairs"),
        ("Where is the key?", "13.05.25, 09:46 - Mum: Upstairs", "Mum", "Upstairs"),
        ("Who has the key?", "5/13/25, 9:46 AM - Mum: Me", "9:46", "Mum"),
        ("What did the key cost?", "[13/05/2025 09:46] Mum: £9, I think", "£9", "£9"),
        ("When do we eat?", "[13/05/2025, 09:46] Mum: Upstairs", "09:46", "Upstairs"),
        ("When do we eat?", "[13/05/2025, 09:46] Mum: At 7:30", "7:30", "7:30"),
        # The time may be asked for.
        ("When did Mum say that?", "[13/05/2025, 09:46] Mum: Upstairs", "09:46", "09:46"),
        ("When is lunch?", "09:46 - Lunch: Upstairs", "09:46", "09:46"),
        ("When did the disk fail?", "2025-05-13 09:46:00 ERROR: disk", "09:46:00", "09:46:00"),
    ],
)
def test_neither_time_nor_sender_of_a_message_is_the_answer(
    question: str, line: str, named: str, expected: str
) -> None:
    assert answer_text(question, line, named) == expected


@pytest.mark.parametrize(
    ("question", "line", "named", "expected"),
    [
        ("Who has the car keys?", "Anna: Who has the car keys?", "Anna", "Anna: Who has the car keys?"),
        ("How late is the bus?", "How late is the bus, Dan?", "Dan", "How late is the bus, Dan?"),
        # What it takes for granted may answer another question, and it may itself be asked for.
        ("Where did Ben leave the car?", "Anna: Who has the car that Ben left at home?", "home", "home"),
        ("Who has the car keys?", "Anna: Cleo has the car keys, right?", "Cleo", "Cleo"),
        ("Who was asked about the car?", "Who has the car, Ben?", "Ben", "Ben"),
        ("What did Ben read?", "What Is Life?", "Life", "Life"),
    ],
)
def test_words_of_the_same_question_are_not_an_answer(question: str, line: str, named: str, expected: str) -> None:
    assert answer_text(question, line, named) == expected


@pytest.mark.parametrize(
    ("sentence", "named", "expected"),
    [
        ("Annealing temp ~~60~~ 62 °C", "62 °C", "62 °C"),
        ("Depth: ~~5 000~~ 8 000 reads", "~~5 000~~ 8 000", "8 000"),
        ("~~It is 5.~~", "5", "5"),
    ],
)
def test_answer_leaves_out_what_is_struck_out(sentence: str, named: str, expected: str) -> None:
    """Unless the whole sentence is."""
    assert answer_text("What is it?", sentence, named) == expected


@pytest.mark.parametrize(
    ("question", "named", "expected"),
    [
        ("How many were in C05 in 2023?", "30", "19"),
        ("How many were in C05 in 2025?", "30", "30"),
        ("How many were in C05 in 2023 or 2024?", "30", "30"),
        ("How many were in C05 in 2026?", "30", "30"),
        ("Which pond had 19 in 2023?", "C05", "C05"),
    ],
)
def test_the_column_in_the_question_answers(question: str, named: str, expected: str) -> None:
    """Of columns that are named by numbers."""
    text = "| Pond | 2023 | 2024 | 2025 |\n|---|---|---|---|\n| C05 | 19 | 22 | 30 |"
    assert answer_text(question, text, named) == expected


@pytest.mark.parametrize(("crcl", "expected"), [("40", "2 g"), ("70", "1 g"), ("20", "1 g")])
def test_the_column_whose_band_has_the_number_answers(crcl: str, expected: str) -> None:
    text = "| Drug | CrCl > 60 | CrCl 30-50 |\n|---|---|---|\n| C05 | 1 g | 2 g |"
    assert answer_text(f"What is the dose of C05 with a CrCl of {crcl}?", text, "1 g") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is paid for 8 to 24 hours in Poland?", "23"),
        ("What is paid for 24 hours in Poland?", "34"),
        ("What is paid for 12 hours in Poland?", "23"),
    ],
)
def test_the_column_whose_whole_name_is_in_the_question_answers(question: str, expected: str) -> None:
    text = "| Country | 8 to 24 hours | 24 hours |\n|---|---|---|\n| Poland | 23 | 34 |"
    assert answer_text(question, text, "34") == expected


@pytest.mark.parametrize(
    ("question", "named", "expected"),
    [
        ("Who watched the exam in geography?", "Vesey", "L. Marsh, Vesey"),
        ("How long is the exam in geography?", "90 min", "90 min"),
        ("When is the exam in geography?", "9:00", "9:00"),
        ("Where is the exam in geography?", "hall", "hall"),
    ],
)
def test_names_in_a_cell_are_whole(question: str, named: str, expected: str) -> None:
    head = "| Exam | Day | Time | Watched by | Where |\n|---|---|---|---|---|"
    text = f"{head}\n| Geography | 12 Mar, 9:00 | 90 min | L. Marsh, Vesey | the old hall |"
    assert answer_text(question, text, named) == expected


def test_a_list_is_given_as_a_whole() -> None:
    text = "These won:\n\n- Adam\n- Eve"
    assert answer("Which won?", [(text, "These", 3)]) == Answer(text, (1,), text)


def test_an_answer_consists_of_whole_words() -> None:
    """Although a token may begin or end inside a word."""
    whole = reading("in the 1930s", answer="1930s")
    inner = replace(whole, spans=whole.spans - np.array([[0, 0], [0, 0], [0, 1]], dtype=np.int32))
    assert answer_text("When?", "in the 1930s", inner) == "1930s"


def test_passages_that_agree_are_cited() -> None:
    """If the reader is sure that they answer in the same words, apart from articles and case."""
    read = [
        ("It was the Red Fox.", "the Red Fox", 3.0),
        ("A hen.", "A hen", 3.0),
        ("Nobody but a red fox.", "a red fox", 0.5),
        ("Red fox, some say.", "Red fox", -0.5),
    ]
    assert answer("Who was it?", read) == Answer("the Red Fox", (1, 3), "It was the Red Fox.")


def alternatives(question: str, read: Sequence[Read], paths: Sequence[str] | None = None) -> Sequence[Alternative]:
    result = answer(question, read, paths=paths)
    assert result is not None
    return result.alternatives


def test_passages_with_another_date_are_named() -> None:
    """If the date has the same form and the reader is sure of both."""
    read = [(OPENED, "12 May 1932", 3.0), ("Opened on 14 June 1932.", "14 June 1932", 2.0), ("In 1930.", "1930", 2.0)]
    result = answer("When did it open?", read)
    assert alternatives("When did it open?", read) == (Alternative("14 June 1932", (2,)),)
    assert answer("When did it open?", [(text, words, 1.5) for text, words, _ in read]) == result
    replaces = [("It opened on 12 May 1932 (was 14 June 1932).", "12 May 1932", 3.0), *read[1:]]
    assert alternatives("When did it open?", replaces) == (Alternative("14 June 1932", (2,), "earlier"),)
    unsure = [(text, words, 1.4) for text, words, _ in read]
    assert alternatives("When?", [read[0], *unsure[1:]]) == ()
    assert alternatives("When?", [unsure[0], *read[1:]]) == ()


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("What was the fee in 2024?", ["EUR 6", "EUR 2,022"]),
        ("What is the fee?", ["EUR 4", "7 euros", "EUR 6", "EUR 2,022"]),
    ],
)
def test_the_value_of_another_year_does_not_contradict(question: str, others: list[str]) -> None:
    """If the question names a year: the year in the sentence decides, or else those in the path."""
    read = [
        ("It costs EUR 5.", "EUR 5", 3.0),
        ("In 2023 it cost EUR 4.", "EUR 4", 3.0),
        ("Now it costs 7 euros.", "7 euros", 3.0),
        ("Since 2024: EUR 6.", "EUR 6", 3.0),
        ("Only EUR 2,022.", "EUR 2,022", 3.0),
    ]
    result = alternatives(question, read, ["fees.md", "2024/a.md", "fees_2022.md", "2022.md", "x.md"])
    assert [alternative.text for alternative in result] == others


def test_the_value_of_something_else_does_not_contradict() -> None:
    """The other passage must have those of the question's words that the answering passage has."""
    read = [(f"The {crop} were sown on {day} May.", f"{day} May", 3.0) for day, crop in enumerate(CROPS, 1)]
    assert [alternative.text for alternative in alternatives("When were the green peas sown?", read)] == ["3 May"]


def test_finding_years_takes_linear_time() -> None:
    """A question may have 10,000 characters."""
    check_growth(lambda count: years_in("a-" * count), 5_000, 20_000, least=0.2)
    check_growth(lambda count: years_in("ab.A" * count), 5_000, 20_000, least=0.2)


def test_without_the_reader_the_answer_is_a_sentence() -> None:
    """It comes from the first passage that has one."""
    result = answer("When did it open?", [("", "", 0.0), ("It opened in May.", "May", 0.0)], with_reader=False)
    assert result == Answer("It opened in May.", (2,), "It opened in May.")
    assert answer("When?", [("", "", 0.0)]) is None
    assert answer("When?", []) is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("how many papers were accepted?", True),
        ("In which hall is lunch?", True),
        ("What is the name of the prize", True),
        ("how old is it", True),
        ("how do I get there?", False),
        ("why was it moved", False),
        ("what happens if it rains?", False),
        ("What does exit code 9 of ls mean?", False),
        ("When does it open and where?", False),
        ("How many were there, and by whom were they counted?", False),
        ("How many were there in 2023 and in 2024?", False),
        ("In Asia and which other continent is it?", True),
        ("whoever", False),
        ("boiler error E4", False),
    ],
)
def test_questions_with_short_answers_are_recognised(question: str, words: bool) -> None:
    assert asks_for_words(question) is words


def test_equivalent_answers_are_recognised() -> None:
    assert is_same("the 11,603 papers", "11,603")
    assert not is_same("3,704 of 11,603", "11,603 of 3,704")
    assert not is_same("the", "a")
    assert is_same("EUR 1,250.50", "1.250,50 euros")
    assert is_same("6 July 2024", "6th Jul 2024")
    assert is_same("31 March", "31 March 2024")
    assert is_same("5 €", "€5.00 per month")
    assert is_same("2024", "2024-03-11")


@pytest.mark.parametrize(
    ("answer", "other_answer"),
    [
        ("5 kg", "1.5 kg"),
        ("200", "€1,200"),
        ("$5", "€5"),
        ("5%", "5 €"),
        ("10", "10:30"),
        ("50", "0.50"),
        ("2.1", "2.1.3"),
        ("-5 °C", "5 °C"),
    ],
)
def test_part_of_a_number_or_another_unit_is_not_equivalent(answer: str, other_answer: str) -> None:
    assert not is_same(answer, other_answer)
    assert not is_same(other_answer, answer)


@pytest.mark.parametrize(
    ("answer", "other_answer", "expected"),
    [
        ("9:30 am", "10:15 am", True),
        ("Mon 3 May", "Tuesday 4 June", True),
        ("3 papers", "4 prizes", False),
        ("Anna", "Ben", False),
        ("May", "June", False),
        ("1932", "1932", False),
        ("EUR 0.35 per kilometre", "0.38 euros per kilometre", True),
        ("129,90 €", "CHF 1,250.50", False),
        ("28 €", "€ 28.00", False),
        ("1.149 €", "€1,149.00", False),
        ("1.2 million dollars", "$1,200,000", False),
        ("12.5%", "13 per cent", True),
        ("1.149", "1149", True),
        ("1.2.3", "1.2.10", True),
        ("6 July 2024", "6th Jul 2024", False),
        ("09:30", "9:30", False),
        ("7 pm", "7:00 pm", False),
        ("7 pm", "7:30 pm", True),
        ("7.30 pm", "7:30 pm", False),
        ("7.30 pm", "7:40 pm", True),
        ("9:00 to 17:00", "9 to 17", False),
        ("4.6.2024", "04.06.2024", False),
        ("4.6.2024", "04.07.2024", True),
        ("fourteen days", "two days", True),
        ("one week", "3 weeks", True),
        ("Twenty-five euros", "€25", False),
        ("two-week notice", "one-week notice", False),
        ("two weeks", "two days", False),
    ],
)
def test_answers_that_contradict(answer: str, other_answer: str, expected: bool) -> None:
    assert contradicts(answer, other_answer) is contradicts(other_answer, answer) is expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("> The boat comes out on 27 October.", "> The boat", "The boat"),
        ("> 27 October is fine.", "> 27 October", "27 October"),
        ("> We are few.\n> 27 people came.", "> 27 people", "27 people"),
        ("The dose is > 40 mg.", "> 40 mg", "> 40 mg"),
        (">40 mg daily.", ">40 mg", ">40 mg"),
        ("> 40 mg daily.", "> 40 mg", "> 40 mg"),
        ("Add leaves.\n4.0 g ± 0.02 per bag.", "± 0.02 per bag", "4.0 g ± 0.02 per bag"),
        ("It opens on Monday, not 3 May.", "not 3 May", "It opens on Monday, not 3 May."),
        ("It opens not before 8:00.", "not before 8:00", "not before 8:00"),
    ],
)
def test_answers_begin_neither_with_a_mark_of_quotation_nor_with_half_a_value_nor_with_what_is_denied(
    text: str, words: str, expected: str
) -> None:
    assert answer_text("What is it?", text, words) == expected


def test_a_sentence_is_without_its_mark_of_quotation() -> None:
    result = answer("Why does it come out?", [("> The boat comes out, as it is cold.", "", 3)])
    assert result is not None
    assert result.text == result.sentence == "The boat comes out, as it is cold."


FEE = "The yearly fee of the allotment is €96, payable in March."


def test_finding_a_replaced_value_takes_linear_time() -> None:
    text = "€96 becomes instead of €96 no longer " * 1000
    check_growth(lambda text: find_replacement("€96", text, set()), text, text * 4)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("The organ has 54 keys.1 It is old.", "54 keys.1", "54 keys"),
        ("Salt was boiled here until 1938.5 It was sold.", "1938.5", "1938"),
        ("The rail is 54.5 long.", "54.5", "54.5"),
        ("They measured 54.5", "54.5", "54.5"),
    ],
)
def test_the_number_of_a_note_is_no_part_of_an_answer(text: str, words: str, expected: str) -> None:
    assert answer_text("How many are there, or since when?", text, words) == expected
