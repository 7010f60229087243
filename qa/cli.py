"""The command line: each command parses, makes one library call, and renders what comes back."""

# ruff: noqa: PLC0415 - numpy, faiss and torch take seconds to import; what needs them is imported inside the commands

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import UsageError
from qa import boundary, locate, render, reports
from qa.batch import LONGEST_QUESTION, Question, ask_text, parse_batch, read_batch
from qa.boundary import FOUND, NOT_FOUND, Boundary
from qa.boxes import BoxFinder
from qa.results import Mode, State

if TYPE_CHECKING:
    from index.report import Progress, ProgressCallback
    from qa.retriever import Retriever
    from qa.show import Spot

# What lives as long as the process.
_HELD: list[object] = []

_INDEX = click.option(
    "--index",
    "index",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The collection to use: its folder, or the .qa folder in it. [default: QA_INDEX, or the nearest .qa upward]",
)
_MODES = click.Choice([mode.value for mode in Mode])
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def _version(ctx: click.Context, _option: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        from importlib import metadata

        try:
            number = metadata.version("qa")
        except metadata.PackageNotFoundError:
            number = "(not installed; run from its source)"
        render.out(f"qa {number}\n")
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
        render.out(ctx.get_help() + "\n")
    return FOUND


@app.command()
@click.argument("path", nargs=-1, type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Read every file again, even those that look unchanged.")
@click.option("--model", metavar="NAME", help="A sentence-transformers model, or its folder. Another one embeds anew.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that match (as in .gitignore).")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out what matches (as in .gitignore).")
@click.option("--allow-empty", is_flag=True, help="Go on even if all documents are gone.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@_JSON
def index(
    *,
    path: tuple[Path, ...],
    full: bool,
    model: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allow_empty: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Build the index of a folder, or bring it up to date.

    PATH is the folder of documents. Without it, the collection around the working directory is brought up to date,
    or the working directory becomes one.
    """
    if len(path) > 1:
        raise UsageError("give one folder: index the common parent of several, or each by itself")
    root = locate.root_of(path[0]) if path else locate.find_or_here()
    from qa import build

    look = render.Look.of(sys.stdout)
    # No pattern given means those of the last time, not none.
    taken, left = include or None, exclude or None
    if dry_run:
        report = build.preview_index(root, include=taken, exclude=left)
        render.out(_json(reports.build_json(report)) if as_json else reports.preview(report, look))
        return FOUND
    with _progress() as progress:
        report = build.build_index(
            root,
            model=model,
            rescan=build.Rescan.ALL if full else build.Rescan.CHANGED,
            emptying=build.Emptying.ALLOWED if allow_empty else build.Emptying.REFUSED,
            include=taken,
            exclude=left,
            progress=progress,
        )
    render.out(_json(reports.build_json(report)) if as_json else reports.build(report, look))
    return FOUND


@app.command()
@click.argument("question", nargs=-1)
@click.option("-k", default=5, show_default=True, type=click.IntRange(1, 1000), help="How many passages to give.")
@_JSON
@click.option(
    "--batch",
    metavar="FILE",
    help='Answer many: a question a line, or JSON lines with "id" and "question"; "-" reads stdin. Prints JSON lines.',
)
@click.option(
    "--mode",
    type=_MODES,
    default=Mode.HYBRID.value,
    show_default=True,
    help="Search by words and meaning, by meaning (dense), or by words (keyword).",
)
@click.option("--no-rerank", is_flag=True, help="Do not read the first passages more closely: faster, less exact.")
@click.option("--path", "glob", metavar="GLOB", help="Only in files whose path matches, such as 'talks/*.md'.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Index this folder first, or bring it up to date, then ask it.",
)
@click.option("--no-update", is_flag=True, help="Do not look for changed files before answering.")
@_INDEX
def ask(
    *,
    question: tuple[str, ...],
    k: int,
    as_json: bool,
    batch: str | None,
    mode: str,
    no_rerank: bool,
    glob: str | None,
    corpus: Path | None,
    no_update: bool,
    index: Path | None,
) -> int:
    """Answer a question from the collection."""
    questions = _questions(question, batch)
    _require_one_collection(corpus, index, no_update=no_update)
    code = FOUND
    with _retriever(corpus, index, update=not no_update) as retriever, BoxFinder(retriever.root) as boxes:
        for each in questions:
            answer = retriever.ask(
                each.text, k=k, mode=Mode(mode), path=glob, rerank=not no_rerank, question_id=each.id
            )
            if as_json or batch is not None:
                render.out(_json(boxes.fill(answer).as_json()))
            else:
                place = render.Places(retriever.root, locate.working_directory())
                render.out(render.result(answer, render.Look.of(sys.stdout), place))
            if batch is None and not answer.found:
                code = NOT_FOUND
    return code


@app.command("eval")
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many passages to ask for.")
@_JSON
@click.option("--mode", type=_MODES, default=Mode.HYBRID.value, show_default=True, help="How to search.")
@click.option("--no-rerank", is_flag=True, help="Do not read the first passages more closely.")
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
@_INDEX
def evaluate(
    *,
    questions: Path,
    k: int,
    as_json: bool,
    mode: str,
    no_rerank: bool,
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
    """
    _require_one_collection(corpus, index, no_update=no_update)
    from qa.evaluate import Settings
    from qa.evaluation import command, report
    from qa.evaluation.questions import sample as choose

    plan = command.plan(Settings(Mode(mode), not no_rerank, k), compare)
    with command.collection(questions, corpus=corpus, work=work, named=no_update or index is not None) as measured:
        asked = choose(measured.questions, sample)
        with _retriever(measured.corpus, index, update=not no_update) as retriever, _progress("Asking", "") as progress:
            outcome = command.run(retriever, asked, plan, progress=progress)
    render.note(report.cautions(outcome.run, asked))
    render.out(_json(report.outcome_json(outcome)) if as_json else report.outcome(outcome, render.Look.of(sys.stdout)))
    return FOUND


@app.command()
@click.argument("place")
@click.option("-C", "--context", default=3, show_default=True, type=click.IntRange(0, 10_000), help="Lines around it.")
@click.option(
    "--open", "opened", is_flag=True, help="Open the file there: text in $VISUAL or $EDITOR, PDF at its page."
)
@_INDEX
def show(*, place: str, context: int, opened: bool, index: Path | None) -> int:
    """Show the text around a place.

    PLACE is what an answer cites: path:line, path:first-last, "path, p. 3" or a passage's id; or a path, for all its
    text.
    What is shown says whether the file still is what was indexed.
    """
    root, here = locate.find_index(None, index=index), locate.working_directory()
    from qa import show as showing

    if opened and _open(showing.spot(root, place, here=here), root):
        return FOUND
    view = showing.show(root, place, context=context, here=here)
    name = render.Places(root, here)
    if view.marked is None and (view.stored or view.state is not State.VERIFIED):
        render.note(f"{render.clean_name(name(view.path))}: {reports.standing(view)}")
    render.out(reports.view(view, render.Look.of(sys.stdout), name))
    return FOUND


def _open(spot: Spot, root: Path) -> bool:
    """Open a file at a place, and say so; False where nobody would see the window."""
    from qa import opening

    launch = opening.plan(spot, root)
    seen = launch.how is opening.How.HERE or opening.has_display()
    render.note(reports.opening(launch, spot, seen=seen))
    if seen:
        opening.start(launch)
    return seen


@app.command()
@_JSON
@_INDEX
def status(*, as_json: bool, index: Path | None) -> int:
    """Say what is indexed, and what has changed since."""
    root = locate.find_index(None, index=index)
    from qa import status as state

    found = state.status(root)
    render.out(_json(found.as_json()) if as_json else reports.status(found, render.Look.of(sys.stdout)))
    return FOUND


@app.command()
@click.option("--repair", is_flag=True, help="Write a damaged index anew; embeddings that are sound are kept.")
@_INDEX
def check(*, repair: bool, index: Path | None) -> int:
    """Verify that the index holds what was written to it."""
    root = locate.find_index(None, index=index)
    from qa import check as checking

    if repair:
        with _progress() as progress:
            found = checking.repair(root, progress=progress)
    else:
        found = checking.check(root)
    render.out(reports.check(found, render.Look.of(sys.stdout)))
    return FOUND


def _require_one_collection(corpus: Path | None, index: Path | None, *, no_update: bool) -> None:
    if corpus is not None and (index is not None or no_update):
        raise UsageError("--corpus brings its folder up to date and asks it; leave out --index and --no-update")


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
            where = "" if batch is None else f" in batch line {each.line}"
            render.note(f"The question{where} is cut to {LONGEST_QUESTION:,} characters; {each.cut:,} are left out.")
    return questions


@contextmanager
def _retriever(corpus: Path | None, index: Path | None, *, update: bool) -> Iterator[Retriever]:
    """Open the collection to ask; what was done to it on the way goes to stderr."""
    root = locate.root_of(corpus) if corpus is not None else locate.find_index(None, index=index)
    from qa import build

    with _progress() as progress:
        if corpus is not None:
            opened = build.build_and_open(root, progress=progress)
        elif update:
            opened = build.open_current(root, progress=progress)
        else:
            opened = build.open_as_is(root)
    # To the end of the process: taking a model apart takes longer than asking it.
    _HELD.append(opened.retriever)
    with opened.retriever as retriever:
        if opened.note:
            render.note(render.problem(opened.note))
        if opened.report is not None:
            tell = reports.build if corpus is not None else reports.refreshed
            render.note(tell(opened.report, render.Look.of(sys.stderr)))
        yield retriever


@contextmanager
def _progress(doing: str = "Embedding", unit: str = "B") -> Iterator[ProgressCallback | None]:
    """A progress bar on stderr, if that is a terminal; it appears with the first step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bars: list[Any] = []

    def draw(now: Progress) -> None:
        if not bars and now.done < now.total:
            from tqdm import tqdm

            # A terminal may claim to have no columns and rows.
            size = {"ncols": render.Look.of(sys.stderr).width - 1, "nrows": 20}
            units = {"unit": unit, "unit_scale": bool(unit)}
            bar = tqdm(initial=now.done, total=now.total, desc=doing, leave=False, **units, **size)
            bars.append(bar)
        for bar in bars:
            bar.update(now.done - bar.n)

    try:
        yield draw
    finally:
        for bar in bars:
            bar.close()


def _json(value: dict[str, Any]) -> str:
    return render.as_json(value, sys.stdout) + "\n"


def main() -> None:
    """Run the command line, as the program `qa`, and end the process."""
    code = boundary.BUG
    try:
        app(prog_name="qa")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else boundary.BUG
    finally:
        # A second Ctrl-C from here on would only print a trace.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        boundary.leave(code)


if __name__ == "__main__":
    main()
