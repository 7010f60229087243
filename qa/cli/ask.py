"""The command `qa ask`."""

# ruff: noqa: PLC0415 - numpy and faiss take long to import; what needs them is imported inside the command

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import UsageError
from qa import locate
from qa.answer.results import DEFAULT_K, LONGEST_QUESTION, Result
from qa.cli import session
from qa.cli.batch import BatchItem, questions_of
from qa.cli.errors import FOUND, NOT_FOUND, run_guarded
from qa.cli.options import COLLECTION_TO_ASK, COUNT, JSON, RANKING, READER, STORE, filter_options
from qa.cli.views import show_place, show_view
from qa.cli.writing import ProseWriter, prose_options
from qa.filters import Filter, without_file
from qa.terminal import answers, reports
from qa.terminal.text import clean, clean_name

if TYPE_CHECKING:
    from qa.answer.citation import BoxFinder
    from qa.conversation.conversation import Conversation
    from qa.conversation.line_input import ReadLine
    from qa.retrieval.retriever import Retriever

# Lines of context around a passage shown in a conversation.
_CONTEXT = 6


@click.command()
@click.argument("words", nargs=-1, metavar="[FOLDER] QUESTION")
@click.option("-k", type=COUNT, metavar="N", help=f"How many passages to show.  [default: {DEFAULT_K}]")
@JSON
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "bibtex", "vimgrep"]),
    help="Output format; vimgrep is path:line:column:text, for editors.  [default: text]",
)
@click.option("--full", "in_full", is_flag=True, help="Show all passages in full, not only the one that answers.")
@click.option(
    "--batch",
    metavar="FILE",
    help='Answer many questions, one per line: text, or JSON with "id" and "question" ("-": stdin). Prints JSON lines.',
)
@RANKING
@READER
@filter_options
@click.option("--topic", metavar="N", help="Only passages of this topic, as numbered by `qa topics`.")
@prose_options
@COLLECTION_TO_ASK
@STORE
def ask(
    *,
    words: tuple[str, ...],
    k: int | None,
    as_json: bool,
    form: str | None,
    in_full: bool,
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
    store: str | None,
) -> int:
    """Answer a question from the collection in FOLDER, or from the one around the working directory.

    Without a question, on a terminal, start a conversation.
    """
    session.refuse_missing_folder(words, is_named=bool(corpus or index or store))
    folder, question = session.split_off_folder(words)
    is_conversation = not question and batch is None and session.is_interactive()
    if batch is None and not is_conversation and " ".join(question).strip() in ("", "-"):
        raise _no_question_error(folder)
    form = _choose_format(form, as_json=as_json, is_batch=batch is not None)
    if writer is not None and form not in ("text", "json"):
        raise UsageError(f"--write prints text or JSON, not {form}.")
    questions = () if is_conversation else questions_of(question, batch)
    for item in questions:
        if item.cut:
            answers.write_stderr(
                f"{item.prefix}Question cut to {LONGEST_QUESTION:,} characters; the last {item.cut:,} are ignored"
            )
    if store is not None:
        root = session.store_root(store, corpus, index, folder)
    else:
        root = session.collection_root(corpus, index, folder=folder, no_update=no_update)
    paths: tuple[str, ...] = ()
    if corpus is not None and store is None:
        root, paths, only = session.part_of_collection(corpus, only)
    from qa.collection.settings import read_settings

    settings = read_settings(root)
    arguments = settings.ask_arguments(k=k, mode=mode, rerank=session.rerank_choice(rerank, rerank_model))
    arguments |= {"only": only, "topic": topic}
    opening = session.open_retriever(
        root,
        corpus=corpus is not None,
        update=not no_update,
        reader=arguments["rerank"] and (reader if reader is not None else settings.reader is not False),
        rerank_model=rerank_model,
        device=device,
        store=store,
        paths=paths,
    )
    with opening as retriever, _box_finder(root) as boxes:
        if batch is not None and store is None:
            arguments["only"] = without_file(only, retriever.snapshot, root, batch)
        printer = AnswerPrinter(retriever, boxes, form, writer, in_full)
        if is_conversation:
            is_followed = store is None and not no_update
            refresh = session.Refresher(retriever, device) if is_followed else retriever.reload
            return _converse(printer, arguments, refresh, store or str(root))
        answered = [printer.answer(item, arguments) for item in questions]
    return FOUND if batch is not None or all(answered) else NOT_FOUND


