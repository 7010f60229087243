"""From a question to ranked passages with citations: the interface of a retriever."""

from __future__ import annotations

import inspect
import json
import os
import shutil
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import IncompatibleError, ModelError, NoIndexError, UsageError
from qa.answer.results import Answer, Highlight, IndexInfo, Location, Mode, Source, State
from qa.collection.build import build_index
from qa.filters import Filter
from qa.retrieval.pipeline import Pipeline
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.qa.indexes import build, opened
from tests.qa.retrieval.conftest import SHARED, SOUP, TRAINS, without_times


def test_answer_has_all_fields(retriever: Retriever) -> None:
    """The answering passage is first and cited to the character; its sentence is highlighted and quoted."""
    result = retriever.ask("when does the train to Lyon leave", k=2, question_id="q7")
    first = result.passages[0]
    start = TRAINS.index("## Trains")
    sentence, sentence_text = TRAINS.index("A train"), "A train to Lyon leaves every hour."
    assert first.source == Source(
        path="travel.md",
        media_type="text/markdown",
        chars=(start, len(TRAINS) - 1),
        lines=(5, 7),
        page=None,
        sha256=sha256(TRAINS.encode()).hexdigest(),
        state=State.VERIFIED,
    )
    assert first.text == TRAINS[start:-1]
    assert (first.rank, first.title, first.heading, first.also_in) == (1, "Travel", ("Travel", "Trains"), ())
    assert first.highlights == (Highlight((sentence, len(TRAINS) - 1), sentence_text),)
    assert first.citation == "travel.md:5-7"
    assert result.answer == Answer(sentence_text, (1,), sentence_text)
    assert result.index == IndexInfo(6, 7, "bag", 1)
    assert (result.id, result.question, len(result.passages)) == ("q7", "when does the train to Lyon leave", 2)
    assert 0 <= result.confidence <= 1
    assert result.found == (result.confidence >= 0.5)


def test_every_citation_is_exact(retriever: Retriever, root: Path) -> None:
    """`text == file[chars]` with newlines untouched and lines counted from 1; the same for highlights."""
    for hit in retriever.ask("anything at all", k=1000).passages:
        text = (root / hit.source.path).read_bytes().decode()
        start, end = hit.source.chars
        assert text[start:end] == hit.text
        assert hit.source.lines == (text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1)
        for mark in hit.highlights:
            assert text[slice(*mark.chars)] == mark.text
            assert start <= mark.chars[0] < mark.chars[1] <= end
        assert hit.source.state is State.VERIFIED


def test_duplicate_text_cites_both_places(root: Path) -> None:
    """One hit names both; if one file is deleted, the other is cited alone."""
    with opened(root) as retriever:
        hit = retriever.search("when does the harbour close", k=1)[0]
    places = {"a.txt", "old/b.txt"}
    (path,) = places - {hit.source.path}
    assert hit.also_in == (Location(path, (0, 29), (1, 1), None),)
    for gone, kept in (("a.txt", "old/b.txt"), ("old/b.txt", "a.txt")):
        (root / gone).unlink()
        build(root)
        with opened(root) as retriever:
            alone = retriever.search("when does the harbour close", k=1)[0]
        assert (alone.source.path, alone.text, alone.also_in) == (kept, SHARED.strip(), ())
        build(root, {gone: SHARED})


def test_a_file_that_is_left_out_has_no_text(root: Path) -> None:
    """Such as the file of a batch of questions."""
    with opened(root) as retriever:
        hit = retriever.ask("when does the harbour close", only=Filter(without=("a.txt",))).passages[0]
    assert (hit.source.path, hit.also_in) == ("old/b.txt", ())


@pytest.mark.parametrize("change", ["gone", "changed", "touched"])
def test_only_unchanged_places_have_the_same_text(root: Path, change: str) -> None:
    with opened(root) as retriever:
        hit = retriever.search("when does the harbour close", k=1)[0]
        other = root / hit.also_in[0].path
        if change == "gone":
            other.unlink()
        else:
            other.write_text("Something else.\n" if change == "changed" else other.read_text())
            os.utime(other, (1, 1))
        again = retriever.search("when does the harbour close", k=1)[0]
    assert (again.source.path, bool(again.also_in)) == (hit.source.path, change == "touched")


