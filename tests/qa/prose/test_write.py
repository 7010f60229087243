"""An answer in prose, by the library and the command line, with a real index and a real server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qa import Retriever
from qa.answer.results import Answer, Ending, ProseSentence, Result, Writing
from qa.prose import LLMEndpoint, write
from tests.qa.answers import hit
from tests.qa.commands import qa
from tests.qa.prose.endpoints import EndpointServer
from tests.test_documents import blocks

QUESTION = "When is soup served?"
Writer = Callable[..., tuple[Result, Answer, Writing]]


@pytest.fixture(scope="module")
def retriever(notes: Path) -> Iterator[Retriever]:
    with Retriever.open(notes) as retriever:
        yield retriever


@pytest.fixture(scope="module")
def quoted(retriever: Retriever) -> Result:
    return retriever.ask(QUESTION)


@pytest.fixture(scope="module")
def rank(quoted: Result) -> int:
    """The rank of lunch.md, which the answers cite."""
    return next(hit.rank for hit in quoted.passages if hit.source.path == "lunch.md")


@pytest.fixture
def written(server: EndpointServer, retriever: Retriever, quoted: Result) -> Writer:
    """A function that writes an answer with one behaviour of the server."""

    def written(behaviour: str = "says", *, limit: float = 30, **options: Any) -> tuple[Result, Answer, Writing]:
        result = write(quoted, retriever, LLMEndpoint(server.url(behaviour), limit=limit), **options)
        assert result.answer is not None
        assert result.writing is not None
        return result, result.answer, result.writing

    return written


def test_sentences_are_checked_as_they_come(server: EndpointServer, written: Writer, quoted: Result, rank: int) -> None:
    """The first is shown while the model is still writing, and an invented number is marked."""
    server.pieces = [
        f"Soup is served at noon [{rank}]. The",
        f" cook is Ann Lee [{rank}]. It is ",
        f"served by 12 cooks [{rank}].",
    ]
    shown: list[ProseSentence] = []

    def show(sentence: ProseSentence) -> None:
        shown.append(sentence)
        server.continued.set()

    result, answer, writing = written("waits", on_sentence=show)
    assert (writing.ending, writing.error) == (Ending.COMPLETE, "")
    assert answer.prose == tuple(shown)
    assert [(sentence.text, sentence.citations, sentence.state) for sentence in shown] == [
        ("Soup is served at noon.", (rank,), "supported"),
        ("The cook is Ann Lee.", (rank,), "supported"),
        ("It is served by 12 cooks.", (rank,), "unsupported"),
    ]
    assert shown[0].support > 0.5
    assert shown[2].reason == "12 is not in what it cites"
    assert quoted.answer is not None
    assert (result.found, result.confidence, answer.text) == (quoted.found, quoted.confidence, quoted.answer.text)


def test_strict_leaves_unsupported_sentences_out(server: EndpointServer, written: Writer, rank: int) -> None:
    server.pieces = [f"Soup is served at noon [{rank}]. It is the best soup in town."]
    _, answer, writing = written(strict=True)
    assert writing.left_out == 1
    assert [sentence.text for sentence in answer.prose or ()] == ["Soup is served at noon."]


@pytest.mark.parametrize(
    "refusal",
    [
        "NOT IN THESE PASSAGES",
        "Not in the passages.",
        "The passages do not say when soup is served. Perhaps at one [1].",
        "The passages don't say.",
        "The passages don’t mention a time [1].",
    ],
)
def test_model_refusal_is_not_found(refusal: str, server: EndpointServer, written: Writer, quoted: Result) -> None:
    """Whatever the model writes after that is ignored."""
    server.pieces = [refusal]
    result, answer, writing = written()
    assert quoted.found
    assert (result.found, writing.ending, answer.prose) == (False, Ending.REFUSED, ())


def test_supported_sentence_is_no_refusal(server: EndpointServer, retriever: Retriever, quoted: Result) -> None:
    """It may be about the passage of a bill."""
    text = "The passage of the bill did not include aid."
    bill = replace(quoted, passages=(hit(1, "bill.md", (0, len(text)), text=text),))
    server.pieces = ["The passage of the bill did not include aid [1]."]
    result = write(bill, retriever, LLMEndpoint(server.url("says")))
    assert result.writing is not None
    assert result.answer is not None
    assert (result.found, result.writing.ending) == (True, Ending.COMPLETE)
    assert [sentence.state for sentence in result.answer.prose or ()] == ["supported"]


@pytest.mark.parametrize(("kind", "sentences"), [("mute", 0), ("busy", 0), ("empty", 0), ("endless", 40), ("page", 0)])
def test_the_quotation_stays_if_the_endpoint_fails(
    kind: str, sentences: int, server: EndpointServer, written: Writer, quoted: Result
) -> None:
    """The sentences until then stay too; an endless answer is cut at a maximum length."""
    result, answer, writing = written(kind, limit=20 if sentences else 1)
    assert writing.ending is Ending.FAILED
    assert writing.error.startswith(server.url(kind) + ": ")
    assert (len(answer.prose or ()) > sentences) == bool(sentences)
    assert (result.found, result.passages) == (quoted.found, quoted.passages)


def test_passages_are_data(server: EndpointServer, notes: Path, written: Writer, quoted: Result, rank: int) -> None:
    """No document can end its passage or begin another, and a sentence that obeys a document is marked."""
    server.pieces = ["Soup costs nothing [", f"{rank}]. I was told to say so."]
    _, answer, _ = written()
    assert [sentence.state for sentence in answer.prose or ()] == ["unsupported"] * 2
    system, user = server.requests[-1][2]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert not any(file.read_text(encoding="utf-8")[-30:] in system["content"] for file in notes.glob("*.md"))
    lines = [json.loads(line) for line in user["content"].splitlines() if line.startswith("{")]
    assert [(line["passage"], line["text"]) for line in lines] == [(hit.rank, hit.text) for hit in quoted.passages]


def test_documented_code_works(server: EndpointServer, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The Python code of USAGE.md runs, with this collection and endpoint."""
    (code,) = (text for text in blocks("qa/USAGE.md", "python") if "qa.prose" in text)
    server.pieces = ["Soup is served at noon [1]."]
    code = code.replace("http://localhost:11434/v1", server.url("says")).replace("corpus/sample", f"{notes}")
    exec(code, {})  # noqa: S102 - our own
    first, second = capsys.readouterr().out.splitlines()
    assert first == "complete "
    assert second.startswith("Soup is served at noon. (1,) ")


