"""The parameters of requests, defined once for parsing and for the API's description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import parse_qsl

from corpus.errors import UsageError
from qa.answer.results import MAX_HITS, Mode
from qa.require import either
from qa.retrieval.question_text import LONGEST_QUESTION

# Name-value pairs in one query string.
_MOST_PAIRS = 100


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the query of a URL.

    Attributes:
        name: Its name in the URL.
        about: What it means.
        schema: JSON Schema of its value, by which it is also parsed; lengths are checked later.
        required: Whether it must be given.
        repeated: Whether it may be given several times; the values become a tuple.
        example: An example value.
    """

    name: str
    about: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    required: bool = False
    repeated: bool = False
    example: str = ""


def read_parameters(query: bytes, known: Sequence[Parameter]) -> dict[str, Any]:
    """Return the values of a query by name, leaving out empty ones, which forms send.

    Raises:
        UsageError: It is not UTF-8, or has an unknown, missing, repeated or invalid parameter.
    """
    by_name = {each.name: each for each in known}
    given: dict[str, list[str]] = {}
    for name, value in _pairs(query):
        if name not in by_name:
            raise UsageError(f"no parameter {name!r}.{_suggestion(name, list(by_name))}")
        if value.strip():
            given.setdefault(name, []).append(value)
    for each in known:
        if each.required and each.name not in given:
            raise UsageError(f"the {each.name} is empty." if each.name == "question" else f"{each.name} is missing.")
    return {name: _value(by_name[name], values) for name, values in given.items()}


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PAIRS, separator="&"
        )
    except UnicodeError as error:
        raise UsageError("the query string is not valid UTF-8.") from error
    except ValueError as error:
        raise UsageError(f"more than {_MOST_PAIRS} parameters.") from error


def _suggestion(name: str, known: list[str]) -> str:
    close = get_close_matches(name[:100], known, 1)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known) or 'none'}."


def _value(parameter: Parameter, values: list[str]) -> Any:
    if len(values) > 1 and not parameter.repeated:
        raise UsageError(f"{parameter.name} was given {len(values)} times; it takes one value.")
    try:
        parsed = tuple(_parsed(value, parameter.schema) for value in values)
    except ValueError as error:
        raise UsageError(f"{parameter.name} must be {error}.") from error
    return parsed if parameter.repeated else parsed[0]


def _parsed(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value that a text has by a JSON Schema; the ValueError says what it must be."""
    if schema["type"] == "integer":
        least, most = schema["minimum"], schema["maximum"]
        # `int` alone accepts "1_0", and digits of all scripts.
        if text.isascii() and text.isdecimal() and len(text) < 10 and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"a number from {least:,} to {most:,}")
    if schema["type"] == "boolean":
        if text not in ("true", "false"):
            raise ValueError("true or false")
        return text == "true"
    if "enum" in schema and text not in schema["enum"]:
        raise ValueError(f"{either(schema['enum'])}, not {text[:50]!r}")
    return text


_BOOLEAN = {"type": "boolean"}
QUESTION = Parameter(
    "question",
    f"In plain language; {LONGEST_QUESTION:,} characters at most.",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_QUESTION},
    required=True,
    example="who gave the keynote?",
)
K = Parameter(
    "k",
    "How many passages to return; 5, unless the collection's settings say otherwise.",
    {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
)
FILTERS = (
    Parameter("path", "Only files whose path matches, in the syntax of .gitignore; repeatable.", repeated=True),
    Parameter("type", "Only files of a type, such as pdf or text/markdown; repeatable.", repeated=True),
    Parameter("since", "Only files changed since a day, month or year, such as 2024-05."),
    Parameter("until", "Only files last changed up to a day, month or year."),
    Parameter("where", "Only documents with a field, such as author=Ida; if repeated, all must match.", repeated=True),
)
MODE = Parameter(
    "mode",
    "Search by words and meaning (hybrid), meaning (dense) or words (keyword).",
    {"type": "string", "enum": [mode.value for mode in Mode]},
)
RERANK = Parameter("rerank", "Whether to re-rank the first passages; false is faster and less accurate.", _BOOLEAN)
PLACE = Parameter(
    "place",
    'A citation: "path:line", "path:first-last", "path, p. 3", "path § heading" or a passage id; or a path.',
    required=True,
    example="notes/talks.md:9-14",
)
CONTEXT = Parameter(
    "context", "Lines before and after it; 3 by default.", {"type": "integer", "minimum": 0, "maximum": 10_000}
)
DOCUMENTS = Parameter(
    "documents", "Return whole documents and records, such as abstracts, instead of passages.", _BOOLEAN
)
TOPIC = Parameter("topic", "Only passages of this topic, by its id.", {"type": "string", "maxLength": 20})
TOPICS = Parameter(
    "n", "How many topics; by default, as many as the data suggest.", {"type": "integer", "minimum": 1, "maximum": 200}
)