def test_copies_do_not_crowd_out_the_rest(root: Path) -> None:
    """However many copies of a text match best, the other passages are still found."""
    build(root, {f"copy{number}.txt": "harbour harbour\n" for number in range(250)})
    with opened(root) as retriever:
        hits = retriever.search("harbour", k=5)
    assert len(hits) == 5
    assert len(hits[0].also_in) == 249
    assert hits[1].text == SHARED.strip()


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.DENSE])
def test_a_path_pattern_is_applied_before_the_search(retriever: Retriever, mode: Mode) -> None:
    """So passages that rank far below others are still found."""
    for pattern, count in (("notes/", 3), ("*.md", 2), ("old/**", 1), ("whales.txt", 1), ("*.txt", 4)):
        hits = retriever.search("train to Lyon", k=10, mode=mode, path=pattern)
        assert len(hits) == count, pattern
    # Its name says that it is outdated, but the current file with the same text is not searched.
    assert retriever.search("train to Lyon", mode=mode, path="old/**")[0].source.path == "old/b.txt"


def test_modes(retriever: Retriever) -> None:
    """Keyword search finds only passages that share a word; dense and hybrid search rank everything."""
    words = retriever.search("spoon", k=10, mode=Mode.KEYWORD)
    assert [(hit.source.path, hit.score) for hit in words] == [("notes/soup.txt", 1.0)]
    assert retriever.search("unheard", mode=Mode.KEYWORD) == ()
    assert len(retriever.search("spoon", k=10, mode=Mode.DENSE)) == 6
    for mode in Mode:
        assert retriever.search("bring a spoon", mode=mode)[0].source.path == "notes/soup.txt"


@pytest.mark.parametrize(
    ("question", "k", "words"),
    [
        ("", 5, "the question is empty"),
        (" \n\t", 5, "the question is empty"),
        ("x" * 10_001, 5, "the question has 10,001 characters; 10,000 at most"),
        ("soup", 0, "k must be from 1 to 1,000, not 0"),
        ("soup", -1, "k must be from 1 to 1,000, not -1"),
        ("soup", 1001, "k must be from 1 to 1,000, not 1001"),
    ],
)
def test_wrong_usage(retriever: Retriever, question: str, k: int, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        retriever.ask(question, k=k)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"question": None}, {"question": "soup", "k": "5"}, {"question": "a", "only": "b/"}),
        *({"question": "a", "topic": 1}, {"question": "a", "question_id": 2.5}, {"question": "a", "rerank": "no"}),
    ],
)
def test_wrong_types(retriever: Retriever, wrong: dict[str, Any]) -> None:
    types = "(str|int|str or int|Filter|bool)"
    with pytest.raises(TypeError, match=rf"must be of type {types}, not (NoneType|str|int|float)"):
        retriever.ask(**wrong)


def test_a_mode_may_be_given_by_name(retriever: Retriever) -> None:
    assert retriever.search("spoon", mode="keyword") == retriever.search("spoon", mode=Mode.KEYWORD)
    with pytest.raises(UsageError, match="mode must be hybrid, dense or keyword, not 'fast'"):
        retriever.ask("spoon", mode="fast")  # type: ignore[arg-type]  # it must be an error to mypy


def test_a_missing_gpu_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if no model would run there."""
    monkeypatch.setattr("index.encoder.devices._has_driver", lambda: False)
    with pytest.raises(UsageError, match="the device mps cannot be used"):
        opened(root, device="mps")


def test_an_unknown_device_is_named(root: Path) -> None:
    with pytest.raises(UsageError, match="device must be auto, cpu, cuda or mps, not 'tpu'"):
        opened(root, device="tpu")


def test_a_folder_inside_a_collection_is_not_taken_for_it(root: Path) -> None:
    """As on the command line: the whole collection would answer, not the folder."""
    with pytest.raises(NoIndexError, match=r"it is part of the collection .*: use that with --path notes/ \(path= in"):
        opened(root / "notes")
    with opened(root / ".qa") as retriever:
        assert repr(retriever) == f"<Retriever of {root}: 7 passages, generation 1>"


def test_coroutines_take_the_arguments_of_their_methods() -> None:
    """Type checkers and editors know them."""
    for name in ("ask", "search"):
        plain, waits = (inspect.signature(getattr(Retriever, method)) for method in (name, f"a{name}"))
        assert plain == waits


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("!", "the path pattern '!' cannot be read"),
        ("[z-a]", r"the path pattern '\[z-a\]' cannot be read"),
    ],
)
def test_a_path_must_be_valid_and_match(retriever: Retriever, path: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        retriever.ask("soup", path=path)


@pytest.mark.parametrize(
    "question",
    ["soup " * 2000, '" OR * NEAR(', "?", "的 スープ", "a\0b", "caf\ud800", "İ soup", "-- ; DROP TABLE passages"],
)
def test_any_text_is_a_question(retriever: Retriever, question: str) -> None:
    """Nothing in a question is an operator, and nothing breaks."""
    assert len(retriever.search(question, k=6)) == 6


@pytest.mark.parametrize("question", ["?", "...", "\ud800", "\0"])
def test_a_question_without_words_finds_nothing(retriever: Retriever, question: str) -> None:
    """Although some passage is nearest even to a question mark."""
    result = retriever.ask(question)
    assert (result.found, result.confidence) == (False, 0)


def test_a_question_is_stripped_and_made_valid_unicode(retriever: Retriever) -> None:
    assert retriever.ask("  soup\n").question == "soup"
    assert retriever.ask("caf\ud800?").question == "caf\ufffd?"
    assert retriever.ask("\ud83d\ude00").question == "😀"


EXAMPLE = """
{"version": 1, "id": null, "question": "…", "corrections": [], "found": true, "confidence": 0.87,
 "answer": {"text": "…", "citations": [1], "sentence": "…", "alternatives": []},
 "passages": [
  {"rank": 1, "id": "…", "score": 0.81, "text": "…", "title": "…", "heading": ["…", "…"],
   "source": {"path": "notes/a.md", "media_type": "text/markdown", "chars": [120, 480], "lines": [9, 14],
              "page": null, "sha256": "…", "state": "verified", "anchor": null},
   "highlights": [{"chars": [130, 190], "text": "…"}],
   "also_in": [{"path": "…", "chars": [1, 2], "lines": [1, 1], "page": null}]}],
 "index": {"documents": 5, "passages": 700, "model": "…", "generation": 3}, "rerank_model": "…",
 "timings_ms": {"total": 14.2}}
