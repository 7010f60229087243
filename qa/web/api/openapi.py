"""The description of the API (OpenAPI 3.1), made from what the endpoints take and from the types they return."""

from __future__ import annotations

from qa.explore.schemas import COUNT, PLAIN, Schema, Schemas, body_schema, object_of
from qa.web.api.endpoints import ENDPOINTS, Endpoint
from qa.web.api.parameters import Parameter
from qa.web.service.problems import KINDS, MEDIA_TYPE

_PLACE = "#/components/schemas/"


def describe(version: str) -> Schema:
    """Return the description as the object that is served."""
    schemas = Schemas(_PLACE)
    paths = {f"/api/v1/{one.name}": {"get": _operation(one, schemas)} for one in ENDPOINTS}
    health = _answers("Whether questions can be answered", object_of(status={"const": "ok"}, generation=COUNT), schemas)
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


def _operation(endpoint: Endpoint, schemas: Schemas) -> Schema:
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": f"The object that `qa {endpoint.command} --json` prints." if endpoint.command else "",
        "parameters": [_parameter(one) for one in endpoint.parameters],
        "responses": _answers(endpoint.summary, body_schema(endpoint.name, schemas), schemas),
    }


def _parameter(one: Parameter) -> Schema:
    schema = {"type": "array", "items": one.schema} if one.repeated else dict(one.schema)
    example = {"example": one.example} if one.example else {}
    return {
        "name": one.name, "in": "query", "description": one.about, "required": one.required, "schema": schema, **example
    }  # fmt: skip


def _answers(about: str, schema: Schema, schemas: Schemas) -> Schema:
    schemas.found.setdefault("Problem", _problem())
    error = {"description": "A problem", "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_PLACE}Problem"}}}}
    return {
        "200": {"description": about, "content": {"application/json": {"schema": schema}}},
        "default": error,
    }


def _problem() -> Schema:
    types = ["about:blank", *(f"/api/v1/docs#{kind.name}" for kind in KINDS)]
    return {
        **object_of(type={"enum": types}, title=PLAIN[str], status=COUNT, detail=PLAIN[str]),
        "description": "RFC 9457; `detail` is the tool's own message, if the request is wrong and not the server.",
    }
