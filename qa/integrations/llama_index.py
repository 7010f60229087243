"""A collection as a LlamaIndex retriever; needs `pip install "qa-passages[llama-index]"`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import date
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from qa.answer.results import DEFAULT_K, Mode
from qa.filters import Filter, Paths, Texts
from qa.integrations.asked import LazyRetriever, checked_options, metadata
from qa.require import ModeName

# The metadata that a language model sees with a passage's text; everything else is for programs.
_SHOWN = {"citation", "title"}


class QARetriever(BaseRetriever):  # type: ignore[misc]  # its package is not type-checked
    """Retrieves passages of a collection as nodes with scores, best first; `aretrieve` asks in a thread.

    Args:
        folder: The corpus root, or its `.qa` folder.
        k: How many passages a question returns, 1 to 1,000.
        mode: `hybrid`, `dense` or `keyword`.
        path, types, since, until, where: Which part of the collection to search, as `qa.Filter.of` takes them.
        rerank: Whether to re-rank the first passages.
        base: Arguments of `BaseRetriever`, such as `callback_manager`.

    A node has the passage's exact text, its id, and everything else as metadata. Errors are those of `Retriever.open`
    and `Retriever.ask`.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, k: int = DEFAULT_K, mode: Mode | ModeName = "hybrid",
        path: Paths = None, rerank: bool = True, types: Texts = None, since: str | date | None = None,
        until: str | date | None = None, where: Mapping[str, object] | Texts = None, **base: Any,
    ) -> None:  # fmt: skip
        only = Filter.of(path=path, types=types, since=since, until=until, where=where)
        self._options = checked_options(k=k, mode=mode, rerank=rerank, only=only)
        self._retriever = LazyRetriever(folder)
        super().__init__(**base)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._retriever.ask(query_bundle.query_str, **self._options)
        return [
            NodeWithScore(node=_node(metadata(hit, result), hit.id, hit.text), score=hit.score)
            for hit in result.passages
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(fields: dict[str, Any], key: str, text: str) -> TextNode:
    hidden = [name for name in fields if name not in _SHOWN]
    start, end = fields["chars"]
    return TextNode(
        id_=key, text=text, metadata=fields, excluded_llm_metadata_keys=hidden, excluded_embed_metadata_keys=hidden,
        mimetype=fields["media_type"], start_char_idx=start, end_char_idx=end,
    )  # fmt: skip