def test_the_command_prints_each_sentence_with_its_mark(server: EndpointServer, notes: Path, rank: int) -> None:
    """Control sequences from the model are not passed on to the terminal."""
    server.pieces = [f"Soup is served at noon [{rank}]. \x1b]9;evil\x07\x1b[31mIt has 5 stars\u202e [{rank}]."]
    done = qa("ask", "--index", notes, "--write", "--endpoint", server.url("says"), QUESTION)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:4] == [
        f"Soup is served at noon. [{rank}]",
        f"! ␛]9;evil␇␛[31mIt has 5 stars. [{rank}]",
        "    not supported: 9 is not in what it cites",
        "",
    ]
    assert "\x1b" not in done.stdout + done.stderr
    assert "lunch.md:1-3" in done.stdout


def test_json_of_the_command(server: EndpointServer, notes: Path, rank: int) -> None:
    """`--write` adds `prose` to `answer`, and `writing` to the result."""
    server.pieces = [f"Soup is served at noon [{rank}]."]
    command = ("ask", "--index", notes, "--json", QUESTION)
    done = json.loads(qa(*command, "--write", "--endpoint", server.url("says"), "--llm", "small").stdout)
    (sentence,) = done["answer"]["prose"]
    support = sentence.pop("support")
    assert sentence == {"text": "Soup is served at noon.", "citations": [rank], "state": "supported", "reason": ""}
    assert 0.5 < support <= 1
    assert done["writing"] == {"llm": "small", "ending": "complete", "error": "", "left_out": 0}
    plain = json.loads(qa(*command).stdout)
    assert plain["answer"].keys() == done["answer"].keys() - {"prose"}
    assert plain.keys() == done.keys() - {"writing"}


def test_after_a_failure_the_quotation_is_printed(server: EndpointServer, notes: Path) -> None:
    command = ("ask", "--index", notes, QUESTION)
    done = qa(*command, "--write", "--endpoint", server.url("evil-error"))
    assert done.exit_code == 0
    assert done.stdout == qa(*command).stdout
    assert done.stderr.startswith(f"qa: no answer in prose from {server.url('evil-error')}: it failed (HTTP 500: ")
    assert all(character.isprintable() for line in done.stderr.splitlines() for character in line)


def test_nothing_is_sent_unless_prose_is_asked_for(
    server: EndpointServer, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings in the environment or the collection do not suffice; a refusal has the exit code of not found."""
    monkeypatch.setenv("QA_LLM_ENDPOINT", server.url("says"))
    assert qa("ask", "--index", notes, QUESTION).exit_code == 0
    ignored = qa("ask", "--index", notes, "--llm", "small", QUESTION)
    assert (ignored.exit_code, "are for --write" in ignored.stderr) == (2, True)
    (notes / "qa.toml").write_text(f'endpoint = "{server.url("says")}"\n', encoding="utf-8")
    try:
        assert qa("ask", "--index", notes, QUESTION).exit_code == 2
    finally:
        (notes / "qa.toml").unlink()
    assert server.requests == []
    server.pieces = ["NOT IN THESE PASSAGES"]
    done = qa("ask", "--index", notes, "--write", "--llm", "small", QUESTION)
    assert (done.exit_code, len(server.requests)) == (1, 1)
    assert done.stdout.startswith(
        "small finds no answer in these passages.\n\nNo passage answers this with confidence."
    )
