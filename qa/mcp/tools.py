"""The tools of the server, and the schemas of their arguments and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import mcp_types as types

from corpus.errors import UsageError
from qa.explore.parameters import FILTERS, PLACE, QUESTION, TOPICS, K, Parameter, must_be
from qa.explore.schemas import Schemas, body_schema

_Schema = dict[str, Any]

# Name (also of the command whose `--json` object it returns), title, description and arguments.
_TOOLS: tuple[tuple[str, str, str, tuple[Parameter, ...]], ...] = (
    (
        "ask",
        "Answer a question",
        "Answer a question from the documents, word for word, with the passages that say so. `found` is false if "
        "they do not answer it: then the passages are only the closest. Cite `source.path` with its lines or page.",
        (QUESTION, K, *FILTERS),
    ),
    (
        "search",
        "Search passages",
        "The passages that match a query best, without an answer: for reading around a subject.",
        (replace(QUESTION, name="query", description="A question, or words to look for."), K, *FILTERS),
    ),
    (
        "show",
        "Read a place",
        "The text of a citation with the lines around it, or of a whole document, and whether the file has changed "
        "since it was indexed.",
        (PLACE,),
    ),
    ("status", "State of the index", "What is indexed, what was skipped and why, and what has changed since.", ()),
    (
        "similar",
        "More like this",
        "The passages most like a place, a document or a text, by meaning.",
        (replace(PLACE, description=f"{PLACE.description[:-1]}; or any text."), K, *FILTERS),
    ),
    (
        "topics",
        "What it is about",
        "The topics of the collection on two levels, with their most central passages; slow the first time.",
        (TOPICS, *FILTERS),
    ),
)
_HINTS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def tools(collections: Sequence[str]) -> dict[str, types.Tool]:
    """Return the tools by name, each with a required argument `collection` if there are several collections."""
    schema = {"type": "string", "enum": list(collections)}
    collection = (Parameter("collection", "Which collection.", schema, required=True),) if len(collections) > 1 else ()
    return {
        name: types.Tool(
            name=name,
            title=title,
            description=description,
            input_schema=_input_schema((*parameters, *collection)),
            output_schema=_output_schema(name),
            annotations=_HINTS,
        )
        for name, title, description, parameters in _TOOLS
    }


def _input_schema(parameters: Sequence[Parameter]) -> _Schema:
    """Return the schema of a tool's arguments; an argument that may be repeated is a text or a list."""
    properties = {
        parameter.name: {
            **({"type": ["string", "array"], "items": parameter.schema} if parameter.repeated else parameter.schema),
            "description": parameter.description,
        }
        for parameter in parameters
    }
    required = [parameter.name for parameter in parameters if parameter.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _output_schema(name: str) -> _Schema:
    """Return the self-contained schema of a tool's result."""
    schemas = Schemas("#/$defs/")
    body = body_schema(name, schemas)
    return {**body, "$defs": schemas.definitions} if schemas.definitions else body


def _problem(tool: types.Tool, error: Any) -> str:
    """Return what is wrong with the arguments of a tool, in our words."""
    properties = tool.input_schema["properties"]
    if error.validator == "required":
        return f"{next(name for name in error.validator_value if name not in error.instance)} is missing."
    if error.validator == "additionalProperties":
        unknown = next(name for name in error.instance if name not in properties)
        return f"no parameter {unknown!r}. Known: {', '.join(properties) or 'none'}."
    name = error.absolute_path[0]
    return f"{name} is empty." if error.instance == "" else f"{name} must be {must_be(properties[name])}."


def check_arguments(tool: types.Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by the names that collections use; raise UsageError if one is invalid or unknown."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - not needed to start
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - as above

    error = best_match(Draft202012Validator(tool.input_schema).iter_errors(dict(arguments)))
    if error is not None:
        raise UsageError(_problem(tool, error))
    # In JSON Schema, 5.0 is an integer.
    values = {name: int(value) if isinstance(value, float) else value for name, value in arguments.items()}
    return {"question" if name == "query" else name: value for name, value in values.items()}
