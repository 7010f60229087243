"""Options that several commands have, and how shells complete them."""

# ruff: noqa: PLC0415 - what completion needs is imported for it alone

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import QAError, UsageError
from qa import locate
from qa.answer.results import MAX_HITS, Mode
from qa.filters import Filter

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Count(click.IntRange):
    """A number of passages."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise UsageError(f"{param.opts[0] if param else 'it'} needs a number from 1 to {MAX_HITS}.") from error


def complete_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell complete files, as it does elsewhere."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _complete_folders(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def _complete_paths(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Paths in the collection, relative to its root wherever the user is; the index is not read."""
    from click.shell_completion import CompletionItem

    folder, slash, start = incomplete.rpartition("/")
    with suppress(QAError, OSError, ValueError):
        root = locate.find_index(index=ctx.params.get("index") or ctx.params.get("corpus"))
        entries = sorted(os.scandir(root / folder.lstrip("/")), key=lambda entry: entry.name)
        named = [entry for entry in entries if entry.name.startswith(start) and not entry.name.startswith(".")]
        return [CompletionItem(f"{folder}{slash}{one.name}{'/' if one.is_dir() else ''}") for one in named]
    return []


_Command = Callable[..., Any]


def _together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Several options as one decorator."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


_PATH: dict[str, Any] = {"type": click.Path(path_type=Path), "shell_complete": _complete_folders}
_DIR = {**_PATH, "metavar": "DIR"}
_COLLECTION_HELP = (
    "The collection: its folder, or the .qa folder in it.  [default: QA_INDEX, or the nearest .qa upward]"
)
# For commands that do not tell apart whether the index is to be brought up to date first.
COLLECTION = click.option("--index", "--corpus", "index", **_DIR, help=_COLLECTION_HELP)
STORE = click.option(
    "--store",
    metavar="URL",
    help="A collection in PostgreSQL, without its files: postgresql://user@host/database#collection.",
)
FOLDER = click.argument("folder", required=False, **_PATH)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
COUNT = _Count(1, MAX_HITS)
READER = click.option(
    "--reader/--no-reader",
    default=None,
    help="Name the exact answer, or its sentence alone, which is faster and less accurate.  [default: reader]",
)
NO_UPDATE = click.option("--no-update", is_flag=True, help="Do not look for changed files first.")
DEVICE = click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda", "mps")),  # those of `index.Device`, which help need not import
    default="auto",
    help="Where models run: a GPU embeds many passages, and re-ranks.  [default: auto, a GPU where one is and pays]",
)
# How questions are ranked, and where models run.
RANKING = _together(
    click.option(
        "--mode",
        type=click.Choice([mode.value for mode in Mode]),
        help="Search by words and meaning (hybrid), meaning (dense) or words (keyword).  [default: hybrid]",
    ),
    click.option(
        "--rerank/--no-rerank",
        default=None,
        help="Re-rank the first passages token by token, or be faster and less accurate.  [default: rerank]",
    ),
    click.option(
        "--rerank-model",
        metavar="NAME",
        help="A sentence-transformers cross-encoder or its folder: it orders the first 30 passages, better and slower.",
    ),
    DEVICE,
)
# Which collection is asked, and whether it is brought up to date first.
ASKED = _together(
    click.option("--corpus", **_DIR, help="Build or update the index of this folder first."),
    NO_UPDATE,
    click.option("--index", **_DIR, help=_COLLECTION_HELP),
)
_FILTERS = _together(
    click.option(
        "--path",
        multiple=True,
        metavar="GLOB",
        shell_complete=_complete_paths,
        help="Only files whose path matches, such as 'a/*.md'; repeatable.",
    ),
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="TYPE",
        help="Only files of a type, such as pdf or text/markdown; repeatable.",
    ),
    click.option("--since", metavar="DATE", help="Only files changed since a day, month or year, such as 2024-05."),
    click.option("--until", metavar="DATE", help="Only files last changed up to a day, month or year."),
    click.option(
        "--where",
        multiple=True,
        metavar="FIELD=VALUE",
        help="Only what states this about itself, such as author=Ida; of several all must hold.",
    ),
)


def filtered(command: Callable[..., int]) -> _Command:
    """Give a command the options that say which part of the collection is meant, as its argument `only`."""

    @wraps(command)
    def run(**given: Any) -> int:
        only = Filter.of(**{name: given.pop(name) or None for name in ("path", "types", "since", "until", "where")})
        return command(**given, only=only)

    return _FILTERS(run)
