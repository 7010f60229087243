"""Calendars (iCalendar) and contact cards (vCard): each entry is a document, its fields in plain words."""

from __future__ import annotations

import quopri
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from corpus.readers.assemble.document_builder import DocumentBuilder, count_visible, one_line, tidy_lines
from corpus.readers.plaintext import plain
from corpus.text.encodings import file_lines
from corpus.types import Extracted

# Name, parameters and value, with an optional group in front: `item1.TEL;TYPE="work":+49 30 123456`.
_LINE = re.compile(r'(?:[\w-]+\.)?([\w-]+)((?:;[^":;]*(?:"[^"]*"[^":;]*)*)*):(.*)')
_TIME = re.compile(r"(?P<year>\d{4}|--)-?(?P<month>\d\d)-?(?P<day>\d\d)(?:T(?P<h>\d\d):?(?P<m>\d\d)[\d:]*(?P<z>Z?))?")
_TYPES = re.compile(r"\b(cell|fax|home|mobile|pager|work)\b")
_PEOPLE = ("ORGANIZER", "ATTENDEE")
# The kinds of entry, with the label of their titles.
_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal", "VCARD": "Name"}
# In the order in which they are shown.
_LABELS = {
    "DUE": "Due", "COMPLETED": "Completed", "LOCATION": "Where", "ORGANIZER": "Organiser", "ATTENDEE": "With",
    "STATUS": "Status", "NICKNAME": "Nickname", "ORG": "Organisation", "TITLE": "Job", "ROLE": "Role",
    "EMAIL": "Email", "TEL": "Phone", "ADR": "Address", "BDAY": "Birthday", "CATEGORIES": "Categories",
    "URL": "Link", "DESCRIPTION": "Description", "NOTE": "Note",
}  # fmt: skip
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_PLACES = {"": "", "1": "the first ", "2": "the second ", "3": "the third ", "4": "the fourth ", "-1": "the last "}
_DAYS = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
    "SU": "Sunday",
}  # fmt: skip
_DURATION = re.compile(r"\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:\d+S)?)?")
# Apple's year for birthdays without a year.
_NO_YEAR = 1604


class _Field(NamedTuple):
    """A line of an entry, unfolded."""

    name: str
    parameters: str
    value: str

    def parameter(self, name: str) -> str:
        match = re.search(rf';{name}=("[^"]*"|[^";:]*)', self.parameters, re.IGNORECASE)
        return match[1].strip('"') if match else ""

    @property
    def parts(self) -> list[str]:
        """The parts between semicolons, with escaped characters restored."""
        value = self.value
        if _is_quoted(self.parameters):
            with suppress(LookupError, UnicodeError):  # an unknown encoding, or one that is not for text
                value = quopri.decodestring(value.encode()).decode(self.parameter("CHARSET") or "utf-8", "replace")
        parts = re.findall(r"(?:^|;)((?:\\.|[^;])*)", value, re.DOTALL)
        return [re.sub(r"\\(.)", lambda m: "\n" if m[1] in "nN" else m[1], part).strip() for part in parts]

    @property
    def text(self) -> str:
        return re.sub(r"^(?:mailto|tel):", "", ";".join(self.parts), flags=re.IGNORECASE)


class _Time(NamedTuple):
    """A day, and optionally a clock time and its zone, as they are shown: ", 14:30" and " (Europe/Berlin)"."""

    day: date
    clock: str = ""
    zone: str = ""

    @property
    def words(self) -> str:
        """The day and the clock time: "Monday 4 March 2024, 14:30"."""
        day = self.day
        return f"{day.day} {day:%B}" if day.year == _NO_YEAR else f"{day:%A} {day.day} {day:%B} {day.year}{self.clock}"


class _Entry(NamedTuple):
    """An event, task, journal entry or card, with its lines in the file."""

    kind: str
    lines: tuple[int, int]
    fields: dict[str, list[_Field]]


def read(path: str, data: bytes) -> Extracted:
    """Read a calendar or contact cards; see `corpus.readers`. A file without entries is plain text."""
    lines, note = file_lines(data)
    fields = list(_unfolded_fields(lines))
    entries = list(_parse_entries(fields))
    if not entries:
        return plain.read(path, data)
    builder = DocumentBuilder()
    for entry in entries:
        _add(builder, entry)
    name = next((field.text for _, field in fields if field.name == "X-WR-CALNAME"), "")
    return builder.build("text/vcard" if entries[0].kind == "VCARD" else "text/calendar", note=note, title=name)


def _is_quoted(parameters: str) -> bool:
    return "QUOTED-PRINTABLE" in parameters[:200].upper()


def _unfolded_fields(lines: Sequence[str]) -> Iterator[tuple[int, _Field]]:
    """Yield each field with the number of its first line; a line that begins with a blank continues the last line."""
    pending: list[str] = []
    start = 0
    for number, line in enumerate([*lines, ""], 1):
        is_soft = bool(pending) and pending[-1].endswith("=") and _is_quoted(pending[0])
        if is_soft:
            pending[-1:] = [pending[-1][:-1], line]
        elif pending and line.startswith((" ", "\t")):
            pending.append(line[1:])
        else:
            if match := _LINE.fullmatch("".join(pending)):
                yield start, _Field(match[1].upper(), match[2], match[3])
            pending, start = [line], number


