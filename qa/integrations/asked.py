"""Shared by the retrievers of all frameworks: a collection, opened when it is first asked, and passage metadata."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from qa.answer.results import Hit, Mode, Result, json_value
from qa.filters import Filter
from qa.retrieval.retriever import Retriever


class AskedCollection:
    """A folder's index, opened by the first question from any thread; each question uses the newest generation.

    Args:
        folder: The corpus root, a folder below it, or its `.qa` folder.
        k: How many passages a question returns, 1 to 1,000.
        mode: Which halves of the index to search.
        path, types, since, until, where: Which part of the collection to search, as `qa.Filter.of` takes them.
        rerank: Whether to re-rank the first passages.
    """

    def __init__(self, folder: str | os.PathLike[str], *, k: int, mode: str, rerank: bool, **filters: Any) -> None:
        self._folder = folder
        only = Filter.of(**filters)
        self._options: dict[str, Any] = {"k": k, "mode": Mode(mode), "only": only, "rerank": rerank}
        self._opened: Retriever | None = None
        self._lock = threading.Lock()

    def open(self) -> Retriever:
        """Open the index unless it is open already; see `Retriever.open` for errors."""
        with self._lock:
            if self._opened is None:
                self._opened = Retriever.open(self._folder)
                # Frameworks do not close their retrievers.
                weakref.finalize(self, self._opened.close)
            return self._opened

    def ask(self, question: str) -> Result:
        """Ask a question; see `Retriever.reload` and `Retriever.ask` for errors."""
        retriever = self.open()
        retriever.reload()
        return retriever.ask(question, **self._options)


def metadata(hit: Hit, result: Result) -> dict[str, Any]:
    """Return a passage's metadata, flat and fit for JSON: everything but id and text; `citation` is for people.

    `found` and `confidence` belong to the whole answer.
    """
    fields = json_value(hit)
    source = fields.pop("source")
    del fields["id"], fields["text"]
    return {
        "citation": hit.citation, **fields, **source,
        "found": result.found, "confidence": result.confidence, "generation": result.index.generation,
    }  # fmt: skip
