"""The command `qa eval`."""

# ruff: noqa: PLC0415 - as in `qa.cli.main`: what takes long to import is imported inside the command

from __future__ import annotations

from pathlib import Path

import click

from qa.answer.results import Mode
from qa.cli import session
from qa.cli.errors import FOUND
from qa.cli.options import COUNT, INDEX, JSON, MODES
from qa.terminal import answers


@click.command("eval")
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("-k", type=COUNT, help="How many passages to ask for.  [default: 10]")
@JSON
@click.option("--mode", type=MODES, help="How to search.  [default: hybrid]")
@click.option(
    "--rerank/--no-rerank", default=None, help="Read the first passages more closely, or not.  [default: rerank]"
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only so many questions: the same in every run.")
@click.option(
    "--compare",
    metavar="WHAT",
    help='A second run with other settings, such as "mode=keyword,rerank=off" or "no-rerank"; '
    "or RESULTS.json, what --json printed of an earlier run.",
)
@click.option("--corpus", type=click.Path(path_type=Path), metavar="DIR", help="Index this folder first.")
@click.option(
    "--work", type=click.Path(path_type=Path), metavar="DIR", help="For a BEIR folder: where its index is, and stays."
)
@click.option("--no-update", is_flag=True, help="Do not look for changed files before.")
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
    work: Path | None,
    no_update: bool,
    index: Path | None,
) -> int:
    """Measure the collection with questions whose answers are known.

    QUESTIONS has a JSON object a line: "question" and "file", with "start" and "end" (characters) or without; or
    "evidence" [{"file", "text"}], or "relevant" {path or passage id: grade}; "answerable": false where there is no
    answer. Or it is a folder in the layout of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv), which is then indexed.
    What is set for the collection in qa.toml holds as it does for `qa ask`; options count before it.
    """
    session.require_one_collection(corpus, index, no_update=no_update)
    from qa.cli import eval_steps as command
    from qa.evaluation.questions import sample as choose
    from qa.terminal import evaluation

    found = command.what_is_set(questions, corpus=corpus, index=index)
    plan = command.plan(command.settings(found, k=k, mode=Mode(mode) if mode else None, rerank=rerank), compare)
    with command.collection(questions, corpus=corpus, work=work, named=no_update or index is not None) as measured:
        asked = choose(measured.questions, sample)
        root = session.root_to_ask(measured.corpus, index)
        with (
            session.opened(root, corpus=measured.corpus is not None, update=not no_update) as retriever,
            session.progress("Asking", "") as progress,
        ):
            outcome = command.run(retriever, asked, plan, progress=progress)
    answers.note(evaluation.cautions(outcome.run, asked))
    json = session.as_line(evaluation.outcome_json(outcome)) if as_json else ""
    answers.out(json or evaluation.outcome(outcome, session.look()))
    return FOUND
