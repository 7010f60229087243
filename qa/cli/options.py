"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from corpus.errors import UsageError
from qa.answer.results import MAX_HITS, Mode


class _Count(click.IntRange):
    """A number of passages."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise UsageError(f"{param.opts[0] if param else 'it'} needs a number from 1 to {MAX_HITS}.") from error


_COLLECTION_HELP = (
    "The collection: its folder, or the .qa folder in it.  [default: QA_INDEX, or the nearest .qa upward]"
)
INDEX = click.option("--index", type=click.Path(path_type=Path), metavar="DIR", help=_COLLECTION_HELP)
# For commands that do not tell apart whether the index is to be brought up to date first.
COLLECTION = click.option(
    "--index", "--corpus", "index", type=click.Path(path_type=Path), metavar="DIR", help=_COLLECTION_HELP
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
COUNT = _Count(1, MAX_HITS)
MODE = click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    help="Search by words and meaning (hybrid), meaning (dense) or words (keyword).  [default: hybrid]",
)
RERANK = click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Re-rank the first passages token by token, or be faster and less accurate.  [default: rerank]",
)
CORPUS = click.option(
    "--corpus", type=click.Path(path_type=Path), metavar="DIR", help="Build or update the index of this folder first."
)
NO_UPDATE = click.option("--no-update", is_flag=True, help="Do not look for changed files first.")
PATH = click.option("--path", "glob", metavar="GLOB", help="Only files whose path matches, such as 'talks/*.md'.")
