"""JSON Schemas of what `--json` prints, derived from the result types, for the HTTP API and the MCP server."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from corpus.types import PageBox
from qa.answer.results import OPTIONAL, Hit, IndexInfo, Result, State
from qa.explore.results import Similar, Topics

Schema = dict[str, Any]
PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
}
COUNT: Schema = {"type": "integer"}
_VERSION: Schema = {"const": 1}
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
# Fields that may be absent.
_OPTIONAL = {
    **OPTIONAL, "Result": ("writing",), "Highlight": ("boxes",), "Similar": ("passages", "documents")
}  # fmt: skip
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_STATES: Schema = {"enum": [*(state.value for state in State), None]}


def body_schema(name: str, schemas: Schemas) -> Schema:
    """Return the schema of what a command prints with `--json`; "search" has only the passages of "ask"."""
    kinds: Mapping[str, Any] = {"ask": Result, "similar": Similar, "topics": Topics}
    if name in kinds:
        kind = kinds[name]
        return schemas.of_class(kind, _OPTIONAL.get(kind.__name__, ()), version=_VERSION)
    if name == "search":
        passages = {"type": "array", "items": schemas.of(Hit)}
        return object_of(version=_VERSION, question=PLAIN[str], passages=passages, index=schemas.of(IndexInfo))
    if name == "show":
        line = object_of(number={"type": ["integer", "null"]}, text=PLAIN[str], marked=PLAIN[bool])
        lines = {"type": "array", "items": line}
        return object_of(version=_VERSION, path=PLAIN[str], state=_STATES, stored=PLAIN[bool], lines=lines)
    return _status()


def _status() -> Schema:
    example = object_of(change={"enum": ["added", "changed", "removed"]}, path=PLAIN[str])
    changes = object_of(
        added=COUNT, changed=COUNT, removed=COUNT, examples={"type": "array", "items": example},
        problem={"type": ["string", "null"]},
    )  # fmt: skip
    skipped = {"type": "array", "items": object_of(path=PLAIN[str], reason=PLAIN[str])}
    counts = dict.fromkeys(("files", "documents", "passages", "generation", "format", "bytes"), COUNT)
    patterns = dict.fromkeys(("include", "exclude", "paths"), _TEXTS)
    texts = dict.fromkeys(("index", "model"), PLAIN[str])
    settings: Schema = {"type": ["string", "null"]}
    return object_of(
        version=_VERSION, **texts, **counts, **patterns, settings=settings, changes=changes, skipped=skipped
    )


def object_of(**properties: Schema) -> Schema:
    """Return the schema of an object with these required properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


class Schemas:
    """Makes JSON Schemas of types as `qa.answer.results.json_value` writes them; `definitions` has those of classes.

    Args:
        prefix: Where the definitions are in the document, such as "#/$defs/".
    """

    def __init__(self, prefix: str) -> None:
        self.definitions: dict[str, Schema] = {}
        self._prefix = prefix

    def of(self, kind: Any) -> Schema:
        """Return the schema of a type."""
        if kind in PLAIN:
            return PLAIN[kind]
        if kind == PageBox:
            return object_of(page=COUNT, box={"type": "array", "items": PLAIN[float], "minItems": 4, "maxItems": 4})
        if get_args(kind):
            return self._generic(get_origin(kind), get_args(kind))
        return {"enum": [member.value for member in kind]} if issubclass(kind, StrEnum) else self._reference(kind)

    def _generic(self, origin: Any, arguments: tuple[Any, ...]) -> Schema:
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if arguments[-1] is ...:
            return {"type": "array", "items": self.of(arguments[0])}
        parts = [self.of(argument) for argument in arguments]
        if origin is tuple:
            return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
        return {"anyOf": parts}

    def of_class(self, kind: Any, optional: tuple[str, ...], **more: Schema) -> Schema:
        """Return the schema of an object with the fields of a class, described by its docstring."""
        descriptions = {
            name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(inspect.cleandoc(kind.__doc__ or ""))
        }
        hints = get_type_hints(kind)
        properties = {
            name: {**self.of(hint), **({"description": descriptions[name]} if name in descriptions else {})}
            for name, hint in hints.items()
        }
        required = [name for name in properties if name not in optional]
        return {"type": "object", "properties": {**more, **properties}, "required": [*more, *required]}

    def _reference(self, kind: Any) -> Schema:
        name: str = kind.__name__
        if not (is_dataclass(kind) or hasattr(kind, "_fields")):
            raise TypeError(f"{name} has no schema")
        if name not in self.definitions:
            self.definitions[name] = {}  # types may be recursive: a topic has topics
            self.definitions[name] = self.of_class(kind, _OPTIONAL.get(name, ()))
        return {"$ref": f"{self._prefix}{name}"}
