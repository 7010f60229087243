"""The API's description, and a page to read it and try it out, without scripts or anything from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

import qa
from qa.web.api.endpoints import ENDPOINTS
from qa.web.api.openapi import describe
from qa.web.service.problems import KINDS


def reference_routes() -> list[BaseRoute]:
    """Return the routes of the description and its page."""
    return [
        Route("/api/v1/openapi.json", lambda _: JSONResponse(_description())),
        Route("/api/v1/docs", lambda _: HTMLResponse(_page())),
        Route("/api/v1/docs.css", lambda _: Response(_read("reference.css"), media_type="text/css")),
    ]


@cache
def _description() -> dict[str, Any]:
    return describe(qa.__version__)


@cache
def _page() -> str:
    from jinja2 import Environment  # noqa: PLC0415 - importing it takes longer than a question, and few read this page

    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(_read("reference.html"))
    schemas = _description()["components"]["schemas"]
    operations = {path.rpartition("/")[2]: item["get"] for path, item in _description()["paths"].items()}
    return template.render(endpoints=ENDPOINTS, operations=operations, schemas=schemas, kinds=KINDS, kind_of=_kind_of)


def _kind_of(schema: dict[str, Any]) -> str:
    """Describe a schema in a few words, such as "list of Hit"."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_kind_of, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join("null" if value is None else str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_kind_of(schema['items'])}" if "items" in schema else f"{schema['minItems']} numbers"
    kind = schema.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else kind


def _read(name: str) -> str:
    return files("qa.web.api").joinpath(name).read_text(encoding="utf-8")
