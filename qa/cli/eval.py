"""The command `qa eval`."""

# ruff: noqa: PLC0415 - what takes long to import is imported inside the command

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from corpus.errors import UsageError
from qa.cli import session
from qa.cli.errors import FOUND
from qa.cli.options import COLLECTION_TO_ASK, COUNT, JSON, RANKING, complete_files
from qa.collection.settings import read_settings
from qa.filters import EVERYTHING, without_file
from qa.terminal import answers


@click.command("eval")
@click.argument("words", nargs=-1, required=True, metavar="[FOLDER] QUESTIONS", shell_complete=complete_files)
@click.option("-k", type=COUNT, help="How many passages to retrieve.  [default: 10]")
@JSON
@RANKING
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Ask only N questions, the same ones in every run.")
@click.option(
    "--compare",
    metavar="WHAT",
    help='Compare with a second run under other settings, such as "mode=keyword,rerank=off" or "no-rerank", '
    "or with RESULTS.json, the --json output of an earlier run.",
)
@COLLECTION_TO_ASK
def evaluate(
    *,
    words: tuple[str, ...],
    k: int | None,
    as_json: bool,
    mode: str | None,
    rerank: bool | None,
    rerank_model: str | None,
    device: str,
    sample: int | None,
    compare: str | None,
    corpus: Path | None,
    no_update: bool,
    index: Path | None,
) -> int:
    """Evaluate the collection with questions whose answers are known.

    QUESTIONS has one JSON object per line with "question" and one of: "file", with or without "start" and "end"
    (characters); "evidence" [{"file", "text"}]; "relevant" {path or passage id: grade}; "answerable": false.
    Settings in qa.toml apply as they do to `qa ask`; options override them.
    """
    from qa.evaluation import evaluate as evaluation
    from qa.evaluation.comparison import compare as compared
    from qa.evaluation.comparison import read_scores
    from qa.evaluation.questions import read_questions
    from qa.evaluation.questions import sample as choose
    from qa.evaluation.ranking_measures import require_ir_measures
    from qa.terminal import eval_report

    require_ir_measures()
    *folders, file = map(Path, words)
    if len(folders) > 1:
        raise UsageError("give one file of questions, after the folder if you name one.")
    questions = choose(read_questions(file), sample)
    root = session.collection_root(corpus, index, folder=next(iter(folders), None), no_update=no_update)
    reranks, default_k = session.rerank_choice(rerank, rerank_model), evaluation.EvalSettings().k
    configured = read_settings(root)
    arguments = configured.ask_arguments(k=k, mode=mode, rerank=reranks, default_k=default_k)
    settings = evaluation.EvalSettings(**arguments)
    is_file = compare is not None and (compare.endswith(".json") or Path(compare).is_file())
    earlier = read_scores(Path(compare)) if compare is not None and is_file else ()
    second = evaluation.apply_changes(compare, settings) if compare is not None and not is_file else None
    with (
        session.open_retriever(
            root,
            corpus=corpus is not None,
            update=not no_update,
            reader=configured.reader is not False,
            rerank_model=rerank_model,
            device=device,
        ) as retriever,
        session.progress("Asking", "") as progress,
    ):
        only = without_file(EVERYTHING, retriever.snapshot, root, file)
        if second is not None:
            report = evaluation.evaluate_twice(retriever, questions, settings, second, only=only, progress=progress)
        else:
            run = evaluation.evaluate(retriever, questions, settings, only=only, progress=progress)
            report = evaluation.EvalReport(run, names=(compare or "", str(settings)))
    if earlier:
        report = replace(report, comparison=compared(earlier, report.run.scores))
    answers.write_stderr(eval_report.render_caveats(report.run, questions))
    json = session.json_line(eval_report.report_json(report)) if as_json else ""
    answers.write_stdout(json or eval_report.render_report(report, session.style()))
    return FOUND
