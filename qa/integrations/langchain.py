"""A collection as a LangChain retriever; needs `pip install "qa-passages[langchain]"`."""

from __future__ import annotations

from datetime import date
from functools import cached_property

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from qa.filters import Filter
from qa.integrations.asked import AskedCollection, metadata


class QARetriever(BaseRetriever):  # type: ignore[misc]  # its package is not type-checked
    """Retrieves passages of a collection as documents, best first; async methods ask in a thread.

    Attributes:
        folder: The corpus root, a folder below it, or its `.qa` folder.
        k: How many passages a question returns, 1 to 1,000.
        mode: `hybrid`, `dense` or `keyword`.
        path, types, since, until, where: Which part of the collection to search, as `qa.Filter.of` takes them.
        rerank: Whether to re-rank the first passages.

    A document has the passage's exact text, its id, and everything else as metadata, with the citation as `source`.
    Errors are those of `Retriever.open` and `Retriever.ask`.
    """

    folder: str
    k: int = 5
    mode: str = "hybrid"
    path: str | list[str] | None = None
    rerank: bool = True
    types: str | list[str] | None = None
    since: str | date | None = None
    until: str | date | None = None
    where: dict[str, str] | str | list[str] | None = None
    # Otherwise a misspelt setting would be silently ignored.
    model_config = ConfigDict(extra="forbid")

    @cached_property
    def _asked(self) -> dict[str, AskedCollection]:
        """The collections that were asked, by folder: copies with other settings share it."""
        return {}

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        asked = self._asked.setdefault(self.folder, AskedCollection(self.folder))
        # The settings may have changed since the last question.
        only = Filter.of(path=self.path, types=self.types, since=self.since, until=self.until, where=self.where)
        result = asked.ask(query, k=self.k, mode=self.mode, only=only, rerank=self.rerank)
        return [
            Document(hit.text, id=hit.id, metadata={"source": hit.citation, **metadata(hit, result)})
            for hit in result.passages
        ]
