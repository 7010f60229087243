"""The outcome of reading a file: blocks, text, or a reason to refuse it, but never a hang or a crash."""

from __future__ import annotations

from corpus.chunking.splitter import split
from corpus.errors import Unreadable
from corpus.formats import format_of
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.types import BlockKind, Document, Extracted
from tests.documents import count_words


def is_bad(reason: str) -> bool:
    """Whether a file was refused because its reader hung, died or took too much memory."""
    return reason.startswith(("took longer", "its reader crashed", "needs more than"))


def attempt(sandbox: Sandbox, path: str, data: bytes) -> tuple[Document | None, str]:
    """The document, checked to be splittable, or None and the reason to refuse it."""
    try:
        document = parse(path, data, sandbox=sandbox)
        split(document, count_tokens=count_words, max_tokens=254)
    except Unreadable as error:
        reason = error.reason
    else:
        return document, ""
    assert reason
    assert not is_bad(reason), (path, reason)
    file_format = format_of(path)
    # Our own readers of text raise no other errors.
    assert file_format is None or file_format.sandboxed or not reason.startswith("damaged ("), (path, reason)
    return None, reason


def outcome(sandbox: Sandbox, path: str, data: bytes) -> str:
    """The text of a file, or the reason to refuse it."""
    document, reason = attempt(sandbox, path, data)
    return reason if document is None else document.text


def block_texts(document: Document | Extracted, kind: BlockKind | None = None) -> list[str]:
    """The texts of all blocks, or of the blocks of one kind."""
    return [document.text[block.start : block.end] for block in document.blocks if kind in (None, block.kind)]
