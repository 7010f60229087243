"""Find the boxes of answering sentences on the pages of a PDF, for other programs to draw."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from corpus import digest, read_file
from corpus.errors import Unreadable
from corpus.formats import PDF
from qa.answer.results import Hit, Result, State

if TYPE_CHECKING:
    from corpus import Sandbox


class BoxFinder(ExitStack):
    """Reads cited PDF pages again. Use it as a context manager; it costs nothing until a PDF is cited."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._sandbox: Sandbox | None = None
        self._starting = Lock()

    def fill(self, result: Result) -> Result:
        """Return the result with boxes for the highlights in PDF files, if they can be found."""
        return replace(result, passages=tuple(self._filled(result.passages)))

    def _filled(self, hits: tuple[Hit, ...]) -> Iterator[Hit]:
        for hit in hits:
            source = hit.source
            is_verified_pdf = source.media_type == PDF.media_type and source.state is State.VERIFIED
            if not is_verified_pdf or source.page is None or not hit.highlights:
                yield hit
                continue
            sentences = [(source.page, mark.text) for mark in hit.highlights]
            boxes_by_sentence: list[tuple[tuple[int, float, float, float, float], ...]] = [()] * len(sentences)
            # The file may have changed since it was verified, and a sentence that cannot be drawn still answers.
            with contextlib.suppress(Unreadable):
                data = read_file(self._root, source.path)
                if digest(data) == source.sha256:
                    boxes_by_sentence = self.sandbox.boxes(data, sentences)
            marks = (replace(mark, boxes=boxes) for mark, boxes in zip(hit.highlights, boxes_by_sentence, strict=True))
            yield replace(hit, highlights=tuple(marks))

    @property
    def sandbox(self) -> Sandbox:
        """The reader process, started when it is first needed."""
        with self._starting:
            if self._sandbox is None:
                from corpus import Sandbox  # noqa: PLC0415 - most answers cite text

                self._sandbox = self.enter_context(Sandbox())
            return self._sandbox
