"""Lines that reject one value and give another."""

from __future__ import annotations

import pytest

from qa.structure.decisions import decision_about
from tests.growth import check_growth


def chosen(question: str, text: str, words: str) -> str:
    start = text.index(words)
    decision = decision_about(question, text, (start, start + len(words)), 0)
    return "" if decision is None else text[slice(*decision.new)]


@pytest.mark.parametrize(
    ("question", "text", "words", "new"),
    [
        ("who does the cake stall?", "- cake stall: Joan no, Brenda yes", "Joan", "Brenda"),
        ("how many tables are there?", "- tables 14 -> 18", "14", "18"),
        ("where is the car park?", "- car park: not the green but the rectory field", "the green", "the rectory field"),
        ("who is the caretaker?", "The caretaker is no longer Mr Poe but Mrs Rill.", "Mr Poe", "Mrs Rill"),
        ("when does it start?", "- start at 10, no: 9.30 because of the tide", "10", "9.30 because of the tide"),
        ("how many tickets?", "- tickets (500, Pat: wrong, it's 800)", "500", "800"),
        ("what does the castle cost?", "- castle: was going to be £140.50, but it is £120 now", "£140.50", "£120 now"),
        ("who does the teas?", "- teas: Scouts fell through, so the Brownies", "Scouts", "the Brownies"),
        ("who does first aid?", "- first aid: Red Cross said no, St Jude comes", "Red Cross", "St Jude"),
        ("who drives?", "06/01/2025, 18:40 - Hamid: drives: Tom, he can't -> Yara", "Tom", "Yara"),
        ("who does the bunting?", "- bunting: Lily (was Rose)", "Lily (was Rose)", "Lily"),
        ("which shed?", "**Shed.** Vic suggested Alto, Dora was for Hutch. We agreed on a Swift.", "Alto", "a Swift"),
        ("which shed?", "**Shed.** Vic suggested Alto, Dora was for Hutch. We agreed with Dora.", "Alto", "Hutch"),
        ("when is it?", "- Open day: 7 or 14 June? Vote: 3 for 7 June, 8 for 14 June.", "7 or 14", "14 June"),
        ("which gym?", "We looked at the Arena and at the school. The school it is.", "the Arena", "The school"),
    ],
)
def test_what_a_line_chooses(question: str, text: str, words: str, new: str) -> None:
    assert chosen(question, text, words) == new


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("who said no to the cake stall?", "- cake stall: Joan no, Brenda yes", "Joan"),
        ("who did the bunting before?", "- bunting: Lily (was Rose)", "Rose"),
        ("what did Vic suggest?", "**Shed.** Vic suggested Alto. We agreed on a Swift.", "Alto"),
        ("which train goes north?", "- route: Dover -> Calais -> Lille", "Dover"),
        ("where does the barge start?", "- barge: Goole -> Selby", "Goole"),
        ("when does the barge start?", "- barge: 9:10 -> 12:40", "9:10"),
        ("which tea is Vic's favourite?", "Vic suggested mint for himself. We agreed on sage.", "mint"),
        ("what is read?", "input.csv -> output.json", "input.csv"),
        ("how much are tickets?", "- tickets: £12 (not including the boat)", "£12"),
        ("who can't come on Friday?", "- Tom can't come on Friday, so he sends slides", "Tom"),
        ("who proposed it?", "Ann suggested a picnic. Nobody agreed.", "Ann"),
        ("is it open?", "It is not only large but cheap.", "large"),
        ("who sings?", "- songs: Ann no, Bob yes\n- food: Carl", "Carl"),
        ("how much is the roof?", "Three offers: Kess £4,100, Bly £3,650. Kess gets the job.", "£3,650"),
    ],
)
def test_lines_that_choose_nothing_instead(question: str, text: str, words: str) -> None:
    """Nothing is chosen if the question is for what was rejected, nor elsewhere than in the item of the words."""
    assert not chosen(question, text, words)


def test_finding_what_is_chosen_takes_linear_time() -> None:
    """Hostile lines that nearly match, again and again."""
    for part in ("a no, ", "not a b ", "wrong, ", "(was ", "a -> ", "fell through, ", "1 for a ", "suggest or "):
        small, large = (f"x: {part * times}but yes" for times in (2_000, 8_000))
        check_growth(lambda text: decision_about("who?", text, (0, 1), 0), small, large)
