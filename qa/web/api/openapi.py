"""The description of the API (OpenAPI 3.1), derived from the endpoints' parameters and the types they return."""

from __future__ import annotations

from qa.explore.parameters import Parameter
from qa.explore.schemas import COUNT, PLAIN, Schema, Schemas, body_schema, object_of
from qa.web.api.endpoints import ENDPOINTS, Endpoint
from qa.web.service.problems import KINDS, MEDIA_TYPE

_SCHEMAS = "#/components/schemas/"


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
