"""A collection as a LangChain retriever; needs `pip install "qa-passages[langchain]"`."""

from __future__ import annotations

import asyncio
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, SkipValidation

from qa.answer.results import DEFAULT_K, Mode
from qa.filters import Filter
from qa.integrations.asked import LazyRetriever, checked_options, metadata
from qa.require import ModeName


class QARetriever(BaseRetriever):  # type: ignore[misc]  # its package is not type-checked
    """Retrieves passages of a collection as documents, best first; async methods ask in a thread.

    Attributes:
        folder: The corpus root, or its `.qa` folder.
        k: How many passages a question returns, 1 to 1,000.
        mode: `hybrid`, `dense` or `keyword`.
        path, types, since, until, where: Which part of the collection to search, as `qa.Filter.of` takes them.
        rerank: Whether to re-rank the first passages.

    `invoke(question, k=1)` asks for another number of passages.

    A document has the passage's exact text, its id, and everything else as metadata, with the citation as `source`.
    Errors are those of `Retriever.open` and `Retriever.ask`.
    """

    folder: str | Path
    k: int = DEFAULT_K
    mode: SkipValidation[Mode | ModeName] = "hybrid"
    path: str | Path | list[str | Path] | None = None
    rerank: bool = True
    types: str | list[str] | None = None
    since: str | date | None = None
    until: str | date | None = None
    where: dict[str, str] | str | list[str] | None = None
    # Otherwise a misspelt setting would be silently ignored.
    model_config = ConfigDict(extra="forbid")

    def model_post_init(self, _context: object, /) -> None:
        """Refuse settings that no question could be asked with."""
        self._options(self.k)

    @cached_property
    def _retrievers(self) -> dict[str, LazyRetriever]:
        """The retrievers by folder, shared by copies with other settings."""
        return {}

    def _options(self, k: int) -> dict[str, Any]:
        only = Filter.of(path=self.path, types=self.types, since=self.since, until=self.until, where=self.where)
        return checked_options(k=k, mode=self.mode, rerank=self.rerank, only=only)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        retriever = self._retrievers.setdefault(str(self.folder), LazyRetriever(self.folder))
        # The settings may have changed since the last question.
        result = retriever.ask(query, **self._options(self.k if k is None else k))
        return [
            Document(hit.text, id=hit.id, metadata={"source": hit.citation, **metadata(hit, result)})
            for hit in result.passages
        ]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        # The inherited method takes no k.
        sync = run_manager.get_sync()
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=sync, k=k)
