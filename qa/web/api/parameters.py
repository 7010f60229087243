"""Parses the parameters in the query of a URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any
from urllib.parse import parse_qsl

from corpus.errors import UsageError
from qa.explore.parameters import Parameter, must_be

# Name-value pairs in a query string.
_MAX_PAIRS = 100


def read_parameters(query: bytes, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the values of a query by name, leaving out empty ones, which forms send.

    Raises:
        UsageError: It is not UTF-8, or has an unknown, missing, repeated or invalid parameter.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    values: dict[str, list[str]] = {}
    for name, value in _pairs(query):
        if name not in by_name:
            raise UsageError(f"no parameter {name!r}.{_suggestion(name, list(by_name))}")
        if value.strip():
            values.setdefault(name, []).append(value)
    for name, parameter in by_name.items():
        if parameter.required and name not in values:
            raise UsageError(f"the {name} is empty." if name == "question" else f"{name} is missing.")
    return {name: _value(by_name[name], texts) for name, texts in values.items()}


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PAIRS, separator="&"
        )
    except UnicodeError as error:
        raise UsageError("the query string is not valid UTF-8.") from error
    except ValueError as error:
        raise UsageError(f"more than {_MAX_PAIRS} parameters.") from error


def _suggestion(name: str, known: list[str]) -> str:
    similar = get_close_matches(name[:100], known, 1)
    return f" Did you mean {similar[0]}?" if similar else f" Known: {', '.join(known) or 'none'}."


def _value(parameter: Parameter, values: list[str]) -> Any:
    if len(values) > 1 and not parameter.repeated:
        raise UsageError(f"{parameter.name} was given {len(values)} times; it takes one value.")
    try:
        parsed = tuple(_parse(value, parameter.schema) for value in values)
    except ValueError as error:
        raise UsageError(f"{parameter.name} must be {error}.") from error
    return parsed if parameter.repeated else parsed[0]


def _parse(text: str, schema: Mapping[str, Any]) -> Any:
    """Parse a text by a JSON Schema; ValueError says what it must be."""
    if schema["type"] == "integer":
        # `int` alone accepts "1_0", and digits of all scripts.
        is_number = text.isascii() and text.isdecimal() and len(text) < 10
        if is_number and schema["minimum"] <= int(text) <= schema["maximum"]:
            return int(text)
    elif schema["type"] == "boolean":
        if text in ("true", "false"):
            return text == "true"
    elif text in schema.get("enum", (text,)):
        return text
    raise ValueError(must_be(schema))
