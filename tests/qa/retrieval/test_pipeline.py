"""The stages of answering: which passages are read and compared, and what is taken from which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest

from index import Among, Index
from index.encoder.cross_encoder import CrossEncoderModel
from index.encoder.devices import Device
from index.encoder.model_files import find
from index.storage.rows import StoredPassage
from qa.answer import confidence
from qa.answer.extract import Extract
from qa.answer.results import Mode, Result
from qa.filters import Filter, select
from qa.retrieval import pipeline
from qa.retrieval.hybrid import Pool
from qa.retrieval.question_text import AskRequest
from qa.retrieval.retriever import Retriever
from qa.structure.candidate_spans import SpanScore
from tests.encoders import BagEncoder
from tests.qa.indexes import build, opened
from tests.qa.retrieval.conftest import record_readings, without_times


@pytest.fixture
def matched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passages that late interaction has read so far."""
    read: list[str] = []
    encode = BagEncoder.encode_passage_tokens

    def recorded(encoder: BagEncoder, texts: Sequence[str]) -> Any:
        read.extend(texts)
        return encode(encoder, texts)

    monkeypatch.setattr(BagEncoder, "encode_passage_tokens", recorded)
    return read


@pytest.mark.parametrize("path", ["notes/**", "**"])
def test_documents_are_selected_once_per_filter(
    path: str, retriever: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if all of them pass it."""
    calls: list[Filter] = []

    def selected(snapshot: Index, only: Filter) -> Among:
        calls.append(only)
        return select(snapshot, only)

    monkeypatch.setattr(pipeline, "select", selected)
    for question in ("whales", "soup"):
        retriever.search(question, path=path)
    assert len(calls) == 1


class ChecksumScores(CrossEncoderModel):
    """Scores texts by their checksums."""

    def __init__(self, name: str) -> None:
        super().__init__(find(), Device.CPU)
        self.name = name

    def scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([crc32(text.encode()) / 2**32 for text in texts])


def test_a_cross_encoder_orders_the_passages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It decides alone, in any mode, but only if re-ranking is wanted."""
    model = "checksums"
    monkeypatch.setattr("qa.retrieval.retriever.load_cross_encoder", lambda name, _: ChecksumScores(name))
    question = "when does the train leave the harbour"
    with opened(root, rerank_model=model) as scored, opened(root) as plain:
        passages = scored.snapshot.passages(range(1, 8))
        scores = ChecksumScores(model).scores(question, [passage.encoder_text for passage in passages])
        by_key = {passage.key: score for passage, score in zip(passages, scores.tolist(), strict=True)}
        whole = {mode: scored.ask(question, k=7, mode=mode) for mode in (Mode.HYBRID, Mode.DENSE)}
        for mode, result in whole.items():
            for values in ([by_key[hit.id] for hit in result.passages], [hit.score for hit in result.passages]):
                assert values == sorted(values, reverse=True)
            assert (result.rerank_model, result.as_json()["rerank_model"]) == (model, model)
            assert result.passages[0].highlights
            usual = plain.ask(question, k=7, mode=mode)
            assert [hit.id for hit in usual.passages] != [hit.id for hit in result.passages]
        assert scored.ask(question, k=2).passages == whole[Mode.HYBRID].passages[:2]
        assert scored.search(question, k=3, mode=Mode.DENSE)[2].id == whole[Mode.DENSE].passages[2].id
        quick = scored.ask(question, k=7, rerank=False)
        assert without_times(quick) == without_times(plain.ask(question, k=7, rerank=False))
        assert quick.rerank_model is None


def test_the_opposite_of_what_is_asked_is_not_found(tmp_path: Path) -> None:
    steps = "1. Press the red pump knob off.\n2. Switch the valve off.\n"
    build(tmp_path, {"pump.md": f"# Pump\n\n## Switching the pump off\n\n{steps}"})
    with opened(tmp_path) as retriever:
        assert retriever.ask("How do I switch the pump off?").found
        assert retriever.ask("How do I switch the pump on?").confidence <= confidence.OTHER_SUBJECT


def test_a_question_in_the_text_that_nothing_follows_is_not_found(tmp_path: Path) -> None:
    build(
        tmp_path, {"chat.txt": "Anna: Who has the car keys?\n", "list.txt": "Who has the barn keys?\nCleo has them.\n"}
    )
    with opened(tmp_path) as retriever:
        assert retriever.ask("Who has the car keys?").confidence <= confidence.OTHER_SUBJECT
        assert retriever.ask("Who has the barn keys?").found


def test_a_task_does_not_say_how_to_do_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, {"tasks.txt": "Pump shed\n\n[ ] fit the new filter in the pump\n"})
    monkeypatch.setattr(confidence, "probability", lambda *_: 0.9)
    with opened(tmp_path) as retriever:
        assert retriever.ask("How do I fit the new filter in the pump?").confidence == confidence.OTHER_SUBJECT
        assert retriever.ask("What is new in the pump?").confidence == 0.9


