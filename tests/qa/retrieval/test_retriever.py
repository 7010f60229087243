"""From a question to ranked passages with citations, over a small corpus and a small encoder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import IncompatibleError, ModelError, NoIndexError, UsageError
from index.encoder.cross_encoder import load_cross_encoder
from index.storage.rows import StoredPassage
from index.update.report import BuildReport, Request
from index.update.update import update_index
from qa.answer import confidence
from qa.answer.extract import Extract, SpanScore
from qa.answer.results import Answer, Highlight, IndexInfo, Location, Mode, Result, Source, State
from qa.reader.reader import Reader
from qa.reader.reading import Reading
from qa.retrieval.hybrid import Pool
from qa.retrieval.pipeline import Asked
from qa.retrieval.retriever import Retriever
from tests import small_models
from tests.encoders import BagEncoder

TRAINS = "# Travel\n\nBuses are slow.\n\n## Trains\n\nThe café car opens at noon. A train to Lyon leaves every hour.\n"
SOUP = "Soup is served at noon.\r\nBring a spoon.\r\n"
WHALES = "Whales sing for hours.\n"
SHARED = "The harbour closes in winter.\n"


def build(root: Path) -> BuildReport:
    return update_index(Request(root, BagEncoder()))


def opened(root: Path) -> Retriever:
    return Retriever.open(root, encoder=BagEncoder(), reader=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Six files, seven passages, two of them with the same text."""
    folder = tmp_path / "corpus"
    files = {
        "travel.md": TRAINS,
        "notes/soup.txt": SOUP,
        "notes/whales.txt": WHALES,
        "a.txt": SHARED,
        "old/b.txt": SHARED,
        "notes/numbers.txt": "In 2024 there were 512 visitors.\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    build(folder)
    return folder


@pytest.fixture
def retriever(root: Path) -> Iterator[Retriever]:
    with opened(root) as found:
        yield found


def test_the_whole_answer(retriever: Retriever) -> None:
    """The passage that answers is first, cited to the character, its sentence marked, the answer quoted from it."""
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
    """`text == file[chars]`, newlines untouched, lines counted from 1; highlights likewise."""
    for hit in retriever.ask("anything at all", k=1000).passages:
        text = (root / hit.source.path).read_bytes().decode()
        start, end = hit.source.chars
        assert text[start:end] == hit.text
        assert hit.source.lines == (text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1)
        for mark in hit.highlights:
            assert text[slice(*mark.chars)] == mark.text
            assert start <= mark.chars[0] < mark.chars[1] <= end
        assert hit.source.state is State.VERIFIED


def test_the_same_text_at_two_places(root: Path) -> None:
    """One hit that names both; when one file goes, the other is cited alone."""
    with opened(root) as retriever:
        hit = retriever.search("when does the harbour close", k=1)[0]
    places = {"a.txt", "old/b.txt"}
    (other,) = places - {hit.source.path}
    assert hit.also_in == (Location(other, (0, 29), (1, 1), None),)
    for gone, kept in (("a.txt", "old/b.txt"), ("old/b.txt", "a.txt")):
        (root / gone).unlink()
        build(root)
        with opened(root) as retriever:
            alone = retriever.search("when does the harbour close", k=1)[0]
        assert (alone.source.path, alone.text, alone.also_in) == (kept, SHARED.strip(), ())
        (root / gone).parent.mkdir(exist_ok=True)
        (root / gone).write_text(SHARED)
        build(root)


def test_copies_do_not_crowd_out_the_rest(root: Path) -> None:
    """However many copies of a text match best, the other passages are still found."""
    for number in range(250):
        (root / f"copy{number}.txt").write_text("harbour harbour\n")
    build(root)
    with opened(root) as retriever:
        hits = retriever.search("harbour", k=5)
    assert len(hits) == 5
    assert len(hits[0].also_in) == 249
    assert hits[1].text == SHARED.strip()


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.DENSE])
def test_a_scope_with_documents_is_never_empty(retriever: Retriever, mode: Mode) -> None:
    """The pattern narrows before the search, so what ranks far below others is still found."""
    for pattern, count in (("notes/", 3), ("*.md", 2), ("old/**", 1), ("whales.txt", 1), ("*.txt", 4)):
        hits = retriever.search("train to Lyon", k=10, mode=mode, path=pattern)
        assert len(hits) == count, pattern
    assert retriever.search("train to Lyon", mode=mode, path="old/**")[0].source.path == "old/b.txt"


