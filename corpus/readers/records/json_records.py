"""JSON and JSON lines: each object is a record and a page; of several objects, each is also a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import add_records
from corpus.text.encodings import decode_lines
from corpus.types import Extracted

_MAX_FIELDS = 2000


def read(path: str, data: bytes) -> Extracted:
    """Read JSON or JSON lines; see `corpus.readers`."""
    text, note = decode_lines(data)
    text = text.removeprefix("\ufeff")
    is_lines = not path.lower().endswith(".json")
    value, bad = _parse_lines(text) if is_lines else (_parse(text), [])
    if bad:
        plural = f"{len(bad):,} lines are not valid JSON and were left out, starting with line {bad[0]:,}"
        message = f"line {bad[0]:,} is not valid JSON and was left out" if len(bad) == 1 else plural
        note = f"{note}; {message}" if note else message
    title = ""
    first = 1
    if isinstance(value, dict):
        # An object around a list of records: its other fields are the first record.
        title = str(value.get("title") or value.get("name") or "")
        key = next((key for key, inner in value.items() if _is_records(inner)), None)
        rest = {name: inner for name, inner in value.items() if name != key}
        first = 2 if rest else 1
        value = [*([rest] if rest else []), *(value[key] if key is not None else [])]
    elif not isinstance(value, list):
        value = [value]
    records = [(number, fields) for number, record in enumerate(value, 1) if (fields := list(_fields(record)))]
    builder = DocumentBuilder()
    add_records(builder, records, pages=True, documents_from=first if _are_objects(value[first - 1 :]) else None)
    return builder.build("application/jsonl" if is_lines else "application/json", note=note, title=title)


def _parse(text: str) -> Any:
    """Parse a whole file, [] if it is blank; JSON lines in a file named .json are accepted."""
    try:
        return json.loads(text) if text.strip() else []
    except ValueError as error:
        with suppress(Unreadable):
            values, bad = _parse_lines(text)
            if not bad:
                return values
        raise Unreadable("damaged: not valid JSON") from error


def _parse_lines(text: str) -> tuple[list[Any], list[int]]:
    """Parse one value per line, None if it is blank or invalid, so that records are numbered like their lines.

    Returns:
        The values, and the numbers of the invalid lines.

    Raises:
        Unreadable: Half of the lines are invalid, or more.
    """
    values: list[Any] = []
    bad: list[int] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        value = None
        try:
            value = json.loads(line) if line.strip() else None
        except ValueError:
            bad.append(number)
        values.append(value)
    if bad and 2 * len(bad) >= sum(map(bool, map(str.strip, lines))):
        raise Unreadable(f"damaged: line {bad[0]} is not valid JSON")
    return values, bad


def _are_objects(values: list[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, dict) for value in given)


def _is_records(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value)


def _fields(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record, nested ones by their path: "author.name"."""
    pending: list[tuple[str, Any]] = [("", value)]
    count = 0
    while pending and count < _MAX_FIELDS:
        name, value = pending.pop()
        if isinstance(value, dict):
            inner = [(f"{name}.{key}" if name else str(key), item) for key, item in value.items()]
            pending.extend(reversed(inner))
        elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            pending.extend((name, item) for item in reversed(value))
        elif text := _as_text(value):
            count += 1
            yield name, text


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
