"""Files in, documents and passages out. Knows no model and no index; importing it loads no reader."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corpus.chunking.splitter import encoder_text, join_context, split, splitter_version
    from corpus.discovery.filenames import as_name, as_text
    from corpus.discovery.safe_read import read_bytes
    from corpus.discovery.scope import lies_in, outermost
    from corpus.discovery.walk import INDEX_FOLDER, SETTINGS_FILE, FoundFile, Skipped, concerns, walk
    from corpus.loading.load import digest, load, read_file
    from corpus.loading.prefetch import Read, read_all
    from corpus.loading.sandbox import Worker
    from corpus.text.lines import LineMap
    from corpus.text.path_words import path_words
    from corpus.text.sentences import sentence_spans

# Where each public name lives. It is imported when first asked for, so that a question pays only for what it uses.
_HOMES = {
    "FoundFile": "corpus.discovery.walk",
    "INDEX_FOLDER": "corpus.discovery.walk",
    "LineMap": "corpus.text.lines",
    "Read": "corpus.loading.prefetch",
    "SETTINGS_FILE": "corpus.discovery.walk",
    "Skipped": "corpus.discovery.walk",
    "Worker": "corpus.loading.sandbox",
    "as_name": "corpus.discovery.filenames",
    "as_text": "corpus.discovery.filenames",
    "concerns": "corpus.discovery.walk",
    "digest": "corpus.loading.load",
    "encoder_text": "corpus.chunking.splitter",
    "join_context": "corpus.chunking.splitter",
    "lies_in": "corpus.discovery.scope",
    "load": "corpus.loading.load",
    "outermost": "corpus.discovery.scope",
    "path_words": "corpus.text.path_words",
    "read_all": "corpus.loading.prefetch",
    "read_bytes": "corpus.discovery.safe_read",
    "read_file": "corpus.loading.load",
    "sentence_spans": "corpus.text.sentences",
    "split": "corpus.chunking.splitter",
    "splitter_version": "corpus.chunking.splitter",
    "walk": "corpus.discovery.walk",
}

__all__ = [
    "INDEX_FOLDER",
    "SETTINGS_FILE",
    "FoundFile",
    "LineMap",
    "Read",
    "Skipped",
    "Worker",
    "as_name",
    "as_text",
    "concerns",
    "digest",
    "encoder_text",
    "join_context",
    "lies_in",
    "load",
    "outermost",
    "path_words",
    "read_all",
    "read_bytes",
    "read_file",
    "sentence_spans",
    "split",
    "splitter_version",
    "walk",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