def test_modes(retriever: Retriever) -> None:
    """Keyword gives only passages that share a word; dense and hybrid rank everything."""
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
    """Refused with the reason, before anything is searched."""
    with pytest.raises(UsageError, match=words):
        retriever.ask(question, k=k)


@pytest.mark.parametrize("wrong", [{"question": None}, {"question": "soup", "k": "5"}, {"question": "a", "only": "b/"}])
def test_wrong_types(retriever: Retriever, wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"must be of type (str|int|Filter), not (NoneType|str)"):
        retriever.ask(**wrong)


def test_a_mode_may_be_its_name(retriever: Retriever) -> None:
    assert retriever.search("spoon", mode="keyword") == retriever.search("spoon", mode=Mode.KEYWORD)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="mode must be hybrid, dense, keyword, not 'fast'"):
        retriever.ask("spoon", mode="fast")  # type: ignore[arg-type]


def test_paths_add_up_and_must_match(retriever: Retriever) -> None:
    found = retriever.search("soup", k=10, path=("notes/soup.txt", "old/"))
    assert {hit.source.path for hit in found} == {"notes/soup.txt", "old/b.txt"}
    with pytest.raises(UsageError, match=r"matches the path 'suop\.txt'\. Similar: notes/soup\.txt"):
        retriever.ask("soup", path="suop.txt")


def test_a_path_pattern_that_cannot_be(retriever: Retriever) -> None:
    """A broken pattern is named."""
    with pytest.raises(UsageError, match=r"the path pattern '!' cannot be read"):
        retriever.ask("soup", path="!")


@pytest.mark.parametrize(
    "question",
    ["soup " * 2000, '" OR * NEAR(', "?", "的 スープ", "a\0b", "caf\ud800", "İ soup", "-- ; DROP TABLE passages"],
)
def test_any_text_is_a_question(retriever: Retriever, question: str) -> None:
    """Nothing in a question is an operator, and nothing breaks."""
    assert len(retriever.search(question, k=6)) == 6


@pytest.mark.parametrize("question", ["?", "...", "\ud800", "\0"])
def test_what_has_no_word_is_not_found(retriever: Retriever, question: str) -> None:
    """A passage is the nearest even to a question mark."""
    result = retriever.ask(question)
    assert (result.found, result.confidence) == (False, 0)


