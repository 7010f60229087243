"""`qa eval` end to end: a small collection, questions about it, and what is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import UsageError
from index.update.report import Progress
from qa import Retriever, build_index
from qa.answer.results import Mode
from qa.cli import session
from qa.evaluation.comparison import Comparison, Difference, compare
from qa.evaluation.evaluate import EvalReport, EvalSettings, Evaluation, Missing, evaluate, evaluate_twice
from qa.evaluation.questions import read_questions
from qa.terminal import eval_report
from qa.terminal.answers import TerminalStyle
from tests.encoders import BagEncoder
from tests.qa.commands import TALKS, TRAVEL, qa
from tests.qa.indexes import write

pytestmark = pytest.mark.usefixtures("remembering")

WHALES = {"file": "talks.md", "text": "whales"}
QUESTIONS = [
    {"id": "keynote", "question": "what is the keynote on Monday about", "evidence": [WHALES]},
    {"id": "train", "question": "when does the train to Lyon leave", "file": "travel.md", "start": 10, "end": 43},
    {"id": "soup", "question": "when is soup served", "file": "travel.md"},
    {"id": "cheese", "question": "is there any cheese", "answerable": False},
    {"id": "lost", "question": "where is it", "file": "lost\x1b[2J.md"},
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write(folder, {"talks.md": TALKS, "travel.md": TRAVEL})
    return folder


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in QUESTIONS))
    return file


@pytest.fixture
def retriever(root: Path) -> Iterator[Retriever]:
    build_index(root, encoder=BagEncoder())
    with Retriever.open(root, encoder=BagEncoder()) as opened:
        yield opened


@pytest.fixture
def run(retriever: Retriever, questions: Path) -> Evaluation:
    return evaluate(retriever, read_questions(questions))


# The library


def test_each_question_is_judged(run: Evaluation) -> None:
    """In the order asked; questions that cannot be judged are left out and listed."""
    assert [
        (row.id, row.answerable, *map(row.values.get, ("hit@1", "hit@3", "highlight@1")), row.right)
        for row in run.scores
    ] == [
        ("keynote", True, 1, 1, 1, True),
        ("train", True, 1, 1, 1, True),
        ("soup", True, 0, 1, 0, True),
        ("cheese", False, None, None, None, False),
    ]
    assert all(0 < row.ms < 10_000 for row in run.scores)
    assert run.left_out == (Missing("lost", "lost\x1b[2J.md is not in the collection"),)
    assert (run.partly, run.changed, run.index.documents) == ((), 0, 2)


def test_settings_reach_the_search(retriever: Retriever, questions: Path) -> None:
    """In keyword mode, a question with no word of the collection finds nothing."""
    chosen = tuple(question for question in read_questions(questions) if question.id in {"train", "cheese"})
    run = evaluate(retriever, chosen, EvalSettings(Mode.KEYWORD, rerank=False, k=1))
    assert [(row.id, row.confidence > 0) for row in run.scores] == [("train", True), ("cheese", False)]
    assert set(run.scores[0].values) >= {"hit@1", "MRR@1", "nDCG@1"}
    assert "hit@3" not in run.scores[0].values


def test_passages_can_be_graded(retriever: Retriever, tmp_path: Path) -> None:
    question = "when is soup served"
    passages = retriever.search(question, k=3)
    file = tmp_path / "graded.jsonl"
    file.write_text(json.dumps({"question": question, "relevant": {passages[0].id: 1, passages[2].id: 2, "f" * 16: 1}}))
    run = evaluate(retriever, read_questions(file))
    values = run.scores[0].values
    assert (values["recall@1"], values["recall@3"]) == pytest.approx((1 / 3, 2 / 3))
    assert values["nDCG@10"] == pytest.approx((1 + 2 / 2) / (2 + 1 / 1.584962500721156 + 1 / 2))
    assert run.partly[0].reason == "ffffffffffffffff is not in the collection"


def test_the_same_text_in_another_file_is_a_hit(root: Path, tmp_path: Path) -> None:
    """Also its sentence, at its place in that file."""
    write(root, {"copy.md": f"\n\n{TRAVEL}"})
    build_index(root, encoder=BagEncoder())
    evidence = [{"file": name, "text": "The train to Lyon leaves at nine."} for name in ("travel.md", "copy.md")]
    rows = [{"question": "when does the train to Lyon leave", "evidence": [piece]} for piece in evidence]
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Retriever.open(root, encoder=BagEncoder()) as retriever:
        scores = evaluate(retriever, read_questions(file)).scores
    measures = ("hit@1", "file@1", "covered@1000", "highlight@1")
    assert [[score.values[name] for name in measures] for score in scores] == [[1.0] * 4] * 2


def test_two_runs_share_one_progress(retriever: Retriever, questions: Path) -> None:
    steps: list[Progress] = []
    both = EvalSettings(), EvalSettings(rerank=False)
    report = evaluate_twice(retriever, read_questions(questions), *both, progress=steps.append)
    assert steps == [Progress(done, 8) for done in range(1, 9)]
    assert report.second is not None
    assert report.second.settings == EvalSettings(rerank=False)


def test_only_unanswerable_or_lost_questions(retriever: Retriever, questions: Path) -> None:
    *_, unanswerable, lost = read_questions(questions)
    run = evaluate(retriever, [unanswerable])
    assert run.metrics.measures == ()
    text = eval_report.render_report(EvalReport(run), TerminalStyle())
    assert "Ranking" not in text
    assert re.search(r"^answerable +0 +0$", text, re.MULTILINE)
    with pytest.raises(UsageError, match=r"no question has its answer.*lost: lost"):
        evaluate(retriever, [lost])


def test_changed_files_are_counted(retriever: Retriever, root: Path, questions: Path) -> None:
    (root / "travel.md").write_text(TRAVEL + "More.\n")
    run = evaluate(retriever, read_questions(questions))
    assert run.changed > 0
    assert "changed since they were indexed" in eval_report.render_caveats(run, ())


# What is printed


def test_the_table(run: Evaluation) -> None:
    """It has every measure, confidence, verdicts and times, in lines that fit a screen."""
    text = eval_report.render_report(EvalReport(run), TerminalStyle())
    summary = "4 questions (3 answerable) over 2 documents (3 passages): hybrid, re-ranked, k=10."
    assert summary in text.replace("\n", " ", 1)
    assert re.search(r"^hit@k +0\.667  1\.000  1\.000  1\.000  ", text, re.MULTILINE)
    for name in ("file@k", "recall@k", "MRR@10", "nDCG@10", "covered@1000", "highlight@1", "calibration", "AUROC"):
        assert re.search(rf"^{re.escape(name)} +[01]\.\d{{3}} ", text, re.MULTILINE), name
    assert re.search(r"^answered +1\.000 ", text, re.MULTILINE)
    assert re.search(r"^unanswerable +\d +\d$", text, re.MULTILINE)
    assert re.search(r"median \d+\.\d ms, 95th percentile \d+\.\d ms", text)
    assert max(map(len, text.splitlines())) <= 100


def test_control_characters_are_escaped(run: Evaluation) -> None:
    """Names come from files that anybody may have written."""
    caveat = "1 question left out, as the answer is not in the collection"
    assert eval_report.render_caveats(run, ()) == caveat + r": lost (lost\x1b[2J.md is not in the collection)"
    names = ("\x1b[31mfirst.json", "\u202esecond")
    compared = eval_report.render_report(EvalReport(run, compare(run.scores, run.scores), names), TerminalStyle())
    assert r"First: \x1b[31mfirst.json. Second: \u202esecond. 4 questions in both." in compared
    assert "\x1b" not in compared


def test_significant_differences_are_better_or_worse(run: Evaluation) -> None:
    """For the calibration error, lower is better."""
    differences = (
        Difference("hit@1", first=0.5, second=0.75, low=0.125, high=0.375, p=0.0001, questions=99),
        Difference("ece", first=0.5, second=0.75, low=0.125, high=0.375, p=0.04, questions=99),
        Difference("auroc", first=0.75, second=0.5, low=-0.375, high=-0.125, p=0.0499, questions=99),
        Difference("recall@1", first=0.75, second=0.5, low=-0.5, high=0.25, p=0.05, questions=99),
    )
    text = eval_report.render_report(EvalReport(run, Comparison(99, 0, 1, differences), ("a", "b")), TerminalStyle())
    assert text[text.index("First: ") :].splitlines() == [
        "First: a. Second: b. 99 questions in both; 1 in only one of them.",
        "",
        "                first  second  change  95 % interval         p",
        "hit@1           0.500   0.750  +0.250  +0.125 to +0.375  <.001  better",
        "ece             0.500   0.750  +0.250  +0.125 to +0.375  0.040  worse",
        "auroc           0.750   0.500  -0.250  -0.375 to -0.125  0.050  worse",
        "recall@1        0.750   0.500  -0.250  -0.500 to +0.250  0.050  no significant difference",
        "",
        "At p < 0.05, about one measure in twenty differs by chance alone.",
    ]


# The command, with the real model


@pytest.fixture
def built(root: Path) -> Path:
    build_index(root)
    return root


def test_eval_compares_with_an_earlier_run(built: Path, questions: Path, tmp_path: Path) -> None:
    """The earlier run is read from its JSON; the table goes to stdout, warnings to stderr."""
    first = qa("eval", questions, "--corpus", built, "--json")
    value: dict[str, Any] = json.loads(first.stdout)
    assert (value["version"], value["questions"], value["answerable"], value["compare"]) == (1, 4, 3, None)
    assert value["settings"] == {"mode": "hybrid", "rerank": True, "k": 10}
    assert [row["id"] for row in value["per_question"]] == ["keynote", "train", "soup", "cheese"]
    earlier = tmp_path / "earlier.json"
    earlier.write_text(first.stdout)
    done = qa("eval", questions, "--index", built, "--compare", earlier)
    assert done.exit_code == 0
    assert done.stdout.startswith("4 questions (3 answerable) over 2 documents")
    assert done.stderr.startswith("1 question left out")
    assert f"First: {earlier}. Second: hybrid, re-ranked." in " ".join(done.stdout.split())
    assert done.stdout.count("no significant difference") == len(value["measures"]) + 2


def test_eval_compares_settings(built: Path, questions: Path) -> None:
    done = qa("eval", questions, "--index", built, "--sample", "3", "--compare", "mode=keyword,no-rerank", "--json")
    value = json.loads(done.stdout)["compare"]
    assert (value["first"], value["second"]) == ("hybrid, re-ranked", "keyword, not re-ranked")
    assert value["second_run"]["settings"] == {"mode": "keyword", "rerank": False, "k": 10}
    assert value["questions"] == len(value["second_run"]["per_question"])
    assert {measure["name"] for measure in value["measures"]} == {*value["second_run"]["measures"], "ece", "auroc"}


def test_questions_in_the_collection_are_not_searched(root: Path) -> None:
    file = root / "questions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in QUESTIONS[:2]))
    value = json.loads(qa("eval", file, "--corpus", root, "--compare", "no-rerank", "--json").stdout)
    for run in (value, value["compare"]["second_run"]):
        assert run["per_question"][0]["values"]["hit@1"] == 1


def test_eval_runs_without_the_reader_if_the_collection_does(
    built: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    open_retriever = session.open_retriever

    def watched(root: Path, **options: Any) -> Any:
        opened.append(options["reader"])
        return open_retriever(root, **options)

    monkeypatch.setattr(session, "open_retriever", watched)
    for setting in ("", "reader = false\n"):
        (built / "qa.toml").write_text(setting)
        assert qa("eval", questions, "--index", built).exit_code == 0
    assert opened == [True, False]


def test_eval_uses_the_settings_of_the_collection(built: Path, questions: Path) -> None:
    """Those of `qa.toml`, as `qa ask` does; options override them, and a second run starts from them."""
    (built / "qa.toml").write_text('k = 3\nmode = "keyword"\nrerank = false\n')

    def run(*options: str) -> Any:
        return json.loads(qa("eval", questions, "--index", built, "--json", *options).stdout)

    assert run()["settings"] == {"mode": "keyword", "rerank": False, "k": 3}
    assert run("-k", "5", "--mode", "hybrid")["settings"] == {"mode": "hybrid", "rerank": False, "k": 5}
    assert run("--rerank")["settings"] == {"mode": "keyword", "rerank": True, "k": 3}
    second = run("--compare", "mode=hybrid")["compare"]["second_run"]
    assert second["settings"] == {"mode": "hybrid", "rerank": False, "k": 3}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("missing.jsonl",), "cannot read"),
        (("{questions}", "--compare", "mode=fast", "--corpus", "{root}"), "--compare: unknown setting"),
        (("{questions}", "--corpus", "{root}", "--no-update"), "leave out --no-update."),
        (("{questions}", "--sample", "0"), "--sample"),
        ((), "QUESTIONS"),
    ],
)
def test_eval_refuses_invalid_arguments(args: tuple[str, ...], message: str, root: Path, questions: Path) -> None:
    """It prints one line and exits with code 2."""
    done = qa("eval", *(arg.format(root=root, questions=questions) for arg in args))
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