"""


def shape(value: Any) -> Any:
    """Keys in order and types of values, recursively; the first element of a list stands for all."""
    if isinstance(value, dict):
        return [(key, shape(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [shape(part) for part in value[:1]]
    return type(value).__name__


def test_json_follows_the_contract(retriever: Retriever) -> None:
    """It has the keys of the contract's example in the same order, with the same types."""
    value = json.loads(json.dumps(retriever.ask("when does the harbour close", k=1).as_json()))
    steps = ["spell", "embed", "keyword", "dense", "fuse", "passages", "rerank", "read", "extract", "cite"]
    assert list(value["timings_ms"]) == [*steps, "total"]
    spent = sum(value["timings_ms"][step] for step in steps)
    assert spent == pytest.approx(value["timings_ms"]["total"], abs=0.01)
    expected = json.loads(EXAMPLE)
    value["timings_ms"] = expected["timings_ms"]
    value["passages"][0]["heading"] = ["Travel"]  # this passage has none
    value["found"] = True
    value["rerank_model"] = "scores"
    assert shape(value) == shape(expected)
    assert value["version"] == 1


def test_json_without_passages(retriever: Retriever) -> None:
    """The keys are the same, and the answer is null."""
    assert without_times(retriever.ask("unheard", mode=Mode.KEYWORD, question_id=3)) == {
        "version": 1,
        "id": 3,
        "question": "unheard",
        "corrections": [],
        "found": False,
        "confidence": 0.0,
        "answer": None,
        "passages": [],
        "index": {"documents": 6, "passages": 7, "model": "bag", "generation": 1},
        "rerank_model": None,
    }


def test_a_missing_rerank_model_is_an_error_at_once(root: Path, tmp_path: Path) -> None:
    """And not only when the first question is asked."""
    with pytest.raises(ModelError, match="neither a folder nor the name of a model"):
        opened(root, reader=True, rerank_model=str(tmp_path / "gone"))


def test_file_states_are_checked_with_each_question(retriever: Retriever, root: Path) -> None:
    """A file that was changed or removed after indexing is marked as such, and its indexed text is given."""

    def states() -> dict[str, State]:
        return {hit.source.path: hit.source.state for hit in retriever.search("soup whales train", k=10)}

    assert set(states().values()) == {State.VERIFIED}
    (root / "notes" / "soup.txt").write_bytes(SOUP.replace("noon", "five").encode())
    shutil.move(root / "notes" / "whales.txt", root / "moved.txt")
    now = states()
    assert now["notes/soup.txt"] is State.CHANGED
    assert now["notes/whales.txt"] is State.MISSING
    assert now["travel.md"] is State.VERIFIED
    assert "moved.txt" not in now
    assert retriever.search("soup", k=1)[0].text == SOUP.strip()
    (root / "notes" / "soup.txt").write_bytes(SOUP.encode())
    assert states()["notes/soup.txt"] is State.VERIFIED


