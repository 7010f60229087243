"""Sets of records in BEIR's layout, laid out as documents."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import UsageError
from qa import Retriever, build_index
from qa.evaluation.beir import file_names, is_record_set, prepare
from qa.evaluation.evaluate import Settings, evaluate
from qa.evaluation.questions import Asked
from tests.encoders import BagEncoder

RECORDS = [
    {"_id": "one", "title": "Whales", "text": "The blue whale sings in the deep."},
    {"_id": "two/2", "title": "", "text": "Soup is served at noon."},
    {"_id": "Ünï", "title": "A train\n to Lyon", "text": "It leaves at nine."},
]
QUERIES = [
    {"_id": "q1", "text": "which whale sings"},
    {"_id": "q2", "text": "when does the train to Lyon leave"},
    {"_id": "q3", "text": "nobody judged this"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\tone\t2\nq1\ttwo/2\t0\nq2\tÜnï\t1\nq2\tgone\t3\nq3\tone\t0\n"


def lines(values: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "set"
    found.mkdir()
    (found / "corpus.jsonl").write_text(lines(RECORDS))
    (found / "queries.jsonl").write_text(lines(QUERIES))
    (found / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return found


def documents(work: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (work / "documents").iterdir()}


def test_records_become_documents_and_judged_queries_questions(folder: Path, tmp_path: Path) -> None:
    """A file a record, named by its id; queries without a grade above 0 are left out."""
    assert is_record_set(folder)
    assert not is_record_set(tmp_path)
    found = prepare(folder, tmp_path / "work")
    names = file_names({"one": True, "two/2": False, "Ünï": True})
    assert documents(tmp_path / "work") == {
        "one.md": "# Whales\n\nThe blue whale sings in the deep.\n",
        names["two/2"]: "Soup is served at noon.\n",
        names["Ünï"]: "# A train to Lyon\n\nIt leaves at nine.\n",
    }
    assert found.root == tmp_path / "work" / "documents"
    assert found.questions == (
        Asked("q1", "which whale sings", relevant=(("one.md", 2),)),
        Asked("q2", "when does the train to Lyon leave", relevant=((names["Ünï"], 1), ("gone", 3))),
    )


def test_a_set_is_measured_by_document(folder: Path, tmp_path: Path) -> None:
    """Found records by their places, those that are not in the corpus as never found."""
    found = prepare(folder, tmp_path / "work")
    build_index(found.root, encoder=BagEncoder())
    with Retriever.open(found.root, encoder=BagEncoder()) as retriever:
        run = evaluate(retriever, found.questions, Settings())
    assert [row.values["MRR@10"] for row in run.rows] == [1.0, 1.0]
    assert [row.values["recall@10"] for row in run.rows] == [1.0, 0.5]
    assert run.rows[0].values["nDCG@10"] == 1.0
    assert run.rows[1].values["nDCG@10"] == pytest.approx(1 / (3 + 1 / 1.584962500721156))
    assert [(each.id, each.reason) for each in run.partly] == [("q2", "gone is not in the collection")]
    assert run.left_out == ()


def test_what_is_there_is_used_again(folder: Path, tmp_path: Path) -> None:
    """Files that are as they should be are not written, others are made so, and those too many go."""
    work = tmp_path / "work"
    prepare(folder, work)
    before = {path: path.stat().st_mtime_ns for path in (work / "documents").iterdir()}
    for path in before:
        os.utime(path, ns=(1, 1))
    prepare(folder, work)
    assert {path.stat().st_mtime_ns for path in before} == {1}
    (folder / "corpus.jsonl").write_text(lines([RECORDS[0], RECORDS[1] | {"text": "Soup is at one."}]))
    prepare(folder, work)
    assert sorted(documents(work).values()) == ["# Whales\n\nThe blue whale sings in the deep.\n", "Soup is at one.\n"]
    assert (work / "documents" / "one.md").stat().st_mtime_ns == 1


def test_an_unfinished_folder_is_finished(folder: Path, tmp_path: Path) -> None:
    """Whatever an interrupted run left."""
    work = tmp_path / "work"
    prepare(folder, work)
    (work / "qa-eval.json").write_text('{"version": 1, "documents": ""}')
    (work / "documents" / "one.md").write_text("# Wha")
    prepare(folder, work)
    assert documents(work)["one.md"] == "# Whales\n\nThe blue whale sings in the deep.\n"


def test_a_folder_of_other_things_is_left_alone(folder: Path, tmp_path: Path) -> None:
    """It may be somebody's documents."""
    work = tmp_path / "mine"
    work.mkdir()
    (work / "thesis.md").write_text("mine")
    with pytest.raises(UsageError, match="has other things in it"):
        prepare(folder, work)
    assert [path.name for path in work.iterdir()] == ["thesis.md"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("corpus.jsonl", "", "has no records"),
        ("corpus.jsonl", '{"_id": 3}\n', 'line 1 must have "_id"'),
        ("corpus.jsonl", '{"_id": "a"}\n{"_id": "a"}\n', "line 2: the record a is there already"),
        ("queries.jsonl", '{"_id": "q1", "text": " "}\n', 'line 1 must have "_id"'),
        ("queries.jsonl", "{", "line 1 is not JSON"),
        ("qrels.tsv", "header\nq1\tone\n", "line 2 must be a query"),
        ("qrels.tsv", "header\nq1\tone\thigh\n", "line 2 must be a query"),
        ("qrels.tsv", "header\n", "no queries with judgements"),
    ],
)
def test_a_set_that_cannot_be_read(folder: Path, tmp_path: Path, name: str, text: str, says: str) -> None:
    """The message has the file and the line, and nothing is laid out."""
    (folder / name).write_text(text)
    with pytest.raises(UsageError) as caught:
        prepare(folder, tmp_path / "work")
    assert says in str(caught.value)
    assert not (tmp_path / "work").exists()


def test_a_missing_part_is_named(folder: Path, tmp_path: Path) -> None:
    """Such as the judgements."""
    (folder / "qrels.tsv").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*qrels\.tsv"):
        prepare(folder, tmp_path / "work")


ids = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["con", "CON", "a", "A", "..", "a/b", "a\\b", ".qa", "a" * 300]
)


@given(st.dictionaries(ids, st.booleans(), max_size=12))
def test_names_are_safe_on_any_file_system(titled: dict[str, bool]) -> None:
    """Distinct without regard to case, short, of plain characters, no device, not hidden."""
    names = file_names(titled)
    stems = [name.rpartition(".")[0] for name in names.values()]
    assert names.keys() == titled.keys()
    assert len({name.casefold() for name in names.values()}) == len(titled)
    assert all(re.fullmatch(r"[0-9A-Za-z_-]+", stem) for stem in stems)
    assert all(len(name) <= 100 for name in names.values())
    assert not {"con", "prn", "aux", "nul"} & {stem.casefold() for stem in stems}
