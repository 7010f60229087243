"""The sample collection with the real model: what a new user sees."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qa import Result, Retriever, build_index
from qa.evaluation.evidence import Gold
from qa.evaluation.metrics import metrics_of
from qa.evaluation.scoring import TimedResult, score
from tests.gold_questions import read_questions
from tests.paths import SAMPLE, SAMPLE_QUESTIONS
from tests.qa.commands import qa, run_python

# Questions whose answers are compared bit for bit, which depends on what is embedded together. Two are misspelt.
EXACT = (0, 14, 7, 34)


@pytest.fixture(scope="module")
def questions() -> list[Gold]:
    return read_questions(SAMPLE_QUESTIONS, SAMPLE)


@pytest.fixture(scope="module")
def retriever(sample: Path) -> Iterator[Retriever]:
    with Retriever.open(sample) as retriever:
        yield retriever


@pytest.fixture(scope="module")
def answers(sample: Path, retriever: Retriever, questions: list[Gold]) -> tuple[Result, ...]:
    with Retriever.open(sample) as plain:
        return tuple(
            (plain if number in EXACT else retriever).ask(question.question, k=5, question_id=question.id)
            for number, question in enumerate(questions)
        )


def test_quality(questions: list[Gold], answers: tuple[Result, ...]) -> None:
    """The metrics are at most a question or two below the measured ones."""
    metrics = metrics_of(score([TimedResult(*pair, 1.0) for pair in zip(questions, answers, strict=True)], k=10))
    values = {measure.name: measure.value for measure in metrics.measures}
    assert len(questions) == 40
    assert values["hit@1"] >= 0.78
    assert values["hit@5"] >= 0.9
    assert values["highlight@1"] >= 0.46
    assert metrics.verdicts.answerable_found >= 0.6 * sum(question.answerable for question in questions)


def test_eight_threads_get_the_same_answers_as_one(sample: Path, answers: tuple[Result, ...], tmp_path: Path) -> None:
    """Scores and confidences are the same too, even while the index is changed, changed back and reloaded."""
    root = shutil.copytree(sample, tmp_path / "sample")
    expected = [answers[number] for number in EXACT] * 2
    text = (root / "numbers.md").read_bytes()
    with Retriever.open(root) as retriever, ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(retriever.ask, answer.question, k=5, question_id=answer.id) for answer in expected]
        for data in (text + b"\nOne more line.\n", text):
            (root / "numbers.md").write_bytes(data)
            build_index(root)
        assert retriever.reload()
        results = [future.result() for future in futures]
    generations = {result.index.generation for result in results}
    same = [replace(result, timings_ms={}, index=expected[0].index) for result in results]
    assert same == [replace(answer, timings_ms={}) for answer in expected]
    assert generations <= {1, 3}


@pytest.mark.parametrize(
    "question",
    [
        *("How do I bake sourdough bread?", "What is the boiling point of mercury?", "symptoms of iron deficiency"),
        *("Who scored in the 1966 World Cup final?", "When was the Treaty of Westphalia signed?"),
        *("my dentist's phone number", "how often should I water a cactus", "how do I change a bicycle tyre"),
        *("Which river flows through Budapest?", "What is the capital gains tax rate in Norway?"),
        *("lyrics of the national anthem of Chile", "Why did the Roman Empire fall?"),
    ],
)
def test_off_topic_questions_are_not_found(retriever: Retriever, question: str) -> None:
    """The closest passages are still returned."""
    result = retriever.ask(question)
    assert not result.found
    assert result.confidence < 0.4
    assert len(result.passages) == 5


def test_citations_are_exact(sample: Path, answers: tuple[Result, ...]) -> None:
    """Each passage and each highlight is exactly the text of its file at that position, and marked as verified."""
    texts = {
        path.relative_to(sample).as_posix(): path.read_bytes().decode()
        for path in sample.rglob("*.*")
        if path.is_file() and ".qa" not in path.parts
    }
    hits = [hit for answer in answers for hit in answer.passages]
    assert len(hits) == 5 * 40
    for hit in hits:
        text = texts[hit.source.path]
        start, end = hit.source.chars
        assert hit.text == text[start:end]
        assert hit.source.lines == (text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1)
        assert hit.source.state == "verified"
        assert hit.source.page is None
        for mark in hit.highlights:
            assert mark.text == text[slice(*mark.chars)]
            assert start <= mark.chars[0] < mark.chars[1] <= end


def test_answers_are_quoted(answers: tuple[Result, ...]) -> None:
    """The answer is from the first highlight of the passage that it cites first, and confidence is a probability."""
    for answer in answers:
        assert answer.answer is not None
        rank = answer.answer.citations[0]
        first, sentence = answer.passages[rank - 1].highlights[0].text, answer.answer.sentence
        assert sentence == first or sentence.startswith(f"{first}\n")
        assert answer.answer.text in sentence
        assert sentence in answer.passages[rank - 1].text
        assert 0 <= answer.confidence <= 1
        assert answer.found == (answer.confidence >= 0.5)


def test_a_batch_on_the_command_line(sample: Path, answers: tuple[Result, ...], tmp_path: Path) -> None:
    """`qa ask --batch --json` gives the same answers: an object per line, with the same ids, in order."""
    batch = tmp_path / "questions.jsonl"
    lines = SAMPLE_QUESTIONS.read_text(encoding="utf-8").splitlines()
    batch.write_text("\n".join(lines[number] for number in EXACT), encoding="utf-8")
    done = qa("ask", "--batch", batch, "--json", "--index", sample)
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        'Batch line 2: No passage contains "agian"; searched for "again"',
        'Batch line 4: No passage contains "reveiwers"; searched for "reviewers"',
    ]
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [_untimed(line) for line in printed] == [_untimed(answers[number].as_json()) for number in EXACT]
    assert [line["id"] for line in printed] == ["SQ001", "SQ015", "SQ008", "SQ035"]


def test_topics_load_no_model(sample: Path, tmp_path: Path) -> None:
    """`qa topics` does not load OpenVINO, and the second time not even FAISS."""
    root = shutil.copytree(sample, tmp_path / "sample")
    program = (
        "import sys\nfrom qa.cli import errors, main\n"
        "errors.exit_now = lambda code: print(code, sorted({'faiss', 'openvino'} & sys.modules.keys()))\nmain.main()"
    )
    command = ("-c", program, "topics", "--json", "--no-update", "--index", root)
    for loaded in ("0 ['faiss']", "0 []"):
        assert run_python(*command).stdout.splitlines()[-1] == loaded


def _untimed(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if key != "timings_ms"}