def test_a_retriever_answers_from_the_generation_it_opened(root: Path) -> None:
    """Even after others commit; the next retriever answers from the new one."""
    with opened(root) as before, opened(root) as unused:
        first = before.ask("where do zebras live", k=10)
        (root / "a.txt").unlink()
        (root / "old" / "b.txt").unlink()
        assert build(root, {"zebra.txt": "Zebras live in the zoo.\n"}).documents == 5
        for retriever in (before, unused):
            again = retriever.ask("where do zebras live", k=10)
            assert again.index == first.index
            assert [hit.id for hit in again.passages] == [hit.id for hit in first.passages]
            assert [hit.source.state for hit in again.passages if hit.text == SHARED.strip()] == [State.MISSING]
    with opened(root) as after:
        new = after.ask("where do zebras live", k=10)
        assert new.index == IndexInfo(5, 6, "bag", 2)
        assert new.passages[0].source.path == "zebra.txt"
        assert SHARED.strip() not in [hit.text for hit in new.passages]


def test_another_encoder_is_refused(root: Path) -> None:
    """Vectors of different models are never compared, even if they have the same length."""
    other = BagEncoder(name="other", fingerprint="0" * 64)
    with pytest.raises(IncompatibleError, match=r"the index was built with bag .* not with other"):
        opened(root, encoder=other, reader=True)
    with opened(root) as retriever:
        assert retriever.search("soup", k=1)


def test_index_is_found_by_its_name_or_around_the_working_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is its root or its `.qa` folder."""
    for place in (root, str(root / ".qa")):
        with Retriever.open(place, encoder=BagEncoder()) as retriever:
            assert retriever.root == root
    monkeypatch.chdir(root / "notes")
    monkeypatch.delenv("QA_INDEX", raising=False)
    with Retriever.open(encoder=BagEncoder()) as retriever:
        assert retriever.root == root


def test_a_closed_retriever_does_not_answer(root: Path) -> None:
    """The context manager closes it; closing it twice is fine."""
    with opened(root) as retriever:
        pass
    retriever.close()
    with pytest.raises(UsageError, match="this retriever is closed"):
        retriever.ask("soup")


def test_an_empty_collection_is_not_an_error(tmp_path: Path) -> None:
    build(tmp_path)
    with opened(tmp_path) as retriever:
        for mode in Mode:
            result = retriever.ask("anything", mode=mode)
            assert (result.found, result.confidence, result.answer, result.passages) == (False, 0.0, None, ())
            assert result.index.passages == 0


def test_each_file_is_read_once_per_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if several of its passages are cited."""
    reads: list[str] = []

    def reading(root: Path, path: str) -> bytes:
        reads.append(path)
        return (root / path).read_bytes()

    monkeypatch.setattr("qa.answer.citation.read_file", reading)
    with opened(root) as retriever:
        hits = retriever.search("train", k=10)
    assert sum(hit.source.path == "travel.md" for hit in hits) == 2
    assert reads.count("travel.md") == 1


def test_a_sentence_about_another_thing_of_the_kind_is_not_found(tmp_path: Path) -> None:
    build(tmp_path, {"attic.txt": "Shelf 124 holds box 370. Shelf 125 holds box 371.\n"})
    with opened(tmp_path) as retriever:
        assert retriever.ask("box 370").found
        assert not retriever.ask("box 124").found


def test_an_unknown_unit_is_refused_with_the_choices(retriever: Retriever) -> None:
    """It is not taken for passages."""
    wrong: Any = "document"
    for ask in (retriever.topics, retriever.map_svg, partial(retriever.similar, "travel.md")):
        with pytest.raises(UsageError, match="unit must be passages or documents, not 'document'"):
            ask(unit=wrong)


def test_other_arguments_of_a_wrong_type(retriever: Retriever) -> None:
    """They are named too."""
    wrong: Any = 1.5
    with pytest.raises(TypeError, match="n must be of type int, not float"):
        retriever.topics(n=wrong)
    with pytest.raises(TypeError, match="store must be of type str, not float"):
        Retriever.open(store=wrong)
    with pytest.raises(TypeError, match="store must be of type str, not float"):
        build_index(retriever.root, store=wrong)
    with pytest.raises(TypeError, match="rerank_model must be of type str or NoneType, not float"):
        Retriever.open(retriever.root, rerank_model=wrong)
    for name in ("model", "workers", "dask", "include", "exclude"):
        with pytest.raises(TypeError, match=f"^{name} must be "):
            build_index(retriever.root, **{name: wrong})


def test_the_note_is_that_of_the_generation_that_answers(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the index is updated, and the note cleared, while the answer is found."""
    answer = Pipeline.answer

    def slow_answer(*args: Any) -> Any:
        retriever.note = ""
        return answer(*args)

    monkeypatch.setattr(Pipeline, "answer", slow_answer)
    retriever.note = "files have changed"
    assert retriever.ask("train").index.note == "files have changed"
    assert retriever.ask("train").index.note == ""
