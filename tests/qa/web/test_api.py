"""The API gives the same answers as the command line, and explains what is wrong with a request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.qa.commands import qa
from tests.qa.web.servers import RunningServer

QUESTION = "What won the ICLR 2025 test of time award?"


def without_times(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != "timings_ms"}


@pytest.mark.parametrize(
    ("name", "parameters", "options"),
    [
        pytest.param("ask", {"question": QUESTION}, [QUESTION], id="ask"),
        pytest.param(
            "ask",
            {
                "question": "keynote",
                "k": 2,
                "path": ["talks/", "awards.md"],
                "type": "md",
                "since": 2001,
                "mode": "keyword",
            },
            ["keynote", "-k2", "--path=talks/", "--path=awards.md", "--type=md", "--since=2001", "--mode=keyword"],
            id="ask with all options",
        ),
        pytest.param("ask", {"question": QUESTION, "rerank": "false"}, ["--no-rerank", QUESTION], id="no rerank"),
        pytest.param("similar", {"place": "awards.md:12", "k": 2}, ["awards.md:12", "-k", "2"], id="similar"),
        pytest.param(
            "similar", {"place": "awards.md", "documents": "true"}, ["awards.md", "--documents"], id="similar documents"
        ),
        pytest.param("topics", {"n": 3}, ["-n", "3"], id="topics"),
        pytest.param("show", {"place": "awards.md:12-16", "context": 1}, ["awards.md:12-16", "-C", "1"], id="show"),
    ],
)
def test_responses_are_what_the_command_line_prints(
    server: RunningServer, name: str, parameters: dict[str, Any], options: list[str]
) -> None:
    reply = server.api(name, **parameters)
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    printed = qa(name, *options, "--json", "--index", server.root)
    assert without_times(reply.json) == without_times(json.loads(printed.stdout))


def test_status_is_what_the_command_line_prints_except_for_the_folder(server: RunningServer) -> None:
    printed = json.loads(qa("status", "--json", "--index", server.root).stdout)
    assert server.api("status").json == {**printed, "index": ".qa"}


def test_search_returns_the_same_passages_without_highlights(server: RunningServer) -> None:
    searched, answered = (server.api(name, question=QUESTION, k=3).json for name in ("search", "ask"))
    assert [hit["id"] for hit in searched["passages"]] == [hit["id"] for hit in answered["passages"]]
    assert searched["passages"][0]["highlights"] == []
    assert searched["index"] == answered["index"]


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ("ask", 400, "the question is empty."),
        ("ask?question=+%20", 400, "the question is empty."),
        ("ask?quesion=who", 400, "no parameter 'quesion'. Did you mean question?"),
        ("ask?question=who&zzz=1", 400, "no parameter 'zzz'. Known: question, k, mode, rerank, path,"),
        ("ask?question=a&question=b", 400, "question was given 2 times; it takes one value."),
        ("ask?question=a&k=0", 400, "k must be a number from 1 to 1,000."),
        ("ask?question=a&k=1_0", 400, "k must be a number from 1 to 1,000."),
        ("ask?question=a&k=%D9%A3", 400, "k must be a number from 1 to 1,000."),
        ("ask?question=a&mode=sparse", 400, "mode must be hybrid, dense or keyword."),
        ("ask?question=a&rerank=yes", 400, "rerank must be true or false."),
        ("ask?question=%FF", 400, "the query string is not valid UTF-8."),
        (f"ask?question={'a' * 10_001}", 400, "the question has 10,001 characters; 10,000 at most."),
        (f"ask?question=a{'&path=a' * 100}", 400, "more than 100 parameters."),
        ("ask?question=a&path=talk", 400, "no indexed file matches the path 'talk'. Similar: talks/"),
        ("ask?question=a&topic=99", 400, "topic"),
        ("ask?question=a&type=exe", 400, "no indexed file is of type exe."),
        ("ask?question=a&where=who", 400, "who is not a condition."),
        ("ask?question=a&since=then", 400, "since is 'then'."),
        ("show", 400, "place is missing."),
        ("show?place=awrds.md", 404, "awrds.md is not in the collection"),
        ("show?place=awards.md:999", 404, "awards.md has"),
        ("similar?place=nothing.md", 404, "nothing.md"),
        ("nothing", 404, "there is nothing at this address. Those of the API are at /api/v1/docs."),
    ],
)
def test_bad_requests_get_a_problem(server: RunningServer, query: str, status: int, detail: str) -> None:
    """It has the format of RFC 9457 and the tool's own message."""
    reply = server.get(f"/api/v1/{query}")
    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json["status"] == status
    assert reply.json["title"]
    assert reply.json["type"]
    assert detail in reply.json["detail"]


def test_empty_parameters_count_as_not_given(server: RunningServer) -> None:
    reply = server.get("/api/v1/ask?question=keynote&k=&path=&mode=&rerank=")
    assert len(reply.json["passages"]) == 5
