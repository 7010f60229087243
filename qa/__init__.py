"""Ask a folder of documents a question; get the passages that answer it, with citations you can check.

from qa import Retriever, build_index

build_index("notes/")
with Retriever.open("notes/") as retriever:
    result = retriever.ask("Who won the test of time award?")
    print(result.answer, result.passages[0].citation)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corpus.errors import QAError
    from index.report import BuildReport, Progress
    from qa.build import Busy, Rescan, build_index
    from qa.results import Answer, Hit, Mode, Result, State
    from qa.retriever import Retriever

# Where each public name lives. They are imported when first asked for: `qa --help` needs none of them.
_HOMES = {
    "Answer": "qa.results",
    "BuildReport": "index.report",
    "Busy": "qa.build",
    "Hit": "qa.results",
    "Mode": "qa.results",
    "Progress": "index.report",
    "QAError": "corpus.errors",
    "Rescan": "qa.build",
    "Result": "qa.results",
    "Retriever": "qa.retriever",
    "State": "qa.results",
    "build_index": "qa.build",
}

__all__ = [
    "Answer",
    "BuildReport",
    "Busy",
    "Hit",
    "Mode",
    "Progress",
    "QAError",
    "Rescan",
    "Result",
    "Retriever",
    "State",
    "build_index",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
