"""The content of a page, from the answers of the collection."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from corpus import digest, read_file
from corpus.errors import QAError, Unreadable, UsageError
from corpus.formats import PDF
from qa.answer.results import MAX_HITS, Mode, Result
from qa.collection.served import Served
from qa.explore.results import Similar
from qa.web.page.source import Sources, SourceView
from qa.web.page.state import PageState, number_in
from qa.web.service.private import public_note
from qa.web.service.problems import Problem, problem_of

if TYPE_CHECKING:
    from index import Index

# With more files, the types are not counted.
_MAX_COUNTED = 20_000
# How many more passages a link shows.
_MORE_PASSAGES = 10

Types = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a page.

    Attributes:
        collection: The name of the collection's folder.
        documents: How many documents it has.
        passages: How many passages it has.
        types: Suffixes of its files, and how many files have each.
        result: The answer to the question.
        more: How many passages a link to more of them shows; 0 if there are no more.
        similar: Passages similar to a place.
        note: What users should know about the index, such as that it is out of date, or "".
        source: The open source, or why it cannot be shown.
        problem: Why there is neither `result` nor `similar`.
    """

    collection: str = ""
    documents: int = 0
    passages: int = 0
    types: Types = ()
    result: Result | None = None
    more: int = 0
    similar: Similar | None = None
    note: str = ""
    source: SourceView | Problem | None = None
    problem: Problem | None = None

    @property
    def status(self) -> int:
        """The response's status: that of the first problem, or 200."""
        problem = self.problem or (self.source if isinstance(self.source, Problem) else None)
        return problem.status if problem else 200


def _ask_arguments(served: Served, state: PageState) -> dict[str, Any]:
    """Return the arguments of a question: from the page's state, else from the collection's settings."""
    return served.ask_arguments(
        {
            "k": k if (k := number_in(state.k)) and k <= MAX_HITS else None,
            "mode": state.mode if state.mode in tuple(Mode) else None,
            "path": _split(state.path, ",") or None,
            "type": _split(state.type, ",") or None,
            "since": state.since,
            "until": state.until,
            "where": _split(state.where, ";"),
        }
    )


def _split(text: str, separator: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(separator))))


class PageMaker:
    """Makes the content of pages; thread-safe."""

    def __init__(self) -> None:
        self._sources = Sources()
        self._lock = threading.Lock()
        self._types: WeakKeyDictionary[Index, Types] = WeakKeyDictionary()
        self._last = PageContent()

    def content(self, served: Served, state: PageState) -> PageContent:
        """Return the content of a page; an error in the question becomes part of it."""
        info = served.snapshot.info
        types = self._types_of(served.snapshot)
        self._last = content = PageContent(served.root.name or str(served.root), info.documents, info.passages, types)
        try:
            if state.like:
                arguments = _ask_arguments(served, state)
                k, only = arguments["k"], arguments["only"]
                similar = served.retriever.similar(state.like, k=k, only=only, indexed_only=True)
                content = replace(content, similar=similar)
            elif state.q:
                arguments = _ask_arguments(served, state)
                k, result = arguments["k"], served.retriever.ask(state.q, **arguments)
                more = min(k + _MORE_PASSAGES, MAX_HITS) if len(result.passages) == k < MAX_HITS else 0
                content = replace(content, result=result, more=more)
        except UsageError as error:
            content = replace(content, problem=problem_of(error))
        content = replace(content, note=public_note(served.retriever.note, served.root))
        return replace(content, source=self.source(served, state)) if state.open else content

    def problem_page(self, problem: Problem) -> PageContent:
        """Return the content of a page that shows a problem."""
        return replace(self._last, problem=problem)

    def source(self, served: Served, state: PageState) -> SourceView | Problem:
        """Return the open source, or why it cannot be shown."""
        try:
            if not state.open:
                raise UsageError("no place given.")
            return self._sources.view(served.root, served.snapshot, state, served.boxes.sandbox)
        except QAError as error:
            problem = problem_of(error)
            return replace(problem, title="This place cannot be shown") if type(error) is UsageError else problem

    def picture(self, served: Served, path: str, page: int) -> bytes:
        """Return a page of a PDF in the collection as PNG.

        Raises:
            UsageError: The index has no such PDF, or it cannot be drawn.
        """
        document = served.snapshot.document(path)
        if document is None or document.media_type != PDF.media_type:
            raise UsageError(f"{path} is not a PDF in the collection.")
        try:
            data = read_file(served.root, path)
            return self._sources.pictures.draw(served.boxes.sandbox, data, digest(data), page).png
        except Unreadable as error:
            raise UsageError(f"{path}: {error.reason}") from error

    def _types_of(self, snapshot: Index) -> Types:
        """Return the suffixes of the files, commonest first; counted once per snapshot."""
        with self._lock:
            if snapshot not in self._types:
                files = snapshot.documents() if snapshot.info.files <= _MAX_COUNTED else ()
                counts = Counter(PurePosixPath(file.path).suffix.lower()[1:] for file in files)
                del counts[""]
                self._types[snapshot] = tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
            return self._types[snapshot]
