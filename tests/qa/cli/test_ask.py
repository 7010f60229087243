"""`qa ask`: output and exit codes, with a small encoder."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.encoder.devices import Device
from index.encoder.protocol import Encoder
from qa.answer import results
from qa.collection import opening
from qa.retrieval.retriever import Retriever
from tests.qa.commands import BagRetriever, qa

HARP = "The harp stands in the hall."


def ask_json(*words: str | Path) -> Any:
    """Return the output of `qa ask --json`."""
    return json.loads(qa("ask", "--json", *words).stdout)


def test_ask_prints_an_answer(indexed: Path) -> None:
    """The exit code is 0 if there is an answer, otherwise 1."""
    done = qa("ask", "when", "is", "soup", "served?")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "[1] talks.md:5-7  Talks › Lunch\n    Soup is served at noon.\n" in done.stdout
    done = qa("ask", "xylophone")
    assert done.exit_code == 1
    assert done.stdout.startswith("No passage answers this with confidence ")


def test_ask_shows_passages_in_full(indexed: Path) -> None:
    """With `--full` even those that do not answer."""
    text = "\n".join(f"Line {number} on tea." for number in range(9))
    (indexed / "tea.md").write_text(text, encoding="utf-8")
    shown = [qa("ask", "xylophone tea", *options).stdout for options in ([], ["--full"])]
    assert ["    " + text.replace("\n", "\n    ") in output for output in shown] == [False, True]


def converse(monkeypatch: pytest.MonkeyPatch, lines: Iterator[str], *options: str) -> str:
    """Return the output of a conversation in which these lines are typed."""
    monkeypatch.setattr("qa.cli.session.is_interactive", lambda: True)
    monkeypatch.setattr("qa.conversation.line_input.line_input", lambda *_: lambda _: next(lines))
    return qa("ask", *options).output


def test_a_conversation_shows_passages_in_full(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `--full` even those after the first."""
    shown = [converse(monkeypatch, iter(["soup", "exit"]), *options) for options in ([], ["--full"])]
    assert [output.count("Soup is served at noon.") for output in shown] == [2, 2]
    assert ["The keynote on Monday is about whales." in output for output in shown] == [False, True]


