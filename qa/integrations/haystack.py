"""A collection as a Haystack component; needs `pip install "qa-passages[haystack]"`.

Haystack itself sends usage statistics unless `HAYSTACK_TELEMETRY_ENABLED` is `False`.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from qa.answer.results import DEFAULT_K, Mode
from qa.filters import Filter
from qa.integrations.asked import LazyRetriever, answer_of, checked_options, metadata
from qa.require import ModeName


@component
class QARetriever:
    """Retrieves passages of a collection as documents with scores, best first, and the exact answer.

    Args:
        folder: The corpus root, or its `.qa` folder.
        k: How many passages a question returns, 1 to 1,000.
        mode: `hybrid`, `dense` or `keyword`.
        path, types, since, until, where: Which part of the collection to search, as `qa.Filter.of` takes them.
        rerank: Whether to re-rank the first passages.

    A document has the passage's exact text as content, its id, and everything else as meta. Errors are those of
    `Retriever.open` and `Retriever.ask`.
    """

    def __init__(
        self, folder: str | os.PathLike[str], k: int = DEFAULT_K, mode: Mode | ModeName = "hybrid",
        path: str | list[str] | None = None, *,
        rerank: bool = True, types: str | list[str] | None = None, since: str | None = None, until: str | None = None,
        where: dict[str, str] | str | list[str] | None = None,
    ) -> None:  # fmt: skip
        self._settings: dict[str, Any] = {
            "folder": os.fspath(folder), "k": k, "mode": str(mode), "path": path, "rerank": rerank,
            "types": types, "since": since, "until": until, "where": where,
        }  # fmt: skip
        only = Filter.of(path=path, types=types, since=since, until=until, where=where)
        self._options = checked_options(k=k, mode=mode, rerank=rerank, only=only)
        self._retriever = LazyRetriever(folder)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component for a saved pipeline."""
        return default_to_dict(self, **self._settings)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> QARetriever:
        """Restore a serialised component."""
        return default_from_dict(cls, data)  # type: ignore[no-any-return]

    def warm_up(self) -> None:
        """Open the index; pipelines call this before they run."""
        self._retriever.open()

    @component.output_types(documents=list[Document], answer=str, found=bool, confidence=float)  # type: ignore[untyped-decorator]
    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """Ask one question.

        Args:
            query: The question.
            top_k: How many passages to return, instead of `k`.

        Returns:
            `documents`, best first; `answer`, "" if there is none; `found` and `confidence`.
        """
        result = self._retriever.ask(query, **self._options | ({} if top_k is None else {"k": top_k}))
        documents = [
            Document(id=hit.id, content=hit.text, meta=metadata(hit, result), score=hit.score)
            for hit in result.passages
        ]
        summary = {"answer": answer_of(result), "found": result.found, "confidence": result.confidence}
        return {"documents": documents, **summary}

    @component.output_types(documents=list[Document], answer=str, found=bool, confidence=float)  # type: ignore[untyped-decorator]
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """Ask one question in a thread; see `run`."""
        return await asyncio.to_thread(self.run, query, top_k)