def test_a_question_is_stripped(retriever: Retriever) -> None:
    """Blanks around it change nothing; half a character, which no model can read, becomes U+FFFD."""
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
    """Keys in order and types of values, all the way down; of a list the first element stands for all."""
    if isinstance(value, dict):
        return [(key, shape(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [shape(part) for part in value[:1]]
    return type(value).__name__


def test_json_is_the_contract(retriever: Retriever) -> None:
    """The keys of the example in the contract, in its order, with its types."""
    value = json.loads(json.dumps(retriever.ask("when does the harbour close", k=1).as_json()))
    steps = ["spell", "embed", "keyword", "dense", "fuse", "passages", "rerank", "read", "extract", "cite"]
    assert list(value["timings_ms"]) == [*steps, "total"]
    spent = sum(value["timings_ms"][step] for step in steps)
    assert spent == pytest.approx(value["timings_ms"]["total"], abs=0.02)
    assert value["timings_ms"]["total"] == pytest.approx(sum(list(value["timings_ms"].values())[:-1]), abs=0.01)
    expected = json.loads(EXAMPLE)
    value["timings_ms"] = expected["timings_ms"]
    value["passages"][0]["heading"] = ["Travel"]  # this passage has none
    value["found"] = True
    value["rerank_model"] = "scores"
    assert shape(value) == shape(expected)
    assert value["version"] == 1


def test_json_of_nothing(retriever: Retriever) -> None:
    """Without passages the keys are the same, the answer null."""
    value = retriever.ask("unheard", mode=Mode.KEYWORD, question_id=3).as_json()
    value.pop("timings_ms")
    assert value == {
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


def test_a_cross_encoder_orders_the_passages(root: Path, tmp_path: Path) -> None:
    """A real one, small, of random weights: by its scores alone, in any mode, and only where re-ranking is wanted."""
    model = str(small_models.cross_encoder(tmp_path / "scores"))
    question = "when does the train leave the harbour"
    with Retriever.open(root, encoder=BagEncoder(), reader=False, rerank_model=model) as scored, opened(root) as plain:
        passages = scored.snapshot.passages(range(1, 8))
        scores = load_cross_encoder(model).scores(question, [one.encoder_text for one in passages])
        by_key = {one.key: score for one, score in zip(passages, scores.tolist(), strict=True)}
        whole = {mode: scored.ask(question, k=7, mode=mode) for mode in (Mode.HYBRID, Mode.DENSE)}
        for mode, result in whole.items():
            for found in ([by_key[hit.id] for hit in result.passages], [hit.score for hit in result.passages]):
                assert found == sorted(found, reverse=True)
            assert (result.rerank_model, result.as_json()["rerank_model"]) == (model, model)
            assert result.passages[0].highlights
            usual = plain.ask(question, k=7, mode=mode)
            assert [hit.id for hit in usual.passages] != [hit.id for hit in result.passages]
        assert scored.ask(question, k=2).passages == whole[Mode.HYBRID].passages[:2]
        assert scored.search(question, k=3, mode=Mode.DENSE)[2].id == whole[Mode.DENSE].passages[2].id
        quick = scored.ask(question, k=7, rerank=False)
        assert without_times(quick) == without_times(plain.ask(question, k=7, rerank=False))
        assert quick.rerank_model is None


def test_a_rerank_model_that_is_not_there_is_an_error(root: Path, tmp_path: Path) -> None:
    """At once, and not when the first question is asked."""
    with pytest.raises(ModelError, match="neither a folder nor the name of a model"):
        Retriever.open(root, encoder=BagEncoder(), rerank_model=str(tmp_path / "gone"))


def test_states_are_of_now(retriever: Retriever, root: Path) -> None:
    """What changed or went since the index was written is said, each time anew, and its indexed text given."""

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


def without_times(result: Result) -> dict[str, Any]:
    value = result.as_json()
    del value["timings_ms"]
    return value


def test_one_generation_for_its_lifetime(root: Path) -> None:
    """While others commit, a retriever answers from what it opened; the next one from what is new."""
    with opened(root) as before, opened(root) as unused:
        first = before.ask("where do zebras live", k=10)
        (root / "zebra.txt").write_text("Zebras live in the zoo.\n")
        (root / "a.txt").unlink()
        (root / "old" / "b.txt").unlink()
        assert build(root).documents == 5
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
    """Vectors of different models are never compared, even where they are of the same length."""
    other = BagEncoder(name="other", fingerprint="0" * 64)
    with pytest.raises(IncompatibleError, match=r"the index was built with bag .* not with other"):
        Retriever.open(root, encoder=other)
    with opened(root) as retriever:
        assert retriever.search("soup", k=1)


def test_open_from_inside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the root, its `.qa` folder, a folder below, or the working directory."""
    for place in (root, root / ".qa", str(root / "notes")):
        with Retriever.open(place, encoder=BagEncoder()) as retriever:
            assert retriever.root == root
    monkeypatch.chdir(root / "notes")
    monkeypatch.delenv("QA_INDEX", raising=False)
    with Retriever.open(encoder=BagEncoder()) as retriever:
        assert retriever.root == root


def test_open_without_an_index(tmp_path: Path) -> None:
    """The error says how to build one."""
    with pytest.raises(NoIndexError, match="Build one with: qa index"):
        Retriever.open(tmp_path, encoder=BagEncoder())


def test_a_closed_retriever_does_not_answer(root: Path) -> None:
    """The context manager closes; closing twice is fine."""
    with opened(root) as retriever:
        pass
    retriever.close()
    with pytest.raises(UsageError, match="this retriever is closed"):
        retriever.ask("soup")


def test_an_empty_collection(tmp_path: Path) -> None:
    """No documents, no passages, no error."""
    build(tmp_path)
    with opened(tmp_path) as retriever:
        for mode in Mode:
            result = retriever.ask("anything", mode=mode)
            assert (result.found, result.confidence, result.answer, result.passages) == (False, 0.0, None, ())
            assert result.index.passages == 0


def test_each_file_is_read_once_an_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several passages of a file are checked by one reading."""
    reads: list[str] = []

    def reading(root: Path, path: str) -> bytes:
        reads.append(path)
        return (root / path).read_bytes()

    monkeypatch.setattr("qa.answer.citation.read_file", reading)
    with opened(root) as retriever:
        hits = retriever.search("train", k=10)
    assert sum(hit.source.path == "travel.md" for hit in hits) == 2
    assert reads.count("travel.md") == 1


def test_without_reranking(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """No passage is read by the encoder; order, answering sentence and confidence come from words and meaning."""

    def refuse(_: object, texts: list[str]) -> None:
        raise AssertionError(texts)

    monkeypatch.setattr(BagEncoder, "encode_passage_tokens", refuse)
    result = retriever.ask("when does the harbour close", rerank=False)
    assert result.answer is not None
    assert result.answer.text == result.passages[0].highlights[0].text
    assert "harbour" in result.answer.text.lower()
    with pytest.raises(AssertionError):
        retriever.ask("when does the harbour close")


@pytest.mark.parametrize(("rerank", "model"), [(True, confidence.RERANKED), (False, confidence.QUICK)])
def test_each_way_of_scoring_sentences_has_its_confidence(
    retriever: Retriever, rerank: bool, model: confidence.LogisticModel
) -> None:
    asked = Asked(question="when does the harbour close", k=3, rerank=rerank)
    result, features = retriever._answer(asked)
    assert features is not None
    assert result.confidence == round(confidence.probability(features, model), 4)
    assert confidence.RERANKED != confidence.QUICK
    best, encoder = retriever.snapshot.find(result.passages[0].id), BagEncoder()
    assert best is not None
    cosine = encoder.encode_passages([best.encoder_text])[0] @ encoder.encode_query(asked.question)
    assert features.cosine == pytest.approx(cosine, abs=1e-3)


@pytest.mark.parametrize(("sure", "shown", "found"), [(0.49996, 0.5, True), (0.49994, 0.4999, False)])
def test_found_is_what_the_confidence_shown_says(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch, sure: float, shown: float, found: bool
) -> None:
    monkeypatch.setattr(confidence, "probability", lambda *_: sure)
    result = retriever.ask("when does the harbour close")
    assert (result.confidence, result.found) == (shown, found)


def test_a_question_in_a_script_that_the_model_does_not_know_is_answered_by_keywords(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    question = "When does the harbour close for trains?"
    known = retriever.ask(question)
    by_words = retriever.ask(question, mode=Mode.KEYWORD, rerank=False)
    monkeypatch.setattr(BagEncoder, "unknown_token_ratio", lambda *_: 0.33)
    assert without_times(retriever.ask(question)) == without_times(known) != without_times(by_words)
    assert not caplog.records
    monkeypatch.setattr(BagEncoder, "unknown_token_ratio", lambda *_: 0.34)
    assert without_times(retriever.ask(question)) == without_times(by_words)
    assert retriever.ask("zzz").passages == ()
    assert [record.getMessage()[:36] for record in caplog.records] == ["bag does not know this script, so on"]
    by_meaning = retriever.ask(question, mode=Mode.DENSE)
    assert len(by_meaning.passages) > len(by_words.passages)


def test_corrections_are_in_the_json(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word that was replaced, as it was asked, and what was searched for instead; no key is left out."""
    monkeypatch.setattr(BagEncoder, "count_tokens", lambda _, texts: [2 * len(text.split()) for text in texts])
    with opened(root) as retriever:
        result = retriever.ask("when does the harbuor close")
    assert result.corrections == (("harbuor", "harbour"),)
    value = json.loads(json.dumps(result.as_json()))
    assert value["corrections"] == [{"word": "harbuor", "searched": "harbour"}]


@pytest.mark.parametrize("mode", Mode)
def test_a_search_does_no_more_than_rank(retriever: Retriever, monkeypatch: pytest.MonkeyPatch, mode: Mode) -> None:
    """No sentence is scored, and late interaction reads passages only for a ranking that it orders."""
    sentences: list[StoredPassage] = []
    read: list[str] = []
    encode = BagEncoder.encode_passage_tokens

    def extracted(passage: StoredPassage, _: SpanScore, question: str, *, looked_up: int | None) -> Extract:
        assert looked_up is None
        sentences.append(passage)
        return Extract()

    def counted(encoder: BagEncoder, texts: Sequence[str]) -> Any:
        read.extend(texts)
        return encode(encoder, texts)

    monkeypatch.setattr("qa.retrieval.pipeline.extract", extracted)
    monkeypatch.setattr(BagEncoder, "encode_passage_tokens", counted)
    for rerank in (True, False):
        retriever.search("when does the harbour close", mode=mode, rerank=rerank)
    assert (len(sentences), bool(read)) == (0, mode is Mode.HYBRID)
    asked = retriever.ask("when does the harbour close", mode=mode)
    assert len(sentences) == len(asked.passages)


def test_highlights_are_of_their_passage_where_scores_tie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tenth passage, which late interaction read, and the eleventh, whose key is smaller."""
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text(f"A red heron, number{number}.")
    (tmp_path / "x.txt").write_text("The heron sleeps. Dogs bark.")
    (tmp_path / "y.txt").write_text("Dogs bark aloud. The heron flies.")
    build(tmp_path)
    with opened(tmp_path) as retriever:
        stored = {path.name: retriever.snapshot.passages_of(path.name)[0] for path in tmp_path.glob("*.txt")}
        last = sorted((stored["x.txt"], stored["y.txt"]), key=lambda one: one.key, reverse=True)
        order = [*(stored[f"{number}.txt"] for number in range(9)), *last]
        scores = np.linspace(0.5, 0.5 - 1e-7, 11)
        pool = Pool(100, tuple(one.id for one in order), scores, scores, scores)
        monkeypatch.setattr("qa.retrieval.pipeline.pools", lambda *_: [pool])
        *_, tenth, eleventh = retriever.ask("red heron", k=11).passages
    assert tenth.score == eleventh.score
    assert (tenth.id, eleventh.id) == (last[0].key, last[1].key)
    assert ["heron" in light.text for light in tenth.highlights] == [True]
    assert eleventh.highlights == ()


@pytest.mark.parametrize("rerank", [True, False])
def test_the_sentences_of_each_passage_are_scored_by_its_own_tokens(tmp_path: Path, rerank: bool) -> None:
    sentences = ["Dogs bark.", "Hens cluck.", "Cats purr."]
    for place in range(4):
        here = [*sentences[:place], f"A heron has {place} fish.", *sentences[place:]]
        (tmp_path / f"{place}.txt").write_text(" ".join(here))
    build(tmp_path)
    with opened(tmp_path) as retriever:
        hits = retriever.ask("heron", rerank=rerank).passages
    best = {hit.source.path: hit.highlights[0].text for hit in hits}
    assert best == {f"{place}.txt": f"A heron has {place} fish." for place in range(4)}


def test_the_reader_reads_five_of_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that late interaction puts first; the one that is shown first says how sure the answer is."""
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text(
            f"The {'red ' * (number % 4)}fox number {number} saw the hen in the yard.\n"
        )
    build(tmp_path)
    read: dict[str, Reading] = {}
    answer = Reader.read

    def reads(self: Reader, question: str, passages: Sequence[tuple[str, str]]) -> list[Reading]:
        found = [replace(one, answered=-one.relevant) for one in answer(self, question, passages)]
        read.update(zip((text.strip() for _, text in passages), found, strict=True))
        return found

    monkeypatch.setattr(Reader, "read", reads)
    with Retriever.open(tmp_path, encoder=BagEncoder()) as retriever:
        result, features = retriever._answer(Asked(question="which red fox saw the hen", k=12))
    assert len(read) == 5
    assert len({one.answered for one in read.values()}) > 1
    assert features is not None
    assert features.answered == read[result.passages[0].text.strip()].answered
    assert result.confidence == round(confidence.probability(features, confidence.READ), 4)


@pytest.mark.parametrize(("answered", "compared"), [(9.0, 10), (-9.0, 20)])
def test_more_passages_are_compared_where_the_first_seem_not_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: float, compared: int
) -> None:
    """Each passage once, by late interaction and by the reader."""
    for number in range(24):
        (tmp_path / f"{number}.txt").write_text(f"The {'red ' * (number % 4)}fox number {number} saw the hen.\n")
    build(tmp_path)
    read: list[str] = []
    matched: list[str] = []
    answer, encode = Reader.read, BagEncoder.encode_passage_tokens

    def reads(self: Reader, question: str, passages: Sequence[tuple[str, str]]) -> list[Reading]:
        read.extend(text for _, text in passages)
        return [replace(one, answered=answered) for one in answer(self, question, passages)]

    def encodes(encoder: BagEncoder, texts: Sequence[str]) -> Any:
        matched.extend(texts)
        return encode(encoder, texts)

    monkeypatch.setattr(Reader, "read", reads)
    monkeypatch.setattr(BagEncoder, "encode_passage_tokens", encodes)
    with Retriever.open(tmp_path, encoder=BagEncoder()) as retriever:
        assert retriever.ask("which red fox saw the hen").found is (answered > 0)
    assert len(matched) == len(set(matched)) == compared
    assert len(read) == len(set(read))
    assert 5 <= len(read) <= compared // 2


def test_an_answer_behind_the_first_ten_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is among the first twenty of the fused ranking."""
    names = [f"{number:02}.txt" for number in range(22)]
    for name in names:
        (tmp_path / name).write_text(f"The fox of house {name[:2]} sleeps at noon.")
    for place in (14, 21):
        (tmp_path / names[place]).write_text(f"The red heron of house {place} nests in the old mill.")
    build(tmp_path)
    with Retriever.open(tmp_path, encoder=BagEncoder()) as retriever:
        scores = np.linspace(0.5, 0.4, 22)
        order = tuple(retriever.snapshot.passages_of(name)[0].id for name in names)
        pool = Pool(100, order, scores, scores, scores)
        monkeypatch.setattr("qa.retrieval.pipeline.pools", lambda *_: [pool])
        result = retriever.ask("where does the red heron nest?", k=22)
    assert result.passages[0].source.path == "14.txt"
    assert result.answer is not None
    assert "mill" in result.answer.text
    assert result.passages[-1].source.path == "21.txt"


def test_what_is_looked_up_comes_first_and_is_found(tmp_path: Path) -> None:
    """In passages that differ in their codes alone, which are near-duplicates elsewhere."""
    rows = [f"Error TM-{code} is given when too many requests come in from one host.\n" for code in range(401, 441)]
    (tmp_path / "errors.txt").write_text("\n".join(" ".join(rows[i : i + 4]) for i in range(0, 40, 4)))
    (tmp_path / "café.txt").write_text("A language is taught. The café, the café is closed.\n")
    (tmp_path / "town.txt").write_text(f"The language café, on Tuesdays. {'Bring much cake for all of us. ' * 5}\n")
    build(tmp_path)
    with opened(tmp_path) as retriever:
        for asked in ("TM-429", "TM-437 host", "language café", '"café, on Tuesdays"'):
            for rerank in (True, False):
                result = retriever.ask(asked, rerank=rerank)
                assert result.found
                assert result.answer is not None
                assert asked.split()[0].strip('"') in result.answer.text
                assert [hit.score for hit in result.passages] == sorted(
                    (hit.score for hit in result.passages), reverse=True
                )
                assert [hit.id for hit in retriever.ask(asked, k=1, rerank=rerank).passages] == [result.passages[0].id]
        for asked in ("TM-449", '"café language"', "TM-429 TM-500"):
            result = retriever.ask(asked)
            assert not result.found
            assert result.passages
        assert retriever.ask("language café", mode=Mode.DENSE).confidence != 0.8


def test_a_unit_that_there_is_not(retriever: Retriever) -> None:
    """Said with the choices, not taken for passages."""
    wrong: Any = "document"
    for ask in (retriever.topics, retriever.map_svg, partial(retriever.similar, "travel.md")):
        with pytest.raises(UsageError, match="unit must be passages or documents, not 'document'"):
            ask(unit=wrong)
