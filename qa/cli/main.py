"""The command line: each command parses, makes one library call, and renders what comes back."""

# ruff: noqa: PLC0415 - numpy, faiss and torch take seconds to import; what needs them is imported inside the commands

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import UsageError
from qa import locate
from qa.answer.pdf_boxes import BoxFinder
from qa.answer.results import Mode, State
from qa.cli import errors, session
from qa.cli.batch import Question, parse_batch, read_batch
from qa.cli.errors import FOUND, INTERRUPTED, NOT_FOUND, Boundary
from qa.cli.eval import evaluate
from qa.cli.options import COUNT, INDEX, JSON, MODES
from qa.retrieval.query import LONGEST_QUESTION, ask_text
from qa.terminal import answers, reports

if TYPE_CHECKING:
    from qa.collection.show import Spot


def _version(ctx: click.Context, _option: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        import qa

        answers.out(f"qa {qa.__version__}\n")
        ctx.exit(FOUND)


@click.group(
    cls=Boundary,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 found, 1 not found, 2 wrong usage, 3 no index, 4 index damaged, 5 other model or format, "
    "6 locked by another writer, 70 a mistake in qa, 74 the disk refused, 130 interrupted.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_context
def app(ctx: click.Context) -> int:
    """Ask a folder of documents a question; get the passages that answer it, with their places.

    To begin:  qa ask --corpus FOLDER "when is the next deadline?"
    """
    if ctx.invoked_subcommand is None:
        answers.out(ctx.get_help() + "\n")
    return FOUND


@app.command()
@click.argument("path", nargs=-1, type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Read every file again, even those that look unchanged.")
@click.option("--model", metavar="NAME", help="A sentence-transformers model, or its folder. Another one embeds anew.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that match (as in .gitignore).")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out what matches (as in .gitignore).")
@click.option("--allow-empty", is_flag=True, help="Go on even if all documents are gone.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--wait", is_flag=True, help="Where another process writes the index, wait for it to end.")
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
    """Build the index of a folder, or bring it up to date.

    PATH is the folder of documents. Without it, the collection around the working directory is brought up to date,
    or the working directory becomes one. Several folders and files become one collection, in the folder that they
    have in common; those in a collection that is there bring it up to date.
    """
    from qa.collection import scope

    collection = scope.collection_of(path)
    root = collection.root
    from index import BuildMode
    from qa.collection import build

    style = session.style()
    # No pattern given means those of the last time, not none.
    taken, left = include or None, exclude or None
    answers.note(answers.clean_name(collection.note))
    if dry_run:
        report = build.preview_index(root, include=taken, exclude=left, paths=collection.paths)
        answers.out(session.as_line(reports.build_json(report)) if as_json else reports.preview(report, style))
        return FOUND
    with session.progress() as progress:
        report = build.build_index(
            root,
            model=model,
            mode=BuildMode.FULL if full else BuildMode.INCREMENTAL,
            on_empty=build.OnEmpty.ALLOW if allow_empty else build.OnEmpty.FAIL,
            on_locked=build.OnLocked.WAIT if wait else build.OnLocked.FAIL,
            include=taken,
            exclude=left,
            paths=collection.paths,
            progress=progress,
        )
    for each in scope.left_out(root, collection.paths, report):
        answers.note(answers.problem(f"nothing is taken in from {each}: it is empty, or a pattern leaves it out"))
    answers.out(session.as_line(reports.build_json(report)) if as_json else reports.build(report, style))
    return FOUND


@app.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--every",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="Look at all files so often, where the system does not tell of changes, as on many network drives.",
)
def watch(*, path: Path | None, every: float | None) -> int:
    """Keep the index of a folder in step while its files change, until Ctrl-C.

    PATH is the folder of documents; without it, as with `qa index`. It prints a line for what changes at once.
    """
    root = locate.root_of(path) if path else locate.find_or_here()
    from qa.collection import watch as watching

    try:
        with session.progress() as progress:
            updates = watching.watch(root, every=every, progress=progress)
            first = next(updates).report
        if first is not None:
            answers.out(reports.build(first, session.style()))
        answers.note(f"Watching {answers.clean_name(str(root))}; Ctrl-C ends it.")
        for update in updates:
            answers.out(reports.watched(update, session.style()))
    except KeyboardInterrupt:  # the way to end it
        return INTERRUPTED
    return FOUND


@app.command()
@click.argument("question", nargs=-1)
@click.option("-k", type=COUNT, help="How many passages to give.  [default: 5]")
@JSON
@click.option(
    "--batch",
    metavar="FILE",
    help='Answer many: a question a line, or JSON lines with "id" and "question"; "-" reads stdin. Prints JSON lines.',
)
@click.option(
    "--mode",
    type=MODES,
    help="Search by words and meaning, by meaning (dense), or by words (keyword).  [default: hybrid]",
)
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Read the first passages more closely, or be faster and less exact.  [default: rerank]",
)
@click.option("--path", "glob", metavar="GLOB", help="Only in files whose path matches, such as 'talks/*.md'.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Index this folder first, or bring it up to date, then ask it.",
)
@click.option("--no-update", is_flag=True, help="Do not look for changed files before answering.")
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
    questions = _questions(question, batch)
    session.require_one_collection(corpus, index, no_update=no_update)
    code = FOUND
    root = session.root_to_ask(corpus, index)
    from qa.collection import settings

    found = settings.read(root)
    how = Mode(mode) if mode else found.mode or Mode.HYBRID
    closely = rerank if rerank is not None else found.rerank is not False
    with (
        session.opened(root, corpus=corpus is not None, update=not no_update) as retriever,
        BoxFinder(root) as boxes,
    ):
        for each in questions:
            answer = retriever.ask(
                each.text, k=k or found.k or 5, mode=how, path=glob, rerank=closely, question_id=each.id
            )
            answers.note(reports.corrected(answer.corrections, _where(each, batch)))
            if as_json or batch is not None:
                answers.out(session.as_line(boxes.fill(answer).as_json()))
            else:
                place = answers.Places(retriever.root, locate.working_directory())
                answers.out(answers.result(answer, session.style(), place))
            if batch is None and not answer.found:
                code = NOT_FOUND
    return code


app.add_command(evaluate)


@app.command()
@click.argument("place")
@click.option("-C", "--context", default=3, show_default=True, type=click.IntRange(0, 10_000), help="Lines around it.")
@click.option(
    "--open", "opened", is_flag=True, help="Open the file there: text in $VISUAL or $EDITOR, PDF at its page."
)
@INDEX
def show(*, place: str, context: int, opened: bool, index: Path | None) -> int:
    """Show the text around a place.

    PLACE is what an answer cites: path:line, path:first-last, "path, p. 3" or a passage's id; or a path, for all its
    text.
    What is shown says whether the file still is what was indexed.
    """
    root, here = locate.find_index(None, index=index), locate.working_directory()
    from qa.collection import show as showing

    if opened and _open(showing.spot(root, place, here=here), root):
        return FOUND
    view = showing.show(root, place, context=context, here=here)
    name = answers.Places(root, here)
    if view.marked is None and (view.stored or view.state is not State.VERIFIED):
        answers.note(f"{answers.clean_name(name(view.path))}: {reports.standing(view)}")
    answers.out(reports.view(view, session.style(), name))
    return FOUND


def _open(spot: Spot, root: Path) -> bool:
    """Open a file at a place, and say so; False where nobody would see the window."""
    from qa.cli import open_file

    launch = open_file.plan(spot, root)
    seen = launch.how is open_file.How.HERE or open_file.has_display()
    answers.note(open_file.opening(launch, spot, seen=seen))
    if seen:
        open_file.start(launch)
    return seen


@app.command()
@JSON
@INDEX
def status(*, as_json: bool, index: Path | None) -> int:
    """Say what is indexed, and what has changed since."""
    root = locate.find_index(None, index=index)
    from qa.collection import status as state

    found = state.status(root)
    answers.out(session.as_line(found.as_json()) if as_json else reports.status(found, session.style()))
    return FOUND


@app.command()
@click.option("--repair", is_flag=True, help="Write a damaged index anew; embeddings that are sound are kept.")
@INDEX
def check(*, repair: bool, index: Path | None) -> int:
    """Verify that the index holds what was written to it."""
    root = locate.find_index(None, index=index)
    from qa.collection import check as checking

    if repair:
        with session.progress() as progress:
            found = checking.repair(root, progress=progress)
    else:
        found = checking.check(root)
    answers.out(reports.check(found, session.style()))
    return FOUND


def _questions(words: tuple[str, ...], batch: str | None) -> tuple[Question, ...]:
    if batch is None:
        text, cut = ask_text(" ".join(words))
        questions: tuple[Question, ...] = (Question(1, None, text, cut),)
    elif words:
        raise UsageError("give a question or --batch, not both")
    else:
        questions = parse_batch(read_batch(batch))
    for each in questions:
        if each.cut:
            left = f"{each.cut:,} are left out"
            answers.note(f"The question{_where(each, batch)} is cut to {LONGEST_QUESTION:,} characters; {left}.")
    return questions


def _where(question: Question, batch: str | None) -> str:
    return "" if batch is None else f" in batch line {question.line}"


def main() -> None:
    """Run the command line, as the program `qa`, and end the process."""
    code = errors.BUG
    try:
        app(prog_name="qa")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else errors.BUG
    finally:
        # A second Ctrl-C from here on would only print a trace.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        errors.leave(code)


if __name__ == "__main__":
    main()
