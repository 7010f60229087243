"""From a question to ranked passages with citations, over a small corpus and a small encoder."""

from __future__ import annotations

import inspect
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
from qa.answer import confidence
from qa.answer.extract import Extract, SpanScore
from qa.answer.results import Answer, Highlight, IndexInfo, Location, Mode, Result, Source, State
from qa.collection.build import build_index
from qa.reader.reader import Reader
from qa.reader.reading import Reading
from qa.retrieval.hybrid import Pool
from qa.retrieval.pipeline import AskRequest
from qa.retrieval.retriever import Retriever
from tests import small_models
from tests.encoders import BagEncoder
from tests.qa.indexes import build, opened

TRAINS = "# Travel\n\nBuses are slow.\n\n## Trains\n\nThe café car opens at noon. A train to Lyon leaves every hour.\n"
SOUP = "Soup is served at noon.\r\nBring a spoon.\r\n"
WHALES = "Whales sing for hours.\n"
SHARED = "The harbour closes in winter.\n"
FILES = {
    "travel.md": TRAINS,
    "notes/soup.txt": SOUP,
    "notes/whales.txt": "Whales sing for hours.\n",
    "a.txt": SHARED,
    "old/b.txt": SHARED,
    "notes/numbers.txt": "In 2024 there were 512 visitors.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Six files, seven passages, two of them with the same text."""
    folder = tmp_path / "corpus"
    build(folder, FILES)
    return folder


@pytest.fixture
def retriever(root: Path) -> Iterator[Retriever]:
    with opened(root) as found:
        yield found


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
    (other,) = places - {hit.source.path}
    assert hit.also_in == (Location(other, (0, 29), (1, 1), None),)
    for gone, kept in (("a.txt", "old/b.txt"), ("old/b.txt", "a.txt")):
        (root / gone).unlink()
        build(root)
        with opened(root) as retriever:
            alone = retriever.search("when does the harbour close", k=1)[0]
        assert (alone.source.path, alone.text, alone.also_in) == (kept, SHARED.strip(), ())
        build(root, {gone: SHARED})


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
        *({"question": "a", "topic": 1}, {"question": "a", "question_id": 2.5}),
    ],
)
def test_wrong_types(retriever: Retriever, wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"must be of type (str|int|str or int|Filter), not (NoneType|str|int|float)"):
        retriever.ask(**wrong)


def test_a_mode_may_be_given_by_name(retriever: Retriever) -> None:
    assert retriever.search("spoon", mode="keyword") == retriever.search("spoon", mode=Mode.KEYWORD)
    with pytest.raises(UsageError, match="mode must be hybrid, dense or keyword, not 'fast'"):
        retriever.ask("spoon", mode="fast")


def test_an_unknown_device_is_named(root: Path) -> None:
    with pytest.raises(UsageError, match="device must be auto, cpu, cuda or mps, not 'tpu'"):
        opened(root, device="tpu")


def test_a_folder_inside_a_collection_is_not_taken_for_it(root: Path) -> None:
    """As on the command line: the whole collection would answer, not the folder."""
    with pytest.raises(NoIndexError, match=r"it is part of the collection .*: use that with --path notes/ \(path= in"):
        opened(root / "notes")
    with opened(root / ".qa") as found:
        assert repr(found) == f"<Retriever of {root}: 7 passages, generation 1>"


def test_coroutines_take_the_arguments_of_their_methods() -> None:
    """Type checkers and editors know them."""
    for name in ("ask", "search"):
        plain, waits = (inspect.signature(getattr(Retriever, one)) for one in (name, f"a{name}"))
        assert plain == waits


def test_several_paths_are_searched_together(retriever: Retriever) -> None:
    found = retriever.search("soup", k=10, path=("notes/soup.txt", "old/"))
    assert {hit.source.path for hit in found} == {"notes/soup.txt", "old/b.txt"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("suop.txt", r"matches the path 'suop\.txt'\. Similar: notes/soup\.txt"),
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


def test_a_cross_encoder_orders_the_passages(root: Path, tmp_path: Path) -> None:
    """A small one with random weights decides alone, in any mode, but only if re-ranking is wanted."""
    model = str(small_models.cross_encoder(tmp_path / "scores"))
    question = "when does the train leave the harbour"
    with opened(root, rerank_model=model) as scored, opened(root) as plain:
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


def without_times(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.as_json().items() if key != "timings_ms"}


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


def test_opening_without_an_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError, match="Build one with: qa index"):
        opened(tmp_path, reader=True)


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


