"""The description of the API (OpenAPI 3.1), made from what the endpoints take and from the types they return."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from corpus.types import PageBox
from qa.answer.results import Answer, Highlight, Hit, IndexInfo, Result, State
from qa.explore.results import Similar, Topics
from qa.web.api.endpoints import ENDPOINTS, Endpoint
from qa.web.api.parameters import Parameter
from qa.web.service.problems import KINDS, MEDIA_TYPE

_Schema = dict[str, Any]
_PLAIN: dict[Any, _Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
}
# Fields that are only there where they are not None.
_OPTIONAL: dict[Any, tuple[str, ...]] = {
    Answer: ("prose",),
    Highlight: ("boxes",),
    Result: ("writing",),
    Similar: ("passages", "documents"),
}
_VERSION: _Schema = {"const": 1}
_ATTRIBUTE = re.compile(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", re.MULTILINE)
_STRINGS: _Schema = {"type": "array", "items": {"type": "string"}}
_COUNT: _Schema = {"type": "integer"}
_STATES: _Schema = {"enum": [*(state.value for state in State), None]}


def describe(version: str) -> _Schema:
    """Return the description as the object that is served."""
    schemas = Schemas()
    paths = {f"/api/v1/{one.name}": {"get": _operation(one, schemas)} for one in ENDPOINTS}
    health = _answers("Whether questions can be answered", _object(status={"const": "ok"}, generation=_COUNT), schemas)
    paths["/api/v1/health"] = {"get": {"operationId": "health", "summary": "Whether it works", "responses": health}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "qa", "version": version, "description": "Answers from a collection, with citations."},
        "paths": paths,
        "components": {
            "schemas": schemas.found,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint, schemas: Schemas) -> _Schema:
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": f"The object that `qa {endpoint.command} --json` prints." if endpoint.command else "",
        "parameters": [_parameter(one) for one in endpoint.parameters],
        "responses": _answers(endpoint.summary, _body(endpoint.name, schemas), schemas),
    }


def _parameter(one: Parameter) -> _Schema:
    schema = {"type": "array", "items": one.schema} if one.repeated else dict(one.schema)
    example = {"example": one.example} if one.example else {}
    return {
        "name": one.name, "in": "query", "description": one.about, "required": one.required, "schema": schema, **example
    }  # fmt: skip


def _answers(about: str, schema: _Schema, schemas: Schemas) -> _Schema:
    schemas.found.setdefault("Problem", _problem())
    error = {"description": "A problem", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    return {
        "200": {"description": about, "content": {"application/json": {"schema": schema}}},
        "default": error,
    }


def _body(name: str, schemas: Schemas) -> _Schema:
    """What an endpoint returns: a type field by field with the version before it, or what a command prints."""
    kinds: Mapping[str, Any] = {"ask": Result, "similar": Similar, "topics": Topics}
    if name in kinds:
        return schemas.of_class(kinds[name], _OPTIONAL.get(kinds[name], ()), version=_VERSION)
    if name == "search":
        passages = {"type": "array", "items": schemas.of(Hit)}
        return _object(version=_VERSION, question=_PLAIN[str], passages=passages, index=schemas.of(IndexInfo))
    if name == "show":
        line = _object(number={"type": ["integer", "null"]}, text=_PLAIN[str], marked=_PLAIN[bool])
        lines = {"type": "array", "items": line}
        return _object(version=_VERSION, path=_PLAIN[str], state=_STATES, stored=_PLAIN[bool], lines=lines)
    return _status()


def _status() -> _Schema:
    example = _object(change={"enum": ["added", "changed", "removed"]}, path=_PLAIN[str])
    changes = _object(
        added=_COUNT, changed=_COUNT, removed=_COUNT, examples={"type": "array", "items": example},
        problem={"type": ["string", "null"]},
    )  # fmt: skip
    skipped = {"type": "array", "items": _object(path=_PLAIN[str], reason=_PLAIN[str])}
    counts = dict.fromkeys(("files", "documents", "passages", "generation", "format", "bytes"), _COUNT)
    patterns = dict.fromkeys(("include", "exclude", "paths"), _STRINGS)
    texts = dict.fromkeys(("index", "model"), _PLAIN[str])
    return _object(version=_VERSION, **texts, **counts, **patterns, changes=changes, skipped=skipped)


def _problem() -> _Schema:
    types = ["about:blank", *(f"/api/v1/docs#{kind.name}" for kind in KINDS)]
    return {
        **_object(type={"enum": types}, title=_PLAIN[str], status=_COUNT, detail=_PLAIN[str]),
        "description": "RFC 9457; `detail` is the tool's own message.",
    }


def _object(**properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


class Schemas:
    """JSON Schemas of types as `qa.answer.results.json_value` writes them; named ones are collected in `found`."""

    def __init__(self) -> None:
        self.found: dict[str, _Schema] = {}

    def of(self, kind: Any) -> _Schema:
        """Return the schema of a type."""
        if kind in _PLAIN:
            return _PLAIN[kind]
        if kind == PageBox:
            return _object(page=_COUNT, box={"type": "array", "items": _PLAIN[float], "minItems": 4, "maxItems": 4})
        if get_args(kind):
            return self._generic(get_origin(kind), get_args(kind))
        return {"enum": [one.value for one in kind]} if issubclass(kind, StrEnum) else self._named(kind)

    def _generic(self, origin: Any, arguments: tuple[Any, ...]) -> _Schema:
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if origin is Literal:
            return {"enum": list(arguments)}
        if arguments[-1] is ...:
            return {"type": "array", "items": self.of(arguments[0])}
        parts = [self.of(one) for one in arguments]
        if origin is tuple:
            return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
        return {"anyOf": parts}

    def of_class(self, kind: Any, optional: tuple[str, ...] = (), **more: _Schema) -> _Schema:
        """Return the schema of an object with the fields of a class, described as its docstring does."""
        about = {name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(kind.__doc__ or "")}
        hints = get_type_hints(kind)
        properties = {
            name: {**self.of(hint), **({"description": about[name]} if name in about else {})}
            for name, hint in hints.items()
        }
        required = [name for name in properties if name not in optional]
        return {"type": "object", "properties": {**more, **properties}, "required": [*more, *required]}

    def _named(self, kind: Any) -> _Schema:
        name: str = kind.__name__
        if not (is_dataclass(kind) or hasattr(kind, "_fields")):
            raise TypeError(f"{name} has no schema")
        if name not in self.found:
            self.found[name] = {}  # a topic has topics
            self.found[name] = self.of_class(kind, _OPTIONAL.get(kind, ()))
        return {"$ref": f"#/components/schemas/{name}"}
