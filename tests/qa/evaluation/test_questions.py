"""Questions with known answers: the format of their lines, and the places in a collection they refer to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import UsageError
from qa.evaluation.evidence import DocumentLookup, Gold, GoldSpan, resolve_evidence
from qa.evaluation.questions import EvalQuestion, EvidenceSpan, read_questions, sample

Write = Callable[..., Path]
LOST = {"file": "d.md", "text": "it"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes lines to a file, objects as JSON."""

    def lines(*lines_given: Any) -> Path:
        file = tmp_path / "questions.jsonl"
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines_given)
        file.write_text(text, encoding="utf-8")
        return file

    return lines


# Lines


def test_every_form_of_gold(write: Write) -> None:
    """Evidence, spans, alternatives of the first span, one span, a file, grades, and none."""
    span = {"file": "b.md", "start": 3, "end": 5}
    questions = read_questions(
        write(
            {"id": "e", "question": "?", "evidence": [{"file": "a.md", "text": "it"}, span]},
            {"id": "s", "question": "?", "file": "a.md", "start": 1, "end": 2, "spans": [span, [7, 9]]},
            {"id": "o", "question": "?", "file": "a.md", "start": 1, "end": 2, "alt_spans": [[1, 2], span]},
            {"id": "p", "question": "?", "file": "a.md", "start": 1, "end": 2, "answer": "x"},
            {"id": "f", "question": "?", "file": "a.md", "start": None, "end": None},
            {"id": "r", "question": "?", "relevant": {"a.md": 2, "b.md": 0}},
            {"id": "n", "question": " ? ", "answerable": False, "file": "a.md"},
            {"question": "?", "file": "a.md"},
            {"id": 7, "question": "?", "file": "a.md"},
        )
    )
    b = EvidenceSpan("b.md", (3, 5))
    assert questions == (
        EvalQuestion("e", "?", evidence=((EvidenceSpan("a.md", text="it"),), (b,)), file="a.md"),
        EvalQuestion("s", "?", evidence=((b,), (EvidenceSpan("a.md", (7, 9)),)), file="a.md"),
        EvalQuestion("o", "?", evidence=((EvidenceSpan("a.md", (1, 2)), b),), file="a.md"),
        EvalQuestion("p", "?", evidence=((EvidenceSpan("a.md", (1, 2)),),), file="a.md"),
        EvalQuestion("f", "?", evidence=((EvidenceSpan("a.md"),),), file="a.md"),
        EvalQuestion("r", "?", relevant=(("a.md", 2),)),
        EvalQuestion("n", "?", answerable=False, file="a.md"),
        EvalQuestion("8", "?", evidence=((EvidenceSpan("a.md"),),), file="a.md"),
        EvalQuestion("7", "?", evidence=((EvidenceSpan("a.md"),),), file="a.md"),
    )


