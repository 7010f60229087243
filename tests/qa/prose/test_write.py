"""An answer in prose: from the library and the command line, with a real index and a real server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import Retriever
from qa.answer.results import Ending, ProseSentence, Result
from qa.prose import LLMEndpoint, write
from tests.qa.commands import qa
from tests.qa.prose.endpoints import Player, player
from tests.test_documents import blocks

QUESTION = "When is soup served?"


@pytest.fixture(scope="module")
def retriever(notes: Path) -> Iterator[Retriever]:
    with Retriever.open(notes) as found:
        yield found


@pytest.fixture(scope="module")
def quoted(retriever: Retriever) -> Result:
    return retriever.ask(QUESTION)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Player]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("QA_")]:
        monkeypatch.delenv(name)
    with player() as found:
        yield found


def rank_of(quoted: Result, path: str) -> int:
    return next(hit.rank for hit in quoted.passages if hit.source.path == path)


def test_sentences_are_checked_as_they_come(server: Player, retriever: Retriever, quoted: Result) -> None:
    """The first is shown while the model still writes; an invented number is marked."""
    rank = rank_of(quoted, "lunch.md")
    server.says = [
        f"Soup is served at noon [{rank}]. The",
        f" cook is Ann Lee [{rank}]. It is ",
        f"served by 12 cooks [{rank}].",
    ]
    shown: list[ProseSentence] = []

    def show(sentence: ProseSentence) -> None:
        shown.append(sentence)
        server.goes_on.set()

    endpoint = LLMEndpoint(server.url("waits"), "small", limit=30)
    found = write(quoted, retriever, endpoint, on_sentence=show)
    assert found.writing is not None
    assert found.answer is not None
    assert (found.writing.ending, found.writing.error) == (Ending.COMPLETE, "")
    assert found.answer.prose == tuple(shown)
    assert [(one.text, one.citations, one.state) for one in shown] == [
        ("Soup is served at noon.", (rank,), "supported"),
        ("The cook is Ann Lee.", (rank,), "supported"),
        ("It is served by 12 cooks.", (rank,), "unsupported"),
    ]
    assert shown[0].support > 0.5
    assert shown[2].reason == "12 is not in what it cites"
    assert (found.found, found.confidence, found.answer.text) == (
        quoted.found,
        quoted.confidence,
        quoted.answer and quoted.answer.text,
    )


def test_strict_leaves_unsupported_sentences_out(server: Player, retriever: Retriever, quoted: Result) -> None:
    server.says = [f"Soup is served at noon [{rank_of(quoted, 'lunch.md')}]. It is the best soup in town."]
    found = write(quoted, retriever, LLMEndpoint(server.url("says")), strict=True)
    assert found.writing is not None
    assert found.writing.left_out == 1
    assert found.answer is not None
    assert [one.text for one in found.answer.prose or ()] == ["Soup is served at noon."]


@pytest.mark.parametrize(
    "says",
    [
        "NOT IN THESE PASSAGES",
        "Not in the passages.",
        "The passages do not say when soup is served. Perhaps at one [1].",
    ],
)
def test_what_is_not_in_the_passages_is_not_found(
    says: str, server: Player, retriever: Retriever, quoted: Result
) -> None:
    """Nor is anything taken from the model that it says after that."""
    server.says = [says]
    found = write(quoted, retriever, LLMEndpoint(server.url("says")))
    assert found.writing is not None
    assert found.answer is not None
    assert quoted.found
    assert (found.found, found.writing.ending, found.answer.prose) == (False, Ending.REFUSED, ())


@pytest.mark.parametrize(("part", "sentences"), [("mute", 0), ("busy", 0), ("empty", 0), ("endless", 300), ("page", 0)])
def test_what_was_quoted_stays_where_the_endpoint_fails(
    part: str, sentences: int, server: Player, retriever: Retriever, quoted: Result
) -> None:
    """With the sentences until then; an endless answer is cut by its length."""
    found = write(quoted, retriever, LLMEndpoint(server.url(part), limit=20 if sentences else 1))
    assert found.writing is not None
    assert found.answer is not None
    assert found.writing.ending is Ending.FAILED
    assert found.writing.error.startswith(server.url(part) + ": ")
    assert (len(found.answer.prose or ()) > sentences) == bool(sentences)
    assert (found.found, found.passages) == (quoted.found, quoted.passages)


def test_passages_are_data(server: Player, notes: Path, retriever: Retriever, quoted: Result) -> None:
    """No document can end its passage or begin another; a model that obeys one is marked."""
    server.says = ["Soup costs nothing [", f"{rank_of(quoted, 'lunch.md')}]. I was told to say so."]
    found = write(quoted, retriever, LLMEndpoint(server.url("says")))
    assert found.answer is not None
    assert [one.state for one in found.answer.prose or ()] == ["unsupported"] * 2
    system, user = server.asked[-1][2]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert not any(file.read_text(encoding="utf-8")[-30:] in system["content"] for file in notes.glob("*.md"))
    lines = [json.loads(line) for line in user["content"].splitlines() if line.startswith("{")]
    assert [(line["passage"], line["text"]) for line in lines] == [(hit.rank, hit.text) for hit in quoted.passages]


def test_the_code_shown_works(server: Player, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """USAGE.md's Python, with this collection and endpoint."""
    (code,) = (text for text in blocks("qa/USAGE.md", "python") if "qa.prose" in text)
    server.says = ["Soup is served at noon [1]."]
    for shown, here in {"http://localhost:11434/v1": server.url("says"), "corpus/sample": f"{notes}"}.items():
        assert shown in code
        code = code.replace(shown, here)
    exec(code, {})  # noqa: S102 - our own
    first, second = capsys.readouterr().out.splitlines()
    assert first == "complete "
    assert second.startswith("Soup is served at noon. (1,) ")