def test_without_reranking(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder reads no passage; ranking, answer and confidence come from the index alone."""

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
def test_each_way_of_scoring_sentences_has_its_own_confidence_model(
    retriever: Retriever, rerank: bool, model: confidence.LogisticModel
) -> None:
    asked = AskRequest.of("when does the harbour close", k=3, rerank=rerank)
    result, features = retriever._answer(asked)
    assert features is not None
    assert result.confidence == round(confidence.probability(features, model), 4)
    assert confidence.RERANKED != confidence.QUICK
    best, encoder = retriever.snapshot.find(result.passages[0].id), BagEncoder()
    assert best is not None
    cosine = encoder.encode_passages([best.encoder_text])[0] @ encoder.encode_query(asked.question)
    assert features.cosine == pytest.approx(cosine, abs=1e-3)


@pytest.mark.parametrize(("sure", "shown", "found"), [(0.49996, 0.5, True), (0.49994, 0.4999, False)])
def test_found_agrees_with_the_rounded_confidence(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch, sure: float, shown: float, found: bool
) -> None:
    monkeypatch.setattr(confidence, "probability", lambda *_: sure)
    result = retriever.ask("when does the harbour close")
    assert (result.confidence, result.found) == (shown, found)


def test_a_question_in_a_script_unknown_to_the_model_is_answered_by_keywords(
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


@pytest.mark.parametrize("mode", Mode)
def test_a_search_only_ranks(retriever: Retriever, monkeypatch: pytest.MonkeyPatch, mode: Mode) -> None:
    """No sentence is scored, and late interaction reads passages only where it re-ranks."""
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


def test_highlights_belong_to_their_passage_if_scores_tie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Late interaction reads the tenth passage; the eleventh has the same score and a smaller key."""
    files = {f"{number}.txt": f"A red heron, number{number}." for number in range(9)}
    build(tmp_path, files | {"x.txt": "The heron sleeps. Dogs bark.", "y.txt": "Dogs bark aloud. The heron flies."})
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
    others = ["Dogs bark.", "Hens cluck.", "Cats purr."]
    expected = {f"{place}.txt": f"A heron has {place} fish." for place in range(4)}
    build(
        tmp_path,
        {path: " ".join([*others[:at], heron, *others[at:]]) for at, (path, heron) in enumerate(expected.items())},
    )
    with opened(tmp_path) as retriever:
        hits = retriever.ask("heron", rerank=rerank).passages
    assert {hit.source.path: hit.highlights[0].text for hit in hits} == expected


def test_the_reader_reads_five_of_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads the first five by late interaction, and the confidence comes from the passage shown first."""
    build(tmp_path, foxes(12, " in the yard"))
    read: dict[str, Reading] = {}
    answer = Reader.read

    def reads(self: Reader, question: str, passages: Sequence[tuple[str, str]]) -> list[Reading]:
        found = [replace(one, answered=-one.relevant) for one in answer(self, question, passages)]
        read.update(zip((text.strip() for _, text in passages), found, strict=True))
        return found

    monkeypatch.setattr(Reader, "read", reads)
    with opened(tmp_path, reader=True) as retriever:
        result, features = retriever._answer(AskRequest.of("which red fox saw the hen", k=12))
    assert len(read) == 5
    assert len({one.answered for one in read.values()}) > 1
    assert features is not None
    assert features.answered == read[result.passages[0].text.strip()].answered
    assert result.confidence == round(confidence.probability(features, confidence.READ), 4)


def foxes(count: int, where: str = "") -> dict[str, str]:
    return {
        f"{number}.txt": f"The {'red ' * (number % 4)}fox number {number} saw the hen{where}.\n"
        for number in range(count)
    }


@pytest.mark.parametrize(("answered", "compared"), [(9.0, 10), (-9.0, 20)])
def test_more_passages_are_compared_if_the_first_do_not_seem_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: float, compared: int
) -> None:
    """Late interaction and the reader see each passage only once."""
    build(tmp_path, foxes(24))
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
    with opened(tmp_path, reader=True) as retriever:
        assert retriever.ask("which red fox saw the hen").found is (answered > 0)
    assert len(matched) == len(set(matched)) == compared
    assert len(read) == len(set(read))
    assert 5 <= len(read) <= compared // 2


def test_an_answer_after_the_first_ten_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is among the first twenty of the fused ranking."""
    files = {f"{number:02}.txt": f"The fox of house {number:02} sleeps at noon." for number in range(22)}
    herons = {f"{number}.txt": f"The red heron of house {number} nests in the old mill." for number in (14, 21)}
    build(tmp_path, files | herons)
    with opened(tmp_path, reader=True) as retriever:
        scores = np.linspace(0.5, 0.4, 22)
        order = tuple(retriever.snapshot.passages_of(name)[0].id for name in files)
        pool = Pool(100, order, scores, scores, scores)
        monkeypatch.setattr("qa.retrieval.pipeline.pools", lambda *_: [pool])
        result = retriever.ask("where does the red heron nest?", k=22)
    assert result.passages[0].source.path == "14.txt"
    assert result.answer is not None
    assert "mill" in result.answer.text
    assert result.passages[-1].source.path == "21.txt"


def test_a_lookup_finds_its_passage_first(tmp_path: Path) -> None:
    """Even among passages that differ only in their codes, which otherwise count as near-duplicates."""
    rows = [f"Error TM-{code} is given when too many requests come in from one host.\n" for code in range(401, 441)]
    files = {
        "errors.txt": "\n".join(" ".join(rows[i : i + 4]) for i in range(0, 40, 4)),
        "café.txt": "A language is taught. The café, the café is closed.\n",
        "town.txt": f"The language café, on Tuesdays. {'Bring much cake for all of us. ' * 5}\n",
    }
    build(tmp_path, files)
    with opened(tmp_path) as retriever:
        for asked in ("TM-429", "TM-437 host", "language café", '"café, on Tuesdays"'):
            for rerank in (True, False):
                result = retriever.ask(asked, rerank=rerank)
                assert result.found
                assert result.answer is not None
                assert asked.split()[0].strip('"') in result.answer.text
                scores = [hit.score for hit in result.passages]
                assert scores == sorted(scores, reverse=True)
                assert [hit.id for hit in retriever.ask(asked, k=1, rerank=rerank).passages] == [result.passages[0].id]
        for asked in ("TM-449", '"café language"', "TM-429 TM-500"):
            result = retriever.ask(asked)
            assert not result.found
            assert result.passages
        assert retriever.ask("language café", mode=Mode.DENSE).confidence != 0.8


def test_an_unknown_unit_is_refused_with_the_choices(retriever: Retriever) -> None:
    """It is not taken for passages."""
    wrong: Any = "document"
    for ask in (retriever.topics, retriever.map_svg, partial(retriever.similar, "travel.md")):
        with pytest.raises(UsageError, match="unit must be passages or documents, not 'document'"):
            ask(unit=wrong)


@pytest.mark.parametrize("paths", [b"x", ["a", 5]])
def test_paths_of_a_wrong_type(retriever: Retriever, paths: Any) -> None:
    with pytest.raises(TypeError, match="path must be a str, or several, not "):
        retriever.ask("soup", path=paths)


def test_other_arguments_of_a_wrong_type(retriever: Retriever) -> None:
    """They are named too."""
    wrong: Any = 1.5
    with pytest.raises(TypeError, match="n must be of type int, not float"):
        retriever.topics(n=wrong)
    with pytest.raises(TypeError, match="store must be of type str, not float"):
        Retriever.open(store=wrong)
    with pytest.raises(TypeError, match="store must be of type str, not float"):
        build_index(retriever.root, store=wrong)
