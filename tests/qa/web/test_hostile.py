"""Hostile documents and file names are returned as plain text."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.qa.web.hostile import DOCUMENTS, word_of
from tests.qa.web.servers import RunningServer
from tests.qa.web.test_attacks import is_guarded


def test_hostile_documents_are_indexed(library: RunningServer) -> None:
    status = library.api("status").json
    assert status["skipped"] == []
    assert status["changes"]["added"] == 0


@pytest.mark.parametrize("number", range(len(DOCUMENTS)), ids=[repr(name) for name, _ in DOCUMENTS])
def test_a_hostile_document_stays_text(library: RunningServer, number: int) -> None:
    """Every response that quotes it is JSON to a browser, and quotes the file exactly."""
    name, text = f"hostile/{DOCUMENTS[number][0]}", DOCUMENTS[number][1]
    word = word_of(number)
    answer = library.api("ask", question=word, mode="keyword", rerank="false")
    (hit,) = answer.json["passages"]
    assert hit["source"]["path"] == name
    assert hit["source"]["state"] == "verified"
    if hit["source"]["media_type"] in ("text/plain", "text/markdown"):
        document = (library.root / name).read_bytes().decode()
        assert hit["text"] == document[slice(*hit["source"]["chars"])]
    replies = [
        answer,
        library.api("show", place=name),
        library.api("similar", place=name),
        library.api("ask", question=f"{text} {word}", path=name.replace("\n", "?")),
        # Errors echo the input.
        library.api("show", place=f"{name}/{text}"),
        library.api("ask", question="a", mode=text),
        library.api("ask", **{"question": "a", text: name}),
    ]
    for reply in replies:
        assert reply.headers["content-type"] in ("application/json", "application/problem+json")
        assert is_guarded(reply)
        assert "set-cookie" not in reply.headers
        assert isinstance(reply.json, dict)
    assert [reply.status for reply in replies[:3]] == [200] * 3
    assert [reply.status for reply in replies[4:]] == [404, 400, 400]


def test_text_is_shown_without_control_characters(library: RunningServer) -> None:
    """Neither those that reorder it nor those that a terminal obeys."""
    word = word_of([name for name, _ in DOCUMENTS].index("reordered.txt"))
    body = library.get(f"/?q={word}").body.decode()
    assert "A code of 4321 and 31m." in body
    rendered = library.get("/source?open=hostile/reordered.md").body.decode()
    assert "<em>code</em> of 8765, 31m." in rendered


def test_names_are_shown_without_reordering(library: RunningServer) -> None:
    """A right-to-left override cannot make a program look like a document."""
    name = "hostile/\u202efdp.exe.txt"
    word = word_of([f"hostile/{known_name}" for known_name, _ in DOCUMENTS].index(name))
    for address in (f"/?q={word}", f"/source?open={quote(name)}", f"/?like={quote(name)}"):
        body = library.get(address).body.decode()
        assert r"\u202efdp.exe.txt" in body
        assert [line for line in body.splitlines() if "\u202e" in line] == []
