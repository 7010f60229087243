"""The command line: each command parses, makes one library call, and renders what it returns."""

# ruff: noqa: PLC0415 - numpy, faiss and torch take seconds to import; what needs them is imported inside the commands

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import click

from qa import locate
from qa.answer.pdf_boxes import BoxFinder
from qa.answer.results import Mode, State
from qa.cli import errors, session
from qa.cli.batch import questions_of
from qa.cli.errors import FOUND, INTERRUPTED, NOT_FOUND, Boundary
from qa.cli.eval import evaluate
from qa.cli.options import CORPUS, COUNT, INDEX, JSON, MODE, NO_UPDATE, RERANK
from qa.retrieval.question_text import LONGEST_QUESTION
from qa.terminal import answers, reports
from qa.terminal.text import clean_name

_DEFAULT_K = 5


def _version(ctx: click.Context, _option: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        import qa

        answers.out(f"qa {qa.__version__}\n")
        ctx.exit(FOUND)


@click.group(
    cls=Boundary,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 found, 1 not found, 2 wrong usage, 3 no index, 4 index damaged, 5 other model or format "
    "version, 6 locked by another writer, 70 bug in qa, 74 disk error, 130 interrupted.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_context
def app(ctx: click.Context) -> int:
    """Ask a folder of documents a question; get the passages that answer it, with citations.

    To begin:  qa ask --corpus FOLDER "when is the next deadline?"
    """
    if ctx.invoked_subcommand is None:
        answers.out(ctx.get_help() + "\n")
    return FOUND


@app.command()
@click.argument("path", nargs=-1, type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Read every file again, even if it looks unchanged.")
@click.option(
    "--model", metavar="NAME", help="A sentence-transformers model or its folder. A new one embeds all again."
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Index only matching files (as in .gitignore).")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out matching files (as in .gitignore).")
@click.option("--allow-empty", is_flag=True, help="Continue even if all documents are gone.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and write nothing.")
@click.option("--wait", is_flag=True, help="Wait while another process writes the index.")
@JSON
def index(
    *,
    path: tuple[Path, ...],
    full: bool,
    model: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allow_empty: bool,
    dry_run: bool,
    wait: bool,
    as_json: bool,
) -> int:
    """Build or update the index of a folder.

    PATH is the folder of documents; by default, the collection around the working directory, else the working
    directory itself. Several folders and files become one collection in the folder they share, limited to them;
    inside an existing collection, they update it.
    """
    from index import BuildMode
    from qa.collection import build, scope

    collection = scope.collection_of(path)
    root, style = collection.root, session.style()
    # Without patterns, those of the last build apply.
    wanted, unwanted = include or None, exclude or None
    answers.note(clean_name(collection.note))
    if dry_run:
        report = build.preview_index(root, include=wanted, exclude=unwanted, paths=collection.paths)
        answers.out(session.as_line(reports.build_json(report)) if as_json else reports.preview(report, style))
        return FOUND
    with session.progress() as progress:
        report = build.build_index(
            root,
            model=model,
            mode=BuildMode.FULL if full else BuildMode.INCREMENTAL,
            on_empty=build.OnEmpty.ALLOW if allow_empty else build.OnEmpty.FAIL,
            on_locked=build.OnLocked.WAIT if wait else build.OnLocked.FAIL,
            include=wanted,
            exclude=unwanted,
            paths=collection.paths,
            progress=progress,
        )
    for each in scope.without_documents(root, collection.paths, report):
        answers.note(answers.problem(f"nothing was indexed from {each}: it is empty, or excluded"))
    answers.out(session.as_line(reports.build_json(report)) if as_json else reports.build(report, style))
    return FOUND


@app.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--every",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="Check all files this often, for network drives and others without file system events.",
)
def watch(*, path: Path | None, every: float | None) -> int:
    """Keep the index of a folder up to date until Ctrl-C; prints one line per update.

    PATH is the folder of documents; by default, as with `qa index`.
    """
    root = locate.root_of(path) if path else locate.find_or_here()
    from qa.collection import watch as watching

    try:
        with session.progress() as progress:
            updates = watching.watch(root, every=every, progress=progress)
            first = next(updates).report
        if first is not None:
            answers.out(reports.build(first, session.style()))
        answers.note(f"Watching {clean_name(str(root))} (Ctrl-C to stop)")
        for update in updates:
            answers.out(reports.watched(update, session.style()))
    except KeyboardInterrupt:  # the way to stop
        return INTERRUPTED
    return FOUND


@app.command()
@click.argument("question", nargs=-1)
@click.option("-k", type=COUNT, metavar="N", help=f"How many passages to show.  [default: {_DEFAULT_K}]")
@JSON
@click.option(
    "--batch",
    metavar="FILE",
    help='Answer many questions: one a line, or JSON lines with "id" and "question"; "-" for stdin. Prints JSON lines.',
)
@MODE
@RERANK
@click.option("--path", "glob", metavar="GLOB", help="Only files whose path matches, such as 'talks/*.md'.")
@CORPUS
@NO_UPDATE
@INDEX
def ask(
    *,
    question: tuple[str, ...],
    k: int | None,
    as_json: bool,
    batch: str | None,
    mode: str | None,
    rerank: bool | None,
    glob: str | None,
    corpus: Path | None,
    no_update: bool,
    index: Path | None,
) -> int:
    """Answer a question from the collection."""
    questions = questions_of(question, batch)
    for each in questions:
        if each.cut:
            answers.note(
                f"{each.prefix}Question cut to {LONGEST_QUESTION:,} characters; the last {each.cut:,} are ignored"
            )
    root = session.collection_root(corpus, index, no_update=no_update)
    from qa.collection.settings import read_settings

    settings = read_settings(root)
    search_mode = Mode(mode) if mode else settings.mode or Mode.HYBRID
    reranks = rerank if rerank is not None else settings.rerank is not False
    code = FOUND
    with session.opened(root, corpus=corpus is not None, update=not no_update) as retriever, BoxFinder(root) as boxes:
        for each in questions:
            answer = retriever.ask(
                each.text,
                k=k or settings.k or _DEFAULT_K,
                mode=search_mode,
                path=glob,
                rerank=reranks,
                question_id=each.id,
            )
            answers.note(reports.corrected(answer.corrections, each.prefix))
            if as_json or batch is not None:
                answers.out(session.as_line(boxes.fill(answer).as_json()))
            else:
                places = answers.Places(retriever.root, locate.working_directory())
                answers.out(answers.result(answer, session.style(), places))
            if batch is None and not answer.found:
                code = NOT_FOUND
    return code


app.add_command(evaluate)


@app.command()
@click.argument("place")
@click.option("-C", "--context", default=3, show_default=True, type=click.IntRange(0, 10_000), help="Lines around it.")
@click.option("--open", "opens", is_flag=True, help="Open the file there: text in $EDITOR, PDF in a viewer.")
@INDEX
def show(*, place: str, context: int, opens: bool, index: Path | None) -> int:
    """Show the text of a citation, and whether its file has changed.

    PLACE is what an answer cites: path:line, path:first-last, "path, p. 3", or a passage id; or a path, for the whole
    text.
    """
    root, here = locate.find_index(index=index), locate.working_directory()
    from qa.collection.show import find_target
    from qa.collection.show import show as view_of

    if opens:
        from qa.cli.open_file import open_file

        if opened := open_file(find_target(root, place, here=here), root):
            answers.note(opened)
            return FOUND
        answers.note("No display to open a window on; this is the text.")
    view = view_of(root, place, context=context, here=here)
    places = answers.Places(root, here)
    if view.marked is None and (view.stored or view.state is not State.VERIFIED):
        answers.note(f"{clean_name(places(view.path))}: {reports.view_state(view)}")
    answers.out(reports.view(view, session.style(), places))
    return FOUND


@app.command()
@JSON
@INDEX
def status(*, as_json: bool, index: Path | None) -> int:
    """Show what is indexed, and what has changed since."""
    root = locate.find_index(index=index)
    from qa.collection.status import status as status_of

    found = status_of(root)
    answers.out(session.as_line(found.as_json()) if as_json else reports.status(found, session.style()))
    return FOUND


@app.command()
@click.option("--repair", is_flag=True, help="Rebuild what is damaged; undamaged embeddings are kept.")
@INDEX
def check(*, repair: bool, index: Path | None) -> int:
    """Verify every checksum of the index."""
    root = locate.find_index(index=index)
    from qa.collection import check as checking

    if repair:
        with session.progress() as progress:
            found = checking.repair(root, progress=progress)
    else:
        found = checking.check(root)
    answers.out(reports.check(found, session.style()))
    return FOUND


def main() -> None:
    """Run the command line, as the program `qa`, and end the process."""
    code = errors.BUG
    try:
        app(prog_name="qa")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else errors.BUG
    finally:
        # A second Ctrl-C from here on would only print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        errors.leave(code)