def test_without_reranking(retriever: Retriever, matched: list[str]) -> None:
    """The encoder reads no passage; ranking, answer and confidence come from the index alone."""
    result = retriever.ask("when does the harbour close", rerank=False)
    assert result.answer is not None
    assert result.answer.text == result.passages[0].highlights[0].text
    assert "harbour" in result.answer.text.lower()
    assert matched == []


@pytest.mark.parametrize(("rerank", "model"), [(True, confidence.RERANKED), (False, confidence.QUICK)])
def test_each_way_of_scoring_sentences_has_its_own_confidence_model(
    retriever: Retriever, rerank: bool, model: confidence.LogisticModel
) -> None:
    request = AskRequest.of("when does the harbour close", k=3, rerank=rerank)
    result, features = retriever._answer(request)
    assert features is not None
    assert result.confidence == round(confidence.probability(features, model), 4)
    assert confidence.RERANKED != confidence.QUICK
    best, encoder = retriever.snapshot.find(result.passages[0].id), BagEncoder()
    assert best is not None
    cosine = encoder.encode_passages([best.encoder_text])[0] @ encoder.encode_query(request.question)
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
    result = retriever.ask(question)
    by_words = retriever.ask(question, mode=Mode.KEYWORD, rerank=False)
    monkeypatch.setattr(BagEncoder, "unknown_token_ratio", lambda *_: 0.33)
    assert without_times(retriever.ask(question)) == without_times(result) != without_times(by_words)
    assert not caplog.records
    monkeypatch.setattr(BagEncoder, "unknown_token_ratio", lambda *_: 0.34)
    assert without_times(retriever.ask(question)) == without_times(by_words)
    assert retriever.ask("zzz").passages == ()
    assert [record.getMessage()[:36] for record in caplog.records] == ["bag does not support this script; se"]
    by_meaning = retriever.ask(question, mode=Mode.DENSE)
    assert len(by_meaning.passages) > len(by_words.passages)