def test_a_conversation_can_be_limited_to_a_new_file(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lines() -> Iterator[str]:
        (indexed / "new.md").write_text(HARP)
        yield from ("/path new.md", "where does the harp stand?", "exit")

    output = converse(monkeypatch, lines())
    assert "qa: " not in output
    assert "[1] new.md:1" in output


def test_ask_in_a_subfolder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the working directory."""
    monkeypatch.chdir(indexed / "sub")
    assert "[1] ../talks.md:5-7" in qa("ask", "soup").stdout
    assert "[1] travel.md:" in qa("ask", "train").stdout


@pytest.mark.parametrize("question", [[], [""], ["  ", "\t"]])
def test_ask_an_empty_question(indexed: Path, question: list[str]) -> None:
    done = qa("ask", *question)
    assert done.exit_code == 2
    assert done.stderr.startswith("qa: the question is empty.")


def test_ask_a_long_question(indexed: Path) -> None:
    done = qa("ask", "soup " * 3000)
    assert done.stderr == "Question cut to 10,000 characters; the last 4,999 are ignored\n"


@pytest.mark.parametrize("k", ["0", "-1", "1001", "1000000000", "x"])
def test_ask_k_out_of_range(indexed: Path, k: str) -> None:
    done = qa("ask", "soup", "-k", k)
    assert done.exit_code == 2
    assert done.stderr == "qa: -k needs a number from 1 to 1000.\n"


def test_filters_of_all_kinds(indexed: Path) -> None:
    """Each option reaches the filter under its own name; the files are from September 2001."""
    every = ("--where", "title=travel", "--type", "md", "--since", "2001-09", "--until", "2001-09-10", "--path", "sub/")
    (hit,) = ask_json("the train keynote", *every)["passages"]
    assert hit["source"]["path"] == "sub/travel.md"
    answer = ask_json("--path", "sub/", "--path", "talks.md", "the train keynote")
    assert {hit["source"]["path"] for hit in answer["passages"]} == {"talks.md", "sub/travel.md"}
    for option, value in (("--where", "title=boats"), ("--type", "pdf"), ("--since", "2002"), ("--until", "2000")):
        done = qa("ask", "the train keynote", option, value)
        assert (done.exit_code, done.stderr[:6]) == (2, "qa: no")


def test_a_question_needs_no_command(indexed: Path) -> None:
    """A misspelt command is not taken for a question."""
    assert "Soup is served at noon." in qa("when is soup served").stdout
    assert "Soup is served at noon." in qa("is", "soup", "served?", "-k", "1").stdout
    assert "Soup is served at noon." in qa("how", "is", "soup", "served?").stdout  # not a misspelt "show"
    assert qa("stats").stderr == "qa: no command stats. Did you mean: qa status?\n"
    assert qa("stats", "my notes").exit_code == 2
    assert qa("askk", "who won?").stderr == "qa: no command askk. Did you mean: qa ask?\n"
    assert qa("search", "who won").stderr.startswith("qa: no command search. ")
    assert qa("search", "who won?").exit_code == 2
    assert qa("zzz").stderr.startswith("qa: no command zzz. To ask: qa ask zzz. Commands: index, watch, ")
    assert "To ask: qa ask who won it. Commands" in qa("who", "won", "it").stderr


def test_ask_a_folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may precede the question, as in every command; a bare word before other words is part of the question.

    It may also follow a quoted question, where users put it who have just typed `qa index notes`.
    """
    monkeypatch.chdir(indexed.parent)
    for words in (["when is soup served?", "notes"], ["when is soup", indexed], ["when is it?", "notes/"]):
        assert "Soup is served at noon." in qa("ask", *words).stdout
    Path("empty").mkdir()
    assert qa("ask", "when is it?", "empty").stderr.startswith(f"qa: no index in {indexed.parent}/empty. ")
    for words in (["notes", "when is soup served?"], ["notes/", "soup"], [indexed, "soup", "served"]):
        assert "Soup is served at noon." in qa("ask", *words).stdout
    assert qa("ask", "notes", "soup", "served").exit_code == 0
    assert qa("ask", "other", "soup").exit_code == 3
    assert qa("ask", "--index", "notes", "notes/", "soup").exit_code == 2
    assert qa("ask", "./noets", "soup").stderr == "qa: no such folder: ./noets. Similar: notes.\n"
    assert qa("ask", "notes/sup", "when is it?").stderr == "qa: no such folder: notes/sup. Similar: notes/sub.\n"
    assert qa("notes/zzz", "when is it?").stderr == "qa: no such folder: notes/zzz.\n"
    assert qa("ask", "noets", "when is it?").stderr == "qa: no such folder: noets. Similar: notes.\n"
    assert ask_json("--index", "notes", "serve", "the soup")["question"] == "serve the soup"
    refused = qa("ask", "notes/talks.md", "when is it?")
    assert (refused.exit_code, refused.stderr) == (
        2, "qa: notes/talks.md is a file. Name its folder instead, and the file with --path talks.md.\n"
    )  # fmt: skip
    assert qa("ask", "notes/sub", "what is there").stderr.endswith(
        f"it is part of the collection {indexed}: use that with --path sub/ (path= in Python)\n"
    )
    for place in (["notes/talks.md:7"], ["notes/", "talks.md:7"]):
        assert qa("show", *place, "-C", "0").stdout.endswith("> 7  Soup is served at noon.\n")
    for command in ("check notes", "ls notes", "status --corpus notes", "index --index notes"):
        assert qa(*command.split()).exit_code == 0
    monkeypatch.setenv("QA_INDEX", "gone")
    assert qa("ask", "notes", "soup", "served").exit_code == 0


@pytest.mark.parametrize(
    ("words", "start", "command"),
    [
        ([], "the question is empty. Ask something", "qa ask"),
        (["-"], "the question is empty. Ask something", "qa ask"),
        (["./notes/"], "notes is a folder. Put a question after it", "qa ask notes"),
        (["./notes/", "-"], "notes is a folder. Put a question after it", "qa ask notes"),
    ],
)
def test_ask_without_a_question(
    indexed: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], start: str, command: str
) -> None:
    """The error suggests --batch for questions on stdin."""
    monkeypatch.chdir(indexed.parent)
    done = qa("ask", *words, stdin=b"when is soup served?\n")
    batch = f"or read questions from stdin: {command} --batch -"
    assert (done.exit_code, done.stderr) == (2, f'qa: {start}: {command} "who won?", {batch}\n')


