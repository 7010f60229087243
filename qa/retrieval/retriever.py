"""The retriever: answers questions from an index, for Python callers and all interfaces, from many threads at once."""

# ruff: noqa: PLC0415 - what answers is imported while the models load; few programs explore, or are asynchronous

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Literal, get_args

from corpus import INDEX_FOLDER
from corpus.errors import StorageError, UsageError
from index import (
    CrossEncoderModel,
    Device,
    Encoder,
    Hint,
    Index,
    load_cross_encoder,
    load_encoder,
    open_index,
    open_store,
    require_gpu,
    require_same_encoder,
)
from qa.answer.results import DEFAULT_K, Hit, Mode, Result
from qa.filters import EVERYTHING, Filter, Paths, add_path
from qa.locate import find_index, working_directory
from qa.reader.reader import Reader, shared_reader
from qa.require import DeviceName, ModeName, either, require_encoder, require_member, require_type
from qa.retrieval.generations import Generations, close_inherited
from qa.retrieval.question_text import AskRequest, checked_k, without_surrogates
from qa.stopwatch import Stopwatch

if TYPE_CHECKING:
    from qa.answer import confidence
    from qa.explore.map import CollectionMap
    from qa.explore.results import Similar, Topics

Unit = Literal["passages", "documents"]


class Retriever:
    """Answers questions from one generation of an index, unaffected by later changes to it until `reload`.

    Any number of threads may share one. A forked process may go on using its parent's: it switches to the newest
    generation, and loads the models for itself. Open it as a context manager, or close it; questions in progress during
    `close` or `reload` are still answered. Each citation is checked against its file when the question is asked.

    Attributes:
        root: The folder of the collection.
        note: Told to callers in each result, as `result.index.note`; set by whoever compares the files with the index,
            which a retriever itself does not.
    """

    def __init__(
        self,
        root: Path,
        snapshot: Index,
        encoder: Encoder,
        *,
        reader: Reader | None = None,
        cross_encoder: CrossEncoderModel | None = None,
    ) -> None:
        try:
            from qa.retrieval.judge import Models
            from qa.retrieval.pipeline import Pipeline
        except OSError as error:  # too many open files, for one
            raise StorageError(f"qa's own modules cannot be read: {error}") from error

        self.root = root
        self.note = ""
        self._generations = Generations(Pipeline(root, snapshot, Models(encoder, reader, cross_encoder)))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        store: str | None = None,
        encoder: Encoder | None = None,
        reader: bool = True,
        rerank_model: str | None = None,
        device: Device | DeviceName = Device.AUTO,
        ahead: bool = True,
    ) -> Retriever:
        """Open the index of a folder, or a collection in PostgreSQL.

        Args:
            path: The corpus root, or its `.qa` folder; by default the collection in QA_INDEX or around the working
                directory.
            store: Instead of a path: the address of a collection, `postgresql://user@host/database#collection`, on a
                machine that does not have its files; citations are then `unchecked`.
            encoder: Use this one instead of loading the model that the index was built with.
            reader: Whether the reader reads the first passages with each question. Without it answers are whole
                sentences, and whether the passages contain an answer is estimated less well.
            rerank_model: A sentence-transformers cross-encoder, by its name or folder: the first 30 passages are
                ordered by its score alone.
            device: Where that model runs: `cpu`, `cuda`, `mps`, or `auto`, a GPU if there is one.
            ahead: Whether to load what questions need right away. Topics and maps need neither model nor FAISS files.

        Raises:
            NoIndexError: The path has no index. That of a folder inside a collection is not opened by that name: pass
                the collection here, and the folder as `path` of a question.
            CorpusError: There is no such folder.
            UsageError: Both a path and a store are given, or `device` is none or cannot be used.
            DamagedIndexError: The index is damaged.
            IncompatibleError: It was written in another format version, or with another model than `encoder`.
            ModelError: A model cannot be found, or is refused.
            StorageError: The server of the collection cannot be reached, or refuses.
            TypeError: An argument is of the wrong type.
        """
        if store is not None and path is not None:
            raise UsageError("name a folder or a store, not both.")
        device = require_member("device", device, Device)
        require_gpu(device)
        require_encoder(encoder)
        require_type("rerank_model", rerank_model, str, NoneType)
        close_inherited()
        if store is not None:
            require_type("store", store, str)
            root, snapshot = working_directory() or Path(os.sep), open_store(store)
        else:
            if path is not None:
                require_type("path", path, str, os.PathLike)
            root = find_index(index=None if path is None else Path(path))
            snapshot = open_index(root / INDEX_FOLDER)
        try:
            encoder = encoder or load_encoder(snapshot.info.model, ahead=ahead, hint=Hint.LATENCY)
            require_same_encoder(snapshot.info, encoder)
            reader_model = shared_reader() if reader else None
            if ahead:
                snapshot.load()  # while the models load
            cross_encoder = None if rerank_model is None else load_cross_encoder(rerank_model, device)
            return cls(root, snapshot, encoder, reader=reader_model, cross_encoder=cross_encoder)
        except BaseException:
            snapshot.close()
            raise

    def __repr__(self) -> str:
        info = self.snapshot.info
        return f"<Retriever of {self.root}: {info.passages:,} passages, generation {info.generation}>"

    def __enter__(self) -> Retriever:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def snapshot(self) -> Index:
        """The current generation; use `reading` to keep it open if other threads may reload or close."""
        return self._generations.pipeline.snapshot

    @property
    def encoder(self) -> Encoder:
        """The model of the current generation."""
        return self._generations.pipeline.models.encoder

    @contextmanager
    def reading(self) -> Iterator[Index]:
        """Yield the current generation, and keep it open meanwhile."""
        with self._generations.pinned() as pipeline:
            yield pipeline.snapshot

    def reload(self) -> bool:
        """Switch to the newest generation; questions in progress are answered from the old one.

        Returns:
            Whether there was a newer one; finding out takes a fraction of a millisecond.

        Raises:
            QAError: The newest cannot be opened, as in `open`; the retriever stays as it is.
        """
        return self._generations.reload()

    def close(self) -> None:
        """Close the index once questions in progress are answered; closing twice is fine."""
        self._generations.close()

    def search(
        self,
        question: str,
        *,
        k: int = DEFAULT_K,
        mode: Mode | ModeName = Mode.HYBRID,
        path: Paths = None,
        only: Filter | None = None,
        rerank: bool = True,
    ) -> tuple[Hit, ...]:
        """Return the passages that answer best, without highlights, answer or confidence; see `ask`.

        A passage with a value that replaces another one does not come before that here, as it is searched for with the
        answer.
        """
        clock = Stopwatch()
        with self._generations.pinned() as pipeline:
            request = AskRequest.of(question, k=k, mode=mode, rerank=rerank)
            return pipeline.search(request, pipeline.among(add_path(path, only)), clock)

    def ask(
        self,
        question: str,
        *,
        k: int = DEFAULT_K,
        mode: Mode | ModeName = Mode.HYBRID,
        path: Paths = None,
        only: Filter | None = None,
        rerank: bool = True,
        topic: str | None = None,
        question_id: str | int | None = None,
    ) -> Result:
        """Answer one question.

        Args:
            question: In plain language; 10,000 characters at most.
            k: How many passages to return, 1 to 1,000. A smaller k returns the first passages of a larger one.
            mode: Which halves of the index to search. For a question in a script that the model does not know, hybrid
                search uses keywords alone.
            path: Only documents whose paths match this pattern, or one of these, in the syntax of .gitignore.
            only: Only documents that also pass this filter.
            rerank: Let late interaction and the reader re-rank the first passages and choose sentences, if the model
                knows the question's script. Without it a question takes a few milliseconds, and sentences are chosen by
                the words they share with it. The `rerank_model`, if any, orders the passages instead, in any mode.
            topic: Only passages of this topic, by its id; see `topics`.
            question_id: Returned in the result.

        Raises:
            UsageError: The question is empty or too long, k is out of range, nothing passes `path` and `only`, or the
                retriever is closed.
            DamagedIndexError: A passage to be shown is damaged.
            TypeError: An argument is of the wrong type.
        """
        request = AskRequest.of(question, k=k, mode=mode, rerank=rerank, question_id=question_id)
        return self._answer(request, add_path(path, only), topic)[0]

    async def aask(
        self, question: str, *, k: int = DEFAULT_K, mode: Mode | ModeName = Mode.HYBRID, path: Paths = None,
        only: Filter | None = None, rerank: bool = True, topic: str | None = None,
        question_id: str | int | None = None,
    ) -> Result:  # fmt: skip
        """Answer one question in a thread; see `ask`."""
        import asyncio

        return await asyncio.to_thread(
            self.ask, question, k=k, mode=mode, path=path, only=only, rerank=rerank, topic=topic,
            question_id=question_id,
        )  # fmt: skip

    async def asearch(
        self, question: str, *, k: int = DEFAULT_K, mode: Mode | ModeName = Mode.HYBRID, path: Paths = None,
        only: Filter | None = None, rerank: bool = True,
    ) -> tuple[Hit, ...]:  # fmt: skip
        """Search in a thread; see `search`."""
        import asyncio

        return await asyncio.to_thread(self.search, question, k=k, mode=mode, path=path, only=only, rerank=rerank)

    def similar(
        self, what: str, *, k: int = DEFAULT_K, unit: Unit = "passages", path: Paths = None, only: Filter | None = None,
        here: Path | None = None, keep_all: bool = False, indexed_only: bool = False,
    ) -> Similar:  # fmt: skip
        """Return the passages or documents most similar in meaning to a given one; an indexed one is not re-embedded.

        Args:
            what: A citation, a passage id, a path, or a text.
            k: How many to return, 1 to 1,000.
            unit: Whether to rank passages, or whole documents and records.
            path: Only documents whose paths match this pattern, or one of these.
            only: Only documents that also pass this filter.
            here: A folder against which to resolve paths in `what`, before the root.
            keep_all: Keep the item itself, its duplicates and its near-duplicates.
            indexed_only: Reveal nothing about files that are not indexed, not even that they exist.

        Raises:
            UsageError: There is no such item, it has no passages, or k is out of range.
        """
        from qa.explore import similar

        require_type("what", what, str)
        find = similar.similar_documents if _checked(unit) == "documents" else similar.similar_passages
        what, only = without_surrogates(what), add_path(path, only)
        request = similar.SimilarRequest(what, checked_k(k), only, here, keep_all, indexed_only)
        with self._generations.pinned() as pipeline:
            return find(self.root, pipeline.snapshot, pipeline.models.encoder, request)

    def topics(
        self, *, n: int | None = None, unit: Unit = "passages", path: Paths = None, only: Filter | None = None
    ) -> Topics:
        """Return the topics of the collection; those of the whole collection are saved with the index.

        Args:
            n: How many topics, 1 to 200; as many as the data suggest by default.
            unit: Whether to group passages, or whole documents and records.
            path: Only documents whose paths match this pattern, or one of these.
            only: Only documents that also pass this filter.

        Raises:
            UsageError: n is out of range, or there is no such unit.
        """
        from qa.explore import topics

        with self.reading() as snapshot:
            grouping = topics.find_topics(snapshot, unit=_checked(unit), wanted=n, only=add_path(path, only))
            return topics.topics_of(self.root, snapshot, grouping)

    def map_html(
        self, *, n: int | None = None, unit: Unit = "passages", path: Paths = None, only: Filter | None = None
    ) -> str:
        """Return a map of the collection as an HTML page that needs no network; takes the arguments of `topics`."""
        from qa.explore.map import as_html

        return as_html(self._map(n, unit, add_path(path, only)))

    def map_svg(
        self, *, n: int | None = None, unit: Unit = "passages", path: Paths = None, only: Filter | None = None
    ) -> str:
        """Return a map of the collection as an SVG image; takes the arguments of `topics`."""
        from qa.explore.map import as_svg

        return as_svg(self._map(n, unit, add_path(path, only)))

    def _map(self, n: int | None, unit: Unit, only: Filter) -> CollectionMap:
        from qa.explore.map import make_map
        from qa.explore.topics import find_topics

        with self.reading() as snapshot:
            grouping = find_topics(snapshot, unit=_checked(unit), wanted=n, only=only)
            return make_map(snapshot, self.root.name or str(self.root), grouping, only)

    def _answer(
        self, request: AskRequest, only: Filter = EVERYTHING, topic: str | None = None
    ) -> tuple[Result, confidence.Features | None]:
        """Return the result, and the features behind its confidence, as `Pipeline.answer` does."""
        clock = Stopwatch()
        with self._generations.pinned() as pipeline:
            note = self.note  # of this generation; the next one, which may be loaded meanwhile, has another
            if topic is None:
                among = pipeline.among(only)
            else:
                require_type("topic", topic, str)
                from qa.explore.topics import scope_of

                among = scope_of(pipeline.snapshot, topic, only)
            result, features = pipeline.answer(request, among, clock)
        places = (tuple(it for it in hit.also_in if it.path not in only.without) for hit in result.passages)
        hits = tuple(replace(hit, also_in=it) for hit, it in zip(result.passages, places, strict=True))
        result = replace(result, passages=hits)
        if note:
            result = replace(result, index=replace(result.index, note=note))
        return result, features


def _checked(unit: Unit) -> Unit:
    if unit not in get_args(Unit):
        raise UsageError(f"unit must be {either(get_args(Unit))}, not {unit!r}.")
    return unit