@dataclass(frozen=True, slots=True)
class AnswerPrinter:
    """Answers questions and prints the answers.

    Attributes:
        retriever: Finds the answers.
        boxes: Locates sentences on the pages of PDFs.
        form: Output format, one of `--format`.
        writer: Adds prose; None without `--write`.
        in_full: Whether to show all passages in full.
    """

    retriever: Retriever
    boxes: BoxFinder
    form: str
    writer: ProseWriter | None
    in_full: bool

    def answer(self, item: BatchItem, arguments: dict[str, Any]) -> bool:
        """Print the answer to a question, and return whether there was one."""
        result = self.retriever.ask(item.text, question_id=item.id, **arguments)
        as_text = partial(answers.render_result, in_full=self.in_full)
        return self.show(result, self.form, item.prefix, as_text).found

    def show(self, result: Result, form: str, prefix: str, as_text: Callable[..., str]) -> Result:
        """Print an answer in a format, and return it with any prose that was added."""
        answers.write_stderr(reports.render_corrections(result.corrections, prefix))
        if self.writer is not None:
            result = self.writer(result, self.retriever, shows=form == "text")
        places = answers.Places(self.retriever.root, locate.working_directory())
        if form == "json":
            answers.write_stdout(session.json_line(self.boxes.fill(result).as_json()))
        elif form == "text":
            answers.write_stdout(as_text(result, session.style(), places))
        else:
            from qa.terminal.exports import FORMATS

            answers.write_stdout(FORMATS[form](result, places))
        return result


def _converse(printer: AnswerPrinter, arguments: dict[str, Any], refresh: Callable[[], object], name: str) -> int:
    """Hold a conversation until the user ends it; an error in a turn is printed on one line."""
    from qa.conversation.conversation import END_COMMANDS, AskOptions, Conversation, Screen
    from qa.conversation.history import LineHistory, history_file
    from qa.conversation.line_input import line_input

    retriever, as_text = printer.retriever, partial(answers.render_brief, in_full=printer.in_full)
    screen = Screen(
        answer=lambda result, form: printer.show(result, form, "", as_text),
        show=partial(_show, retriever, opens=False),
        open=partial(_show, retriever, opens=True),
        say=lambda line: answers.write_stdout(session.style().paint(clean(line), answers.DIM) + "\n"),
    )
    options = AskOptions(**arguments, form=printer.form)
    conversation = Conversation(retriever, options, screen, refresh)
    read = line_input(LineHistory(history_file()), [*conversation.commands, *END_COMMANDS])
    info = retriever.snapshot.info
    size = reports.describe_size(info.documents, info.passages)
    screen.say(f"{clean_name(name)}: {size}. Ask away; /help lists commands, Ctrl-D ends.")
    is_open = True
    while is_open:
        # Ctrl-C, however often it is pressed, drops a line or stops a question.
        with suppress(KeyboardInterrupt):
            is_open = _take_turn(conversation, read)
    return FOUND


def _show(retriever: Retriever, place: str, *, opens: bool) -> None:
    """Show a place in its context, or open its file; without the files, show the indexed text."""
    if retriever.snapshot.folder is not None:
        show_place(retriever.root, place, context=_CONTEXT, opens=opens)
        return
    from qa.collection.show import show_indexed

    with retriever.reading() as snapshot:
        view = show_indexed(retriever.root, snapshot, place)
    show_view(view, answers.Places(retriever.root, retriever.root))


def _take_turn(conversation: Conversation, read: ReadLine) -> bool:
    """Read and handle a line; return whether the conversation continues."""
    try:
        line = read(conversation.options.prompt)
    except (EOFError, KeyboardInterrupt) as end:
        answers.write_stdout("\n")
        return isinstance(end, KeyboardInterrupt)
    if conversation.is_end(line):
        return False
    run_guarded(lambda: conversation.execute(line))
    return True


def _box_finder(root: Path) -> BoxFinder:
    from qa.answer.citation import BoxFinder

    return BoxFinder(root)


def _no_question_error(folder: Path | None) -> UsageError:
    """Return the error for a command without a question; it suggests --batch if stdin is not a terminal."""
    problem = (
        "the question is empty. Ask something" if folder is None else f"{folder} is a folder. Put a question after it"
    )
    command = "qa ask" if folder is None else f"qa ask {folder}"
    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    batch = f", or read questions from stdin: {command} --batch -" if is_piped else ""
    return UsageError(f'{problem}: {command} "who won?"{batch}')


def _choose_format(form: str | None, *, as_json: bool, is_batch: bool) -> str:
    default = "json" if as_json or is_batch else "text"
    if form is not None and default == "json" and form != "json":
        raise UsageError(f"--json and --batch print JSON, not {form}.")
    return form or default
