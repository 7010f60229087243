"""What the retrievers of all frameworks share: a collection, opened when it is first asked, and its metadata."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from qa.answer.results import Hit, Mode, Result, json_value
from qa.filters import Filter
from qa.retrieval.retriever import Retriever


class AskedCollection:
    """A folder's index, opened by the first question of any thread; each question is asked of the newest generation.

    Args:
        folder: The corpus root, a folder below it, or its `.qa` folder.
        k: How many passages a question gets, 1 to 1,000.
        mode: Which halves of the index to search.
        path, types, since, until, where: Which part of the collection, as `qa.Filter.of` takes them.
        rerank: Whether the first passages are re-ranked.
    """

    def __init__(self, folder: str | os.PathLike[str], *, k: int, mode: str, rerank: bool, **filters: Any) -> None:
        self._folder = folder
        only = Filter.of(**filters)
        self._wanted: dict[str, Any] = {"k": k, "mode": Mode(mode), "only": only, "rerank": rerank}
        self._opened: Retriever | None = None
        self._lock = threading.Lock()

    def open(self) -> Retriever:
        """Open the index if that has not been done; see `Retriever.open` for errors."""
        with self._lock:
            if self._opened is None:
                self._opened = Retriever.open(self._folder)
                # No framework closes its retrievers.
                weakref.finalize(self, self._opened.close)
            return self._opened

    def ask(self, question: str) -> Result:
        """Ask it; see `Retriever.reload` and `Retriever.ask` for errors."""
        retriever = self.open()
        retriever.reload()
        return retriever.ask(question, **self._wanted)


def metadata(hit: Hit, result: Result) -> dict[str, Any]:
    """All that is known of a passage but its id and text, flat and fit for JSON; `citation` is for people.

    `found` and `confidence` are those of the whole answer.
    """
    fields = json_value(hit)
    source = fields.pop("source")
    del fields["id"], fields["text"]
    return {
        "citation": hit.citation, **fields, **source,
        "found": result.found, "confidence": result.confidence, "generation": result.index.generation,
    }  # fmt: skip
