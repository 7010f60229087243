"""Answers from messages, letters and chats, with who speaks and when; with the real models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import Retriever, build_index
from tests.qa.indexes import write

MAIL = """From: Tilda Roux <tilda@oars.example>
To: Piers Hall <piers@oars.example>
Date: Mon, 3 Mar 2025 08:00:00 +0000
Subject: Outing

Dear Piers,

I'll tow the trailer. Rolf asked me about the oars, and Rolf has varnished the canoe. My sister bakes the scones.
I hired the marquee on Friday.

On 1 Mar 2025 at 09:15, Piers Hall <piers@oars.example> wrote:
> I have lost my paddle. The weather was poor.
"""
LETTER = """Imre Vass
3 Dock Street

9 April 2025

Dear Tilda,

I am allergic to shellfish. I want Rolf to mend the pontoon.

Yours sincerely,

Imre Vass
"""
CHAT = """02/05/2025, 18:00 - Tilda: who takes the kettle?
02/05/2025, 18:02 - Rolf: me
02/05/2025, 18:05 - Piers: when does the ferry leave?
02/05/2025, 18:06 - Rolf: look at this rainbow
02/05/2025, 18:09 - Tilda: Tuesday at noon
03/05/2025, 09:00 - Rolf: is the slipway open in winter?
03/05/2025, 09:04 - Piers: no, it is gated
04/05/2025, 09:00 - Piers: what shall we call the dinghy?
04/05/2025, 09:01 - Rolf: Peanut
04/05/2025, 09:02 - Tilda: Walnut?
"""
DAYS = """Crew (Signal)

Mon 12 May
19:02  Ottilie   I broke the tiller
19:04  Kasimir   the paint is dry now

Wed 14 May
08:00  Kasimir   I sold the anchor for 90
08:09  Ottilie   well done
"""
PEOPLE = """People

Adair, Colm         3 Ferry Steps         01744 960 211
Bright, Agnes       The Toll House        01744 960 318   (piano teacher)
Crewe, Hanna        8 Ferry Steps         home 01744 960 377   mobile 07700 900 377
Dunn, Leo           Flat 2, Mill House    07700 900 655   old number 07700 900 111
Marsh, Noel         5 Ferry Steps         07700 900 266   Priya -267
"""
FILES = {
    "outing.eml": MAIL,
    "pontoon.txt": LETTER,
    "chat/club.txt": CHAT,
    "chat/crew.txt": DAYS,
    "people.txt": PEOPLE,
    "keys.txt": "The caretaker is no longer Carl Binns but Ute Frings (01744 960 640).\n",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("messages")
    write(folder, FILES)
    build_index(folder)
    with Retriever.open(folder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        # Who says "I"
        ("who tows the trailer?", "Tilda Roux"),
        ("who has lost a paddle?", "Piers Hall"),
        ("whose sister bakes the scones?", "Tilda Roux"),
        ("who is allergic to shellfish?", "Imre Vass"),
        ("who varnished the canoe?", "Rolf"),
        ("who broke the tiller?", "Ottilie"),
        # The reply to the same question
        ("who takes the kettle?", "Rolf"),
        ("when does the ferry leave?", "Tuesday at noon"),
        ("is the slipway open in winter?", "no, it is gated"),
        # The date of a message
        ("when did Tilda write about the trailer?", "2025-03-03"),
        ("when did Piers lose his paddle?", "1 Mar 2025"),
        ("when did Imre write about the pontoon?", "9 April 2025"),
        ("when did Rolf ask about the slipway?", "03/05/2025"),
        ("when did Ottilie break the tiller?", "Mon 12 May"),
        ("when did Kasimir sell the anchor?", "Wed 14 May"),
        # The number of a line
        ("what is Colm Adair's phone number?", "01744 960 211"),
        ("phone number of the piano teacher", "01744 960 318"),
        ("Hanna's mobile number", "07700 900 377"),
        ("Leo Dunn's number", "07700 900 655"),
        ("Ute Frings's phone number", "01744 960 640"),
    ],
)
def test_messages_answer(retriever: Retriever, question: str, answer: str) -> None:
    result = retriever.ask(question)
    assert result.answer is not None
    assert (result.found, result.answer.text) == (True, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        # Somebody else does it, or will.
        ("who asked about the oars?", "Tilda Roux"),
        ("who has to mend the pontoon?", "Imre Vass"),
        # Proposals, and no reply
        ("what is the dinghy called?", "Peanut"),
        ("who paints the slipway?", "Rolf"),
        # The time is told, or somebody else says it.
        ("when did Tilda hire the marquee?", "2025-03-03"),
        ("when did Imre lose his paddle?", "1 Mar 2025"),
        # Somebody else's number
        ("Carl Binns's phone number", "01744 960 640"),
        ("Priya's phone number", "07700 900 266"),
    ],
)
def test_others_are_no_answer(retriever: Retriever, question: str, answer: str) -> None:
    result = retriever.ask(question)
    assert not result.found or result.answer is None or result.answer.text != answer


@pytest.mark.parametrize("line", ["[3.5.2025, 18:02] Bo: {}", "3/5/2025, 18:02 - Bo: {}", "18:02  Bo   {}"])
def test_a_sentence_from_a_chat_is_without_time_and_speaker(tmp_path: Path, line: str) -> None:
    lines = (line.format(words) for words in ("no training, too much fog", "bring the flasks"))
    write(tmp_path, {"chat.txt": "\n".join(lines) + "\n"})
    build_index(tmp_path)
    with Retriever.open(tmp_path) as opened:
        result = opened.ask("is there any training in the fog?")
    assert result.answer is not None
    assert result.answer.text == "no training, too much fog"


def test_a_name_in_another_passage_of_a_letter_is_not_quoted_from_this_one(tmp_path: Path) -> None:
    """Its sentence answers, as an answer stands in the passage that is cited."""
    body = "The lamp outside is still broken. I have lost my key to the cellar. Happy Easter to all of you."
    head, end = (
        "Marta Kuhn\n3 Mill Road\nThorley\n\n02 April 2025\n\nDear neighbours,",
        "Yours sincerely\n\nMarta Kuhn\n",
    )
    write(tmp_path, {"letter.txt": f"{head}\n\n{body}\n\n{end}"})
    build_index(tmp_path)
    with Retriever.open(tmp_path) as retriever:
        result = retriever.ask("who has lost the key to the cellar?")
        assert result.answer is not None
        assert "Marta" not in result.passages[0].text
        assert (result.found, result.answer.text) == (True, "I have lost my key to the cellar.")
