"""Options shared by several commands, and their shell completion."""

# ruff: noqa: PLC0415 - only completion needs these imports

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
    """Let the shell complete files as usual."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _complete_folders(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def _complete_paths(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete paths relative to the collection's root, in any working directory, without reading the index."""
    from click.shell_completion import CompletionItem

    folder, slash, start = incomplete.rpartition("/")
    with suppress(QAError, OSError, ValueError):
        root = locate.find_index(index=ctx.params.get("index") or ctx.params.get("corpus"))
        entries = sorted(os.scandir(root / folder.lstrip("/")), key=lambda entry: entry.name)
        offered = [entry for entry in entries if entry.name.startswith(start) and not entry.name.startswith(".")]
        return [CompletionItem(f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}") for entry in offered]
    return []


_Command = Callable[..., Any]


def _combine(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Combine several options into one decorator."""
    return lambda command: reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


_PATH: dict[str, Any] = {"type": click.Path(path_type=Path), "shell_complete": _complete_folders}
_DIR = {**_PATH, "metavar": "DIR"}
_COLLECTION_HELP = (
    "The collection: its folder, or the .qa folder in it.  [default: QA_INDEX, or the nearest .qa upward]"
)
# For commands in which --corpus does not build or update the index first.
COLLECTION = click.option("--index", "--corpus", "index", **_DIR, help=_COLLECTION_HELP)
STORE = click.option(
    "--store",
    metavar="URL",
    help="Use a collection in PostgreSQL, without its files: postgresql://user@host/database#collection.",
)
FOLDER = click.argument("folder", required=False, **_PATH)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
COUNT = _Count(1, MAX_HITS)
READER = click.option(
    "--reader/--no-reader",
    default=None,
    help="Give the exact answer, or only its sentence: faster, less accurate.  [default: reader]",
)
NO_UPDATE = click.option("--no-update", is_flag=True, help="Do not look for changed files first.")
DEVICE = click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda", "mps")),  # as in `index.Device`, which would slow down --help
    default="auto",
    help="Where models run; a GPU helps large builds and re-ranking.  [default: auto, a GPU if it pays off]",
)
# How questions are ranked, and where models run.
RANKING = _combine(
    click.option(
        "--mode",
        type=click.Choice([mode.value for mode in Mode]),
        help="Search by words and meaning (hybrid), meaning (dense) or words (keyword).  [default: hybrid]",
    ),
    click.option(
        "--rerank/--no-rerank",
        default=None,
        help="Re-rank the top passages token by token, or skip it: faster, less accurate.  [default: rerank]",
    ),
    click.option(
        "--rerank-model",
        metavar="NAME",
        help="Re-rank the top 30 passages with this sentence-transformers cross-encoder (or folder): better, slower.",
    ),
    DEVICE,
)
# Which collection is asked, and whether it is updated first.
COLLECTION_TO_ASK = _combine(
    click.option("--corpus", **_DIR, help="Build or update the index of this folder first."),
    NO_UPDATE,
    click.option("--index", **_DIR, help=_COLLECTION_HELP),
)
_FILTERS = _combine(
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
        help="Only files of this type, such as pdf or text/markdown; repeatable.",
    ),
    click.option("--since", metavar="DATE", help="Only files changed since a day, month or year, such as 2024-05."),
    click.option("--until", metavar="DATE", help="Only files last changed up to a day, month or year."),
    click.option(
        "--where",
        multiple=True,
        metavar="FIELD=VALUE",
        help="Only documents and records with this field, such as author=Ida; repeatable, all must match.",
    ),
)


def filter_options(command: Callable[..., int]) -> _Command:
    """Add the filter options to a command, which gets a `Filter` as its argument `only`."""

    @wraps(command)
    def run(**options: Any) -> int:
        only = Filter.of(**{name: options.pop(name) or None for name in ("path", "types", "since", "until", "where")})
        return command(**options, only=only)

    return _FILTERS(run)
