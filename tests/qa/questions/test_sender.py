"""Questions for what somebody said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa.questions.sender import chat_reply, is_by_other_sender, is_cut_off, said_of_topic, without_greetings
from qa.structure.speakers import Said
from tests.qa.passages import mail, stored


@pytest.mark.parametrize(
    ("question", "heading", "text", "expected"),
    [
        (
            "What did Vera say about oars?",
            "Ida Prado <i@b.org> to Vera, 2024-03-05",
            "Vera,\n\nthe oars are new.",
            True,
        ),
        ("What did Vera say about oars?", "Quoted: Ida wrote", "The oars are new.", True),
        ("What did Vera say about oars?", "Ida to Vera", "I met Vera, who says they are new.", False),
        ("What did Vera say about oars?", "Ida to Vera", "They are new.\n\nVera agrees.", False),
        ("What did Vera say about oars?", "V. Prado to Ida", "Hi Ida,\n\nthey are new.\n\nVera", False),
        ("What did Vera's coach say about oars?", "Ida to Tom", "They are new.", False),
        ("What did Vera's coach Ola say about oars?", "Ida to Tom", "They are new.", True),
        ("What did Dr. Prado say about oars?", "Ida Prado <i@b.org> to Vera", "They are new.", False),
        ("What did Vera say about oars?", "Quoted by Ida", "The oars are new.", False),
        ("What did the cox say about oars?", "Ida to Vera", "The oars are new.", False),
        ("What did I say about oars?", "Ida to Vera", "The oars are new.", False),
        ("When did Vera buy oars?", "Ida to Vera", "The oars are new.", False),
    ],
)
def test_a_mail_by_somebody_else_counts_only_if_it_names_whom_the_question_names(
    question: str, heading: str, text: str, expected: bool
) -> None:
    passage = replace(mail(text, 1), heading=("Oars", heading))
    assert is_by_other_sender(question, passage) == expected
    other_passage = replace(passage, document=replace(passage.document, media_type="text/plain"))
    assert not is_by_other_sender(question, other_passage)


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["Hi Tom,", "they are new.", "Ida"], ["they are new."]),
        (["they are new.", "Best wishes,\nIda"], ["they are new."]),
        (["they are new.", "Yours sincerely", "Ida Prado"], ["they are new."]),
        (["No", "5 March", "Ida Prado"], ["No", "5 March"]),
        (["Tom,"], ["Tom,"]),
    ],
)
def test_greetings_and_signatures_do_not_answer(sentences: list[str], expected: list[str]) -> None:
    text = "\n\n".join(sentences)
    passage = replace(mail(text, 1), heading=("Oars", "Ida Prado to Tom"))
    spans = [(text.index(sentence), text.index(sentence) + len(sentence)) for sentence in sentences]
    left = without_greetings("What did Ida say about oars?", passage, spans)
    assert [text[slice(*span)] for span in left] == expected
    assert without_greetings("Are the oars new?", passage, spans) == spans


CHAT = """09:00 Ida: {}
09:01 Tom: {}
09:02 Eva: {}
09:03 Bo: so long"""


@pytest.mark.parametrize(
    ("question", "lines", "answer"),
    [
        ("who takes the big pot?", ("who takes the big pot?", "me!", "fine"), "Tom"),
        ("who takes the big pot?", ("who takes the big pot?", "I'm on the bus", "I can"), "Eva"),
        ("who has a spare pump?", ("does anybody have a spare pump?", "yes, I do", "fine"), "Tom"),
        ("who fed the cat?", ("who fed the cat?", "Bo, I think", "fine"), "Bo, I think"),
        ("whose is the cap?", ("whose is the cap?", "no idea", "mine"), "Eva"),
        ("when does the bus leave?", ("When does the bus leave?", "haha", "half past ten"), "half past ten"),
        ("how many people are we on Friday?", ("how many are we on Friday?", "fourteen", "fine"), "fourteen"),
        ("what does the ferry cost?", ("how much is the ferry?", "9 euros", "fine"), "9 euros"),
        ("how much does the ferry cost?", ("what does the ferry cost?", "9 euros", "fine"), "9 euros"),
        ("where is the key kept?", ("where is the key kept?", "in the shed", "fine"), "in the shed"),
        ("is the shop open on Monday?", ("is the shop open on Monday?", "no, sadly", "fine"), "no, sadly"),
        ("why is the gate locked?", ("why is the gate locked?", "sheep", "fine"), "sheep"),
        ("when does Tom start in Bath?", ("when do you start in Bath, Tom?", "7 July", "fine"), "7 July"),
        ("when does Tom start?", ("when do you start?", "7 July", "fine"), "7 July"),
        # Another question, no reply, one to another kind of question, a proposal, or a statement of it
        ("who takes the small pot?", ("who takes the big pot?", "me!", "fine"), None),
        ("when does Eva start?", ("when do you start?", "7 July", "fine"), None),
        ("who takes the big pot?", ("who takes the big pot?", "not me", "look at this"), None),
        ("when is the gate locked?", ("why is the gate locked?", "sheep since May", "fine"), None),
        ("why is the gate locked?", ("why is the gate locked?", "haha", "see you"), None),
        ("what colour is the hall?", ("what colour is the hall?", "grey", "mustard?"), None),
        ("when does the bus leave?", ("when does the bus leave?", "ten", "the bus must leave at nine"), None),
    ],
)
def test_the_reply_to_the_same_question_answers(question: str, lines: tuple[str, str, str], answer: str | None) -> None:
    reply = chat_reply(question, [stored(CHAT.format(*lines))])
    assert (None if reply is None else reply.answer) == answer


def test_a_reply_may_be_in_the_next_passage_of_a_chat() -> None:
    first = stored("09:00 Tom: good morning\n09:01 Ida: who takes the pot?")
    text = "09:02 Bo: me\n09:03 Eva: fine"
    following = replace(stored(text, start=first.end + 1), id=2)
    assert is_cut_off("who takes the pot?", first)
    assert not is_cut_off("who fries the fish?", first)
    assert chat_reply("who takes the pot?", [first]) is None
    for passages in ([first, following], [following, first]):
        reply = chat_reply("who takes the pot?", passages)
        assert reply is not None
        assert (reply.answer, reply.passage.id, reply.asked) == ("Bo", 2, None)
    later = replace(following, start=first.end + 900)
    assert chat_reply("who takes the pot?", [first, later]) is None


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("who drives the bus?", "I drive the bus. I like fog.", ["I drive the bus."]),
        ("when did Ida drive the bus?", "I drive the bus. I like fog.", ["I drive the bus."]),
        ("when did Bo drive the bus?", "I drive the bus.", []),
        # What is asked of others
        ("who drives the bus?", "I asked Bo to drive the bus.", []),
        ("who asked Bo to drive?", "I asked Bo to drive the bus.", ["I asked Bo to drive the bus."]),
        ("who washes the bus?", "I wash the bus, and I want Bo to drive.", ["I wash the bus, and I want Bo to drive."]),
    ],
)
def test_only_sentences_about_the_topic_have_the_names_of_their_speakers(
    question: str, text: str, expected: list[str]
) -> None:
    said = said_of_topic(question, text, [Said((0, len(text)), "Ida Grün")])
    assert [text[slice(*it.span)].strip() for it in said] == expected
