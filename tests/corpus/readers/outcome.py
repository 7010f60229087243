"""What a reader makes of a file: blocks, text, or a reason to refuse it, but never a hang or a crash."""

from __future__ import annotations

from corpus.chunking.splitter import split
from corpus.errors import Unreadable
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.types import BlockKind, Document, Extracted
from tests.documents import count_words


def is_bad(reason: str) -> bool:
    """Whether a file was only refused because its reader hung, died or took too much memory."""
    return reason.startswith(("took longer", "its reader crashed", "needs more than"))


def attempt(sandbox: Sandbox, path: str, data: bytes) -> tuple[Document | None, str]:
    """The document, after a check that it can be split, or None and the reason."""
    try:
        found = parse(path, data, sandbox=sandbox)
        split(found, count_tokens=count_words, max_tokens=254)
    except Unreadable as error:
        reason = error.reason
    else:
        return found, ""
    assert reason
    assert not is_bad(reason), (path, reason)
    return None, reason


def outcome(sandbox: Sandbox, path: str, data: bytes) -> str:
    """The text of a file, or why it has none."""
    found, reason = attempt(sandbox, path, data)
    return reason if found is None else found.text


def block_texts(found: Document | Extracted, kind: BlockKind | None = None) -> list[str]:
    """The texts of all blocks, or of those of one kind."""
    return [found.text[block.start : block.end] for block in found.blocks if kind in (None, block.kind)]
