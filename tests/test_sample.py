"""The sample collection, the real model: what a person gets who tries the tool for the first time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from qa import Result, Retriever, build_index
from qa.cli import main
from qa.evaluation.evidence import Gold
from qa.evaluation.metrics import metrics_of
from qa.evaluation.scoring import TimedResult, score
from tests.gold_questions import read_questions
from tests.paths import REPOSITORY

SAMPLE = REPOSITORY / "corpus" / "sample"
QUESTIONS = REPOSITORY / "tests" / "sample_questions.jsonl"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample collection, indexed."""
    root = tmp_path_factory.mktemp("sample") / "sample"
    shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".qa"))
    report = build_index(root)
    # Two of the files are pages of records, six and eight.
    assert (report.added, report.documents, report.skipped) == (15, 13 + 6 + 8, ())
    return root


@pytest.fixture(scope="module")
def questions() -> list[Gold]:
    return read_questions(QUESTIONS, SAMPLE)


@pytest.fixture(scope="module")
def answers(sample: Path, questions: list[Gold]) -> Iterator[tuple[Result, ...]]:
    with Retriever.open(sample) as retriever:
        yield tuple(retriever.ask(question.question, k=5, question_id=question.id) for question in questions)


def test_quality(questions: list[Gold], answers: tuple[Result, ...]) -> None:
    """No worse than what was measured, a question or two aside."""
    metrics = metrics_of(score([TimedResult(*pair, 1.0) for pair in zip(questions, answers, strict=True)], k=10))
    found = {measure.name: measure.value for measure in metrics.measures}
    assert len(questions) == 40
    assert found["hit@1"] >= 0.78
    assert found["hit@5"] >= 0.9
    assert found["highlight@1"] >= 0.46
    assert metrics.verdicts.answerable_found >= 0.6 * sum(question.answerable for question in questions)


def test_eight_threads_ask_as_one_does(sample: Path, answers: tuple[Result, ...], tmp_path: Path) -> None:
    """The same answers, scores and confidences, also while the index is updated to what it was and loaded anew."""
    root = tmp_path / "sample"
    shutil.copytree(sample, root)
    text = (root / "numbers.md").read_bytes()
    with Retriever.open(root) as retriever, ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(retriever.ask, one.question, k=5, question_id=one.id) for one in answers[:16]]
        for data in (text + b"\nOne more line.\n", text):
            (root / "numbers.md").write_bytes(data)
            build_index(root)
        assert retriever.reload()
        found = [each.result() for each in asking]
    generations = {one.index.generation for one in found}
    plain = [replace(one, timings_ms={}, index=answers[0].index) for one in found]
    assert plain == [replace(one, timings_ms={}) for one in answers[:16]]
    assert generations <= {1, 3}


@pytest.mark.parametrize(
    "question",
    [
        "How do I bake sourdough bread?",
        "What is the boiling point of mercury?",
        "Who scored in the 1966 World Cup final?",
        "symptoms of iron deficiency",
        "When was the Treaty of Westphalia signed?",
        "my dentist's phone number",
        "how often should I water a cactus",
        "Which river flows through Budapest?",
        "What is the capital gains tax rate in Norway?",
        "lyrics of the national anthem of Chile",
        "how do I change a bicycle tyre",
        "Why did the Roman Empire fall?",
    ],
)
def test_what_is_about_something_else_is_not_found(sample: Path, question: str) -> None:
    """Passages are given even so, the nearest first."""
    with Retriever.open(sample) as retriever:
        result = retriever.ask(question)
    assert not result.found
    assert result.confidence < 0.4
    assert len(result.passages) == 5


def test_the_test_of_time_award(answers: tuple[Result, ...]) -> None:
    """The first question of all is answered with the paper, not with anything else in its sentence."""
    first = answers[0]
    assert first.id == "SQ001"
    assert first.found
    assert first.answer is not None
    assert first.answer.text == "Adam: A Method for Stochastic Optimization"
    assert first.answer.citations[0] == 1
    assert first.passages[0].source.path == "awards.md"


def test_citations_hold(sample: Path, answers: tuple[Result, ...]) -> None:
    """Each passage and each highlight is exactly what its file has at that place, and says so."""
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
    """The answer is of a highlight of the passage that it cites first, and confidence is a probability."""
    for answer in answers:
        assert answer.answer is not None
        rank = answer.answer.citations[0]
        first, sentence = answer.passages[rank - 1].highlights[0].text, answer.answer.sentence
        assert sentence == first or (first.endswith(":") and sentence.startswith(f"{first}\n"))
        assert answer.answer.text in sentence
        assert sentence in answer.passages[rank - 1].text
        assert 0 <= answer.confidence <= 1
        assert answer.found == (answer.confidence >= 0.5)


def test_a_batch_on_the_command_line(sample: Path, answers: tuple[Result, ...], tmp_path: Path) -> None:
    """`qa ask --batch --json` gives the same: an object a line, with the same ids, in order."""
    # Two questions were mistyped on purpose.
    asked, batch = (0, 14, 7, 34), tmp_path / "questions.jsonl"
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    batch.write_text("\n".join(lines[number] for number in asked), encoding="utf-8")
    done = CliRunner().invoke(
        main.app, ["ask", "--batch", str(batch), "--json", "--index", str(sample)], prog_name="qa"
    )
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        'Batch line 2: No passage contains "agian"; searched for "again"',
        'Batch line 4: No passage contains "reveiwers"; searched for "reviewers"',
    ]
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [_untimed(line) for line in printed] == [_untimed(answers[number].as_json()) for number in asked]
    assert [line["id"] for line in printed] == ["SQ001", "SQ015", "SQ008", "SQ035"]


def test_topics_load_no_model(sample: Path) -> None:
    """What takes a quarter of a second is not paid by those who ask nothing."""
    program = (
        "import sys\nfrom qa.cli import errors, main\n"
        "errors.leave = lambda code: print(code, sorted({'faiss', 'openvino'} & sys.modules.keys()))\nmain.main()"
    )
    command = [sys.executable, "-c", program, "topics", "--json", "--no-update", "--index", str(sample)]
    run = partial(subprocess.run, command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=120)
    assert [run().stdout.splitlines()[-1] for _ in range(2)] == ["0 ['faiss']", "0 []"]


def _untimed(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if key != "timings_ms"}
