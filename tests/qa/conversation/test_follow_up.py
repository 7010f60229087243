"""Follow-up questions, which are completed from the previous turn."""

from __future__ import annotations

import pytest

from qa.conversation.follow_up import Turn, next_turn
from qa.conversation.topic import names_in

AWARD = Turn("What won the ICLR 2025 test of time award?", "Adam")
KEYNOTE = Turn("Who gave the opening keynote at ICLR 2025?", "Zico Kolter")
MEETING = Turn("Where did Kingma and Ba meet?", "London")


@pytest.mark.parametrize(
    ("previous", "question", "completed"),
    [
        (AWARD, "who wrote it?", "who wrote Adam?"),
        (AWARD, "Was that rejected", "Was Adam rejected?"),
        (KEYNOTE, "Did he mention Sudoku?", "Did Zico Kolter mention Sudoku?"),
        (KEYNOTE, "what are his eras called?", "what are Zico Kolter's eras called?"),
        (KEYNOTE, "who met her and when", "who met Zico Kolter and when?"),
        (KEYNOTE, "when did her flight leave", "when did Zico Kolter's flight leave?"),
        (KEYNOTE, "how many GPUs did he have?", "how many GPUs did Zico Kolter have?"),
        # A word that does not suit the answer refers to the topic of the question.
        (KEYNOTE, "where was it?", "where was ICLR 2025?"),
        (MEETING, "what were they doing there?", "what were Kingma and Ba doing in London?"),
        (Turn("What is DPO?", "Direct preference optimisation"), "does it work?", "does DPO work?"),
        (Turn("Who is Yi Ren?", "Curiosity"), "which of his papers won?", "which of Yi Ren's papers won?"),
        (Turn("Who won?"), "when?", "Who won, and when?"),
        (Turn("where is the taxi rank?"), "is there another one?", "is there another one, the taxi rank?"),
        (AWARD, "and who handed over the certificate?", "who handed over the certificate? (ICLR 2025)"),
        (AWARD, "And what is StableMax?", "what is StableMax?"),
        (AWARD, "what about 2024?", "What won the ICLR 2024 test of time award?"),
        (AWARD, "and the runner-up?", "the runner-up, ICLR 2025?"),
        (Turn("Who speaks about kelp?", "Samir Bose"), "when does it start?", "when does kelp start?"),
        (Turn("When did the desk open on Wednesday?"), "and on Thursday?", "When did the desk open on Thursday?"),
        (Turn("How many reviewers did we have?"), "and area chairs?", "How many area chairs did we have?"),
        (Turn("What did Kingma ask for?"), "and Bahdanau?", "What did Bahdanau ask for?"),
        (Turn("where does Priya's brother live?"), "and Jonas?", "where does Jonas's brother live?"),
        (Turn("who leads project Fir?"), "and project Elm?", "who leads project Elm?"),
        (Turn("who chaired the meeting?"), "and in 2025?", "who chaired the meeting in 2025?"),
        (Turn("who chaired the meeting in Oslo?"), "and in 2025?", "who chaired the meeting in Oslo in 2025?"),
        (Turn("how much did Herr Kolb charge?"), "what about 2021?", "how much did Herr Kolb charge in 2021?"),
        (Turn("how much is the ticket?"), "and for children?", "how much is the ticket for children?"),
        # The year of the fragment, or else of the question.
        (Turn("What was the revenue in 2024?"), "and the budget in 2023?", "What was the budget in 2023?"),
        (Turn("What was the revenue in 2024?"), "and spend for 2023?", "spend for 2023, the revenue?"),
        (Turn("What did we earn in April 2024?"), "and in May 2023?", "What did we earn in May 2023?"),
        (Turn("What did we earn in April 2024?"), "and in May?", "What did we earn in May 2024?"),
        (Turn("What is planned for June?"), "and May?", "What is planned for May?"),
        (Turn("Which bills are due in May 2024?"), "and June?", "Which bills are due in June 2024?"),
        (Turn("Which bills are due in May 2024?"), "what about June 2023?", "Which bills are due in June 2023?"),
        # What "which" asks for is the topic, with what it is asked about.
        (Turn("which car has the most seats?", "gamma"), "is it new?", "is the car that has the most seats new?"),
        (Turn("Which plants are toxic to cats?"), "are they tall?", "are the plants that are toxic to cats tall?"),
        (Turn("which rooms in Oslo have no lift?"), "which of them have a projector?",
         "which of the rooms in Oslo that have no lift have a projector?"),
        (Turn("which colour is the car?", "red"), "what does it cost?", "what does the car cost?"),
        (Turn("what happens if rooms are closed?"), "who decides it?", "who decides what happens if rooms are closed?"),
        (Turn("What is Ben Okoro's salary?"), "and Ana Ruiz's?", "What is Ana Ruiz's salary?"),
        (Turn("Where is the Lidl?"), "and Wendy's?", "Where is the Wendy's?"),
        # "It" may stand for nothing, and a question may be complete; an auxiliary is no topic.
        (Turn("When was the weir built?"), "What time is it in Rome?", "What time is it in Rome?"),
        (Turn("When was the weir built?"), "how far is it to the ferry?", "how far is it to the ferry?"),
        (Turn("When was the weir built?"), "When does it get dark in May?", "When does it get dark in May?"),
        (Turn("Where is the weir?"), "how far is it?", "how far is the weir?"),
        (Turn("When was the weir built?"), "And where is the nearest inn?", "where is the nearest inn?"),
        (Turn("What does the pass cost?"), "but what about hens?", "hens, the pass?"),
        # Numbers take the place of numbers of their kind.
        (Turn("What is the status of invoice 1043?"), "and 1044?", "What is the status of invoice 1044?"),
        (Turn("Who sits in room B-12?"), "and room B-14?", "Who sits in room B-14?"),
        (Turn("Who sits in room 12 at 9?"), "and 14?", "14, room 12 at 9?"),
        (Turn("What does the Alba 200 cost?"), "and the Alba 300?", "What does the Alba 300 cost?"),
        # A date or a part of a word is no topic, nor is the verb.
        (Turn("When is the fair on Monday?", "Monday, 4 May"), "where is it?", "where is the fair on Monday?"),
        (Turn("What day is the fair?", "Saturday"), "where is it?", "where is the fair?"),
        (Turn("When does the desk open on Monday?"), "and when does it close?", "when does the desk close?"),
        (Turn("How much does a 12V battery cost?"), "is it in stock?", "is a 12V battery in stock?"),
        (Turn("How many days of sick leave do I get?"), "is it paid?", "is sick leave paid?"),
        (Turn("How many days of sick leave do I get?"), "and my boss?", "my boss, sick leave?"),
        (Turn("what is the wifi password?"), "and the guest one?", "the guest one, the wifi password?"),
        # A subject or object without an article.
        (Turn("who maintains gerbil?"), "what is its port?", "what is gerbil's port?"),
        (Turn("when do invoices arrive?"), "how long are they kept?", "how long are invoices kept?"),
        (Turn("when do invoices arrive?"), "what is their colour?", "what is invoices' colour?"),
        (Turn("what does pelican do?"), "where is it hosted?", "where is pelican hosted?"),
        (Turn("how big is pelican?"), "where is it hosted?", "where is pelican hosted?"),
        (Turn("when was kestrel upgraded?"), "who owns it?", "who owns kestrel?"),
        (Turn("when was the well last tested?"), "how deep is it?", "how deep is the well?"),
        (Turn("what is kestrel used for?"), "who owns it?", "who owns kestrel?"),
        (Turn("is there a gym?"), "when does it open?", "when does a gym open?"),
        (Turn("who is responsible for gerbil?"), "when was it bought?", "when was gerbil bought?"),
        (Turn("how do I restart the worker?"), "when was it restarted?", "when was the worker restarted?"),
        (Turn("how can I install osprey on windows?"), "what does it cost?", "what does osprey cost?"),
        (Turn("how do I get to the clinic?"), "when does it open?", "when does the clinic open?"),
        (Turn("which printer do we use?"), "where is it?", "where is the printer we use?"),
        (Turn("does kestrel use postgres?"), "is it new?", "is kestrel new?"),
        (Turn("how do bees make honey?"), "how long does it keep?", "how long does honey keep?"),
        (Turn("how do bees make honey?"), "how long do they live?", "how long do bees live?"),
        (Turn("who has the key?"), "when is it returned?", "when is the key returned?"),
        (Turn("what does the parser return?"), "is it cached?", "is the parser cached?"),
        (Turn("is parking free?"), "where is it?", "where is parking?"),
        (Turn("are the rooms warm in winter?"), "how big are they?", "how big are the rooms?"),
        (Turn("should I oil hinges?"), "why do they squeak?", "why do hinges squeak?"),
        (Turn("which laptops support linux?"), "are they cheap?", "are the laptops that support linux cheap?"),
        (Turn("why do the lamps flicker?"), "who pays for them?", "who pays for the lamps?"),
        (Turn("what did the plumbers find?"), "did they fix it?", "did the plumbers fix it?"),
        # If the topic cannot be told, the words of the question are added.
        (Turn("when does payment service restart?"), "who owns it?", "who owns it? (payment service restart)"),
        (Turn("who won?"), "when was it decided?", "when was it decided? (won)"),
        (Turn("what happened in March?"), "who noticed it?", "who noticed it? (happened March)"),
        (Turn("who is on call?"), "how long is it?", "how long is it? (call)"),
        (Turn("what should I bring?"), "is it provided?", "is it provided? (bring)"),
        (Turn("who was elected?"), "when does she start?", "when does she start? (elected)"),
    ],
)  # fmt: skip
def test_a_follow_up_is_completed(previous: Turn, question: str, completed: str) -> None:
    assert next_turn(question, previous).question == completed