@pytest.mark.parametrize("mode", Mode)
def test_a_search_only_ranks(
    retriever: Retriever, matched: list[str], monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    """No sentence is scored, and late interaction reads passages only where it re-ranks."""
    sentences: list[StoredPassage] = []

    def extracted(passage: StoredPassage, _: SpanScore, question: str, **settings: Any) -> Extract:
        assert settings["looked_up"] is None
        sentences.append(passage)
        return Extract()

    monkeypatch.setattr("qa.retrieval.answering.extract", extracted)
    for rerank in (True, False):
        retriever.search("when does the harbour close", mode=mode, rerank=rerank)
    assert (len(sentences), bool(matched)) == (0, mode is Mode.HYBRID)
    result = retriever.ask("when does the harbour close", mode=mode)
    assert len(sentences) == len(result.passages)


def test_highlights_belong_to_their_passage_if_scores_tie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Late interaction reads the tenth passage; the eleventh has the same score and a smaller key."""
    files = {f"{number}.txt": f"A red heron, number{number}." for number in range(9)}
    build(tmp_path, files | {"x.txt": "The heron sleeps. Dogs bark.", "y.txt": "Dogs bark aloud. The heron flies."})
    with opened(tmp_path) as retriever:
        stored = {path.name: retriever.snapshot.passages_of(path.name)[0] for path in tmp_path.glob("*.txt")}
        last = sorted((stored["x.txt"], stored["y.txt"]), key=lambda passage: passage.key, reverse=True)
        order = [*(stored[f"{number}.txt"] for number in range(9)), *last]
        scores = np.linspace(0.5, 0.5 - 1e-7, 11)
        pool = Pool(100, tuple(passage.id for passage in order), scores, scores)
        monkeypatch.setattr("qa.retrieval.pipeline.pools", lambda *_: [pool])
        *_, tenth, eleventh = retriever.ask("red heron", k=11).passages
    assert tenth.score == eleventh.score
    assert (tenth.id, eleventh.id) == (last[0].key, last[1].key)
    assert ["heron" in light.text for light in tenth.highlights] == [True]
    assert eleventh.highlights == ()


@pytest.mark.parametrize("rerank", [True, False])
def test_the_sentences_of_each_passage_are_scored_by_its_own_tokens(tmp_path: Path, rerank: bool) -> None:
    filler = ["Dogs bark.", "Hens cluck.", "Cats purr."]
    expected = {f"{place}.txt": f"A heron has {place} fish." for place in range(4)}
    build(
        tmp_path,
        {path: " ".join([*filler[:at], heron, *filler[at:]]) for at, (path, heron) in enumerate(expected.items())},
    )
    with opened(tmp_path) as retriever:
        hits = retriever.ask("heron", rerank=rerank).passages
    assert {hit.source.path: hit.highlights[0].text for hit in hits} == expected


def test_the_reader_reads_six_of_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads the first six by late interaction, and the confidence comes from the passage shown first."""
    build(tmp_path, foxes(12, " in the yard"))
    recorded = record_readings(monkeypatch, lambda reading: replace(reading, answered=-reading.relevant))
    with opened(tmp_path, reader=True) as retriever:
        result, features = retriever._answer(AskRequest.of("which red fox saw the hen", k=12))
    read = {text.strip(): reading for _, _, text, reading in recorded}
    assert len(read) == 6
    assert len({reading.answered for reading in read.values()}) > 1
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
    tmp_path: Path, matched: list[str], monkeypatch: pytest.MonkeyPatch, answered: float, compared: int
) -> None:
    """Late interaction and the reader see each passage only once."""
    build(tmp_path, foxes(24))
    recorded = record_readings(monkeypatch, lambda reading: replace(reading, answered=answered))
    with opened(tmp_path, reader=True) as retriever:
        assert retriever.ask("which red fox saw the hen").found is (answered > 0)
    read = [text for _, _, text, _ in recorded]
    assert len(matched) == len(set(matched)) == compared
    assert len(read) == len(set(read))
    assert 6 <= len(read) <= (6 if compared == 10 else 12)


def test_an_answer_after_the_first_ten_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is among the first twenty of the fused ranking."""
    files = {f"{number:02}.txt": f"The fox of house {number:02} sleeps at noon." for number in range(22)}
    herons = {f"{number}.txt": f"The red heron of house {number} nests in the old mill." for number in (14, 21)}
    build(tmp_path, files | herons)
    with opened(tmp_path, reader=True) as retriever:
        scores = np.linspace(0.5, 0.4, 22)
        order = tuple(retriever.snapshot.passages_of(name)[0].id for name in files)
        pool = Pool(100, order, scores, scores)
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
        for lookup in ("TM-429", "TM-437 host", "language café", '"café, on Tuesdays"'):
            for rerank in (True, False):
                result = retriever.ask(lookup, rerank=rerank)
                assert result.found
                assert result.answer is not None
                assert lookup.split()[0].strip('"') in result.answer.text
                scores = [hit.score for hit in result.passages]
                assert scores == sorted(scores, reverse=True)
                assert [hit.id for hit in retriever.ask(lookup, k=1, rerank=rerank).passages] == [result.passages[0].id]
        for lookup in ("TM-449", '"café language"', "TM-429 TM-500"):
            result = retriever.ask(lookup)
            assert not result.found
            assert result.passages
        assert retriever.ask("language café", mode=Mode.DENSE).confidence != 0.8


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("when?", False),
        ("Who did it?", False),
        ("WHAT IS IT?", False),
        ("what is IT?", True),
        ("which fox?", True),
        ("Where is the will?", True),
        ("Who is Will?", True),
        ("Will he do it?", False),
    ],
)
def test_a_question_that_names_nothing_is_not_answered(tmp_path: Path, question: str, asks: bool) -> None:
    build(tmp_path, foxes(3))
    with opened(tmp_path) as retriever:
        result, features = retriever._answer(AskRequest.of(question))
    assert result.passages
    assert (features is not None) == asks
    assert asks or (result.confidence, result.found) == (0.0, False)


def test_the_reader_reads_prose_beside_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings have no stop words, as languages that the reader does not know."""
    settings = "".join(f"fox hen gate {name} = true\nyard gate fox {name} = closed\n" for name in range(20))
    build(tmp_path, {"farm.ini": settings, "fox.txt": "The fox saw the hen, which was in the yard by the gate.\n"})
    recorded = record_readings(monkeypatch)
    with opened(tmp_path, reader=True) as retriever:
        retriever.ask("what did the fox see in the yard?")
    assert any("by the gate" in text for _, _, text, _ in recorded)


