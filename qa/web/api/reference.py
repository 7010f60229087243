"""The API's description (OpenAPI 3.1), and a page to read and try it, without scripts or anything from elsewhere.

The description is derived from the endpoints' parameters and the types they return.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

import qa
from qa.explore.parameters import Parameter
from qa.explore.schemas import COUNT, PLAIN, Schema, Schemas, body_schema, object_of
from qa.web.api.endpoints import ENDPOINTS, Endpoint
from qa.web.service.problems import KINDS, MEDIA_TYPE

_SCHEMAS = "#/components/schemas/"


def reference_routes() -> list[BaseRoute]:
    """Return the routes of the description and its page."""
    return [
        Route("/api/v1/openapi.json", lambda _: JSONResponse(_description())),
        Route("/api/v1/docs", lambda _: HTMLResponse(_page())),
        Route("/api/v1/docs.css", lambda _: Response(_read("reference.css"), media_type="text/css")),
    ]


@cache
def _description() -> Schema:
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


def describe(version: str) -> Schema:
    """Return the description as an OpenAPI object."""
    schemas = Schemas(_SCHEMAS)
    paths = {f"/api/v1/{endpoint.name}": {"get": _operation(endpoint, schemas)} for endpoint in ENDPOINTS}
    body = object_of(status={"const": "ok"}, generation=COUNT)
    health = _responses("Whether questions can be answered", body, schemas)
    paths["/api/v1/health"] = {"get": {"operationId": "health", "summary": "Whether it works", "responses": health}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "qa", "version": version, "description": "Answers from a collection, with citations."},
        "paths": paths,
        "components": {
            "schemas": schemas.definitions,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint, schemas: Schemas) -> Schema:
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": f"The object that `qa {endpoint.name} --json` prints." if endpoint.name != "search" else "",
        "parameters": [_parameter(parameter) for parameter in endpoint.parameters],
        "responses": _responses(endpoint.summary, body_schema(endpoint.name, schemas), schemas),
    }


def _parameter(parameter: Parameter) -> Schema:
    schema = {"type": "array", "items": parameter.schema} if parameter.repeated else dict(parameter.schema)
    example = {"example": parameter.example} if parameter.example else {}
    return {
        "name": parameter.name, "in": "query", "description": parameter.description, "required": parameter.required,
        "schema": schema, **example,
    }  # fmt: skip


def _responses(description: str, schema: Schema, schemas: Schemas) -> Schema:
    schemas.definitions.setdefault("Problem", _problem())
    error = {"description": "A problem", "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}}}
    return {
        "200": {"description": description, "content": {"application/json": {"schema": schema}}},
        "default": error,
    }


def _problem() -> Schema:
    types = ["about:blank", *(f"/api/v1/docs#{kind.name}" for kind in KINDS)]
    return {
        **object_of(type={"enum": types}, title=PLAIN[str], status=COUNT, detail=PLAIN[str]),
        "description": "RFC 9457; `detail` is the tool's own message if the fault is the request's, not the server's.",
    }