@pytest.mark.parametrize(
    ("questions", "completed"),
    [
        (["how much is the rent", "and the deposit?", "what about the hotel?"], "how much is the hotel?"),
        (["When does the poster session start?", "and the lab tour?"], "When does the lab tour start?"),
        (["Who can use the boat?", "and the sauna?"], "Who can use the sauna?"),
        ([AWARD.question, "and the runner-up?", "and the jury?"], "the jury, ICLR 2025?"),
        (["how much is the rent", "who pays?", "and heating?", "and water?"], "water, who pays?"),
        (["who is the treasurer?", "since when?"], "who is the treasurer, and since when?"),
        (["who is the treasurer?", "since when?", "and who was it before?"], "who was the treasurer before?"),
        (["who won?", "when?", "why?"], "who won, and why?"),
        (["who won?", "when was it decided?", "and who reported it?"], "who reported it? (won)"),
        (["who is Mr Kowalski?", "his number?", "what is his phone number?"], "what is Mr Kowalski's phone number?"),
    ],
)
def test_follow_ups_in_a_row_do_not_pile_up(questions: list[str], completed: str) -> None:
    """Each is completed from the last standalone question."""
    turn = None
    for question in questions:
        turn = next_turn(question, turn)
    assert turn is not None
    assert turn.question == completed


