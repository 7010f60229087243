"""The command `qa eval`."""

# ruff: noqa: PLC0415 - what takes long to import is imported inside the command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpus.errors import NoIndexError
from qa.answer.results import Mode
from qa.cli import session
from qa.cli.errors import FOUND
from qa.cli.options import COUNT, INDEX, JSON, MODES
from qa.collection.settings import CollectionSettings, read_settings
from qa.terminal import answers

if TYPE_CHECKING:
    from qa.evaluation.evaluate import EvalPlan


@click.command("eval")
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("-k", type=COUNT, help="How many passages to ask for.  [default: 10]")
@JSON
@click.option("--mode", type=MODES, help="How to search.  [default: hybrid]")
@click.option(
    "--rerank/--no-rerank", default=None, help="Read the first passages more closely, or not.  [default: rerank]"
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Ask only N questions: the same in every run.")
@click.option(
    "--compare",
    metavar="WHAT",
    help='Compare with a second run under other settings, such as "mode=keyword,rerank=off" or "no-rerank", '
    "or with RESULTS.json, the --json output of an earlier run.",
)
@click.option("--corpus", type=click.Path(path_type=Path), metavar="DIR", help="Index this folder first.")
@click.option("--no-update", is_flag=True, help="Do not look for changed files first.")
@INDEX
def evaluate(
    *,
    questions: Path,
    k: int | None,
    as_json: bool,
    mode: str | None,
    rerank: bool | None,
    sample: int | None,
    compare: str | None,
    corpus: Path | None,
    no_update: bool,
    index: Path | None,
) -> int:
    """Evaluate the collection with questions whose answers are known.

    QUESTIONS has one JSON object a line with "question" and one of: "file", with or without "start" and "end"
    (characters); "evidence" [{"file", "text"}]; "relevant" {path or passage id: grade}; "answerable": false.
    Settings in qa.toml apply as they do to `qa ask`; options override them.
    """
    from qa.evaluation.evaluate import read_questions, run_plan
    from qa.evaluation.evaluate import sample as choose
    from qa.terminal import eval_report

    own = _settings(corpus, index, no_update=no_update)
    plan = _plan(own, compare, k=k, mode=Mode(mode) if mode else None, rerank=rerank)
    asked = choose(read_questions(questions), sample)
    root = session.collection_root(corpus, index)
    with (
        session.opened(root, corpus=corpus is not None, update=not no_update) as retriever,
        session.progress("Asking", "") as progress,
    ):
        report = run_plan(retriever, asked, plan, progress=progress)
    answers.note(eval_report.warnings(report.run, asked))
    json = session.as_line(eval_report.report_json(report)) if as_json else ""
    answers.out(json or eval_report.report(report, session.style()))
    return FOUND


def _settings(corpus: Path | None, index: Path | None, *, no_update: bool) -> CollectionSettings:
    try:
        return read_settings(session.collection_root(corpus, index, no_update=no_update))
    except NoIndexError:
        return CollectionSettings()  # opening it says so


def _plan(
    own: CollectionSettings, compare: str | None, *, k: int | None, mode: Mode | None, rerank: bool | None
) -> EvalPlan:
    """What to run: options override what is set for the collection, and that the defaults."""
    from qa.evaluation.evaluate import EvalPlan, EvalSettings, read_scores, settings_from
    from qa.evaluation.ranking_measures import require_ir_measures

    require_ir_measures()
    usual = EvalSettings()
    rerank = own.rerank if rerank is None else rerank
    settings = EvalSettings(
        mode=mode or own.mode or usual.mode, rerank=usual.rerank if rerank is None else rerank, k=k or own.k or usual.k
    )
    if compare is None:
        return EvalPlan(settings)
    if compare.endswith(".json") or Path(compare).is_file():
        return EvalPlan(settings, earlier=read_scores(Path(compare)), file=compare)
    return EvalPlan(settings, second=settings_from(compare, settings))
