"""Write out the rows of tables, and records of `Name: value` lines, as sentences, each with its subject."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import NamedTuple

from index import STOP_WORDS
from qa.language.spans import Span
from qa.structure.tables import tables
from qa.tables.columns import NO, YES

Row = tuple[tuple[str, str], ...]

_FIELD = r"[^\s:|][^\n:|]{0,39}: (?:(?!: ).)+"
_RECORD = re.compile(rf"^{_FIELD}(?:\n{_FIELD})+$", re.MULTILINE)
# A record has no subject if its first value is an amount, a time, a sentence or long: "Monday: 9-17".
_NO_SUBJECT = re.compile(r"\d+[^\w\n]|.{40}|.*[.!?]$")
# 0 is compared as a number.
_DENIED = (NO | {"-", "–", "—", "none"}) - {"0"}
YES_OR_NO = YES | _DENIED


class WrittenOut(NamedTuple):
    """A passage with its rows written out.

    Attributes:
        text: The passage with sentences such as "Room. Oak, Oak 12 seats, Oak no lift." in the place of its rows.
        rows: The name of the column and the cell, for each cell of each row.
        rest: The passage without its rows.
    """

    text: str
    rows: tuple[Row, ...]
    rest: str


def write_out(text: str, context: str) -> WrittenOut:
    """Write out the rows of a passage; see `qa.structure.tables` for the context."""
    parts: list[str] = []
    rests: list[str] = []
    all_rows: list[Row] = []
    done = 0
    for (start, end), rows in _tables(text, context) or _records(text):
        rests.append(text[done:start])
        parts += (rests[-1], *map(_sentence, rows))
        all_rows += rows
        done = end
    return WrittenOut("".join((*parts, text[done:])), tuple(all_rows), "\n".join((*rests, text[done:])))


def _tables(text: str, context: str) -> list[tuple[Span, list[Row]]]:
    written = []
    for table in (table for table in tables(text, context) if table.rows):
        rows = ([text[slice(*cell)] for cell in row] for row in table.rows)
        named = [tuple(zip_longest(table.columns[: len(row)], row, fillvalue="")) for row in rows]
        written.append((table.span, named))
    return written


def _records(text: str) -> list[tuple[Span, list[Row]]]:
    records = []
    for record in _RECORD.finditer(text):
        fields = [(name, value) for name, _, value in (line.partition(": ") for line in record[0].split("\n"))]
        subject = [("", "")] if _NO_SUBJECT.match(fields[0][1]) else []
        records.append((record.span(), [(*subject, *fields)]))
    return records


def _sentence(row: Row) -> str:
    """Write out a row; a cell that is only a yes or no affirms or denies the name of its column of all names in it."""
    (first, subject), *cells = row
    proper = (cell for _, cell in cells if cell[:1].isalpha() and cell.istitle())
    names = " ".join((subject, *(cell for cell in proper if cell.lower() not in YES_OR_NO)))
    clauses = [names]
    for name, cell in ((name.lower(), cell.rstrip(".")) for name, cell in cells if cell):
        if cell.lower() in YES_OR_NO:
            clauses.append(f"{names} {'no' if cell.lower() in _DENIED else ''} {name}")
        else:
            # Oak from Hull, but Oak 12 seats.
            clauses.append(f"{subject} {name} {cell}" if name in STOP_WORDS else f"{subject} {cell} {name}")
    return f"{first}. {', '.join(clauses)}.\n"
