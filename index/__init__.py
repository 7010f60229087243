"""Passages to vectors and terms, on disk, and back to candidates. Importing it loads no model and no FAISS."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from index.commit.change import BuildMode
    from index.encoder.load import load_encoder
    from index.encoder.model_files import DEFAULT_MODEL
    from index.encoder.openvino_compile import Hint
    from index.encoder.protocol import Encoder, TokenVectors, Vectors
    from index.integrity.salvage import salvaged_model
    from index.integrity.verify import Verified, verify
    from index.lexical.analyzer import Word, cut, term_of, terms, word_terms, words
    from index.lexical.query_terms import STOP_WORDS, Analysis, analyse, query_terms
    from index.snapshot import Snapshot, require_same_encoder
    from index.storage.database import DATABASE, FORMAT_VERSION
    from index.storage.locking import wait_for_writer
    from index.storage.metadata import Info
    from index.storage.rows import Link, StoredDocument, StoredPassage
    from index.update.diff import Diff, find_changes
    from index.update.report import BuildReport, Progress, ProgressCallback, Request
    from index.update.update import preview_update, rebuild_derived, rebuild_index, update_index

# Where each public name lives. It is imported when first asked for, so that a question pays only for what it uses.
_HOMES = {
    "Analysis": "index.lexical.query_terms",
    "Hint": "index.encoder.openvino_compile",
    "BuildMode": "index.commit.change",
    "BuildReport": "index.update.report",
    "DATABASE": "index.storage.database",
    "DEFAULT_MODEL": "index.encoder.model_files",
    "Encoder": "index.encoder.protocol",
    "FORMAT_VERSION": "index.storage.database",
    "Info": "index.storage.metadata",
    "Link": "index.storage.rows",
    "Diff": "index.update.diff",
    "Progress": "index.update.report",
    "ProgressCallback": "index.update.report",
    "Request": "index.update.report",
    "STOP_WORDS": "index.lexical.query_terms",
    "Snapshot": "index.snapshot",
    "StoredDocument": "index.storage.rows",
    "StoredPassage": "index.storage.rows",
    "TokenVectors": "index.encoder.protocol",
    "Vectors": "index.encoder.protocol",
    "Word": "index.lexical.analyzer",
    "Verified": "index.integrity.verify",
    "analyse": "index.lexical.query_terms",
    "cut": "index.lexical.analyzer",
    "load_encoder": "index.encoder.load",
    "salvaged_model": "index.integrity.salvage",
    "preview_update": "index.update.update",
    "query_terms": "index.lexical.query_terms",
    "rebuild_derived": "index.update.update",
    "rebuild_index": "index.update.update",
    "require_same_encoder": "index.snapshot",
    "find_changes": "index.update.diff",
    "term_of": "index.lexical.analyzer",
    "terms": "index.lexical.analyzer",
    "update_index": "index.update.update",
    "verify": "index.integrity.verify",
    "word_terms": "index.lexical.analyzer",
    "words": "index.lexical.analyzer",
    "wait_for_writer": "index.storage.locking",
}

__all__ = [
    "DATABASE",
    "DEFAULT_MODEL",
    "FORMAT_VERSION",
    "STOP_WORDS",
    "Analysis",
    "BuildMode",
    "BuildReport",
    "Diff",
    "Encoder",
    "Hint",
    "Info",
    "Link",
    "Progress",
    "ProgressCallback",
    "Request",
    "Snapshot",
    "StoredDocument",
    "StoredPassage",
    "TokenVectors",
    "Vectors",
    "Verified",
    "Word",
    "analyse",
    "cut",
    "find_changes",
    "load_encoder",
    "preview_update",
    "query_terms",
    "rebuild_derived",
    "rebuild_index",
    "require_same_encoder",
    "salvaged_model",
    "term_of",
    "terms",
    "update_index",
    "verify",
    "wait_for_writer",
    "word_terms",
    "words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
