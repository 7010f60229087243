"""Commands that explore a collection: `qa similar`, `qa topics`, `qa map`; imported when one of them is run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from corpus.errors import UsageError
from qa import locate
from qa.answer.results import DEFAULT_K
from qa.cli import session
from qa.cli.errors import FOUND, NOT_FOUND
from qa.cli.options import COLLECTION, COUNT, FOLDER, JSON, NO_UPDATE, complete_files, filter_options
from qa.collection.settings import read_settings
from qa.filters import Filter
from qa.terminal import answers, explore_report

_DOCUMENTS = click.option(
    "--documents", is_flag=True, help="Use whole documents and records, such as abstracts, instead of passages."
)
_NUMBER = click.option("-n", "number", type=click.IntRange(1, 200), metavar="N", help="How many topics.")


def _unit(documents: bool) -> Literal["passages", "documents"]:  # noqa: FBT001 - a flag of the command line
    return "documents" if documents else "passages"


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[FOLDER] WHAT", shell_complete=complete_files)
@click.option("-k", type=COUNT, metavar="N", help=f"How many to show.  [default: {DEFAULT_K}]")
@_DOCUMENTS
@click.option("--all", "keep_all", is_flag=True, help="Include the item itself, its duplicates and near-duplicates.")
@JSON
@filter_options
@NO_UPDATE
@COLLECTION
def similar(
    *,
    words: tuple[str, ...],
    k: int | None,
    documents: bool,
    keep_all: bool,
    as_json: bool,
    only: Filter,
    no_update: bool,
    index: Path | None,
) -> int:
    """Show what is most similar to a place, document, record or text.

    WHAT is path:line, path:first-last, "path, p. 3", a passage id, a path, or any text.
    """
    folder, words_of_item = session.split_off_folder(words)
    if not words_of_item:  # in a collection, a folder alone is itself WHAT
        if index is None and not session.is_in_collection():
            raise UsageError(f"{folder} is a folder. Put a place or text after it: qa similar {folder} notes.md:12")
        folder, words_of_item = None, words
    root, here = session.named_root(folder, index), locate.working_directory()
    k = k or read_settings(root).k or DEFAULT_K
    with session.open_retriever(root, corpus=False, update=not no_update, reader=False) as retriever:
        similar_items = retriever.similar(
            " ".join(words_of_item), k=k, unit=_unit(documents), only=only, here=here, keep_all=keep_all
        )
        places = answers.Places(retriever.root, here)
        text = "" if as_json else explore_report.render_similar(similar_items, session.style(), places)
        answers.write_stdout(session.json_line(similar_items.as_json()) if as_json else text)
    return FOUND if similar_items.passages or similar_items.documents else NOT_FOUND


@click.command()
@FOLDER
@_NUMBER
@_DOCUMENTS
@JSON
@filter_options
@NO_UPDATE
@COLLECTION
def topics(
    *,
    folder: Path | None,
    number: int | None,
    documents: bool,
    as_json: bool,
    only: Filter,
    no_update: bool,
    index: Path | None,
) -> int:
    """Show what the collection is about, on two levels.

    `qa ask --topic N` searches one topic of the latest grouping of the whole collection.
    """
    root = session.named_root(folder, index)
    with session.open_retriever(root, corpus=False, update=not no_update, reader=False, ahead=False) as retriever:
        topics_found = retriever.topics(n=number, unit=_unit(documents), only=only)
        places = answers.Places(retriever.root, locate.working_directory())
        text = "" if as_json else explore_report.render_topics(topics_found, session.style(), places)
        answers.write_stdout(session.json_line(topics_found.as_json()) if as_json else text)
    return FOUND if topics_found.topics else NOT_FOUND


@click.command("map")
@FOLDER
@click.option(
    "-o",
    "output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help='The file to write ("-": stdout).',
)
@_NUMBER
@_DOCUMENTS
@click.option("--svg", is_flag=True, help="Draw a picture for print instead of a page.")
@filter_options
@NO_UPDATE
@COLLECTION
def draw_map(
    *,
    folder: Path | None,
    output: Path,
    number: int | None,
    documents: bool,
    svg: bool,
    only: Filter,
    no_update: bool,
    index: Path | None,
) -> int:
    """Draw a map with similar items side by side: a page for the browser (.html), or a picture (.svg)."""
    svg = svg or output.suffix.lower() == ".svg"
    if output.suffix.lower() not in ({"", ".svg"} if svg else {"", ".html", ".htm"}):
        raise UsageError(f"{output}: a map is a page (.html) or a picture (.svg).")
    if not output.parent.is_dir():
        raise UsageError(f"no such folder: {output.parent}. Create it, or choose another file.")
    root = session.named_root(folder, index)
    with session.open_retriever(root, corpus=False, update=not no_update, reader=False, ahead=False) as retriever:
        draw = retriever.map_svg if svg else retriever.map_html
        content = draw(n=number, unit=_unit(documents), only=only)
    from index import write_output  # noqa: PLC0415 - only writing needs it

    data = content.encode("utf-8", "replace")
    if write_output(output, data):
        answers.write_stdout(explore_report.render_map_written(output, len(data)))
    return FOUND
