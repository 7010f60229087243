"""JSON and JSON lines: each object is a record and a page, and also a document if there are several."""

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


def read(path: str, data: bytes) -> Extracted:
    """Read JSON or JSON lines; see `corpus.readers`."""
    text, note = decode_lines(data)
    text = text.removeprefix("\ufeff")
    is_lines = not path.lower().endswith(".json")
    values, invalid = _parse_lines(text) if is_lines else (_parse(text), [])
    if invalid:
        plural = f"{len(invalid):,} lines are not valid JSON and were left out, starting with line {invalid[0]:,}"
        message = f"line {invalid[0]:,} is not valid JSON and was left out" if len(invalid) == 1 else plural
        note = f"{note}; {message}" if note else message
    title = ""
    first = 1
    if isinstance(values, dict):
        # An object around a list of records; its other fields become the first record.
        titles = (values.get("title"), values.get("name"))
        title = next((name for name in titles if name and isinstance(name, str)), "")
        key = next((key for key, field in values.items() if _is_record_list(field)), None)
        other_fields = {name: field for name, field in values.items() if name != key}
        first = 2 if other_fields else 1
        values = [*([other_fields] if other_fields else []), *(values[key] if key is not None else [])]
    elif not isinstance(values, list):
        values = [values]
    records = [(number, fields) for number, record in enumerate(values, 1) if (fields := list(_flatten(record)))]
    builder = DocumentBuilder()
    add_records(builder, records, pages=True, documents_from=first if _are_objects(values[first - 1 :]) else None)
    return builder.build("application/jsonl" if is_lines else "application/json", note=note, title=title)


def _parse(text: str) -> Any:
    """Parse a whole file, or return [] if it is blank; JSON lines in a file named .json are accepted."""
    try:
        return _load(text) if text.strip() else []
    except ValueError as error:
        with suppress(Unreadable):
            values, invalid = _parse_lines(text)
            if not invalid:
                return values
        raise Unreadable("damaged: not valid JSON") from error


def _load(text: str) -> Any:
    """Parse a value; integers stay text, as Python refuses very long ones."""
    return json.loads(text, parse_int=str)


def _parse_lines(text: str) -> tuple[list[Any], list[int]]:
    """Parse one value per line, None for a blank or invalid line, so that records have the numbers of their lines.

    Returns:
        The values, and the numbers of the invalid lines.

    Raises:
        Unreadable: Half of the lines are invalid, or more.
    """
    values: list[Any] = []
    invalid: list[int] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        value = None
        try:
            value = _load(line) if line.strip() else None
        except ValueError:
            invalid.append(number)
        values.append(value)
    if invalid and 2 * len(invalid) >= sum(map(bool, map(str.strip, lines))):
        raise Unreadable(f"damaged: line {invalid[0]} is not valid JSON")
    return values, invalid


def _are_objects(values: list[Any]) -> bool:
    parsed = [value for value in values if value is not None]
    return bool(parsed) and all(isinstance(value, dict) for value in parsed)


def _is_record_list(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value)


def _flatten(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record, nested ones by their path: "author.name"."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict):
            fields = [(f"{name}.{key}" if name else str(key), child) for key, child in value.items()]
            pending.extend(reversed(fields))
        elif isinstance(value, list) and any(isinstance(child, dict | list) for child in value):
            pending.extend((name, child) for child in reversed(value))
        elif text := _as_text(value):
            yield name, text


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
