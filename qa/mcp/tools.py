"""The tools of the server, and the schemas of their arguments and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types

from corpus.errors import UsageError
from qa.answer.results import MAX_HITS
from qa.explore.schemas import Schemas, body_schema
from qa.retrieval.question_text import LONGEST_QUESTION

_Schema = dict[str, Any]

_QUESTION: _Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_QUESTION,
    "description": "In plain language, and complete: name who, what and when.",
}
_K: _Schema = {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "description": "How many passages; 5 by default."}
_TEXTS: _Schema = {"type": ["string", "array"], "items": {"type": "string"}}
_FILTERS: dict[str, _Schema] = {
    "path": {
        **_TEXTS,
        "description": "Only files whose path matches this pattern, or one of several, in .gitignore syntax: *.pdf.",
    },
    "type": {**_TEXTS, "description": "Only files of this type, or of one of several: pdf, or text/markdown."},
    "since": {"type": "string", "description": "Only files changed since a day, month or year: 2024-05."},
    "until": {"type": "string", "description": "Only files last changed up to a day, month or year."},
    "where": {
        **_TEXTS,
        "description": "Only documents with this field: author=Ida; of several, all must match.",
    },
}
_PLACE: _Schema = {
    "type": "string",
    "minLength": 1,
    "description": "A citation: path:line, path:first-last, 'path, p. 3', 'path § heading' or a passage id; or a path.",
}
_TOPICS: _Schema = {
    "type": "integer", "minimum": 1, "maximum": 200,
    "description": "How many; by default, as many as the data suggest.",
}  # fmt: skip


# Name (also that of the command whose `--json` object it returns), title, description and arguments.
_TOOLS: tuple[tuple[str, str, str, dict[str, _Schema]], ...] = (
    (
        "ask",
        "Answer a question",
        "Answer a question from the documents, word for word, with the passages that say so. `found` is false if "
        "they do not answer it: then the passages are only the closest. Cite `source.path` with its lines or page.",
        {"question": _QUESTION, "k": _K, **_FILTERS},
    ),
    (
        "search",
        "Search passages",
        "The passages that match a query best, without an answer: for reading around a subject.",
        {"query": {**_QUESTION, "description": "A question, or words to look for."}, "k": _K, **_FILTERS},
    ),
    (
        "show",
        "Read a place",
        "The text of a citation with the lines around it, or of a whole document, and whether the file has changed "
        "since it was indexed.",
        {"place": _PLACE},
    ),
    ("status", "State of the index", "What is indexed, what was skipped and why, and what has changed since.", {}),
    (
        "similar",
        "More like this",
        "The passages most like a place, a document or a text, by meaning.",
        {"place": {**_PLACE, "description": f"{_PLACE['description'][:-1]}; or any text."}, "k": _K, **_FILTERS},
    ),
    (
        "topics",
        "What it is about",
        "The topics of the collection on two levels, with their most central passages; slow the first time.",
        {"n": _TOPICS, **_FILTERS},
    ),
)
_REQUIRED = ("question", "query", "place", "collection")
_READS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def tools(collections: Sequence[str]) -> dict[str, types.Tool]:
    """Return the tools by name, each with a required argument `collection` if there are several collections."""
    enum = {"type": "string", "enum": list(collections), "description": "Which collection."}
    which: dict[str, _Schema] = {"collection": enum} if len(collections) > 1 else {}
    return {
        name: types.Tool(
            name=name,
            title=title,
            description=description,
            input_schema={
                "type": "object",
                "properties": {**arguments, **which},
                "required": [argument for argument in (*arguments, *which) if argument in _REQUIRED],
                "additionalProperties": False,
            },
            output_schema=_output_schema(name),
            annotations=_READS,
        )
        for name, title, description, arguments in _TOOLS
    }


def _output_schema(name: str) -> _Schema:
    """Return the self-contained schema of a tool's result."""
    schemas = Schemas("#/$defs/")
    body = body_schema(name, schemas)
    return {**body, "$defs": schemas.found} if schemas.found else body


def check_arguments(tool: types.Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as the collection names them; invalid or unknown ones are a UsageError."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - not needed to start
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - as above

    error = best_match(Draft202012Validator(tool.input_schema).iter_errors(dict(given)))
    if error is not None:
        where = ".".join(map(str, error.absolute_path))
        raise UsageError(f"{where}: {error.message}" if where else error.message)
    # In JSON Schema, 5.0 is an integer.
    values = {name: int(value) if isinstance(value, float) else value for name, value in given.items()}
    return {"question" if name == "query" else name: value for name, value in values.items()}
