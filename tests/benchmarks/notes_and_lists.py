"""Questions about logs, fields, settings, opening hours, tables, commands and changelogs, made up for them.

    python -m tests.benchmarks.notes_and_lists [--verbose]

The same log in seven forms; records as CSV and JSON, settings as INI and YAML; hours by weekday, in short and in full;
a table drawn in four ways, and one with the items in its columns; commands in blocks of code; two changelogs. Prints
for each kind of question how many are answered rightly, how many are found but wrong, and how many there are; those
that nothing answers are right if they are not found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from tests.benchmarks.dated_and_numbered import Question, run

_EVENTS = (
    ("drained the boiler", "was the boiler drained"), ("swept the chimney", "was the chimney swept"),
    ("oiled the gate", "was the gate oiled"), ("hung the swing", "was the swing hung"),
    ("pruned the plum tree", "was the plum tree pruned"), ("sealed the bath", "was the bath sealed"),
    ("mended the ladder", "did we mend the ladder"), ("sold the trailer", "did we sell the trailer"),
)  # fmt: skip
_NEVER = ("was the piano tuned", "was the roof insured", "did we plant the hedge")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FORMS = ("{d} {m}   {t}", "{y}-{n:02}-{d:02} {t}", "{d:02}.{n:02}.{s}: {t}", "- {d} {m}: {t}", "Tue {d} {m}  {t}",
          "## {d} {m} {y}\n\n{t}.\n", "{d} {m}   {t}.")  # fmt: skip
_PLACES = ("bakery", "library", "post office", "swimming pool", "museum shop", "town hall")
_TOOLS = ("lathe", "kiln", "press", "welder", "planer", "sander")
_ROOMS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm")
_COMMANDS = (
    ("Run the unit tests", "which command runs the unit tests?", "make check"),
    ("Rebuild the search index", "how do I rebuild the search index?", "tool index --rebuild ./docs"),
    ("Restore last night's backup", "which command restores the backup?", "restic restore latest --target /srv"),
    ("List the open ports", "what command lists the open ports?", "ss --listening --tcp"),
)
_CHANGES = (
    ("reads folders of mail", "reads folders of mail"), ("moved the cache to /var", "moved the cache"),
    ("dropped Python 3.8", "dropped Python 3.8"), ("prints times in UTC", "prints times in UTC"),
    ("fixed a crash on empty files", "fixed the crash on empty files"), ("added a Polish translation", "added Polish"),
)  # fmt: skip


def write_log(folder: Path, form: str, random: Random) -> Iterator[Question]:
    """Write a log in one form, some of whose events come twice, and yield questions about it."""
    events = [*random.sample(_EVENTS, 6), *random.sample(_EVENTS, 4)]
    lines: list[str] = []
    dates: dict[str, list[str]] = {}
    for at, (event, question) in enumerate(events):
        day, month = random.randrange(1, 13) + 14 * (at % 2), at + 1
        date = {"d": day, "m": _MONTHS[month - 1], "n": month, "y": 2025, "s": 25}
        lines.append(form.format(**date, t=event))
        stamp = form.format(**date, t="").split("\n")[0].strip("-# .:\n")
        dates.setdefault(question, []).append(stamp.removeprefix("Tue ").strip())
    (folder / ("log.md" if form.startswith("#") else "log.txt")).write_text(
        f"{'# ' if '#' in form else ''}House log 2025\n\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    for question, stamps in dates.items():
        if len(stamps) == 1:
            yield Question("when", f"When {question}?", stamps[0])
        else:
            verb, rest = question.split(" ", 1)
            last = f"{verb} {rest.rsplit(' ', 1)[0]} last {rest.rsplit(' ', 1)[1]}"
            yield Question("when last", f"when {last if verb == 'was' else f'did we last{rest[2:]}'}", stamps[-1])
    for question in _NEVER:
        yield Question("never", f"When {question}?", None)


def write_fields(folder: Path, random: Random) -> Iterator[Question]:
    """Write records and settings, and yield questions for one field of one of them."""
    records = {name: {"room": f"K{at}", "serial": f"{name[:2].upper()}-{random.randrange(1000, 9999)}",
                      "price": str(random.randrange(200, 9000))} for at, name in enumerate(_TOOLS)}  # fmt: skip
    rows = "\n".join(f"{name},{','.join(record.values())}" for name, record in records.items())
    (folder / "tools.csv").write_text(f"tool,room,serial,price\n{rows}\n", encoding="utf-8")
    nodes = {f"node{at}": {"ip": f"10.0.3.{at + 11}", "rack": f"R{at + 1}"} for at in range(6)}
    (folder / "nodes.json").write_text(
        json.dumps([{"node": name, **node} for name, node in nodes.items()], indent=1), encoding="utf-8"
    )
    glazes = {name: {"ramp": str(60 + 10 * at), "peak": str(1200 + 5 * at)} for at, name in enumerate(_ROOMS)}
    text = "\n\n".join(
        f"[{name.lower()}]\n" + "\n".join(f"{key} = {value}" for key, value in glaze.items())
        for name, glaze in glazes.items()
    )
    (folder / "glazes.ini").write_text(f"{text}\n", encoding="utf-8")
    jobs = {name: {"keep": f"{3 + at}d", "target": f"/mnt/disk{at}"} for at, name in enumerate(_PLACES)}
    text = "".join(f"  {name.replace(' ', '-')}:\n    keep: {it['keep']}\n    target: {it['target']}\n"
                   for name, it in jobs.items())  # fmt: skip
    (folder / "backup.yaml").write_text(f"jobs:\n{text}", encoding="utf-8")
    for name, record in {**records, **nodes, **{name.lower(): it for name, it in glazes.items()}, **jobs}.items():
        field, value = random.choice(sorted(record.items()))
        form = random.choice(
            ("{field} of {name}", "{field} of the {name}?", "{name} {field}", "what is the {field} of {name}")
        )
        yield Question("field", form.format(field=field, name=name), value)
    for name, field in (("drill", "price"), ("node9", "ip"), ("oak", "peak"), ("cinema", "keep"), ("lathe", "colour")):
        yield Question("other field", f"{field} of the {name}", None)


def write_hours(folder: Path, names: tuple[str, ...], random: Random) -> Iterator[Question]:
    """Write opening hours with names of weekdays, and yield questions for days that are and are not listed."""
    lines = []
    for place in _PLACES:
        days = sorted(random.sample(range(7), 4))
        hours = [f"{random.randrange(7, 11)}–{random.randrange(15, 21)}" for _ in days]
        lines.append(
            f"- {place.title()}: " + ", ".join(f"{names[day]} {it}" for day, it in zip(days, hours, strict=True))
        )
        at = random.randrange(4)
        form = random.choice(("When is the {} open on {}s?", "when is the {} open on {}", "{} hours {}"))
        yield Question("hours", form.format(place, _WEEKDAYS[days[at]]), hours[at])
        other = random.choice([day for day in range(7) if day not in days])
        yield Question("hours of no day", f"When is the {place} open on {_WEEKDAYS[other]}s?", None)
    (folder / "hours.md").write_text("# Opening hours\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def write_table(folder: Path, form: str, random: Random) -> Iterator[Question]:
    """Write a table of rooms in one form, and yield questions about cells, the most and the least."""
    seats, rents = (random.sample(range(low, high), len(_ROOMS)) for low, high in ((8, 90), (100, 900)))
    header, rows = (
        ["Room", "Seats", "Rent (€)"],
        [list(map(str, row)) for row in zip(_ROOMS, seats, rents, strict=True)],
    )
    if form == "turned":
        header, *rows = map(list, zip(header, *rows, strict=True))
        header = ["", *header[1:]]
        rows[0][0], rows[1][0] = "Seats", "Rent"
        rows = [
            rows[0],
            [rows[1][0], *(f"€{cell}" for cell in rows[1][1:])],
            ["Floor space", *(f"{s * 2} m²" for s in seats)],
        ]
    width = max(len(cell) for row in (header, *rows) for cell in row)
    lines = [" | ".join(cell.ljust(width) for cell in row) for row in (header, *rows)]
    rule = "-" * width
    if form in {"markdown", "turned"}:
        lines.insert(1, " | ".join([rule] * len(header)))
        text = "\n".join(f"| {line} |" for line in lines)
    elif form == "org":
        lines.insert(1, "-+-".join([rule] * len(header)))
        text = "\n".join(f"| {line} |" if at != 1 else f"|-{line}-|" for at, line in enumerate(lines))
    elif form == "grid":
        border = "+-" + "-+-".join([rule] * len(header)) + "-+"
        below = border.replace("-", "=")
        text = "\n".join([border, f"| {lines[0]} |", below, *(f"| {it} |\n{border}" for it in lines[1:])])
    else:
        border = "├─" + "─┼─".join(["─" * width] * len(header)) + "─┤"
        text = "\n".join(
            [f"│ {lines[0].replace('|', '│')} │", border, *(f"│ {it.replace('|', '│')} │" for it in lines[1:])]
        )
    suffix = {"org": "org", "grid": "rst", "box": "txt"}.get(form, "md")
    (folder / f"rooms.{suffix}").write_text(f"Rooms to let\n\n{text}\n", encoding="utf-8")
    most, least = _ROOMS[seats.index(max(seats))], _ROOMS[rents.index(min(rents))]
    yield Question("row", "Which room has the most seats?", most)
    yield Question("row", "room with the most seats", most)
    yield Question("row", "which room is the cheapest?", least)
    for at in random.sample(range(len(_ROOMS)), 2):
        yield Question("cell", f"How many seats does {_ROOMS[at]} have?", str(seats[at]))


def write_project(folder: Path, random: Random) -> Iterator[Question]:
    """Write a page of commands and two changelogs, and yield questions about them."""
    blocks = [f"{line}:\n\n```sh\n{command}\n```\n" for line, _, command in _COMMANDS]
    (folder / "README.md").write_text("# Kestrel\n\n" + "\n".join(blocks), encoding="utf-8")
    for _, question, command in _COMMANDS:
        yield Question("command", question, command)
    changes = random.sample(_CHANGES, len(_CHANGES))
    for at, name, form in (
        (0, "kestrel/CHANGELOG.md", "## {v} - {d}\n\n- It {c}\n"),
        (3, "heron/NEWS.txt", "Version {v} ({d})\n- {c}\n"),
    ):
        (folder / name).parent.mkdir()
        versions = [(f"{2 + at}.{minor}.0", f"2025-0{minor + 1}-1{at}", changes[at + minor]) for minor in range(3)]
        text = "\n".join(form.format(v=version, d=day, c=change) for version, day, (change, _) in reversed(versions))
        (folder / name).write_text(f"{'# Changelog' if at == 0 else 'News'}\n\n{text}", encoding="utf-8")
        for version, day, (change, asked) in versions:
            yield Question("release", f"which version {asked}?", version)
            yield Question("release", f"when was {version} released?", day)
            yield Question("release", f"what changed in {version}?", change)
        yield Question("other release", f"what changed in {2 + at}.7.0?", None)


def main() -> None:
    """Run the command line."""
    names = (_WEEKDAYS, tuple(day[:3] for day in _WEEKDAYS))
    run(
        __doc__ or "",
        [
            *(partial(write_log, form=form) for form in _FORMS),
            write_fields,
            *(partial(write_hours, names=days) for days in names),
            *(partial(write_table, form=form) for form in ("markdown", "org", "grid", "box", "turned")),
            write_project,
        ],
    )


if __name__ == "__main__":
    main()