def _parse_entries(fields: Iterable[tuple[int, _Field]]) -> Iterator[_Entry]:
    """Yield the entries, without nested ones, such as alarms; an entry without its end is left out."""
    open_kinds: list[str] = []
    first, entry_fields = 0, defaultdict[str, list[_Field]](list)
    for number, field in fields:
        kind = field.value.strip().upper()
        if field.name == "BEGIN" and kind in _KINDS:
            open_kinds, first, entry_fields = [kind], number, defaultdict(list)
        elif field.name == "BEGIN" and open_kinds:
            open_kinds.append(kind)
        elif field.name == "END" and open_kinds:
            kind = open_kinds.pop()
            if not open_kinds:
                yield _Entry(kind, (first, number), entry_fields)
        elif len(open_kinds) == 1:
            entry_fields[field.name].append(field)


def _add(builder: DocumentBuilder, entry: _Entry) -> None:
    kind, fields = _KINDS[entry.kind], entry.fields
    if names := fields.get("FN") or fields.get("SUMMARY"):
        title = one_line(names[0].text)
    else:  # family name, given name, further names, prefix and suffix
        name_parts = fields["N"][0].parts if "N" in fields else []
        title = one_line(" ".join(name_parts[at] for at in (3, 1, 2, 0, 4) if at < len(name_parts)))
    shown = [(kind, title), ("When", _time_range(fields)), ("Repeats", _repetition(fields)), *_labelled_fields(fields)]
    text = tidy_lines("\n".join(f"{label}: {value}" for label, value in shown if value))
    builder.begin_record(title)
    builder.section(1, title or kind)
    builder.block(text, lines=[(0, entry.lines[0]), (max(count_visible(text) - 1, 1), entry.lines[1])])


def _labelled_fields(fields: dict[str, list[_Field]]) -> Iterator[tuple[str, str]]:
    """Yield the fields other than title and time, each with its label; all guests are one field."""
    for name, label in _LABELS.items():
        named_fields = fields.get(name, [])
        if name in _PEOPLE:
            yield label, ", ".join(field.parameter("CN") or field.text for field in named_fields)
            continue
        for field in named_fields:
            types = ", ".join(dict.fromkeys(_TYPES.findall(field.parameters.lower())))
            yield f"{label} ({types})" if types else label, _field_value(field)


def _field_value(field: _Field) -> str:
    if field.name in ("BDAY", "DUE", "COMPLETED") and (time := _parse_time(field)):
        return time.words + time.zone
    if field.name == "STATUS":
        return field.text.lower().replace("confirmed", "")
    return ", ".join(filter(None, field.parts)) if field.name in ("ORG", "ADR") else field.text


def _parse_time(field: _Field | None) -> _Time | None:
    match = _TIME.fullmatch(field.value.strip()) if field else None
    if not field or not match:
        return None
    try:
        day = date(_NO_YEAR if match["year"] == "--" else int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return None
    zone = "UTC" if match["z"] else field.parameter("TZID")
    return _Time(day, f", {match['h']}:{match['m']}", f" ({zone})" if zone else "") if match["h"] else _Time(day)


def _time_range(fields: dict[str, list[_Field]]) -> str:
    """Return the time of an event: "Monday 4 March 2024, 14:30 to 15:15 (Europe/Berlin)"."""
    start, end = (_parse_time(next(iter(fields.get(name, ())), None)) for name in ("DTSTART", "DTEND"))
    if start and "DURATION" in fields:
        end = end or _add_duration(start, fields["DURATION"][0].value.strip())
    if start and end and not end.clock:  # an event of whole days ends on the day before its end in the file
        end = _Time(end.day - timedelta(days=1) if end.day > start.day else start.day)
    if start is None or end is None or start == end:
        return start.words + start.zone if start else ""
    until = end.clock.strip(", ") if end.clock and end.day == start.day else end.words
    return f"{start.words}{start.zone if start.zone != end.zone else ''} to {until}{end.zone}"


def _add_duration(start: _Time, duration: str) -> _Time | None:
    """Return the time a duration after another, such as "PT1H30M"; None if it is invalid."""
    if not (match := _DURATION.fullmatch(duration)):
        return None
    weeks, days, hours, minutes = (int(count or 0) for count in match.groups())
    try:
        clock = time.fromisoformat(start.clock.strip(", ") or "00:00")
        length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
        end = datetime.combine(start.day, clock) + length
    except (ValueError, OverflowError):
        return None
    return _Time(end.date(), f", {end:%H:%M}" if start.clock else "", start.zone)


def _repetition(fields: dict[str, list[_Field]]) -> str:
    """Return the repetition of an event: "every 2 weeks on Tuesday, Friday until Monday 4 March 2024"."""
    rule = dict(re.findall(r"(\w+)=([^;]*)", fields["RRULE"][0].value.upper())) if "RRULE" in fields else {}
    unit, interval = _UNITS.get(rule.get("FREQ", "")), rule.get("INTERVAL", "1")
    if unit is None:
        return ""
    until = _parse_time(_Field("UNTIL", "", rule.get("UNTIL", "")))
    every = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    # The second Tuesday is "2TU", or "TU" and the place 2.
    days = re.findall(r"(?:^|,)\+?(-?\d*)([A-Z]{2})", rule.get("BYSETPOS", "") + rule.get("BYDAY", ""))
    if len(days) > 1 and "BYSETPOS" in rule:
        days = []
    on = ", ".join(_PLACES[place] + _DAYS[day] for place, day in days if place in _PLACES and day in _DAYS)
    times = f", {rule['COUNT']} times" if "COUNT" in rule else ""
    return f"{every}{f' on {on}' if on else ''}{f' until {_Time(until.day).words}' if until else ''}{times}"
