"""JSON and JSON lines: an object is a record with its fields, and counts as a page; of several, as a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import add_records
from corpus.text.encodings import decode, require_few_lines
from corpus.types import Extracted

_MOST_FIELDS = 2000


def read(path: str, data: bytes) -> Extracted:
    """Read JSON or JSON lines; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    text = text.removeprefix("\ufeff")
    lines = not path.lower().endswith(".json")
    found = _lines(text) if lines else _whole(text)
    title = ""
    first = 1
    if isinstance(found, dict):
        # An object around a list of records: what else it says of them comes first.
        title = str(found.get("title") or found.get("name") or "")
        key = next((key for key, value in found.items() if _is_records(value)), None)
        rest = {name: value for name, value in found.items() if name != key}
        first = 2 if rest else 1
        found = [*([rest] if rest else []), *(found[key] if key is not None else [])]
    elif not isinstance(found, list):
        found = [found]
    records = [(number, record) for number, value in enumerate(found, 1) if (record := list(_fields(value)))]
    builder = DocumentBuilder()
    add_records(builder, records, pages=True, documents_from=first if _are_objects(found[first - 1 :]) else None)
    return builder.build("application/jsonl" if lines else "application/json", note=note, title=title)


def _whole(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else []
    except ValueError as error:
        try:
            return _lines(text)
        except Unreadable:
            raise Unreadable("damaged: no JSON") from error


def _lines(text: str) -> list[Any]:
    """A value a line; a blank line counts, so that records have the numbers of their lines."""
    found: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            found.append(json.loads(line) if line.strip() else None)
        except ValueError as error:
            raise Unreadable(f"damaged: no JSON in line {number}") from error
    return found


def _are_objects(found: list[Any]) -> bool:
    """Whether there are values and all of them are objects; None stands for a blank line."""
    values = [value for value in found if value is not None]
    return bool(values) and all(isinstance(value, dict) for value in values)


def _is_records(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(one, dict) for one in value)


def _fields(value: Any) -> Iterator[tuple[str, str]]:
    """The fields of a record, those inside others by their path: "author.name"."""
    pending: list[tuple[str, Any]] = [("", value)]
    count = 0
    while pending and count < _MOST_FIELDS:
        name, value = pending.pop()
        if isinstance(value, dict):
            inner = [(f"{name}.{key}" if name else str(key), one) for key, one in value.items()]
            pending.extend(reversed(inner))
        elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
            pending.extend((name, one) for one in reversed(value))
        elif text := _text(value):
            count += 1
            yield name, text


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