STARTING = "\n".join(
    f"{number}. Turn wheel {letter} of it slowly, as always, and look at the gauge of wheel {letter}. Wait well."
    for number, letter in enumerate("pqrstuv", start=1)
)
PUMP = f"# Pump\n\n## Starting the pump\n\n{STARTING}\n\nWhen starting, the pump hums.\n\n## Stopping\n\n1. Pull."


def steps_of(folder: Path, question: str, k: int = 10) -> tuple[list[str], Result]:
    """The numbers of the steps in the answer, and the result."""
    with opened(folder) as retriever:
        result = retriever.ask(question, k=k)
    assert result.answer is not None
    return re.findall(r"^(\d)\. ", result.answer.text, re.MULTILINE), result


def test_all_steps_answer_however_many_passages_they_take(tmp_path: Path) -> None:
    """Each is cited by its own passage."""
    build(tmp_path, {"pump.md": PUMP})
    numbers, result = steps_of(tmp_path, "How do I start the pump?")
    answer = result.answer
    assert answer is not None
    assert numbers == list("1234567")
    assert answer.citations == tuple(range(1, 1 + max(answer.citations))) != (1,)
    assert len(answer.cited_by_line) == len(numbers)
    for (rank,), line in zip(answer.cited_by_line, answer.text.splitlines(), strict=True):
        assert line.strip() in result.passages[rank - 1].text


def test_a_step_that_has_more_of_the_question_than_the_heading_answers_alone(tmp_path: Path) -> None:
    build(tmp_path, {"pump.md": PUMP})
    numbers, result = steps_of(tmp_path, "How do I turn wheel u when starting the pump?")
    assert numbers == []
    assert result.answer is not None
    assert result.answer.text.startswith("Turn wheel u of it slowly")


def test_the_steps_of_another_way_are_not_found(tmp_path: Path) -> None:
    """If a heading names the one that is asked for: "unpack" is not "pack"."""
    unpack = (
        "# Boxes\n\n## How to unpack a cold box\n\n1. Open the cold box.\n2. Take the ice pack out of the cold box.\n\n"
    )
    build(
        tmp_path,
        {
            "boxes.md": unpack
            + "## How to pack a cold box\n\nSee the poster in the hall upstairs, or call Ida or Omar about it.\n"
        },
    )
    with opened(tmp_path) as retriever:
        result = retriever.ask("How do I pack a cold box?")
        assert result.passages[0].heading[-1] == "How to unpack a cold box"
        assert result.confidence <= confidence.OTHER_SUBJECT
        assert retriever.ask("How do I unpack a cold box?").confidence > confidence.OTHER_SUBJECT


def test_only_steps_of_the_passages_shown_are_answered(tmp_path: Path) -> None:
    build(tmp_path, {"pump.md": PUMP})
    numbers, result = steps_of(tmp_path, "How do I start the pump?", k=1)
    assert len(result.passages) == 1
    assert 0 < len(numbers) < 7


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("How do I start the pump?", "Stopping the pump"),
        ("Why does starting the pump take long?", "Starting the pump"),
        ("How do I start the pump if it hums?", "Starting the pump"),
    ],
)
def test_the_steps_of_something_else_are_not_answered(tmp_path: Path, question: str, heading: str) -> None:
    build(tmp_path, {"pump.md": PUMP.replace("Starting the pump", heading, 1)})
    assert steps_of(tmp_path, question)[0] != list("1234567")