def test_blank_lines_and_a_byte_order_mark_are_ignored(write: Write) -> None:
    """Lines keep their numbers."""
    file = write("", {"question": "?", "file": "a"}, "  ")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert [question.id for question in read_questions(file)] == ["2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ({"question": 3, "file": "a"}, '"question" must'),
        ({"question": " ", "file": "a"}, "is empty"),
        ({"id": [], "question": "?", "file": "a"}, '"id"'),
        ({"question": "?", "answerable": "yes", "file": "a"}, '"answerable"'),
        ({"question": "?"}, "no answer given"),
        ({"question": "?", "relevant": {}}, "no grade above 0"),
        ({"question": "?", "relevant": {"a": -1}}, '"relevant"'),
        ({"question": "?", "evidence": "it"}, "must be a list"),
        ({"question": "?", "evidence": ["it"]}, "must be an object"),
        ({"question": "?", "evidence": [{"file": "a", "text": ""}]}, '"text"'),
        ({"question": "?", "file": 3}, 'needs a "file"'),
        ({"question": "?", "file": "a", "start": 1}, '"start" and "end"'),
        ({"question": "?", "file": "a", "start": 5, "end": 5}, '"start" and "end"'),
    ],
)
def test_an_invalid_line(write: Write, line: Any, message: str) -> None:
    file = write({"id": "good", "question": "?", "file": "a"}, line)
    with pytest.raises(UsageError, match=r"questions\.jsonl line 2") as caught:
        read_questions(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_duplicate_id(write: Write) -> None:
    """Runs are compared by id, so ids must be unique."""
    line = {"id": "x", "question": "?", "file": "a"}
    with pytest.raises(UsageError, match="line 3: the id x is already used in line 1"):
        read_questions(write(line, line | {"id": "y"}, line))


def test_no_questions(write: Write, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no questions"):
        read_questions(write())
    with pytest.raises(UsageError, match=r"cannot read .*missing"):
        read_questions(tmp_path / "missing")


def test_long_questions_are_cut(write: Write) -> None:
    """They are cut to the longest that can be asked, and the characters left out are counted."""
    (question,) = read_questions(write({"question": "ö" * 10_007, "file": "a"}))
    assert (question.question, question.cut) == ("ö" * 10_000, 7)


def test_a_sample_is_the_same_in_every_run() -> None:
    """It is in the order of the file, and everything if the file has fewer lines."""
    everything = tuple(range(1000))
    chosen = sample(everything, 20)
    assert chosen == sample(everything, 20) == tuple(sorted(set(chosen)))
    assert (len(chosen), max(chosen) > 500) == (20, True)
    assert sample(everything, 5000) == sample(everything, None) == everything


# Places


@pytest.fixture
def collection(tmp_path: Path) -> DocumentLookup:
    """Four files, two with the same name."""
    paths = ["a.md", "notes/b.md", "old/b.md", "notes/c.md"]
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(f"\ufeffIn {path}:\r\nit is ünder it.".encode())
    return DocumentLookup(tmp_path, paths)


def gold(fields: dict[str, Any], collection: DocumentLookup, write: Write) -> Gold:
    (question,) = read_questions(write({"id": "q", "question": "?"} | fields))
    return resolve_evidence(question, collection)


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("notes/b.md", ["notes/b.md"]),
        ("./notes/b.md", ["notes/b.md"]),
        ("c.md", ["notes/c.md"]),
        ("b.md", ["notes/b.md", "old/b.md"]),
        ("home/me/notes/c.md", ["notes/c.md"]),
        ("other/c.md", []),
    ],
)
def test_files_are_found_by_path_or_by_name(name: str, paths: list[str], collection: DocumentLookup) -> None:
    assert list(collection.find(name)) == paths


@pytest.mark.parametrize(
    ("fields", "evidence", "missing"),
    [
        # Positions are in code points, with newlines unchanged; the first occurrence counts.
        (
            {"evidence": [{"file": "a.md", "text": "it is ünder"}, {"file": "b.md", "text": "it"}]},
            ((GoldSpan("a.md", (11, 22)),), (GoldSpan("notes/b.md", (17, 19)), GoldSpan("old/b.md", (15, 17)))),
            (),
        ),
        # The question counts as long as some evidence is found.
        (
            {"evidence": [{"file": "a.md", "text": "it"}, LOST, {"file": "a.md", "text": "is not"}]},
            ((GoldSpan("a.md", (11, 13)),), (), ()),
            ("d.md is not in the collection", "its text is not in a.md"),
        ),
        # An alternative place may be missing.
        (
            {"file": "a.md", "alt_spans": [{"file": "d.md", "start": 0, "end": 2}, [4, 6]]},
            ((GoldSpan("a.md", (4, 6)),),),
            (),
        ),
    ],
)
def test_evidence_is_looked_up(
    fields: dict[str, Any], evidence: Any, missing: tuple[str, ...], collection: DocumentLookup, write: Write
) -> None:
    resolved = gold(fields, collection, write)
    assert (resolved.evidence, resolved.missing, resolved.resolved) == (evidence, missing, True)


def test_a_question_without_any_evidence_is_unresolved(
    collection: DocumentLookup, tmp_path: Path, write: Write
) -> None:
    """A file may have been deleted since it was indexed."""
    assert not gold({"evidence": [LOST, {"file": "c.md", "text": "is not"}]}, collection, write).resolved
    assert not gold({"relevant": {"d.md": 2}}, collection, write).resolved
    (tmp_path / "a.md").unlink()
    resolved = gold({"evidence": [{"file": "a.md", "text": "it"}]}, collection, write)
    assert (resolved.missing, resolved.resolved) == (("its text is not in a.md",), False)


def test_missing_graded_documents_still_count(collection: DocumentLookup, write: Write) -> None:
    """They are part of a perfect ranking."""
    resolved = gold({"relevant": {"c.md": 1, "d.md": 2}}, collection, write)
    assert resolved.grades == (("notes/c.md", 1), ("d.md", 2))
    assert (resolved.by_document, resolved.resolved) == (True, True)
    assert resolved.missing == ("d.md is not in the collection",)