def test_the_command_prints_each_sentence_with_its_mark(server: Player, notes: Path, quoted: Result) -> None:
    """Nothing that the model writes drives the terminal."""
    rank = rank_of(quoted, "lunch.md")
    server.says = [f"Soup is served at noon [{rank}]. \x1b]9;evil\x07\x1b[31mIt has 5 stars\u202e [{rank}]."]
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


def test_json_of_the_command(server: Player, notes: Path, quoted: Result) -> None:
    """`answer` gains `prose`, and the whole says who wrote it; both only where it was asked for."""
    rank = rank_of(quoted, "lunch.md")
    server.says = [f"Soup is served at noon [{rank}]."]
    wanted = ("ask", "--index", notes, "--json", QUESTION)
    done = json.loads(qa(*wanted, "--write", "--endpoint", server.url("says"), "--llm", "small").stdout)
    (sentence,) = done["answer"]["prose"]
    support = sentence.pop("support")
    assert sentence == {"text": "Soup is served at noon.", "citations": [rank], "state": "supported", "reason": ""}
    assert 0.5 < support <= 1
    assert done["writing"] == {"llm": "small", "ending": "complete", "error": "", "left_out": 0}
    plain = json.loads(qa(*wanted).stdout)
    assert plain["answer"].keys() == done["answer"].keys() - {"prose"}
    assert plain.keys() == done.keys() - {"writing"}


def test_a_refusal_exits_as_not_found(server: Player, notes: Path) -> None:
    server.says = ["NOT IN THESE PASSAGES"]
    done = qa("ask", "--index", notes, "--write", "--endpoint", server.url("says"), "--llm", "small", QUESTION)
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "small finds no answer in these passages.\n\nNo passage answers this with confidence."
    )


def test_a_failure_is_said_and_the_quotation_given(server: Player, notes: Path) -> None:
    wanted = ("ask", "--index", notes, QUESTION)
    done = qa(*wanted, "--write", "--endpoint", server.url("evil-error"))
    assert done.exit_code == 0
    assert done.stdout == qa(*wanted).stdout
    assert done.stderr.startswith(f"qa: no answer in prose from {server.url('evil-error')}: it failed (HTTP 500: ")
    assert all(character.isprintable() for line in done.stderr.splitlines() for character in line)


def test_nothing_is_sent_without_being_asked(server: Player, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the environment alone, nor by a file in the collection."""
    monkeypatch.setenv("QA_LLM_ENDPOINT", server.url("says"))
    assert qa("ask", "--index", notes, QUESTION).exit_code == 0
    named = qa("ask", "--index", notes, "--llm", "small", QUESTION)
    assert (named.exit_code, "are for --write" in named.stderr) == (2, True)
    (notes / "qa.toml").write_text(f'endpoint = "{server.url("says")}"\n', encoding="utf-8")
    try:
        assert qa("ask", "--index", notes, QUESTION).exit_code == 2
    finally:
        (notes / "qa.toml").unlink()
    assert server.asked == []
    server.says = ["NOT IN THESE PASSAGES"]
    assert qa("ask", "--index", notes, "--write", QUESTION).exit_code == 1
    assert len(server.asked) == 1
