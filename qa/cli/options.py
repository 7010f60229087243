"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

from qa.answer.results import MAX_HITS, Mode

INDEX = click.option(
    "--index",
    "index",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The collection to use: its folder, or the .qa folder in it. [default: QA_INDEX, or the nearest .qa upward]",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
MODES = click.Choice([mode.value for mode in Mode])
COUNT = click.IntRange(1, MAX_HITS)
