"""Commands that inspect a collection: `qa show`, `qa status`, `qa ls`, `qa check`."""

# ruff: noqa: PLC0415 - what takes long to import is imported inside the commands

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpus.errors import UsageError
from qa import locate
from qa.answer.results import State
from qa.cli import session
from qa.cli.errors import FOUND
from qa.cli.options import COLLECTION, FOLDER, JSON, STORE, complete_files, filter_options
from qa.filters import Filter
from qa.terminal import answers, reports
from qa.terminal.text import clean_name

if TYPE_CHECKING:
    from qa.collection.show import View


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[FOLDER] PLACE", shell_complete=complete_files)
@click.option("-C", "--context", default=3, show_default=True, type=click.IntRange(0, 10_000), help="Lines of context.")
@click.option("--open", "opens", is_flag=True, help="Open the file there: text in $EDITOR, PDF in a viewer.")
@JSON
@COLLECTION
def show(*, words: tuple[str, ...], context: int, opens: bool, as_json: bool, index: Path | None) -> int:
    """Show the text of a citation, and whether its file has changed.

    PLACE is what an answer cites: path:line, path:first-last, "path, p. 3", or a passage id; or a path, for the whole
    text.
    """
    folder, place_words = session.split_off_folder(words)
    place = " ".join(place_words)
    if not place.strip():
        problem = "the place is empty" if folder is None else f"{folder} is a folder"
        raise UsageError(f"{problem}. Name a place: qa show {(folder or Path()) / 'notes.md:12'}")
    root = session.root_around(place, index) if folder is None else session.named_root(folder, index)
    show_place(root, place, context=context, opens=opens, as_json=as_json)
    return FOUND


def show_place(root: Path, place: str, *, context: int, opens: bool, as_json: bool = False) -> None:
    """Show a place of a collection in its context, or open its file there."""
    here = locate.working_directory()
    from qa.collection.show import find_target
    from qa.collection.show import show as view_of

    if opens:
        from qa.cli.open_file import open_file

        if opened := open_file(find_target(root, place, here=here), root):
            answers.write_stderr(opened)
            return
        answers.write_stderr("There is no display; here is the text.")
    view = view_of(root, place, context=context, here=here)
    if as_json:
        answers.write_stdout(session.json_line(view.as_json()))
        return
    show_view(view, answers.Places(root, here))


def show_view(view: View, places: answers.Places) -> None:
    """Print some lines of a document, and whether they have changed since it was indexed."""
    if view.requested is None and (view.stored or view.state is not State.VERIFIED):
        answers.write_stderr(f"{clean_name(places(view.path))}: {reports.describe_view_state(view)}")
    answers.write_stdout(reports.render_view(view, session.style(), places))


@click.command()
@FOLDER
@JSON
@COLLECTION
@STORE
def status(*, folder: Path | None, as_json: bool, index: Path | None, store: str | None) -> int:
    """Show what is indexed, and what has changed since."""
    from qa.collection.status import status as status_of
    from qa.collection.status import store_status

    if store is not None:
        session.store_root(store, folder, index)
    state = status_of(session.named_root(folder, index)) if store is None else store_status(store)
    text = "" if as_json else reports.render_status(state, session.style())
    answers.write_stdout(session.json_line(state.as_json()) if as_json else text)
    return FOUND


@click.command("ls")
@FOLDER
@filter_options
@JSON
@COLLECTION
def list_files(*, folder: Path | None, only: Filter, as_json: bool, index: Path | None) -> int:
    """List the indexed files, and which of them have changed since."""
    root = session.named_root(folder, index)
    from qa.collection.listing import listing

    files = listing(root, only)
    places = answers.Places(root, locate.working_directory())
    if as_json:
        answers.write_stdout(session.json_line({"version": 1, "files": [asdict(file) for file in files]}))
    else:
        answers.write_stdout(reports.render_listing(files, session.style(), places))
    return FOUND


@click.command()
@FOLDER
@click.option("--repair", is_flag=True, help="Rebuild what is damaged; undamaged embeddings are kept.")
@COLLECTION
@STORE
def check(*, folder: Path | None, repair: bool, index: Path | None, store: str | None) -> int:
    """Verify every checksum of the index."""
    if store is not None:
        session.store_root(store, folder, index, repair)
    root = session.named_root(folder, index) if store is None else Path()
    from qa.collection import check as checking

    if store is not None:
        report = checking.check_store(store)
    elif repair:
        with session.progress() as progress:
            report = checking.repair(root, progress=progress)
    else:
        report = checking.check(root)
    answers.write_stdout(reports.render_check(report, session.style()))
    return FOUND
