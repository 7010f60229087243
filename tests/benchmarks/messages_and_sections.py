"""Questions about messages, dated entries of a month, sections of plain text and variants, made up for them.

    python -m tests.benchmarks.messages_and_sections [--verbose]

A mailbox and letters whose authors say "I", and a chat with replies; mails and minutes in which a later one replaces a
value; decisions that name what was rejected; a log of two years; sheets of plain text with headings right above their
text; a product and its variant. Prints for each kind of question how many are answered rightly, how many are found but
wrong, and how many there are; those that nothing answers are right if they are not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from tests.benchmarks.dated_and_numbered import Question, run

_PEOPLE = ("Agnes Thorpe", "Colm Reilly", "Dina Farouk", "Erik Holm", "Greta Pohl", "Hugo Brandt", "Nora Quist")
_TASKS = (
    ("I'll bring the tent and the pegs.", "who brings the tent?"),
    ("I have found the key of the shed.", "who found the key of the shed?"),
    ("I'm going to paint the fence on Saturday.", "who is going to paint the fence?"),
    ("I paid the deposit for the hall.", "who paid the deposit for the hall?"),
    ("I can lend you my trailer.", "who can lend a trailer?"),
    ("I'd like to play the cello at the party.", "who would like to play the cello?"),
)
_CHATTER = ("The weather has been dreadful here.", "Give my regards to your sister.", "More about this next week.")
_CHAT = (
    ("who fetches the benches?", "me", None), ("when does the bakery close?", "half past five", "half past five"),
    ("where do we park?", "behind the church", "behind the church"),
    ("how much is the bus?", "£4.20 each", "£4.20"), ("what colour are the ribbons?", "dark green", "dark green"),
)  # fmt: skip
_MOVED = (
    ("The choir concert is on {}.", "The choir concert has been moved to {}.", "when is the choir concert?",
     ("Friday 6 June", "Sunday 8 June")),
    ("The minibus costs {} for the day.", "The minibus now costs {} for the day.", "how much does the minibus cost?",
     ("£180", "£215")),
    ("We meet at {}.", "Change of plan: we meet at {}.", "where do we meet?", ("the old mill", "the boathouse")),
    ("The code of the gate is {}.", "The code of the gate was changed, it is now {}.", "what is the code of the gate?",
     ("4471", "9025")),
)  # fmt: skip
_CHOSEN = (
    ("Speaker: Mr Hale no, Ms Ito yes", "who is the speaker?", "Ms Ito"),
    ("Ticket price: 8 -> 11 euros", "what is the ticket price?", "11 euros"),
    ("Venue: the Crown fell through, so the Swan", "what is the venue?", "the Swan"),
    ("Caterer: Ann suggested Bellini. We agreed on Fischer.", "who is the caterer?", "Fischer"),
)
_JOBS = ("swept the chimney", "greased the winch", "replaced the filter", "flushed the tank")
_FORMS = ("{y}-{n:02}-{d:02} {job} ({who})", "{d:02}.{n:02}.{y}: {who} {job}", "{job}, {d:02}/{n:02}/{y} ({who})")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SHEETS = (
    ("Brennick Observatory", "Domes 3, one of them with a roof that slides", "how many domes does Brennick have?", "3"),
    ("Morlow Hostel", "Bunks 48 in six rooms", "how many bunks are there at Morlow?", "48"),
    ("Tarn Foundry Museum", "Furnaces 5", "how many furnaces are in the Tarn Foundry Museum?", "5"),
)
_HIRE = ("Head torches", "Blankets of wool", "Two folding tables", "Maps of the moor")
_GEAR = ("telescope", "kettle", "lantern")


def write_messages(folder: Path, form: str, random: Random) -> Iterator[Question]:
    """Write what people say they do as mails, letters or a chat, and yield questions for who does it."""
    people = random.sample(_PEOPLE, len(_TASKS))
    texts = [
        f"{random.choice(_CHATTER)} {text} {random.choice(_CHATTER)}" for text, _ in random.sample(_TASKS, len(_TASKS))
    ]
    by_text = dict(_TASKS)
    if form == "chat":
        lines = [f"[{at + 3:02}.05.26, 19:{at:02}] {who.split()[0]}: {text}" for at, (who, text) in
                 enumerate(zip(people, texts, strict=True))]  # fmt: skip
        (folder / "chat.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for at, (who, text) in enumerate(zip(people, texts, strict=True)):
        first = who.split()[0]
        if form == "mail":
            head = f"From: {who} <{first.lower()}@b.example>\nTo: all@b.example\nSubject: News\n"
            head += f"Date: Mon, {at + 3} May 2026 09:00:00 +0000\nMessage-ID: <{at}@b.example>\n"
            (folder / f"{at}.eml").write_text(f"{head}\nHello all,\n\n{text}\n\n{first}\n", encoding="utf-8")
        elif form == "letter":
            letter = f"Harlow, {at + 3} May 2026\n\nDear all,\n\n{text}\n\nBest wishes\n{who}\n"
            (folder / f"letter {at}.txt").write_text(letter, encoding="utf-8")
        question = next(question for told, question in by_text.items() if told in text)
        yield Question(f"who, in a {form}", question, first)


def write_chat(folder: Path, random: Random) -> Iterator[Question]:
    """Write a chat of questions with their replies, and yield the same questions."""
    lines: list[str] = []
    for at, (question, reply, answer) in enumerate(random.sample(_CHAT, len(_CHAT))):
        asks, replies = (name.split()[0] for name in random.sample(_PEOPLE, 2))
        lines += [f"[{at + 3:02}.05.26, 18:10] {asks}: {question}", f"[{at + 3:02}.05.26, 18:12] {replies}: {reply}"]
        yield Question("reply", question, answer or replies)
    (folder / "chat.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_moved(folder: Path, form: str, random: Random) -> Iterator[Question]:
    """Write values that later mails or minutes replace, and yield questions about the present and the past."""
    old = [text.format(values[0]) for text, _, _, values in _MOVED]
    new = [text.format(values[1]) for _, text, _, values in _MOVED]
    for at, text in enumerate([*old, *new]):
        name = random.choice(_PEOPLE)
        if form == "mail":
            head = f"From: {name} <a{at}@b.example>\nTo: all@b.example\nSubject: Plans\n"
            head += f"Date: Mon, {at + 3} May 2026 09:00:00 +0000\nMessage-ID: <{at}@b.example>\n"
            (folder / f"{at}.eml").write_text(f"{head}\nHello,\n\n{text}\n\n{name}\n", encoding="utf-8")
        else:
            minutes = f"# Minutes of {at + 3} May 2026\n\nPresent: {name}\n\n{text}\n"
            (folder / f"minutes-2026-05-{at + 3:02}.md").write_text(minutes, encoding="utf-8")
    for _, _, question, values in _MOVED:
        yield Question(f"replaced, in {form}", question, values[1])


def write_chosen(folder: Path, random: Random) -> Iterator[Question]:
    """Write notes that name what was rejected and what was chosen, and yield questions about that."""
    lines = "\n".join(f"- {line}" for line, _, _ in random.sample(_CHOSEN, len(_CHOSEN)))
    (folder / "festival.md").write_text(f"# Festival\n\n{lines}\n", encoding="utf-8")
    yield from (Question("chosen", question, answer) for _, question, answer in _CHOSEN)


def write_log(folder: Path, form: str, random: Random) -> Iterator[Question]:
    """Write a log of two years, and yield questions about one month, in which something happened or not."""
    done: dict[tuple[int, int], tuple[str, str]] = {}
    for at in range(16):
        done[2025 + at // 8, (at % 8) + 1 + (at // 4) % 2] = (_JOBS[at % 4], random.choice(_PEOPLE).split()[0])
    lines = [form.format(y=year, n=month, d=random.randrange(13, 28), job=job, who=who)
             for (year, month), (job, who) in sorted(done.items())]  # fmt: skip
    (folder / "log.txt").write_text("Log of the hut\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for (year, month), (job, who) in random.sample(sorted(done.items()), 6):
        yield Question("who, in a month", f"who {job} in {_MONTHS[month - 1]} {year}?", who)
    for year, month in random.sample(sorted(done), 4):
        other = next(job for job in _JOBS if job != done[year, month][0])
        yield Question("not in that month", f"who {other} in {_MONTHS[month - 1]} {year}?", None)


def write_sheets(folder: Path, random: Random) -> Iterator[Question]:
    """Write sheets of plain text with headings right above their text, and yield questions about each."""
    for name, line, question, answer in _SHEETS:
        items = random.sample(_HIRE, 3)
        rule = (
            f"Gates close at {random.randrange(6, 11)} in the evening, and nobody is let in after that. Dogs stay out."
        )
        text = f"{name}\nof the county, since 1931\n\nKey facts\n{line}\nOpened 1931\nStaff 12\nVisits 2025 8,400\n\n"
        text += f"House rules\n{rule} Boots are left in the porch.\n\nThings for hire\n" + "\n".join(items) + "\n\n"
        text += (
            "How to get here\nThe bus from the station stops at the gate every hour.1 In winter it runs twice a day.\n"
        )
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        short = name.split()[0]
        yield Question("label and value", question, answer)
        yield Question("list below a heading", f"what things are for hire at {short}?", "\n".join(items))
        yield Question("section", f"what are the house rules at {short}?", "Boots are left in the porch")
        yield Question("beside a footnote", f"how often does the bus run in winter to {name}?", "twice a day")


def write_variants(folder: Path, random: Random) -> Iterator[Question]:
    """Write sheets of products and their variants, and yield questions about what only one of them says."""
    for gear in _GEAR:
        name = {"telescope": "Sirra", "kettle": "Malven", "lantern": "Ostrel"}[gear]
        weight, hours = random.randrange(2, 9), random.randrange(11, 40)
        plain = f"{name} {gear}\n\nThe {gear} weighs {weight} kg and folds flat. It comes in red.\n"
        plus = f"{name} Plus {gear}\n\nThe battery lasts {hours} hours. A bag is included.\n"
        (folder / f"{name.lower()}.txt").write_text(plain, encoding="utf-8")
        (folder / f"{name.lower()}-plus.txt").write_text(plus, encoding="utf-8")
        yield Question("plain one", f"how much does the {name} weigh?", f"{weight} kg")
        yield Question("variant", f"how long does the battery of the {name} Plus last?", f"{hours} hours")
        yield Question("only the variant", f"how long does the battery of the {name} last?", None)


def main() -> None:
    """Run the command line."""
    run(
        __doc__ or "",
        [
            *(partial(write_messages, form=form) for form in ("mail", "letter", "chat")),
            write_chat,
            *(partial(write_moved, form=form) for form in ("mail", "minutes")),
            write_chosen,
            *(partial(write_log, form=form) for form in _FORMS),
            write_sheets,
            write_variants,
        ],
    )


if __name__ == "__main__":
    main()
