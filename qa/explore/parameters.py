"""The parameters of requests, defined once for the HTTP API and the MCP server, with their JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qa.answer.results import LONGEST_QUESTION, MAX_HITS, Mode
from qa.require import either

MAX_TOPICS = 200
_TEXT = {"type": "string"}
_BOOLEAN = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a request.

    Attributes:
        name: Its name.
        description: What it means.
        schema: JSON Schema of its value, which the API also parses it by.
        required: Whether a request must have it.
        repeated: Whether it may have several values.
        example: An example value.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    required: bool = False
    repeated: bool = False
    example: str = ""


def must_be(schema: Mapping[str, Any]) -> str:
    """Return in words what a value must be: "a number from 1 to 200"."""
    if schema["type"] == "integer":
        return f"a number from {schema['minimum']:,} to {schema['maximum']:,}"
    limit = f" of at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""
    return "true or false" if schema["type"] == "boolean" else either(schema.get("enum", (f"a text{limit}",)))


QUESTION = Parameter(
    "question",
    "In plain language, and complete: name who, what and when.",
    {**_TEXT, "minLength": 1, "maxLength": LONGEST_QUESTION},
    required=True,
    example="who gave the keynote?",
)
K = Parameter(
    "k",
    "How many passages to return; 5, unless the collection's settings say otherwise.",
    {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
)
FILTERS = (
    Parameter(
        "path",
        "Only files whose path matches this pattern, or one of several, in .gitignore syntax: *.pdf.",
        _TEXT,
        repeated=True,
    ),
    Parameter("type", "Only files of this type, or of one of several: pdf, or text/markdown.", _TEXT, repeated=True),
    Parameter("since", "Only files changed since a day, month or year, such as 2024-05.", _TEXT),
    Parameter("until", "Only files last changed up to a day, month or year.", _TEXT),
    Parameter("where", "Only documents with this field: author=Ida; of several, all must match.", _TEXT, repeated=True),
)
MODE = Parameter(
    "mode",
    "Search by words and meaning (hybrid), meaning (dense) or words (keyword).",
    {"type": "string", "enum": [mode.value for mode in Mode]},
)
RERANK = Parameter("rerank", "Whether to re-rank the first passages; false is faster and less accurate.", _BOOLEAN)
PLACE = Parameter(
    "place",
    "A citation: path:line, path:first-last, 'path, p. 3', 'path § heading' or a passage id; or a path.",
    {**_TEXT, "minLength": 1},
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
    "n",
    "How many topics; by default, as many as the data suggest.",
    {"type": "integer", "minimum": 1, "maximum": MAX_TOPICS},
)
