"""The command `qa ask`."""

# ruff: noqa: PLC0415 - numpy and faiss take long to import; what needs them is imported inside the command

from __future__ import annotations

from pathlib import Path

import click

from corpus.errors import UsageError
from qa import locate
from qa.answer.pdf_boxes import BoxFinder
from qa.answer.results import Mode, Result
from qa.cli import session
from qa.cli.batch import questions_of
from qa.cli.errors import FOUND, NOT_FOUND
from qa.cli.options import (
    CORPUS,
    COUNT,
    DEVICE,
    INDEX,
    JSON,
    MODE,
    NO_UPDATE,
    READER,
    RERANK,
    RERANK_MODEL,
    filtered,
)
from qa.cli.writing import ProseWriter, writing
from qa.filters import Filter
from qa.retrieval.question_text import LONGEST_QUESTION
from qa.terminal import answers, reports

_DEFAULT_K = 5


@click.command()
@click.argument("words", nargs=-1, metavar="[FOLDER] QUESTION")
@click.option("-k", type=COUNT, metavar="N", help=f"How many passages to show.  [default: {_DEFAULT_K}]")
@JSON
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "bibtex", "vimgrep"]),
    help="How to print the answer; vimgrep is path:line:column:text, for editors.  [default: text]",
)
@click.option(
    "--batch",
    metavar="FILE",
    help='Answer many questions: one a line, or JSON lines with "id" and "question"; "-" for stdin. Prints JSON lines.',
)
@MODE
@RERANK
@READER
@RERANK_MODEL
@DEVICE
@filtered
@click.option("--topic", metavar="N", help="Only passages of this topic, as `qa topics` numbers them.")
@writing
@CORPUS
@NO_UPDATE
@INDEX
def ask(
    *,
    words: tuple[str, ...],
    k: int | None,
    as_json: bool,
    form: str | None,
    batch: str | None,
    mode: str | None,
    rerank: bool | None,
    reader: bool | None,
    rerank_model: str | None,
    device: str,
    only: Filter,
    topic: str | None,
    writer: ProseWriter | None,
    corpus: Path | None,
    no_update: bool,
    index: Path | None,
) -> int:
    """Answer a question from the collection: that of FOLDER, or the one around the working directory."""
    folder, question = session.leading_folder(words)
    if folder is not None and not question and batch is None:
        raise UsageError(f'{folder} is a folder. Put a question after it: qa ask {folder} "who won?"')
    form = _format(form, as_json=as_json, is_batch=batch is not None)
    if writer is not None and form not in ("text", "json"):
        raise UsageError(f"--write prints text or JSON, not {form}.")
    questions = questions_of(question, batch)
    for each in questions:
        if each.cut:
            answers.note(
                f"{each.prefix}Question cut to {LONGEST_QUESTION:,} characters; the last {each.cut:,} are ignored"
            )
    root = session.collection_root(corpus, index, folder=folder, no_update=no_update)
    from qa.collection.settings import read_settings

    settings = read_settings(root)
    search_mode = Mode(mode) if mode else settings.mode or Mode.HYBRID
    reranks = session.reranks(rerank, rerank_model, settings.rerank)
    reads = reranks and (reader if reader is not None else settings.reader is not False)
    code = FOUND
    opened = session.opened(
        root,
        corpus=corpus is not None,
        update=not no_update,
        reader=reads,
        rerank_model=rerank_model,
        device=device,
    )
    with opened as retriever, BoxFinder(root) as boxes:
        for each in questions:
            answer = retriever.ask(
                each.text,
                k=k or settings.k or _DEFAULT_K,
                mode=search_mode,
                only=only,
                rerank=reranks,
                question_id=each.id,
                **({} if topic is None else {"topic": topic}),
            )
            answers.note(reports.corrected(answer.corrections, each.prefix))
            if writer is not None:
                answer = writer(answer, retriever, shows=form == "text")
            if form == "json":
                answers.out(session.as_line(boxes.fill(answer).as_json()))
            else:
                answers.out(_shown(answer, form, retriever.root))
            if batch is None and not answer.found:
                code = NOT_FOUND
    return code


def _format(named: str | None, *, as_json: bool, is_batch: bool) -> str:
    usual = "json" if as_json or is_batch else "text"
    if named is not None and usual == "json" and named != "json":
        raise UsageError(f"--json and --batch print JSON, not {named}.")
    return named or usual


def _shown(answer: Result, form: str, root: Path) -> str:
    places = answers.Places(root, locate.working_directory())
    if form == "text":
        return answers.result(answer, session.style(), places)
    from qa.terminal.exports import FORMATS

    return FORMATS[form](answer, root, places)
