"""The OpenAPI description matches the API, and its documentation page loads nothing from other sites."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

import jsonschema
import pytest

from corpus import errors
from qa.answer.results import LONGEST_QUESTION, Alternative, Answer, json_value
from qa.explore.schemas import Schemas
from qa.web.api.endpoints import ENDPOINTS
from qa.web.api.reference import describe
from qa.web.service.problems import problem_of
from tests.qa.web.servers import RunningServer

QUERIES: dict[str, dict[str, str]] = {
    "ask": {"question": "What won the ICLR 2025 test of time award?"},
    "search": {"question": "who gave the keynote?"},
    "similar": {"place": "awards.md:12"},
    "topics": {"n": "3"},
    "show": {"place": "awards.md:12", "context": "1"},
    "status": {},
}


@pytest.fixture(scope="module")
def description(server: RunningServer) -> dict[str, Any]:
    description: dict[str, Any] = server.api("openapi.json").json
    return description


def check(body: Any, schema: dict[str, Any], description: dict[str, Any]) -> None:
    """Check that a body has the fields of its schema and no others."""
    strict = json.loads(json.dumps({**schema, "components": description["components"]}))
    forbid_other_properties(strict)
    jsonschema.Draft202012Validator.check_schema(strict)
    jsonschema.Draft202012Validator(strict).validate(body)


def forbid_other_properties(schema: Any) -> None:
    """Forbid properties that the schema does not describe."""
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        forbid_other_properties(part)
    if isinstance(schema, dict) and "properties" in schema and schema.get("type") == "object":
        schema["additionalProperties"] = False


@pytest.mark.parametrize(
    ("name", "query"), [*QUERIES.items(), ("similar", {"place": "awards.md", "documents": "true"})]
)
def test_responses_match_their_schemas(
    server: RunningServer, description: dict[str, Any], name: str, query: dict[str, str]
) -> None:
    responses = description["paths"][f"/api/v1/{name}"]["get"]["responses"]
    schema = responses["200"]["content"]["application/json"]["schema"]
    check(server.api(name, **query).json, schema, description)


@pytest.mark.parametrize("time", ["", "earlier"])
def test_answers_with_other_values_match_their_schema(time: str) -> None:
    """A value that contradicts the answer has no time."""
    schemas = Schemas("#/$defs/")
    answer = Answer("£5", (1,), alternatives=(Alternative("£6", (2,), time),))
    body = json_value(answer)
    assert ("time" in body["alternatives"][0]) == bool(time)
    jsonschema.Draft202012Validator(schemas.of(Answer) | {"$defs": schemas.definitions}).validate(body)


def test_problems_match_their_schema(server: RunningServer, description: dict[str, Any]) -> None:
    for path in ("ask", "show?place=nothing.md", "nothing"):
        check(server.get(f"/api/v1/{path}").json, description["components"]["schemas"]["Problem"], description)


def test_all_endpoints_are_described(description: dict[str, Any]) -> None:
    assert description["openapi"] == "3.1.0"
    described = {path.removeprefix("/api/v1/"): operation["get"] for path, operation in description["paths"].items()}
    assert described.keys() == {*QUERIES, "health"} == {*(endpoint.name for endpoint in ENDPOINTS), "health"}
    for endpoint in ENDPOINTS:
        names = [parameter.name for parameter in endpoint.parameters]
        assert [parameter["name"] for parameter in described[endpoint.name]["parameters"]] == names
    assert described["ask"]["parameters"][0]["schema"]["maxLength"] == LONGEST_QUESTION


def test_fields_are_described_by_the_docstrings_of_their_types() -> None:
    hit = describe("1")["components"]["schemas"]["Hit"]["properties"]
    assert hit["score"]["description"] == "In [0, 1] within one answer; higher is better."
    assert all(field.get("description") for field in hit.values())


def test_every_error_class_has_a_problem_type() -> None:
    """Its status is below 500 if the request is to blame."""

    def is_error(member: Any) -> bool:
        return isinstance(member, type) and issubclass(member, errors.QAError)

    problems = {name: problem_of(member("x")) for name, member in vars(errors).items() if is_error(member)}
    reported = {name: (problem.type.partition("#")[2], problem.status) for name, problem in problems.items()}
    assert reported == {
        "QAError": ("internal-error", 500),
        "UsageError": ("invalid-request", 400),
        "CorpusError": ("folder-unavailable", 503),
        "NoIndexError": ("no-index", 503),
        "DamagedIndexError": ("index-damaged", 500),
        "IncompatibleError": ("index-incompatible", 500),
        "ModelError": ("index-incompatible", 500),
        "LockedError": ("index-locked", 503),
        "StorageError": ("storage", 503),
    }


def test_the_page_has_a_form_for_each_endpoint_and_loads_nothing_else(server: RunningServer) -> None:
    page = server.api("docs").body.decode()
    assert re.findall(r'<form action="/api/v1/(\w+)"', page) == [*(endpoint.name for endpoint in ENDPOINTS), "health"]
    assert "<script" not in page
    assert " style=" not in page
    assert set(re.findall(r'(?:src|href)="([^"#]+)"', page)) == {"/", "/api/v1/docs.css", "/api/v1/openapi.json"}
    assert server.api("docs.css").headers["content-type"].startswith("text/css")
    for kind in re.findall(r'<tr id="([\w-]+)">', page):
        assert f"/api/v1/docs#{kind}" in page


@pytest.mark.parametrize("name", [endpoint.name for endpoint in ENDPOINTS])
def test_forms_can_be_submitted_with_empty_fields(server: RunningServer, name: str) -> None:
    """Browsers send every field, most of them empty."""
    page = server.api("docs").body.decode()
    form = page.partition(f'<form action="/api/v1/{name}"')[2].partition("</form>")[0]
    fields = re.findall(r'<(?:input|select) id="[\w-]+" name="(\w+)"', form)
    (endpoint,) = (endpoint for endpoint in ENDPOINTS if endpoint.name == name)
    assert fields == [parameter.name for parameter in endpoint.parameters]
    sent = {field: QUERIES[name].get(field, "") for field in fields}
    assert server.get(f"/api/v1/{name}?{urlencode(sent)}").status == 200