@pytest.mark.parametrize("words", [("sub", "soup"), ("soup/bread", "served"), ("who is in", "sub"), ("soup", "sub")])
def test_words_that_only_look_like_folders_are_part_of_the_question(indexed: Path, words: tuple[str, ...]) -> None:
    assert ask_json(*words)["question"] == " ".join(words)


def test_ask_uses_the_settings(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: list[tuple[int, str, bool]] = []
    original_ask = Retriever.ask

    def ask(self: Retriever, question: str, **how: Any) -> results.Result:
        arguments.append((how["k"], how["mode"].value, how["rerank"]))
        return original_ask(self, question, **how)

    monkeypatch.setattr(Retriever, "ask", ask)
    qa("ask", "soup")
    (indexed / "qa.toml").write_text('k = 1\nmode = "keyword"\nrerank = false\n')
    qa("ask", "soup")
    qa("ask", "soup", "-k", "2", "--mode", "dense", "--rerank")
    assert arguments == [(5, "hybrid", True), (1, "keyword", False), (2, "dense", True)]


def test_ask_in_other_formats(indexed: Path) -> None:
    assert qa("ask", "soup", "-k", "1", "--format", "vimgrep").stdout == "talks.md:7:1:Soup is served at noon.\n"
    assert qa("ask", "soup", "--format", "markdown").stdout.startswith("**soup**\n")
    assert qa("ask", "soup", "--format", "json").stdout.startswith('{"version": 1')
    for option in ("--json", "--batch=-"):
        assert qa("ask", option, "--format", "bibtex", stdin=b"soup").exit_code == 2


def test_ask_with_a_rerank_model(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It re-ranks even if the collection's settings disable that, in a batch too."""
    opened: list[dict[str, object]] = []
    original_open = BagRetriever.open

    def open_retriever(path: Path, *, encoder: Encoder | None = None, **models: object) -> Retriever:
        opened.append(models)
        return original_open(path, encoder=encoder, reader=False)

    monkeypatch.setattr(BagRetriever, "open", open_retriever)
    (indexed / "qa.toml").write_text("rerank = false\n")
    (tmp_path / "batch").write_text("soup\n")
    for words in (["soup"], ["--batch", str(tmp_path / "batch")], ["--corpus", ".", "soup"]):
        qa("ask", *words)
        qa("ask", *words, "--rerank-model", "some/model", "--device", "cpu")
    default = {"reader": False, "rerank_model": None, "device": Device.AUTO, "ahead": True}
    changed = {"reader": True, "rerank_model": "some/model", "device": Device.CPU, "ahead": True}
    assert opened == [default, changed] * 3
    done = qa("ask", "soup", "--rerank-model", "some/model", "--no-rerank")
    assert (done.exit_code, done.stderr) == (2, "qa: --rerank-model re-ranks; leave out --no-rerank.\n")


@pytest.mark.parametrize("question", ["--", "'; DROP TABLE passages --", 'NEAR("a" OR', "a\x00b", "\udce9"])
def test_ask_strange_questions(indexed: Path, question: str) -> None:
    done = qa("ask", "--", question)
    assert done.exit_code in {0, 1}
    assert done.stderr == ""


def test_ask_corpus_builds_first(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single command gives an answer without an existing index, and reports the build on stderr."""
    monkeypatch.chdir(tmp_path)
    done = qa("ask", "--corpus", "notes", "--json", "soup")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["found"]
    assert done.stderr.startswith("Indexed 2 files (2 documents, 3 passages) in ")


def test_ask_corpus_of_a_folder_in_a_collection(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collection is updated as by `qa index`, which says so, and the answer comes from the folder."""
    (indexed / "sub" / "new.md").write_text("The train to Ghent leaves at noon.")
    done = qa("ask", "--corpus", "sub", "--json", "when does the train to Ghent leave at noon?")
    assert done.stderr.startswith(f"Part of the collection {indexed}; updating all of it.")
    assert {hit["source"]["path"] for hit in json.loads(done.stdout)["passages"]} == {"sub/new.md", "sub/travel.md"}
    assert not (indexed / "sub" / ".qa").exists()
    refused = qa("ask", "--corpus", "sub", "--path", "new.md", "when does the train leave?")
    assert (refused.exit_code, refused.stderr.endswith(f"with --path, use --corpus {indexed}.\n")) == (2, True)
    qa("index", "--index", "sub")
    monkeypatch.chdir(indexed / "sub")
    assert json.loads(qa("ask", "--corpus", ".", "--json", "train").stdout)["passages"][0]["source"]["path"] == "new.md"


def test_ask_corpus_adds_a_folder_to_a_limited_collection(notes: Path) -> None:
    assert qa("index", "talks.md").stderr == f"Collection: {notes}, limited to the paths given.\n"
    done = qa("ask", "--corpus", "sub", "--json", "when does the train to Lyon leave?")
    assert json.loads(done.stdout)["passages"][0]["source"]["path"] == "sub/travel.md"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--index", "."], "--index"),
        (["--no-update"], "--no-update"),
        (["./sub"], "sub"),
        (["--no-update", "./sub"], "sub and --no-update"),
    ],
)
def test_ask_corpus_excludes_contradictory_options(indexed: Path, options: list[str], named: str) -> None:
    """The message names the options that were given."""
    done = qa("ask", "--corpus", ".", *options, "when is the soup?")
    assert done.exit_code == 2
    assert done.stderr.endswith(f"leave out {named}.\n")


def test_ask_indexes_small_changes_first(indexed: Path) -> None:
    (indexed / "new.md").write_text(HARP)
    (indexed / "sub" / "travel.md").unlink()
    done = qa("ask", "--json", "harp")
    assert json.loads(done.stdout)["passages"][0]["source"]["path"] == "new.md"
    assert done.stderr == "Index updated: 1 file added, 1 removed\n"
    assert qa("ask", "train").exit_code == 1


def test_ask_no_update_does_not_change_the_index(indexed: Path) -> None:
    (indexed / "talks.md").unlink()
    done = qa("ask", "--no-update", "soup")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "    ! file is missing\n" in done.stdout


def test_ask_while_another_process_writes(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a moment, the question is answered from the index as it is, with a note."""
    monkeypatch.setattr(opening, "_WAIT_SECONDS", 0.1)
    (indexed / "new.md").write_text(HARP)
    with (indexed / ".qa" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = qa("ask", "soup")
        assert (done.exit_code, done.stderr.count("\n")) == (0, 1)
        assert done.stderr.startswith("qa: index not updated: ")
        assert qa("ask", "--corpus", ".", "soup").exit_code == 0
        refused = qa("index")
        assert refused.exit_code == 6
        assert "being written by" in refused.stderr


def test_ask_after_the_splitter_changed(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question never rebuilds a whole collection, but a note says that it is necessary, and how."""
    (indexed / "new.md").write_text(HARP)
    monkeypatch.setattr("corpus.chunking.splitter.VERSION", 10_000)
    done = qa("ask", "soup")
    assert done.exit_code == 0
    assert done.stderr.startswith("qa: this version of qa splits documents differently")
    assert done.stderr.endswith(f"run: qa index {indexed}\n")


def test_ask_after_an_extra_was_removed(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed files are indexed as ever, whatever grammars for source code are installed."""
    (indexed / "new.md").write_text(HARP)
    monkeypatch.setattr("corpus.readers.source.grammars.grammar_version", lambda: 0)
    done = qa("ask", "where", "is", "the", "harp?")
    assert done.exit_code == 0
    assert HARP in done.stdout
    assert "splits documents differently" not in done.stderr


def test_exit_code_for_a_damaged_index(indexed: Path) -> None:
    (indexed / ".qa" / "index.db").write_bytes(b"x" * 5000)
    for command in (["ask", "soup"], ["show", "talks.md"], ["status"]):
        assert qa(*command).exit_code in {4, 5}, command
