"""Shared by the retrievers of all frameworks: an index opened by the first question, and passage metadata."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from qa.answer.results import Hit, Mode, Result, json_value
from qa.filters import Filter
from qa.require import ModeName, require_member
from qa.retrieval.question_text import checked_k
from qa.retrieval.retriever import Retriever


class LazyRetriever:
    """A folder's index, opened by the first question from any thread; each question uses the newest generation.

    Copies, pickled or not, open it again.

    Args:
        folder: The corpus root, or its `.qa` folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(folder)
        self._opened: Retriever | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[LazyRetriever], tuple[str]]:
        """Pickle without the open index."""
        return LazyRetriever, (self._folder,)

    def open(self) -> Retriever:
        """Open the index unless it is open already; see `Retriever.open` for errors."""
        with self._lock:
            if self._opened is None:
                self._opened = Retriever.open(self._folder)
                # Frameworks do not close their retrievers.
                weakref.finalize(self, self._opened.close)
            return self._opened

    def ask(self, question: str, **options: Any) -> Result:
        """Ask a question with the arguments of `Retriever.ask`; see it and `Retriever.reload` for errors."""
        retriever = self.open()
        retriever.reload()
        return retriever.ask(question, **options)


def checked_options(*, k: int, mode: Mode | ModeName, rerank: bool, only: Filter) -> dict[str, Any]:
    """Return the arguments of `Retriever.ask` after checking them, before there is a question.

    Raises:
        UsageError: k is out of range, or there is no such mode.
        TypeError: k is not an integer.
    """
    return {"k": checked_k(k), "mode": require_member("mode", mode, Mode), "rerank": rerank, "only": only}


def answer_of(result: Result) -> str:
    """Return the exact answer, "" if there is none."""
    return result.answer.text if result.answer else ""


def metadata(hit: Hit, result: Result) -> dict[str, Any]:
    """Return a passage's metadata, flat and fit for JSON: everything but id and text; `citation` is for people.

    `found`, `confidence` and `answer`, the exact answer or "", belong to the whole result.
    """
    fields = json_value(hit)
    source = fields.pop("source")
    del fields["id"], fields["text"]
    return {
        "citation": hit.citation, **fields, **source, "outdated": hit.source.outdated, "answer": answer_of(result),
        "found": result.found, "confidence": result.confidence, "generation": result.index.generation,
    }  # fmt: skip
