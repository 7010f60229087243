"""The outcome of reading a file: blocks, text, or a reason to refuse it, but never a hang or a crash."""

from __future__ import annotations

from corpus.chunking.splitter import split
from corpus.errors import Unreadable
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.types import BlockKind, Document, Extracted
from tests.documents import count_words


def is_reader_failure(reason: str) -> bool:
    """Whether a file was only refused because its reader hung, died or took too much memory."""
    return reason.startswith(("took longer", "its reader crashed", "needs more than"))


def parse_and_split(sandbox: Sandbox, path: str, data: bytes) -> tuple[Document | None, str]:
    """Return the document, after a check that it can be split, or None and the reason."""
    try:
        document = parse(path, data, sandbox=sandbox)
        split(document, count_tokens=count_words, max_tokens=254)
    except Unreadable as error:
        reason = error.reason
    else:
        return document, ""
    assert reason
    assert not is_reader_failure(reason), (path, reason)
    return None, reason


def outcome(sandbox: Sandbox, path: str, data: bytes) -> str:
    """Return the text of a file, or the reason why it is refused."""
    document, reason = parse_and_split(sandbox, path, data)
    return reason if document is None else document.text


def block_texts(document: Document | Extracted, kind: BlockKind | None = None) -> list[str]:
    """Return the texts of all blocks, or of those of one kind."""
    return [document.text[block.start : block.end] for block in document.blocks if kind in (None, block.kind)]