@pytest.mark.parametrize(
    "question",
    [
        "who wrote the paper on grokking?",
        "acceptance rate 2025",
        # The antecedents are in the questions themselves, or there are none.
        "How do I get to the venue when it rains?",
        "is it possible to book an Uber?",
        "Do reviewers change their scores?",
        "Did Zhu say who sets his value function?",
        "is there a pharmacy nearby, and is it open?",
        "What happens when an employee loses her badge?",
        "Who took these courses?",
        "Is this year's budget approved?",
        "How do I contact IT?",
        "the paper that won",
        "Then and now: what changed?",
        "and",
        "?",
    ],
)
def test_complete_or_first_question_is_unchanged(question: str) -> None:
    assert next_turn(question, AWARD).question == question
    assert next_turn(question, KEYNOTE).question == question
    assert next_turn("and who wrote it?", None).question == "and who wrote it?"


@pytest.mark.parametrize("answer", ["a benchmark", "Six or seven words, and then two more, about Adam", ""])
def test_an_answer_that_is_not_a_name_is_not_the_topic(answer: str) -> None:
    """An answer that is long or starts in lower case says less about the topic than the question."""
    assert next_turn("who wrote it?", Turn(AWARD.question, answer)).question == "who wrote ICLR 2025?"


def test_names() -> None:
    """A name is a sequence of capitalised words and numbers joined by small words, but no question word or year."""
    assert names_in("In 2015, did Kingma and Ba write Learning Dynamics of LLM Finetuning?") == [
        "Kingma and Ba",
        "Learning Dynamics of LLM Finetuning",
    ]
    assert names_in("Which of the 31 papers won in 2024") == []
    assert names_in("What is SAM 2?") == ["SAM 2"]


@pytest.mark.parametrize("phrase", ["it ", "A", "and the ", "how many ", "what is that ", "B c ", "do bees "])
def test_long_questions_cause_no_catastrophic_backtracking(phrase: str) -> None:
    long_turn = Turn("Which " + phrase * (10_000 // len(phrase)))
    assert next_turn("they saw it, and what about her?" * 9, long_turn).question
    assert next_turn(long_turn.question, long_turn).question == long_turn.question
